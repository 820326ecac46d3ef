"""How much text a seed file will give, estimated before it is read: by its size and its first bytes."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from transforms.remote.bucket import is_remote
from transforms.remote.files import size_of
from transforms.seeds.formats import promised
from transforms.seeds.unpack import GZIP_MAGIC

_HEAD_BYTES = 1 << 16
_UNPACKED_HEAD_BYTES = 1 << 19
_GZIP_FACTOR = 5  # pages and texts of the press shrink to a fifth
_HTML_SHARE = 16  # of the bytes of a news page a twentieth is text; what is stored beside it is counted too
_END_TAG = re.compile(rb"<\\?/(?:title|script|style|head|p|div|span|a|li)>", re.IGNORECASE)


def text_bytes_of(path: str) -> int:
    """Returns about how many bytes of text a seed file holds.

    The head of a local file of records is looked at to see whether they hold pages; a remote one, of which each
    look costs a request, counts as text.

    Args:
        path: A seed file, local or remote.

    Returns:
        Bytes; 0 if the file cannot be read, as reading it will say why.
    """
    try:
        size_bytes = size_of(path)
        head = b"" if is_remote(path) else _head_of(path)
    except OSError:
        return 0
    kind, is_gzip = promised(path)
    if head.startswith(GZIP_MAGIC):
        is_gzip, head = True, _unpacked(head)
    has_pages = kind == "html" or _END_TAG.search(head) is not None
    return size_bytes * (_GZIP_FACTOR if is_gzip else 1) // (_HTML_SHARE if has_pages else 1)


def _head_of(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_HEAD_BYTES)


def _unpacked(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _UNPACKED_HEAD_BYTES)
    except zlib.error:
        return b""
