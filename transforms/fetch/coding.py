"""Content codings of HTTP bodies: gzip, deflate, br, zstd, stacked or lied about, within a size limit.

Every decoder hands out small pieces, so that a body of a kilobyte that unpacks to a gigabyte costs the
limit and no more (RFC 9110 section 8.4; RFC 9659 for the window of zstd).
"""

from __future__ import annotations

import os
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_MAGIC = b"\x1f\x8b"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_FIRST_BYTES = (0x28, *range(0x50, 0x60))  # of a frame and of one to skip (RFC 8878)
_STEP_BYTES = 1 << 16
_USUAL_BYTES = 1 << 20  # nearly all pages are smaller
_AT_ONCE = threading.BoundedSemaphore(min(os.cpu_count() or 1, 8))  # more decoders only take more room
_STACK_LIMIT = 5
_MEMBER_LIMIT = 4096  # gzip members or zstd frames of one body: millions of empty ones are an attack
_ZSTD_WINDOW_LOG = 23  # 8 MB, what RFC 9659 lets a sender use
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # hardly a compressed kilobyte is without one
_NO_CODINGS = ("", "identity", "none", "binary", "utf-8", "chunked")


class TooBigError(Exception):
    """The decoded body is over the limit."""


class BadCodingError(Exception):
    """The body cannot be decoded by what its header says."""


def decode_body(body: bytes, content_encoding: str, limit_bytes: int, cut: bool = False) -> bytes:
    """Undoes the codings of a body, the last one first.

    A coding that is announced but was plainly not applied (no gzip magic, or plain text) is passed over.

    Args:
        body: The bytes as they came.
        content_encoding: Value of the header, such as ``gzip`` or ``deflate, br``; case does not matter.
        limit_bytes: Size that neither the result nor what lies between two codings may exceed.
        cut: Return the first ``limit_bytes`` instead of raising, and what there is of a stream that ends too early.

    Raises:
        TooBigError: If it does.
        BadCodingError: If the stream is damaged or ends too early, or more codings are stacked than anybody needs.
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in _NO_CODINGS]
    if len(names) > _STACK_LIMIT:
        raise BadCodingError(f"{len(names)} codings on top of each other")
    if not body:
        return body
    for name in reversed(names):
        decoder = _DECODERS.get(name)
        if decoder is None or (name in _MAGIC and not body.startswith(_MAGIC[name])):
            continue
        try:
            with _AT_ONCE:
                body = _gather(decoder, body, limit_bytes, cut)
        except BadCodingError:
            if name in _MAGIC or not _looks_like_text(body):
                raise
    if len(body) > limit_bytes and not cut:
        raise TooBigError(f"more than {limit_bytes} bytes")
    return body[:limit_bytes]


def unpack_gzip(body: bytes, limit_bytes: int) -> bytes:
    """Unpacks a body that is a .gz file by its first bytes, whatever its header says; others come back as they are.

    Raises:
        TooBigError: If it unpacks to more than the limit.
        BadCodingError: If the file is damaged.
    """
    if not body.startswith(GZIP_MAGIC):
        return body
    with _AT_ONCE:
        return _gather(_gzip_pieces, body, limit_bytes, cut=False)


def _gather(decoder: Callable[[bytes], Iterator[bytes]], body: bytes, limit_bytes: int, cut: bool) -> bytes:
    """Puts the pieces together. What grows large is measured, and unpacked again if it fits: a bomb takes no room."""
    pieces = decoder(body)
    if cut:
        return _beginning(pieces, limit_bytes)
    out = bytearray()
    for piece in pieces:
        out += piece
        if len(out) > min(_USUAL_BYTES, limit_bytes):
            break
    else:
        return bytes(out)
    size = len(out)
    del out
    for piece in pieces:
        size += len(piece)
        if size > limit_bytes:
            break
    if size > limit_bytes:
        raise TooBigError(f"more than {limit_bytes} bytes")
    return b"".join(decoder(body))


def _beginning(pieces: Iterator[bytes], limit_bytes: int) -> bytes:
    out = bytearray()
    try:
        for piece in pieces:
            out += piece
            if len(out) >= limit_bytes:
                break
    except BadCodingError:
        if not out:
            raise
    return bytes(out[:limit_bytes])


def _looks_like_text(body: bytes) -> bool:
    return _CONTROL.search(body[:1024]) is None


def _slices(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _STEP_BYTES):
        yield body[start : start + _STEP_BYTES]


def _gzip_pieces(body: bytes) -> Iterator[bytes]:
    """Reads all members of a gzip stream (RFC 1952); what follows the last one is passed over."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    members = 0
    for data in _slices(body):
        while data:
            if inflater.eof:
                members += 1
                if not data.startswith(GZIP_MAGIC[:1]):
                    return
                if members > _MEMBER_LIMIT:
                    raise BadCodingError(f"more than {_MEMBER_LIMIT} gzip members")
                inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
            try:
                yield from _inflate(inflater, data)
            except BadCodingError:
                if members:  # bytes behind the last member that only look like another
                    return
                raise
            data = inflater.unused_data
    if not inflater.eof:
        raise BadCodingError("the gzip stream ends too early")


def _deflate_pieces(body: bytes) -> Iterator[bytes]:
    """Reads zlib streams (RFC 1950), which ``deflate`` means, and raw ones (RFC 1951), which some servers send."""
    is_zlib = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    inflater = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    for data in _slices(body):
        yield from _inflate(inflater, data)
        if inflater.eof:
            return
    raise BadCodingError("the deflate stream ends too early")


def _inflate(inflater: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Feeds one slice and takes out all that it gives, in steps."""
    while True:
        try:
            piece = inflater.decompress(data, _STEP_BYTES)
        except zlib.error as error:
            raise BadCodingError("the compressed stream is damaged") from error
        if piece:
            yield piece
        data = inflater.unconsumed_tail
        if inflater.eof or (not data and len(piece) < _STEP_BYTES):
            return


def _brotli_pieces(body: bytes) -> Iterator[bytes]:
    decompressor = brotli.Decompressor()
    try:
        for data in _slices(body):
            piece = decompressor.process(data, output_buffer_limit=_STEP_BYTES)
            while piece:
                yield piece
                piece = decompressor.process(b"", output_buffer_limit=_STEP_BYTES)
        if decompressor.is_finished():
            return
    except brotli.error as error:
        raise BadCodingError("the brotli stream is damaged") from error
    raise BadCodingError("the brotli stream ends too early")


def _zstd_pieces(body: bytes) -> Iterator[bytes]:
    """Reads all frames; what follows the last one is passed over."""
    frames = 0
    decompressor = _zstd_decompressor()
    for data in _slices(body):
        while data:
            if decompressor.eof:
                frames += 1
                if data[0] not in _ZSTD_FIRST_BYTES:
                    return
                if frames > _MEMBER_LIMIT:
                    raise BadCodingError(f"more than {_MEMBER_LIMIT} zstd frames")
                decompressor = _zstd_decompressor()
            try:
                yield decompressor.decompress(data, _STEP_BYTES)
                while not (decompressor.needs_input or decompressor.eof):
                    yield decompressor.decompress(b"", _STEP_BYTES)
            except zstd.ZstdError as error:
                if frames:
                    return
                raise BadCodingError("the zstd stream is damaged, or wants too much memory") from error
            data = decompressor.unused_data if decompressor.eof else b""
    if not decompressor.eof:
        raise BadCodingError("the zstd stream ends too early")


def _zstd_decompressor() -> Any:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})


_DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gzip_pieces,
    "x-gzip": _gzip_pieces,
    "deflate": _deflate_pieces,
    "br": _brotli_pieces,
    "zstd": _zstd_pieces,
}
_MAGIC = {"gzip": GZIP_MAGIC, "x-gzip": GZIP_MAGIC, "zstd": _ZSTD_MAGIC}
