"""What one document is: a file or the answer of a server, read as a feed."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.feeds.asking import Desk
from transforms.feeds.ask import FEED_KINDS, SITEMAP_INDEX, ask, note_of
from transforms.feeds.model import ParsedFeed
from transforms.feeds.parse import feed_report, parse_feed
from transforms.records import FeedSource
from transforms.urls import host_of

MAX_BYTES = 15 << 20  # as of an answer over HTTP

_REPORT_KEYS = ("kind", "title", "warnings", "next_due_rules")
_ENTRY_KEYS = (
    *("key", "id", "title", "url", "published", "published_raw", "zone_assumed", "updated"),
    *("summary", "content", "authors", "categories", "enclosures"),
)
_PAGE_ADVICE = "a web page, not a feed; newsbeam feeds discover ADDRESS finds the feeds that a page announces"


class Document(NamedTuple):
    """A document as understood.

    Attributes:
        name: Path or address.
        feed: What it holds; ``None`` if it could not be had.
        outcome: ``ok``, ``not_feed``, ``unreadable``, or why it could not be had (``rejects.FETCH_OUTCOMES``).
        note: What is wrong, in words; ``None`` if nothing.
    """

    name: str
    feed: ParsedFeed | None
    outcome: str
    note: str | None = None


def read_document(path: str, content_type: str | None, base: str | None) -> Document:
    """Reads a file as if a server had answered it.

    Args:
        path: The file.
        content_type: Value of the header that is assumed.
        base: Address that relative links are relative to.
    """
    try:
        size = os.path.getsize(path)
        body = b"" if size > MAX_BYTES else Path(path).read_bytes()
    except OSError as error:
        return Document(path, None, "unreadable", error.strerror or str(error))
    if size > MAX_BYTES:
        return Document(
            path, None, "too_big", f"larger than {MAX_BYTES >> 20} MiB, which is more than is read of a feed"
        )
    return _judged(path, parse_feed(body, content_type=content_type, url=base, now=datetime.now(timezone.utc)))


def ask_document(url: str, content_type: str | None, base: str | None, desk: Desk) -> Document:
    """Asks for a document, once; of an index of sitemaps the newest ones are asked too.

    Args:
        url: Its address.
        content_type: Taken instead of the server's header, if given.
        base: Taken instead of the address, if given.
        desk: Asks.
    """
    answer = ask(FeedSource(url, host_of(url)), None, desk.asker, desk.run)
    exchange = answer.exchange
    if exchange.outcome != "ok":
        return Document(url, None, answer.outcome, answer.note)
    if answer.feed is not None and content_type is None and base is None:
        return Document(url, answer.feed, "ok")
    headers = exchange.headers.get("content-type")
    feed = parse_feed(
        exchange.body, content_type=content_type or headers, url=base or exchange.final_url, now=desk.run.now()
    )
    found = _judged(url, feed)
    return found if answer.outcome == found.outcome else found._replace(outcome=answer.outcome, note=answer.note)


def _judged(name: str, feed: ParsedFeed) -> Document:
    if "no_news_tags" in feed.warnings:
        return Document(name, feed, "not_feed", "a sitemap without news")
    if feed.kind in FEED_KINDS or feed.kind == SITEMAP_INDEX:
        return Document(name, feed, "ok")
    if "opml" in feed.warnings or (feed.kind == "unknown" and name.lower().endswith((".yaml", ".yml", ".csv"))):
        return Document(name, feed, "not_feed", "a list of feeds; newsbeam feeds check --feeds FILE asks each of them")
    return Document(name, feed, "not_feed", _PAGE_ADVICE if feed.kind == "html" else note_of(feed))


def report(document: Document) -> dict[str, Any]:
    """Returns a document as ``feeds check --json`` shows it; kind is null if it could not be had."""
    if document.feed is None:
        return {"kind": None, "title": None, "warnings": [document.outcome], "next_due_rules": {}, "entries": []}
    whole = feed_report(document.feed)
    entries = [{key: entry[key] for key in _ENTRY_KEYS} for entry in whole["entries"]]
    return {**{key: whole[key] for key in _REPORT_KEYS}, "entries": entries}
