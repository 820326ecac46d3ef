"""From a parsed feed to the entries that a poll takes: newest first, of bounded age and number."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from datetime import datetime, timedelta

from transforms.feeds import plain
from transforms.feeds.identity import entry_version, key_without_page, revision_of
from transforms.feeds.model import FeedItem, ParsedFeed, TakenItems
from transforms.records import Entry, FeedSource, Reject
from transforms.urls import safe_to_show, url_key

_VERSION_TEXT = 600
_STAMPED_ITEMS = 4


def to_entries(
    feed: ParsedFeed, source: FeedSource, feed_url: str, *, now: datetime, max_age_s: float | None, max_items: int
) -> TakenItems:
    """Chooses the entries of a document that a poll takes.

    An entry with content but without a usable link has no address (``url`` is ``None``): its content is the
    article. So has one whose link leads to a page that it shares with other entries.

    Args:
        feed: The parsed document.
        source: The feed as configured.
        feed_url: The address of the feed.
        now: The present.
        max_age_s: Entries whose publication and update both lie further back are counted and left aside; entries
            without dates are taken. ``None`` takes all.
        max_items: Entries in ``entries``; further ones are in ``over_limit``.
    """
    entries: list[Entry] = []
    rejects: list[Reject] = []
    keys: list[str] = []
    too_old = 0
    is_stamped = _updated_is_a_stamp(feed.items)
    for item in _newest_first(feed.items, now):
        reason = _refusal(item)
        if reason:
            rejects.append(_reject(item, reason, source, feed_url, now))
            continue
        entry = _entry(item, source, feed_url, with_updated=not is_stamped)
        keys.append(entry.url_key)
        if _is_too_old(item, now, max_age_s):
            too_old += 1
        else:
            entries.append(entry)
    return TakenItems(entries[:max_items], entries[max_items:], rejects, too_old, tuple(dict.fromkeys(keys)))


def _newest_first(items: Sequence[FeedItem], now: datetime) -> list[FeedItem]:
    """Sorts by date; an entry without one stands where the entry before it stands. Of equal keys the newest stays."""
    dated: list[tuple[datetime, FeedItem]] = []
    last = max((at for item in items if (at := _at(item))), default=now)
    for item in items:
        last = _at(item) or last
        dated.append((last, item))
    dated.sort(key=lambda pair: pair[0], reverse=True)
    newest: dict[str, FeedItem] = {}
    for _, item in dated:
        other = newest.setdefault(item.key, item)
        if revision_of(item.id) > revision_of(other.id):
            newest[item.key] = item
    return list(newest.values())


def _at(item: FeedItem) -> datetime | None:
    date = item.published or item.updated
    return date.instant if date else None


def _is_too_old(item: FeedItem, now: datetime, max_age_s: float | None) -> bool:
    dates = [date for date in (item.published, item.updated) if date]
    if max_age_s is None or not dates:
        return False
    # A day without time may be any moment of it.
    latest = max(date.instant + timedelta(days=date.precision == "day") for date in dates)
    return latest < now - timedelta(seconds=max_age_s)


def _updated_is_a_stamp(items: Sequence[FeedItem]) -> bool:
    """Tells whether all entries carry one time of update: that is when the feed was made, and says nothing."""
    stamps = {item.updated.instant if item.updated else None for item in items}
    return len(items) >= _STAMPED_ITEMS and len(stamps) == 1


def _refusal(item: FeedItem) -> str:
    if item.url or item.content_html or item.summary:
        return ""
    return "bad_url" if item.link_raw else "no_link"


def _entry(item: FeedItem, source: FeedSource, feed_url: str, *, with_updated: bool) -> Entry:
    text = item.summary or plain.markup_text(item.content_html or "") or ""
    content = item.content_html
    if item.url is None and content is None and item.summary:
        content = f"<p>{html.escape(item.summary, quote=False)}</p>"
    # A shared page without content is all that there is: asked once, the other entries are its duplicates.
    page = None if item.link_shared and content else item.url
    updated = item.updated.instant if item.updated else None
    return Entry(
        url=page,
        url_key=key_without_page(source.source_id, item.key) if page is None else url_key(page),
        entry_version=entry_version(item.title, text[:_VERSION_TEXT], updated if with_updated else None),
        source_id=source.source_id,
        discovered_via="feed",
        source_name=source.source_name,
        feed_url=feed_url,
        entry_id=item.id,
        title=item.title,
        summary=item.summary,
        content_html=content,
        authors=item.authors,
        published_at=item.published.instant if item.published else None,
        published_raw=item.published_raw,
        published_zone_known=item.published.zone_known if item.published else False,
        published_precision=item.published.precision if item.published else "none",
        updated_at=updated,
        language=source.language or item.language,
        categories=item.categories,
        image_url=item.image_url,
    )


def _reject(item: FeedItem, reason: str, source: FeedSource, feed_url: str, now: datetime) -> Reject:
    details = {
        "no_link": "neither link nor content",
        "bad_url": "the link is no http(s) address, and there is no content",
    }
    return Reject(
        stage="poll",
        reason=reason,
        detail=safe_to_show(f"{details[reason]}: {item.title or item.id or 'untitled'}")[:300],
        failed_at=now,
        source_id=source.source_id,
        feed_url=feed_url,
        url=safe_to_show(item.link_raw)[:2048] if item.link_raw else None,
        body_sha256=hashlib.sha256(f"{source.source_id}\x00{item.key}".encode("utf-8", "replace")).hexdigest(),
    )
