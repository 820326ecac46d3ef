"""What the tests of walks share: entries, and ways to read what came out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.servers import Answer
from transforms.fetch.pages import Step
from transforms.records import Entry, Fetch, Reject

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)  # what the clock of clients and walks shows
QUARTER = timedelta(minutes=15)
PAGE = b"<!doctype html><title>Ferry</title><p>The ferry to Brenn sails again.</p>"

Walk = Callable[..., list[Step]]


def entry(url: str, **fields: Any) -> Entry:
    plain = {"url": url, "url_key": url, "entry_version": "v1", "source_id": "news", "discovered_via": "feed"}
    return Entry(**plain | fields)


def redirect(target: str, status: int = 302) -> Answer:
    return Answer(status, headers={"Location": target})


def page_row(step: Step) -> Fetch:
    (row,) = (row for row in step.side if isinstance(row, Fetch) and row.kind == "page")
    return row


def reject_of(step: Step) -> Reject:
    (row,) = (row for row in step.side if isinstance(row, Reject))
    return row
