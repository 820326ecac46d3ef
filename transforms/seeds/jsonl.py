"""Seeds that are JSON: an object a line, or one array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from transforms.dates import read_date
from transforms.decoding import decode
from transforms.language import language_tag
from transforms.records import Document, Entry, Reject
from transforms.seeds.common import DOCUMENT_BYTES_LIMIT, Place, reject, seed_document, seed_entry, sha256_hex
from transforms.seeds.lines import decoded_lines
from transforms.seeds.values import BadRecordError, Fields, looks_like_html, parse_object
from transforms.tag.language_codes import nearest_language_code
from transforms.urls import to_fetchable

_DATE_NAMES = (
    "published_at",
    "published",
    "date_published",
    "publication_date",
    "published_date",
    "pub_date",
    "date",
    "timestamp",
)

Record = Document | Entry | Reject


def read_jsonl(place: Place, data: bytes, warnings: tuple[str, ...] = ()) -> Iterator[Record]:
    """Yields a record for each line that is not blank: a document, an address to be fetched, or a reject.

    A file without such lines is one reject.
    """
    is_empty = True
    for line in decoded_lines(data):
        is_empty = False
        where = place.line(line.number)
        if len(line.data) > DOCUMENT_BYTES_LIMIT:
            detail = f"the line has {len(line.data):,} bytes, more than {DOCUMENT_BYTES_LIMIT:,}"
            yield reject(where, "too_big", detail, line.data)
        elif line.text is None:
            yield reject(where, "bad_encoding", "no encoding fits the line; save the file as UTF-8", line.data)
        else:
            yield read_record(where, line.text, line.data, warnings + line.warnings)
    if is_empty:
        yield reject(place, "empty", "the file holds blank lines only", data)


def read_json_array(place: Place, data: bytes, warnings: tuple[str, ...] = ()) -> Iterator[Record] | None:
    """Returns the records of a file that is one JSON array of objects, or one object over several lines.

    Returns:
        ``None`` if the file is neither, so that it has to be read line by line.
    """
    decoded = decode(data) if len(data) <= DOCUMENT_BYTES_LIMIT else None
    if decoded is None:
        return None
    try:
        whole = json.loads(decoded[0], strict=False)
    except (ValueError, RecursionError):
        return None
    records = whole if isinstance(whole, list) else [whole]
    if not records or not all(isinstance(record, dict) for record in records):
        return None
    return _read_whole_records(place, records, warnings)


def _read_whole_records(place: Place, records: list[Any], warnings: tuple[str, ...]) -> Iterator[Record]:
    for number, record in enumerate(records, 1):
        text = json.dumps(record, ensure_ascii=True, sort_keys=True)
        where = place._replace(uri=f"{place.uri}#{number}") if len(records) > 1 else place
        yield read_record(where, text, text.encode("ascii"), warnings)


def read_record(place: Place, text: str, data: bytes, warnings: tuple[str, ...] = ()) -> Record:
    """Returns what a record is: a document, an address to be fetched, or a reject with its reason.

    Args:
        place: Where it lies.
        text: The line.
        data: The line's bytes, which identify it.
        warnings: What was odd up to here.
    """
    try:
        record, mended = parse_object(text)
    except BadRecordError as error:
        return reject(place, "bad_json", str(error), data)
    fields = Fields(record, warnings + mended)
    try:
        return _read_fields(place, fields, data)
    except BadRecordError as error:
        return reject(place, "bad_record", str(error), data)


def _read_fields(place: Place, fields: Fields, data: bytes) -> Record:
    announced = fields.line("url", "link", "permalink", "address")
    url = to_fetchable(announced) if announced else None
    text = fields.long_text("text", "body", "content_text", "plain_text", "maintext", "article_text", "full_text")
    html = fields.long_text("html", "content_html", "raw_html")
    content = None if text or html else fields.long_text("content")
    if content is not None:
        text, html = (None, content) if looks_like_html(content) else (content, None)
    if announced and url is None:
        if not text and not html:
            return reject(place, "bad_url", f"no http(s) address: {announced[:200]}", data)
        fields.warnings.append("bad_url")
    digest = sha256_hex(data)
    if not text and not html:
        if url is None:
            return reject(place, "bad_record", "the record has neither text nor html nor url", data)
        return _with_fields(seed_entry(url, digest, "urls"), fields, place.now)._replace(entry_version=None)
    entry = _with_fields(seed_entry(url, digest, "seed_jsonl"), fields, place.now)
    return seed_document(
        place,
        entry,
        "page" if html else "text",
        (html or text or "").encode("utf-8", "replace"),
        body_sha256=digest,
        content_type=f"text/{'html' if html else 'plain'}; charset=utf-8",
        warnings=tuple(fields.warnings),
    )


def _with_fields(entry: Entry, fields: Fields, now: datetime) -> Entry:
    raw = fields.date_text(*_DATE_NAMES)
    published, failure = read_date(raw, now=now)
    if failure in ("unreadable", "implausible"):
        fields.warnings.append(f"published_{failure}")
    updated = read_date(fields.date_text("updated_at", "updated", "modified_at", "date_modified"), now=now)[0]
    return entry._replace(
        source_id=fields.line("source_id") or entry.source_id,
        source_name=fields.line("source_name", "source", "publisher", "site_name"),
        entry_id=fields.line("entry_id", "id", "guid"),
        title=fields.line("title", "headline"),
        summary=fields.line("summary", "description", "abstract", "excerpt"),
        authors=fields.lines("authors", "author", "byline"),
        published_at=published.instant if published else None,
        published_raw=raw and fields.as_written(*_DATE_NAMES),
        published_zone_known=published.zone_known if published else False,
        published_precision=published.precision if published else "none",
        updated_at=updated.instant if updated else None,
        language=_language(fields),
        categories=fields.lines("categories", "tags", "keywords"),
        image_url=fields.line("image_url", "image"),
    )


def _language(fields: Fields) -> str | None:
    """The declared language: a tag, or the name of a large language; what is neither is dropped with a warning."""
    declared = fields.line("language", "lang")
    if declared is None:
        return None
    tag = language_tag(declared) or nearest_language_code(declared)
    if tag is None:
        fields.warnings.append("bad_field:language")
    return tag
