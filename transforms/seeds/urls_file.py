"""Lists of page addresses, one a line, as people and spreadsheets write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from transforms.decoding import looks_binary
from transforms.records import Entry, Reject
from transforms.seeds.common import UNPACKED_BYTES_LIMIT, Place, reject, seed_entry, sha256_hex
from transforms.seeds.lines import decoded_lines
from transforms.seeds.unpack import GZIP_MAGIC, UnpackError, archive_kind, gunzip
from transforms.urls import URL_LENGTH_LIMIT, to_fetchable

_COMMENT = re.compile(r"\s+#.*$")
_ANOTHER = re.compile(r"\s+https?://", re.IGNORECASE)
_HEADINGS = frozenset(("url", "urls", "link", "links", "address", "href", "uri"))
_QUOTES = "\"'<>,;\ufeff "


def read_urls(path: str, data: bytes, *, now: datetime) -> Iterator[Entry | Reject]:
    """Yields an entry for each address of a list, and a reject for each other line. Never raises.

    Blank lines, lines that begin with ``#`` and a heading such as ``url`` are no items; of a line with tabs the first
    column is read, and quotes around an address go. Any encoding and line end that ``decoded_lines`` knows.

    Args:
        path: The file's name as it is to be stored.
        data: All its bytes, compressed with gzip or not.
        now: The run's clock.
    """
    place = Place(path, now)
    if data.startswith(GZIP_MAGIC):
        try:
            data = gunzip(data, UNPACKED_BYTES_LIMIT)
        except UnpackError as error:
            yield reject(place, error.reason, str(error), data)
            return
    if not data.strip():
        yield reject(place, "empty", "the list is empty", data)
        return
    if looks_binary(data):
        detail = f"{archive_kind(data) or 'binary data'}; a list of addresses is a text file"
        yield reject(place, "binary", detail, data)
        return
    for line in decoded_lines(data):
        item = _item_of(place.line(line.number), line.text, line.data, is_first=line.number == 1)
        if item is not None:
            yield item


def _item_of(place: Place, text: str | None, data: bytes, *, is_first: bool) -> Entry | Reject | None:
    if text is None:
        return reject(place, "bad_encoding", "no encoding fits the line; save the file as UTF-8", data)
    written = text.strip("\ufeff \t")
    if not written or written.startswith("#"):
        return None
    written = _COMMENT.sub("", written.split("\t")[0]).strip(_QUOTES)
    if is_first and written.lower() in _HEADINGS:
        return None
    if len(written) > URL_LENGTH_LIMIT:
        return reject(place, "bad_url", f"the address is longer than {URL_LENGTH_LIMIT:,} characters", data)
    if _ANOTHER.search(written):
        return reject(place, "bad_url", f"more than one address in the line: {written[:200]}", data)
    url = to_fetchable(written)
    if url is None:
        return reject(place, "bad_url", f"no http(s) address: {written[:200]}", data)
    return seed_entry(url, sha256_hex(data), "urls")._replace(entry_version=None)
