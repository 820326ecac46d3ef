"""A feed document, whatever it is, to a ``ParsedFeed``; never raises, bounded in time and memory.

The way of a document: clean bytes (``clean``) -> what is it (``classify``) -> a tree that can be read
(``xml_tree``, ``xml_repair``) -> two readings (``xml_feed`` and ``library``, that is feedparser) made one
(``repair``) -> entries (``finish``). JSON and sitemaps have readers of their own.
"""

from __future__ import annotations

from datetime import datetime

from transforms.feeds.classify import Kind, classify
from transforms.feeds.clean import clean_bytes
from transforms.feeds.finish import finish
from transforms.feeds.items import to_entries
from transforms.feeds.json_feed import read_json
from transforms.feeds.library import read_with_feedparser
from transforms.feeds.model import (
    ITEM_LIMIT,
    Enclosure,
    FeedItem,
    ParsedFeed,
    RawFeed,
    ScheduleHints,
    TakenItems,
)
from transforms.feeds.repair import fill_gaps
from transforms.feeds.report import feed_report
from transforms.feeds.sitemap import read_sitemap
from transforms.feeds.xml_feed import read_feed
from transforms.feeds.xml_names import Names
from transforms.feeds.xml_tree import read_tree

__all__ = [
    "ITEM_LIMIT",
    "Enclosure",
    "FeedItem",
    "ParsedFeed",
    "ScheduleHints",
    "TakenItems",
    "feed_report",
    "parse_feed",
    "to_entries",
]


def parse_feed(
    body: bytes,
    *,
    content_type: str | None = None,
    url: str | None = None,
    now: datetime,
    default_zone: str | None = None,
) -> ParsedFeed:
    """Reads a feed document.

    Args:
        body: As received, after the content coding; gzip files are unpacked.
        content_type: Value of the header; only its charset is looked at.
        url: Final address of the document, for relative links.
        now: The present by the run's clock; dates beyond it are not believed.
        default_zone: IANA zone or offset for dates without one.

    Returns:
        The document as understood; for what is no feed a ``ParsedFeed`` without items whose kind says what it is.
    """
    cleaned = clean_bytes(body, content_type)
    kind = classify(cleaned.data)
    raw = _read(cleaned.data, kind)
    raw = raw._replace(warnings=(*cleaned.warnings, *raw.warnings))
    return finish(raw, url=url, now=now, default_zone=default_zone)


def _read(data: bytes, kind: Kind) -> RawFeed:
    if kind.name == "json":
        return read_json(data)
    if kind.name in ("html", "empty", "unknown"):
        return RawFeed(kind.name)
    if kind.name == "opml":
        return RawFeed("unknown", warnings=("opml",))
    root, warnings = read_tree(data, kind)
    if root is None:
        return RawFeed("unknown", warnings=(*warnings, "unreadable_xml"))
    if kind.name in ("sitemap", "sitemap_index"):
        raw = read_sitemap(root, kind.name)
    else:
        raw = read_feed(root, kind.name)
        if kind.name == "rdf" and not raw.items and ("", "channel") not in Names(root).fields(root):
            return RawFeed("unknown", warnings=warnings)
        raw = fill_gaps(raw, read_with_feedparser(root, kind.name))
    return raw._replace(warnings=(*warnings, *raw.warnings))
