"""Seeds that are saved web pages. Their address, if they name one, is found by extraction."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.decoding import looks_binary
from transforms.records import Document, Reject
from transforms.seeds.common import Place, reject, seed_document, seed_entry, sha256_hex


def read_html(place: Place, data: bytes, warnings: tuple[str, ...] = ()) -> Iterator[Document | Reject]:
    """Yields the page as it is, for extraction decodes it, or its reject."""
    if looks_binary(data):
        yield reject(place, "binary", "the file holds binary data, not HTML", data)
        return
    digest = sha256_hex(data)
    yield seed_document(
        place,
        seed_entry(None, digest, "seed_html"),
        "page",
        data,
        body_sha256=digest,
        content_type="text/html",
        warnings=warnings,
    )
