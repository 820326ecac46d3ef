"""From the bytes of a page to clean UTF-8, once: everything later works on these bytes.

How bytes of unknown make are read stands in ``transforms/decoding.py``; here are the things that only
pages have: declarations in header and mark-up, single broken bytes, inline images, oversized scripts.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from transforms.decoding import decode, known_encoding

PAGE_LIMIT_BYTES = 3 * 1024 * 1024
SCRIPT_STATE_LIMIT_BYTES = 10 * 1024 * 1024
STRUCTURED_DATA_LIMIT_BYTES = 2 * 1024 * 1024
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
_SCRIPT_START = re.compile(rb"<(script|style)\b", re.IGNORECASE)


class DecodedPage(NamedTuple):
    """A page as UTF-8 bytes without control characters.

    Attributes:
        html: Its mark-up without scripts (but structured data), styles and inline data.
        encoding: What it was in.
        is_cut: Whether only its beginning is here.
        with_scripts: Its mark-up with scripts, for the pages that carry their text in them.
    """

    html: bytes
    encoding: str
    is_cut: bool
    with_scripts: bytes


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
    whole = _cut_inline_data(html)
    html = _cut_scripts(whole)
    is_cut = len(html) > PAGE_LIMIT_BYTES
    if is_cut:
        html = html[:PAGE_LIMIT_BYTES].decode("utf-8", "ignore").encode()
    return DecodedPage(html, encoding, is_cut, whole[:SCRIPT_STATE_LIMIT_BYTES])


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
    """Takes scripts and styles out; structured data stays, unless it is over its limit."""
    kept, position = [], 0
    for start in _SCRIPT_START.finditer(html):
        if start.start() < position:
            continue
        tag = start[1].lower()
        inside = html.find(b">", start.end()) + 1
        stop = html.find(b"</" + tag, inside) if inside else -1
        if stop < 0:
            stop = _closing_any_case(html, tag, inside or len(html))
        is_data = tag == b"script" and b"ld+json" in html[start.end() : inside].lower()
        if is_data and stop - inside <= STRUCTURED_DATA_LIMIT_BYTES:
            kept.append(html[position:stop])
        else:
            kept.append(html[position : start.start()])
            stop = html.find(b">", stop) + 1 or len(html)
        position = stop
    kept.append(html[position:])
    return b"".join(kept)


def _closing_any_case(html: bytes, tag: bytes, inside: int) -> int:
    """An end tag in capitals, or the end of a page that never closes its script (as browsers read it)."""
    found = re.compile(rb"</" + tag, re.IGNORECASE).search(html, inside)
    return found.start() if found else len(html)
