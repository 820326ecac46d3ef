"""Seed files of every kind, read whole and decoded by ourselves."""
