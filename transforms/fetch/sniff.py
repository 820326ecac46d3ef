"""Whether an answer is a web page: by its bytes first, by its media type second, since servers lie."""

from __future__ import annotations

import re

_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_SNIFFED_BYTES = 4096
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")

# First bytes of what is never a page (WHATWG MIME Sniffing, and the formats that news sites link to).
_BINARY_MAGIC = (
    *(b"%PDF-", b"%!PS", b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"RIFF"),
    *(b"\0\0\1\0", b"OggS", b"ID3", b"fLaC", b"\x1aE\xdf\xa3", b"FLV\1", b"\0\0\1\xba", b"\0\0\1\xb3", b"FORM"),
    *(
        b"PK\3\4",
        b"PK\5\6",
        b"\x1f\x8b",
        b"BZh",
        b"\xfd7zXZ\0",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\7",
        b"\x28\xb5\x2f\xfd",
    ),
    *(b"wOFF", b"wOF2", b"\0\1\0\0", b"OTTO", b"\xd0\xcf\x11\xe0", b"{\\rtf", b"\x7fELF", b"SQLite format 3\0"),
)
_HTML_TAG = re.compile(
    rb"<(?:!doctype\s+html|(?:html|head|body|title|meta|link|base|script|style|noscript|div|main|article|section|header"
    rb"|nav|h[1-6]|p|span|table|a|img|iframe|b|br|ul|center|font)[\s/>])",
    re.IGNORECASE,
)


def is_page(content_type: str | None, body: bytes) -> bool:
    """Tells whether a body may be a web page.

    A body that starts like HTML is one whatever its type says, an image or a PDF is none whatever its type
    says; for what is neither the type decides, and no type at all means no page. An empty body has no bytes
    to contradict its type.

    Args:
        content_type: Value of the header.
        body: Decoded.
    """
    declared = (content_type or "").partition(";")[0].strip().lower()
    head = body[:_SNIFFED_BYTES]
    if head.startswith(_BINARY_MAGIC) or head[4:8] == b"ftyp":
        return False
    if head.startswith(_BOMS[1:]) or _is_wide(head):
        head = head.replace(b"\0", b"")
    for mark in _BOMS:
        head = head.removeprefix(mark)
    starts_like_html = _HTML_TAG.match(_behind_prologue(head)) is not None
    if b"\0" in head.rstrip(b"\0") and not starts_like_html:
        return False
    return starts_like_html or declared in _PAGE_TYPES


def _behind_prologue(head: bytes) -> bytes:
    """Passes over white space, comments and an XML declaration."""
    head = head.lstrip()
    while True:
        for opening, closing in ((b"<!--", b"-->"), (b"<?xml", b"?>")):
            if head.startswith(opening):
                head = head.partition(closing)[2].lstrip()
                break
        else:
            return head


def _is_wide(head: bytes) -> bool:
    """Tells whether a page without byte order mark is UTF-16: each second byte of its first tag is zero."""
    return head[:4] in (b"<\0!\0", b"<\0h\0", b"<\0H\0", b"\0<\0!", b"\0<\0h", b"\0<\0H", b"<\0?\0", b"\0<\0?")
