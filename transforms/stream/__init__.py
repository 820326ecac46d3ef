"""Feeds without end: ticks in, what is due out, and nothing forgotten on the way."""
