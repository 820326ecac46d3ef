"""Seeds that are saved feeds whose items carry text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from transforms.feeds.model import FeedItem, ParsedFeed
from transforms.feeds.parse import parse_feed
from transforms.records import Document, Entry, Reject
from transforms.seeds.common import Place, reject, seed_document, seed_entry, sha256_hex
from transforms.seeds.values import html_of
from transforms.urls import to_fetchable

_ITEM_END = re.compile(rb"</(?:[\w.-]+:)?(?:item|entry|url|channel)\s*>\s*$", re.IGNORECASE)
_CUT = frozenset(("too_many_items", "too_complex", "too_big"))
_FEED_KINDS = ("rss", "atom", "rdf", "json", "sitemap")


def read_feed(place: Place, data: bytes, warnings: tuple[str, ...] = ()) -> Iterator[Document | Entry | Reject]:
    """Yields a document for each item with text, an address to be fetched for each without, or one reject.

    A feed without items yields nothing. An item without text and address is a reject of its own, and so is the rest
    of a feed that is too long or was cut off (the item where it was cut is not used). Items are numbered from 1 in
    ``raw_uri`` (``path#2``); what had to be repaired in the document is a warning of each (``feed:CODE``).
    """
    feed = parse_feed(data, content_type=None, url=None, now=place.now, default_zone=None)
    if feed.kind not in _FEED_KINDS:
        yield reject(place, "bad_feed", f"no feed with items: {feed.kind}", data)
        return
    warnings += tuple(f"feed:{code}" for code in feed.warnings)
    is_cut_off = "cut_off" in feed.warnings
    whole = feed.items[:-1] if is_cut_off and not _ITEM_END.search(data[-200:]) else feed.items
    for number, item in enumerate(whole, 1):
        yield _record_of(place._replace(uri=f"{place.uri}#{number}"), feed, item, warnings)
    cut = _CUT.intersection(feed.warnings)
    if cut:
        detail = f"only its first {len(whole):,} items are read ({', '.join(sorted(cut))}); split the file"
        yield reject(place, "too_big", detail, data)
    if is_cut_off:
        yield reject(place, "truncated", f"the feed ends too early; {len(whole):,} whole items of it are read", data)


def _record_of(place: Place, feed: ParsedFeed, item: FeedItem, warnings: tuple[str, ...]) -> Document | Entry | Reject:
    content = item.content_html or html_of(item.summary or "")
    facts = [item.id, item.url, item.title, content, item.published_raw]
    data = json.dumps(facts, ensure_ascii=True).encode("ascii")
    digest = sha256_hex(data)
    url = to_fetchable(item.url) if item.url and not item.link_shared else None
    if not content.strip():
        if url is None:
            return reject(place, "bad_record", "the item has neither text nor an address", data)
        return _entry_of(feed, item, url, digest)
    return seed_document(
        place,
        _entry_of(feed, item, url, digest),
        "feed_content",
        content.encode("utf-8", "replace"),
        body_sha256=digest,
        content_type="text/html; charset=utf-8",
        warnings=warnings + item.warnings,
    )


def _entry_of(feed: ParsedFeed, item: FeedItem, url: str | None, version: str) -> Entry:
    published = item.published
    return seed_entry(url, version, "seed_feed")._replace(
        source_name=feed.title,
        entry_id=item.id,
        title=item.title,
        summary=item.summary,
        authors=item.authors,
        published_at=published.instant if published else None,
        published_raw=item.published_raw,
        published_zone_known=published.zone_known if published else False,
        published_precision=published.precision if published else "none",
        updated_at=item.updated.instant if item.updated else None,
        language=item.language or feed.language,
        categories=item.categories,
        image_url=item.image_url,
    )
