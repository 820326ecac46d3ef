"""What extraction gives back, an article without its identity or a reject, and what its parts hand to each other."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from transforms.records import Boilerplate, Document, LivePost, Reject
from transforms.rejects import reason_of

PAYLOAD_LIMIT_BYTES = 2048


class Body(NamedTuple):
    """A text as it was found, before its lines are sorted, and how it was made.

    Attributes:
        text: Paragraphs by newline; empty if nothing was found.
        extractor: Name and version.
        confidence: 0 to 1, how far two independent extractions agree.
        escalation: Why the careful extraction was run (``short``, ``surplus``, ``missing``), or an empty string.
        teasers: Texts of the link teasers that were dropped.
    """

    text: str
    extractor: str
    confidence: float
    escalation: str = ""
    teasers: tuple[str, ...] = ()


class Extraction(NamedTuple):
    """All of an article that follows from its document alone; fields as in ``records.Article``.

    ``source_name`` is what the page calls its site. Plain values only, so that it can cross from a child process.
    """

    text: str
    title: str | None
    title_source: str
    text_source: str
    content_sha256: str
    text_fingerprint: str
    word_count: int
    canonical_url: str | None = None
    source_name: str | None = None
    description: str | None = None
    authors: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()
    syndication_credit: str | None = None
    published_at: datetime | None = None
    published_raw: str | None = None
    published_source: str = "none"
    published_precision: str = "none"
    published_zone_known: bool = False
    modified_at: datetime | None = None
    language: str | None = None
    language_declared: str | None = None
    section: str | None = None
    publisher_keywords: tuple[str, ...] = ()
    article_type: str | None = None
    image_url: str | None = None
    access: str = "unknown"
    is_truncated: bool = False
    notices: tuple[str, ...] = ()
    live_posts: tuple[LivePost, ...] = ()
    boilerplate: tuple[Boilerplate, ...] = ()
    extractor: str = ""
    extraction_confidence: float = 0.0
    ai_reservation: str = "none"
    warnings: tuple[str, ...] = ()


def refuse(document: Document, reason: str, detail: str) -> Reject:
    """Returns the reject row of a document.

    Args:
        document: What was refused.
        reason: A name from ``rejects.REASONS``, stage extract.
        detail: The same in words, with figures.
    """
    entry = document.entry
    return Reject(
        stage="extract",
        reason=reason,
        detail=detail,
        failed_at=document.fetched_at,
        retryable=reason_of("extract", reason).retryable,
        attempts=entry.attempts + 1,
        source_id=entry.source_id,
        feed_url=entry.feed_url,
        url=entry.url,
        input_uri=document.raw_uri,
        http_status=document.http_status,
        body_sha256=document.body_sha256,
        payload=document.body[:PAYLOAD_LIMIT_BYTES],
    )


def fallback_document(document: Document, reason: str) -> Document | None:
    """Returns the feed's own content as a document, in place of a page that failed; ``None`` if there is none."""
    content = document.entry.content_html
    if document.kind != "page" or not content:
        return None
    return document._replace(
        kind="feed_content",
        body=content.encode("utf-8", "replace"),
        warnings=(*document.warnings, f"page_failed:{reason}"),
    )
