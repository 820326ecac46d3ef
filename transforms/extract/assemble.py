"""Joins text, metadata and announcement to one extraction: which of them wins, and where they disagree."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from transforms import language
from transforms.dates import read_date
from transforms.extract.extraction import Body, Extraction
from transforms.extract.line_rules import PAYWALL
from transforms.extract.lines import Sorted, find_agency
from transforms.extract.trace import Recorder
from transforms.records import Document, Entry, LivePost
from transforms.text import content_sha256, text_fingerprint, word_count

if TYPE_CHECKING:  # texts need no page, and a page's modules load an HTML parser
    from transforms.extract.metadata import Metadata

_LANGUAGE_CHARS = 600
_TRUNCATED_SHARE_MAX = 0.6
_CUT_PAGE_LIMIT_CHARS = 2000


def assemble(
    document: Document,
    placed: Sorted,
    metadata: Metadata | None,
    body: Body,
    text_source: str,
    recorder: Recorder,
    *,
    posts: tuple[LivePost, ...] = (),
    is_cut: bool = False,
) -> Extraction:
    """Joins what the text, the page's metadata and the announcement say.

    Args:
        document: What was extracted.
        placed: The text with its lines sorted.
        metadata: What the page says of itself; ``None`` for texts and feed content.
        body: How the text was made.
        text_source: One of ``schema.TEXT_SOURCES``.
        recorder: Hears where each field comes from.
        posts: Posts of a live blog.
        is_cut: Whether the text is known to be cut.
    """
    entry = document.entry
    with recorder.step("language"):
        found = language.detect((placed.text or " ".join(post.text for post in posts))[:_LANGUAGE_CHARS])
    with recorder.step("hashes"):
        hashes = text_fingerprint(placed.text), word_count(placed.text)
    extraction = Extraction(
        text=placed.text,
        title=None,
        title_source="none",
        text_source=text_source,
        content_sha256="",
        text_fingerprint=hashes[0],
        word_count=hashes[1],
        credits=placed.credits,
        notices=placed.notices,
        boilerplate=placed.boilerplate,
        syndication_credit=placed.syndication_credit,
        live_posts=posts,
        language=found,
        extractor=body.extractor,
        extraction_confidence=body.confidence,
        is_truncated=is_cut,
        warnings=document.warnings,
    )
    if metadata is not None:
        extraction = _add_metadata(extraction, metadata, recorder)
    extraction = _add_entry(extraction, entry, recorder)
    recorder.body(body, placed)
    return _finish(extraction, metadata, document.fetched_at)


def _add_metadata(extraction: Extraction, metadata: Metadata, recorder: Recorder) -> Extraction:
    published = metadata.published
    recorder.source("authors", metadata.authors_source if metadata.authors else "none")
    for name in ("description", "section", "image_url", "canonical_url", "language_declared"):
        recorder.source(name, "page" if getattr(metadata, name) else "none")
    return extraction._replace(
        title=metadata.title,
        title_source=metadata.title_source,
        description=metadata.description,
        authors=metadata.authors,
        published_at=published.published_at,
        published_raw=published.published_raw,
        published_source=published.published_source,
        published_precision=published.published_precision,
        published_zone_known=published.published_zone_known,
        modified_at=published.modified_at,
        section=metadata.section,
        publisher_keywords=metadata.keywords,
        article_type=metadata.article_type,
        image_url=metadata.image_url,
        canonical_url=metadata.canonical_url,
        source_name=metadata.site_name,
        language_declared=metadata.language_declared,
        access=metadata.access,
        ai_reservation=metadata.ai_reservation,
    )


def _add_entry(extraction: Extraction, entry: Entry, recorder: Recorder) -> Extraction:
    """Fills from the announcement what the document does not say; a seed's own record wins over the page."""
    is_seed = entry.discovered_via.startswith("seed_")
    origin = "seed" if is_seed else "feed"
    changes: dict[str, object] = {}
    if entry.title and (is_seed or not extraction.title or extraction.title_source == "none"):
        changes |= {"title": entry.title, "title_source": origin}
    if entry.authors and (is_seed or not extraction.authors):
        changes["authors"] = entry.authors
        recorder.source("authors", origin)
    if entry.published_at and (is_seed or extraction.published_at is None):
        changes |= {
            "published_at": entry.published_at,
            "published_raw": entry.published_raw,
            "published_source": origin,
            "published_precision": entry.published_precision,
            "published_zone_known": entry.published_zone_known,
        }
    elif entry.published_raw and extraction.published_at is None and (is_seed or not extraction.published_raw):
        changes["published_raw"] = entry.published_raw
    for name, value in (
        ("description", entry.summary),
        ("language_declared", entry.language),
        ("image_url", entry.image_url),
        ("publisher_keywords", entry.categories),
        ("modified_at", entry.updated_at if extraction.text_source == "feed_content" else None),
    ):
        if value and not getattr(extraction, name):
            changes[name] = value
            recorder.source(name, origin)
    extraction = extraction._replace(**changes)  # type: ignore[arg-type]
    recorder.source("title", extraction.title_source)
    recorder.source("published_at", extraction.published_source)
    return extraction


def _finish(extraction: Extraction, metadata: Metadata | None, fetched_at: datetime) -> Extraction:
    warnings = list(extraction.warnings)
    if extraction.published_raw and extraction.published_at is None:
        failure = read_date(extraction.published_raw, now=fetched_at)[1]
        warnings.append(f"published_{failure or 'implausible'}")
    if metadata is not None and metadata.published.date_conflict:
        warnings.append("date_conflict")
    declared = extraction.language_declared
    if (
        declared
        and extraction.language not in (None, language.UNDETERMINED)
        and not language.same_language(declared, extraction.language)
    ):
        warnings.append("language_mismatch")
    agency = extraction.syndication_credit or find_agency("", (), extraction.authors)
    return extraction._replace(
        syndication_credit=agency,
        is_truncated=extraction.is_truncated or _is_truncated(extraction, metadata),
        content_sha256=content_sha256(extraction.title, extraction.text),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _is_truncated(extraction: Extraction, metadata: Metadata | None) -> bool:
    if metadata is None:
        return False
    is_short = len(extraction.text) < _CUT_PAGE_LIMIT_CHARS
    if any(PAYWALL.search(notice) for notice in extraction.notices) and (extraction.access == "paywalled" or is_short):
        return True
    if extraction.access != "paywalled":
        return False
    if metadata.declared_words:
        return extraction.word_count < _TRUNCATED_SHARE_MAX * metadata.declared_words
    return is_short and extraction.text.rstrip().endswith(("…", "..."))
