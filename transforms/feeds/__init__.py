"""Feeds: parsing, identity of entries, schedule, OPML, and the stage that polls."""
