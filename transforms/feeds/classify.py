"""What a document is, by its first element; media types and error flags are not asked.

Servers call feeds ``text/html`` and web pages ``application/rss+xml``, and junk stands before the first
element (blank lines, comments, PHP warnings), so all that stands before it is passed over.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ROOTS = {
    b"rss": "rss",
    b"feed": "atom",
    b"rdf": "rdf",
    b"urlset": "sitemap",
    b"sitemapindex": "sitemap_index",
    b"opml": "opml",
    b"html": "html",
    b"!doctype html": "html",
}
# Elements that start a feed or page only if nothing else does.
_WEAK_ROOTS = {
    b"channel": "rss",
    b"entry": "atom",
    b"head": "html",
    b"body": "html",
    b"script": "html",
    b"meta": "html",
}
_FIRST_ELEMENT = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(!doctype\s+html|(?:[\w.-]{1,20}:)?([a-z][\w-]{0,30}))(?=[\s>/\[])", re.IGNORECASE | re.DOTALL
)
_SEARCHED_ELEMENTS = 2000


class Kind(NamedTuple):
    """What a document is and where its first element starts (0 if it has none)."""

    name: str
    start: int = 0


def classify(data: bytes) -> Kind:
    """Returns the kind of a cleaned document.

    One of rss, atom, rdf, json, sitemap, sitemap_index, opml, html, empty and unknown.
    """
    if not data:
        return Kind("empty")
    if data[:1] in (b"{", b"["):
        return Kind("json")
    weak: Kind | None = None
    first = True
    for count, match in enumerate(_FIRST_ELEMENT.finditer(data)):
        if match[1] is None:
            continue
        name = b"!doctype html" if match[1][:1] == b"!" else match[2].lower()
        if name in _ROOTS:
            return Kind(_ROOTS[name], match.start())
        if name in _WEAK_ROOTS and first:
            weak = Kind(_WEAK_ROOTS[name], match.start())
        first = False
        if count > _SEARCHED_ELEMENTS:
            break
    return weak or Kind("unknown")
