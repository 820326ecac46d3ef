"""What the readers of all seed formats share: where a record lies, its reject and its document."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import NamedTuple

from transforms.decoding import wide_encoding
from transforms.records import Document, Entry, Reject
from transforms.rejects import reason_of
from transforms.urls import host_of, safe_to_show, url_key

PAYLOAD_BYTES = 2048
DOCUMENT_BYTES_LIMIT = 16 << 20
"""Largest text, page, saved feed or line that is taken; news is far below."""
UNPACKED_BYTES_LIMIT = 64 << 20
FILE_BYTES_LIMIT = 256 << 20
"""Largest file of records, compressed or not; it is held in memory."""
NO_SOURCE = "seeds"


class Place(NamedTuple):
    """Where a record lies and when it was read.

    Attributes:
        uri: The file's path, ``path#L12`` for a line.
        now: The run's clock.
    """

    uri: str
    now: datetime

    def line(self, number: int) -> Place:
        """Returns the place of a line, counted from 1."""
        return self._replace(uri=f"{self.uri}#L{number}")


def sha256_hex(data: bytes) -> str:
    """Returns the 64 hex digits of the sha256."""
    return hashlib.sha256(data).hexdigest()


def reject(place: Place, reason: str, detail: str, data: bytes, url: str | None = None) -> Reject:
    """Returns the reject of a file or record.

    Args:
        place: Where it lies.
        reason: A reason of stage ``read``.
        detail: The same in words, for people.
        data: The refused bytes.
        url: The record's address, if it has a good one.
    """
    return Reject(
        stage="read",
        reason=reason,
        detail=safe_to_show(detail),
        failed_at=place.now,
        retryable=reason_of("read", reason).retryable,
        url=url,
        input_uri=place.uri,
        body_sha256=sha256_hex(data),
        payload=_payload(data),
    )


def _payload(data: bytes) -> bytes:
    """The first bytes for a look, without passwords of addresses."""
    head = data[: 2 * PAYLOAD_BYTES]
    if b"@" not in head:
        return head[:PAYLOAD_BYTES]
    encoding = wide_encoding(head) or "latin-1"
    return safe_to_show(head.decode(encoding, "ignore")).encode(encoding, "ignore")[:PAYLOAD_BYTES]


def seed_entry(url: str | None, version: str, discovered_via: str, source_id: str | None = None) -> Entry:
    """Returns an entry that holds only what identifies it.

    Args:
        url: A fetchable address, if the record has one.
        version: Hex sha256 of the record's bytes; the key too, if there is no address.
        discovered_via: One of ``schema.DISCOVERED_VIA``.
        source_id: As the record says.
    """
    return Entry(
        url=url,
        url_key=url_key(url) if url else version,
        entry_version=version,
        source_id=source_id or (host_of(url) if url else "") or NO_SOURCE,
        discovered_via=discovered_via,
    )


def seed_document(
    place: Place,
    entry: Entry,
    kind: str,
    body: bytes,
    *,
    body_sha256: str,
    content_type: str,
    warnings: tuple[str, ...] = (),
) -> Document:
    """Returns the document of a record."""
    return Document(
        entry=entry,
        kind=kind,
        body=body,
        body_sha256=body_sha256,
        fetched_at=place.now,
        content_type=content_type,
        raw_uri=place.uri,
        warnings=tuple(dict.fromkeys(warnings)),
    )
