"""What ``newsbeam feeds check`` shows of a document: plain values that can be written as JSON."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from transforms.dates import ParsedDate
from transforms.feeds.model import FeedItem, ParsedFeed


def feed_report(feed: ParsedFeed) -> dict[str, Any]:
    """Returns a document as understood; times are ISO 8601 in UTC with ``Z``."""
    hints = feed.hints
    waits = [minutes for minutes in (hints.ttl_min, hints.update_period_min) if minutes]
    return {
        "kind": feed.kind,
        "title": feed.title,
        "description": feed.description,
        "language": feed.language,
        "site_url": feed.site_url,
        "image_title": feed.image_title,
        "warnings": list(feed.warnings),
        "next_due_rules": {
            "min_interval_min": max(waits, default=None),
            "ttl_min": hints.ttl_min,
            "update_period_min": hints.update_period_min,
            "skip_hours_gmt": list(hints.skip_hours),
            "skip_days": list(hints.skip_days),
        },
        "entries": [_entry(item) for item in feed.items],
    }


def _entry(item: FeedItem) -> dict[str, Any]:
    date = item.published or item.updated
    return {
        "key": item.key,
        "id": item.id,
        "title": item.title,
        "url": item.url,
        "published": _time(item.published),
        "published_raw": item.published_raw,
        "published_precision": item.published.precision if item.published else "none",
        "zone_assumed": date is not None and not date.zone_known,
        "updated": _time(item.updated),
        "updated_raw": item.updated_raw,
        "summary": item.summary,
        "content": item.content_html,
        "authors": list(item.authors),
        "categories": list(item.categories),
        "enclosures": [file._asdict() for file in item.enclosures],
        "image": {"url": item.image_url, "caption": item.image_caption}
        if item.image_url or item.image_caption
        else None,
        "language": item.language,
        "warnings": list(item.warnings),
    }


def _time(date: ParsedDate | None) -> str | None:
    return iso(date.instant) if date else None


def iso(moment: datetime) -> str:
    """Returns an instant as ``2026-03-10T09:00:00Z``, with a fraction only if there is one."""
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
