"""Damage that keeps feeds from being XML, mended in the bytes before a parser sees them.

Undeclared entities and prefixes, bare ``&`` and ``<``, attributes without quotes, elements never closed,
character references that XML forbids, documents cut off in the middle. Everything is one pass over a
bounded number of places; what is left of the damage the parser's recovery deals with.
"""

from __future__ import annotations

import html
import html.entities
import itertools
import re
from xml.sax.saxutils import escape, quoteattr

PLACE_LIMIT = 100_000
"""Damaged places that are mended in one document; it ends where there are more."""

SIZE_LIMIT = 4 * 1024 * 1024
"""Bytes of a damaged document that are looked at."""

_ENTITY_GROWTH_LIMIT = 1_000_000
_TAG_LENGTH_LIMIT = 20_000

_DECLARATION = re.compile(
    rb"<!ENTITY\s+([\w.-]{1,60})\s+(?:\"([^\"]{0,500})\"|'([^']{0,500})'|(?:SYSTEM|PUBLIC)\b)", re.IGNORECASE
)
_PLAIN_VALUE = re.compile(r"(?:[^<&]|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|lt|gt|amp|quot|apos);)*", re.IGNORECASE)
_AMPERSAND = (
    rb"&(?!(?:lt|gt|amp|quot|apos);)"
    rb"(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8});(?:&#(?:[0-9]{5}|[xX][dD][c-fC-F][0-9a-fA-F]{2});)?"
    rb"|[A-Za-z][\w.-]{0,59};)?"
)
_IN_VALUE = re.compile(_AMPERSAND)
_PLACE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?[^<>]*\?>|</?[A-Za-z_][^<>]*>|<|" + _AMPERSAND, re.DOTALL
)
_REFERENCE = re.compile(rb"&#(?:([0-9]{1,9})|[xX]([0-9a-fA-F]{1,8}));")
_ATTRIBUTE = re.compile(rb"([\s\"'])([A-Za-z_][\w:.-]*)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_WHOLE_TAG = re.compile(
    rb"<[A-Za-z_][\w:.-]*(?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:\"[^\"&]*\"|'[^'&]*'))*\s*/?>|</[A-Za-z_][\w:.-]*\s*>"
)
_PREFIX = re.compile(rb"<([A-Za-z_][\w.-]{0,30}):[A-Za-z_]")
_ROOT_NAME = re.compile(rb"<[A-Za-z_][\w:.-]*")

_LEAVES = rb"title|link|guid|pubdate|author|category|comments|description|id|updated|published|language|ttl"
_NEIGHBOURS = rb"item|entry|channel|feed|rss|enclosure|source|creator|date|encoded|content|summary"
_UNCLOSED = re.compile(
    rb"<((?:[\w.-]{1,20}:)?(?:" + _LEAVES + rb"))(\s[^<>]*)?(?<!/)>([^<]*)"
    rb"(?=</?(?:[\w.-]{1,20}:)?(?:" + _LEAVES + rb"|" + _NEIGHBOURS + rb")[\s>/])"
    rb"(?!</\1\s*>)",
    re.IGNORECASE,
)
_END = re.compile(rb"</(?:[\w.-]{1,20}:)?(?:rss|feed|rdf|urlset|sitemapindex|channel|entry)\s*>", re.IGNORECASE)

# Prefixes that feeds use without declaring them.
KNOWN_PREFIXES = {
    "media": "http://search.yahoo.com/mrss/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "atom": "http://www.w3.org/2005/Atom",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}
UNDECLARED = "urn:undeclared:"
"""Namespace that a prefix gets if it is neither declared nor known."""


def entity_declarations(head: bytes) -> dict[str, str]:
    """Returns the entities that a document type declares.

    One that holds other entities or markup, or that lies outside, is empty: so nothing can grow, and nothing is loaded.

    Args:
        head: What stands before the first element.
    """
    found: dict[str, str] = {}
    for match in itertools.islice(_DECLARATION.finditer(head[:200_000]), 200):
        value = (match[2] or match[3] or b"").decode("utf-8", "replace")
        plain = html.unescape(value) if _PLAIN_VALUE.fullmatch(value) else ""
        found.setdefault(match[1].decode("ascii", "replace"), plain)
    return found


def is_cut_off(data: bytes) -> bool:
    """Tells whether the closing tag of the document is missing."""
    return _END.search(data[-4096:]) is None


def without_cut_end(data: bytes) -> bytes:
    """Takes away the element of a document that was cut off in it: half an address is a wrong one."""
    opened = data.rfind(b"<![CDATA[")
    inside = opened > data.rfind(b"]]>")
    if inside:
        data = data[:opened]
    last = data.rfind(b"<")
    if last > data.rfind(b">"):
        if data.startswith(b"</", last):
            return data[:last]
        data = data[:last]
        last = data.rfind(b"<")
    tag, _, text = data[last:].partition(b">")
    is_open = last >= 0 and not tag.startswith((b"</", b"<!")) and not tag.endswith(b"/")
    return data[:last] if is_open and (inside or text.strip()) else data


def repair(data: bytes, entities: dict[str, str]) -> bytes:
    """Returns a document with its damage mended; see the module.

    Args:
        data: From the first element on, UTF-8.
        entities: What its document type declared.
    """
    data = data[:SIZE_LIMIT]
    if is_cut_off(data):
        data = without_cut_end(data)
    mender = _Mender(entities)
    parts: list[bytes] = []
    position = changes = 0
    for match in _PLACE.finditer(data):
        mended = mender.mend(match)
        if mended == match[0]:
            continue
        parts += [data[position : match.start()], mended]
        position = match.end()
        changes += 1
        if changes == PLACE_LIMIT:
            return _declare_prefixes(b"".join(parts))
    parts.append(data[position:])
    data = b"".join(parts)
    return _declare_prefixes(_UNCLOSED.sub(rb"<\1\2>\3</\1>", data, count=PLACE_LIMIT))


class _Mender:
    """Mends one document; counts how much its entities let it grow."""

    def __init__(self, entities: dict[str, str]) -> None:
        self._entities = entities
        self._growth = 0

    def mend(self, match: re.Match[bytes]) -> bytes:
        place = match[0]
        if place.startswith(b"<!["):
            return place if place.endswith(b"]]>") else place + b"]]>"
        if place.startswith((b"<!--", b"<?")):
            return b"\n" * place.count(b"\n")  # lines of what follows stay what they are
        if place.startswith(b"<"):
            return b"&lt;" if place == b"<" else self._mend_tag(place)
        return self._mend_reference(match)

    def _mend_tag(self, tag: bytes) -> bytes:
        """Puts quotes around attribute values and mends the references in them."""
        if len(tag) > _TAG_LENGTH_LIMIT or _WHOLE_TAG.fullmatch(tag):
            return tag
        end = b"/>" if tag.endswith(b"/>") else b">"
        return _ATTRIBUTE.sub(self._mend_attribute, tag[: -len(end)]) + end

    def _mend_attribute(self, match: re.Match[bytes]) -> bytes:
        value = match[3]
        if len(value) < 2 or value[:1] not in (b'"', b"'"):
            value = b'"' + value.rstrip(b"/").replace(b'"', b"") + b'"'
        value = value.replace(b"<", b"&lt;")
        return match[1] + match[2] + b"=" + _IN_VALUE.sub(self._mend_reference, value)

    def _mend_reference(self, match: re.Match[bytes]) -> bytes:
        place = match[0]
        if place == b"&":
            return b"&amp;"
        if place.startswith(b"&#"):
            return _mend_numbers(place)
        name = place[1:-1].decode("utf-8", "replace")
        if name in self._entities:
            self._growth += len(self._entities[name])
            return _escaped(self._entities[name]) if self._growth <= _ENTITY_GROWTH_LIMIT else b""
        text = html.entities.html5.get(f"{name};") or html.entities.html5.get(f"{name.lower()};")
        return _escaped(text) if text else b"&amp;" + place[1:]


def _escaped(text: str) -> bytes:
    return escape(text, {'"': "&quot;", "'": "&apos;"}).encode()


def _mend_numbers(place: bytes) -> bytes:
    """Character references that XML forbids: surrogate pairs are joined, C1 codes are Windows-1252, the rest goes."""
    codes = [int(match[1] or int(match[2], 16)) for match in _REFERENCE.finditer(place)]
    if len(codes) == 2 and 0xD800 <= codes[0] < 0xDC00 <= codes[1] < 0xE000:
        return chr(0x10000 + ((codes[0] - 0xD800) << 10) + (codes[1] - 0xDC00)).encode()
    return b"".join(_character(code) for code in codes)


def _character(code: int) -> bytes:
    if 0x80 <= code < 0xA0:
        return bytes([code]).decode("cp1252", "ignore").encode()
    if code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000:
        return b"&#%d;" % code
    return b""


def _declare_prefixes(data: bytes) -> bytes:
    """Declares on the first element the prefixes that nothing declares."""
    used: dict[str, None] = {}
    for count, match in enumerate(_PREFIX.finditer(data)):
        used.setdefault(match[1].decode("ascii", "replace"))
        if len(used) > 100 or count > PLACE_LIMIT:
            break
    missing = [name for name in used if name not in ("xml", "xmlns") and b"xmlns:%s" % name.encode() not in data]
    root = _ROOT_NAME.match(data)
    if not missing or root is None:
        return data
    added = "".join(f" xmlns:{name}={quoteattr(KNOWN_PREFIXES.get(name, UNDECLARED + name))}" for name in missing)
    return data[: root.end()] + added.encode() + data[root.end() :]
