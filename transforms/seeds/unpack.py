"""Compressed seeds: judged by their first bytes, unpacked whole within a bound, or not at all."""

from __future__ import annotations

import zlib

GZIP_MAGIC = b"\x1f\x8b"
_ARCHIVES = (
    (b"PK\x03\x04", "a zip archive or office document"),
    (b"PK\x05\x06", "a zip archive"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a rar archive"),
)
_CHUNK_BYTES = 1 << 16
_UNPACKED_CHUNK_BYTES = 1 << 20
_MEMBERS_LIMIT = 20_000


class UnpackError(ValueError):
    """Compressed bytes that cannot be used.

    Attributes:
        reason: A reason of stage ``read``: ``truncated`` or ``too_big``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def gunzip(data: bytes, limit_bytes: int) -> bytes:
    """Returns what gzip bytes unpack to; members in a row are one file (RFC 1952), zeros behind them padding.

    Raises:
        UnpackError: If the bytes end too early, are damaged, or unpack to more than ``limit_bytes``. Nothing is
            returned of such a file.
    """
    out = bytearray()
    position = members = 0
    while position < len(data) and data[position : position + 1] != b"\0":
        members += 1
        if members > _MEMBERS_LIMIT:
            raise UnpackError("too_big", f"holds more than {_MEMBERS_LIMIT:,} gzip members")
        position = _unpack_member(data, position, out, limit_bytes)
    if data[position:].strip(b"\0"):
        raise UnpackError("truncated", "the compressed data is damaged: something follows its end")
    return bytes(out)


def _unpack_member(data: bytes, position: int, out: bytearray, limit_bytes: int) -> int:
    """Appends what one member unpacks to, and returns where the next begins."""
    unpacker = zlib.decompressobj(wbits=31)
    while not unpacker.eof:
        piece = data[position : position + _CHUNK_BYTES]
        try:
            unpacked = unpacker.decompress(piece, _UNPACKED_CHUNK_BYTES)
        except zlib.error as error:
            raise UnpackError("truncated", "the compressed data is damaged; nothing of it is used") from error
        used = len(piece) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
        position += used
        out += unpacked
        if len(out) > limit_bytes:
            raise UnpackError("too_big", f"unpacks to more than {limit_bytes:,} bytes; cut the file")
        if not unpacker.eof and not unpacked and not used:
            raise UnpackError("truncated", "the compressed file ends too early; nothing of it is used")
    return position


def archive_kind(data: bytes) -> str | None:
    """Returns in words what other compressed or packed file this is, or ``None``."""
    return next((words for magic, words in _ARCHIVES if data.startswith(magic)), None)
