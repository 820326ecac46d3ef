"""From the bytes of a page to clean UTF-8, once: everything later works on these bytes.

How bytes of unknown make are read stands in ``transforms/decoding.py``; here are the things that only
pages have: declarations in header and mark-up, single broken bytes, inline images, oversized scripts.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from transforms.decoding import decode, known_encoding

PAGE_LIMIT_BYTES = 5 * 1024 * 1024
SCRIPT_LIMIT_BYTES = 512 * 1024
_STRUCTURED_DATA_LIMIT_BYTES = 4 * SCRIPT_LIMIT_BYTES
_INLINE_DATA_MIN_BYTES = 1024
_DECLARATION_SPAN_BYTES = 4096
_BROKEN_SHARE_MAX = 0.01

_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
# Characters that no XML tree can hold (XML 1.0, production 2), as bytes of UTF-8.
_CONTROL_BYTES = bytes(set(range(0x20)) - set(b"\t\n\r\x0c"))
_NON_CHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")
_INLINE_DATA = re.compile(rb"data:[a-zA-Z0-9.+/;=_-]{0,100},[^\"'()<>\s]{%d,}" % _INLINE_DATA_MIN_BYTES)
_SCRIPT_START = re.compile(rb"<script\b([^>]{0,2000})>", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</script", re.IGNORECASE)


class DecodedPage(NamedTuple):
    """A page as UTF-8 bytes without inline data and control characters; ``is_cut`` if only its beginning is here."""

    html: bytes
    encoding: str
    is_cut: bool


def decode_page(body: bytes, content_type: str | None = None) -> DecodedPage | None:
    """Decodes a page and cuts what would only cost time.

    Args:
        body: The bytes as received, after content coding.
        content_type: The Content-Type header, for its charset parameter.

    Returns:
        ``None`` if the bytes are binary or in no encoding that could be made sure of.
    """
    read = _to_utf8(body, content_type)
    if read is None:
        return None
    html, encoding = read
    html = html.translate(None, _CONTROL_BYTES)
    for character in _NON_CHARACTERS:
        html = html.replace(character, b"")
    html = _cut_scripts(_cut_inline_data(html))
    if len(html) <= PAGE_LIMIT_BYTES:
        return DecodedPage(html, encoding, False)
    return DecodedPage(html[:PAGE_LIMIT_BYTES].decode("utf-8", "ignore").encode(), encoding, True)


def _to_utf8(body: bytes, content_type: str | None) -> tuple[bytes, str] | None:
    html = body.removeprefix(codecs.BOM_UTF8)
    if _is_plain_utf8(html):
        return html, "utf-8"
    declared = _declared_encoding(body, content_type)
    if declared in (None, "utf-8"):
        text = html.decode("utf-8", "replace")
        if _is_mostly_sound(text, declared):
            return text.encode(), "utf-8"
    decoded = decode(body, declared)
    if decoded is not None:
        return decoded[0].encode("utf-8", "replace"), decoded[1]
    if declared is None or b"\0" in body[:_DECLARATION_SPAN_BYTES]:
        return None
    # A label and some bytes that break its rules: the rest is still the page.
    return body.decode(declared, "replace").encode("utf-8", "replace"), declared


def _is_plain_utf8(html: bytes) -> bool:
    """Valid UTF-8, and neither UTF-16 nor ISO-2022-JP, which are valid UTF-8 by their bytes."""
    if b"\0" in html or b"\x1b$" in html:
        return False
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_sound(text: str, declared: str | None) -> bool:
    """Tells whether a page is UTF-8 but for single bytes (cut characters, foreign inserts)."""
    broken = text.count("\ufffd")
    if "\0" in text[:_DECLARATION_SPAN_BYTES] or "\x1b$" in text or not text.count("\ufffd"):
        return False
    if declared:
        return broken <= len(text) * _BROKEN_SHARE_MAX
    beyond_ascii = len(text.encode()) - len(text)
    return broken * 30 <= beyond_ascii


def _declared_encoding(body: bytes, content_type: str | None) -> str | None:
    """The first of header and mark-up that names an encoding; a wide one is left to the bytes themselves."""
    start = body[:_DECLARATION_SPAN_BYTES]
    in_header = _HEADER_CHARSET.search(content_type or "")
    in_page = _META_CHARSET.search(start) or _XML_CHARSET.search(start)
    for label in (in_header[1] if in_header else None, in_page[1].decode("ascii", "replace") if in_page else None):
        name = known_encoding(label)
        if name and not name.startswith(("utf-16", "utf-32")):
            return name
    return None


def _cut_inline_data(html: bytes) -> bytes:
    if html.find(b"data:") < 0:
        return html
    return _INLINE_DATA.sub(b"data:,", html)


def _cut_scripts(html: bytes) -> bytes:
    """Empties scripts over the limit; structured data may be longer."""
    if len(html) <= SCRIPT_LIMIT_BYTES:
        return html
    kept, position = [], 0
    for start in _SCRIPT_START.finditer(html):
        if start.start() < position:
            continue
        end = _SCRIPT_END.search(html, start.end())
        stop = end.start() if end else len(html)
        limit = _STRUCTURED_DATA_LIMIT_BYTES if b"ld+json" in start[1] else SCRIPT_LIMIT_BYTES
        if stop - start.end() > limit:
            kept.append(html[position : start.end()])
            position = stop
    kept.append(html[position:])
    return b"".join(kept)
