"""Which reader a seed file gets: by its name, and by what it really holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from transforms.decoding import looks_binary, wide_encoding
from transforms.records import Document, Entry, Reject
from transforms.seeds.common import DOCUMENT_BYTES_LIMIT, FILE_BYTES_LIMIT, UNPACKED_BYTES_LIMIT, Place, reject
from transforms.seeds.feed import read_feed
from transforms.seeds.html import read_html
from transforms.seeds.jsonl import read_json_array, read_jsonl
from transforms.seeds.txt import read_text
from transforms.seeds.unpack import GZIP_MAGIC, UnpackError, archive_kind, gunzip

FORMATS = {
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xml": "feed",
    ".rss": "feed",
    ".atom": "feed",
    ".rdf": "feed",
}
"""Endings of seed files and what they promise; each may have ``.gz`` behind it."""

_KINDS_OF_RECORDS = ("jsonl", "json")
_BEFORE_ROOT = rb"(?:<\?(?:(?!\?>).)*\?>\s*|<!--(?:(?!-->).)*-->\s*)*"  # only one way to match: no backtracking
_HTML_START = re.compile(_BEFORE_ROOT + rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_FEED_START = re.compile(_BEFORE_ROOT + rb"<(?:rss|rdf:rdf|(?:[a-z]+:)?feed)\b", re.IGNORECASE | re.DOTALL)
_JSON_FEED = re.compile(rb'"version"\s*:\s*"https?:(?:\\?/){2}(?:www\.)?jsonfeed\.org', re.IGNORECASE)
_RECORD_START = re.compile(
    rb'\{\s*"(?:url|title|text|html|id|link|headline|published|source)[^"\n]*"\s*:', re.IGNORECASE
)
_HEAD_BYTES = 4096


def read_seed_file(path: str, data: bytes, *, now: datetime) -> Iterator[Document | Entry | Reject]:
    """Yields what a seed file holds; every record exactly once, as document, entry or reject. Never raises.

    Args:
        path: The file's name as it is to be stored; its ending says what the file is meant to be.
        data: All its bytes. Compressed files are known by their first bytes, whatever their name.
        now: The run's clock.
    """
    place = Place(path, now)
    kind, is_gzip_name = promised(path)
    warnings: tuple[str, ...] = ()
    if data.startswith(GZIP_MAGIC):
        try:
            data = gunzip(data, FILE_BYTES_LIMIT if kind in _KINDS_OF_RECORDS else UNPACKED_BYTES_LIMIT)
        except UnpackError as error:
            yield reject(place, error.reason, str(error), data)
            return
    elif is_gzip_name and data:
        warnings = ("not_compressed",)
    refused = _refusal(place, kind, data)
    if refused is not None:
        yield refused
        return
    assert kind is not None
    yield from _read(place, kind, data, warnings)


def promised(path: str) -> tuple[str | None, bool]:
    """What the ending promises, and whether it says that the file is compressed."""
    name = path.lower()
    is_gzip = name.endswith((".gz", ".gzip"))
    if is_gzip:
        name = name.rpartition(".")[0]
    return FORMATS.get(PurePosixPath(name).suffix), is_gzip


def _refusal(place: Place, kind: str | None, data: bytes) -> Reject | None:
    """The reject of a file that cannot be a seed at all."""
    if not data.strip():
        return reject(place, "empty", "the file is empty", data)
    packed = archive_kind(data)
    if packed is not None or data.startswith(GZIP_MAGIC):
        return reject(place, "unknown_type", f"{packed or 'compressed twice'}; unpack it first", data)
    if kind is None:
        return reject(place, "unknown_type", f"seeds end in {' '.join(FORMATS)}, each also with .gz", data)
    if data.startswith(b"%PDF-"):
        return reject(place, "binary", "a PDF, whatever its name says; save its text", data)
    if looks_binary(data):
        return reject(place, "binary", "the file holds binary data, whatever its name says", data)
    if kind in ("text", "html", "feed") and len(data) > DOCUMENT_BYTES_LIMIT:
        return reject(place, "too_big", f"{len(data):,} bytes; at most {DOCUMENT_BYTES_LIMIT:,} are read", data)
    return None


def _read(place: Place, kind: str, data: bytes, warnings: tuple[str, ...]) -> Iterator[Document | Entry | Reject]:
    found = _found(kind, data)
    if found != kind and not (kind == "json" and found in ("jsonl", "feed")):
        warnings = (*warnings, f"read_as:{found}")
    if found == "text":
        return read_text(place, data, warnings)
    if found == "html":
        return read_html(place, data, warnings)
    if found == "feed":
        return read_feed(place, data, warnings)
    whole = read_json_array(place, data, warnings) if kind == "json" or _first(data) == b"[" else None
    return read_jsonl(place, data, warnings) if whole is None else whole


def _found(kind: str, data: bytes) -> str:
    """What the first bytes say that a file is; its promise where they say nothing or too little."""
    head = _head(data)
    if kind == "json":
        return "feed" if _JSON_FEED.search(data[: 16 * _HEAD_BYTES]) else "jsonl"
    if kind != "feed" and _FEED_START.match(head):
        return "feed"
    if kind in ("text", "jsonl") and _HTML_START.match(head):
        return "html"
    if kind in ("text", "html") and _RECORD_START.match(head):
        return "jsonl"
    return kind


def _head(data: bytes) -> bytes:
    """The first bytes without mark and blanks, UTF-16 made readable enough to look for tags."""
    wide = wide_encoding(data)
    head = data[: _HEAD_BYTES + 3]
    if wide is not None:
        head = head.decode(wide, "ignore").encode("utf-8", "ignore")
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()


def _first(data: bytes) -> bytes:
    return _head(data)[:1]
