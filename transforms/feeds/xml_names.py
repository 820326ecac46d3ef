"""Namespaces of feeds under short names, and what can be read off a single element.

Feeds misspell namespaces (a slash more, a blank, https), so an address is compared in a reduced form. The
elements of a feed's own vocabulary have the space ``""``, whatever RSS version they come from.
"""

from __future__ import annotations

import itertools
import re

from lxml import etree

_SPACES = {
    "purl.org/rss/1.0": "",
    "purl.org/net/rss1.1": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
    "backend.userland.com/rss": "",
    "backend.userland.com/rss2": "",
    "backend.userland.com/rss092": "",
    "blogs.law.harvard.edu/tech/rss": "",
    "cyber.law.harvard.edu/rss": "",
    "cyber.law.harvard.edu/rss/rss.html": "",
    "www.w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
    "www.w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "purl.org/rss/1.0/modules/content": "content",
    "purl.org/rss/1.0/modules/syndication": "sy",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/terms": "dcterms",
    "search.yahoo.com/mrss": "media",
    "www.rssboard.org/media-rss": "media",
    "video.search.yahoo.com/mrss": "media",
    "www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "example.com/dtds/podcast-1.0.dtd": "itunes",
    "www.w3.org/1999/xhtml": "xhtml",
    "www.sitemaps.org/schemas/sitemap/0.9": "",
    "www.google.com/schemas/sitemap/0.84": "",
    "www.google.com/schemas/sitemap/0.9": "",
    "www.google.com/schemas/sitemap-news/0.9": "news",
    "www.google.com/schemas/sitemap-image/1.1": "image",
    "rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "prismstandard.org/namespaces/basic/2.0": "prism",
    "prismstandard.org/namespaces/1.2/basic": "prism",
    "urn:undeclared:rss": "",
    "urn:undeclared:feed": "",
}
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

_NODE_LIMIT = 5000
_NAMESPACE = re.compile(r"\sxmlns(?::[\w.-]{1,60})?=\"[^\"<]*\"")
_VOID_END = re.compile(r"</(?:area|br|col|embed|hr|img|input|source|track|wbr)>", re.IGNORECASE)
_PREFIXED = re.compile(r"<(/?)[A-Za-z_][\w.-]{0,60}:(?=[A-Za-z])")

Name = tuple[str, str]
"""Space and local name in lower case: ``("dc", "creator")``, ``("", "title")``."""

Fields = dict[Name, list[etree._Element]]
"""Children of an element by name, in the order of the document."""


class Names:
    """Names of the elements of one document.

    Args:
        root: Its first element; its namespace is the feed's own, whatever it is.
    """

    def __init__(self, root: etree._Element) -> None:
        uri, _ = _split(str(root.tag))
        own = _space(uri)
        self._own = own if own in ("atom", "") else uri
        self._known: dict[str, Name] = {}

    def of(self, element: etree._Element) -> Name:
        """Returns the name of an element; of a comment or the like ``("", "")``."""
        tag = element.tag
        if not isinstance(tag, str):
            return "", ""
        found = self._known.get(tag)
        if found is None:
            uri, local = _split(tag)
            space = _space(uri)
            found = ("" if self._own in (space, uri) else space), local.rpartition(":")[2].lower()
            self._known[tag] = found
        return found

    def fields(self, parent: etree._Element) -> Fields:
        """Returns the children of an element by name."""
        found: Fields = {}
        for child in parent.iterchildren():
            found.setdefault(self.of(child), []).append(child)
        return found


def _split(tag: str) -> tuple[str, str]:
    if tag.startswith("{"):
        uri, _, local = tag[1:].partition("}")
        return uri, local
    return "", tag


def _space(uri: str) -> str:
    """The short name; the address itself if it has none."""
    reduced = re.sub(r"^https?://", "", uri.strip().lower()).rstrip("/#")
    return _SPACES.get(reduced, reduced)


def text_of(element: etree._Element) -> str:
    """Returns the text inside an element, as written; of one with many elements inside, the first part."""
    if not len(element):
        return element.text or ""
    return "".join(map(str, itertools.islice(element.itertext(), _NODE_LIMIT)))


def inner_html(element: etree._Element) -> str:
    """Returns what is inside an element as HTML, without namespaces (xhtml content, unescaped descriptions)."""
    markup = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
    markup = _VOID_END.sub("", _PREFIXED.sub(r"<\1", _NAMESPACE.sub("", markup)))
    return markup.partition(">")[2].rpartition("<")[0]


def attribute(element: etree._Element, name: str) -> str:
    """Returns an attribute by its local name in any case, stripped; empty if it is absent."""
    value = element.get(name)
    if value is None:
        value = next(
            (str(text) for key, text in element.attrib.items() if _split(str(key))[1].lower() == name.lower()), ""
        )
    return str(value).strip()


def language_of(element: etree._Element) -> str:
    """Returns ``xml:lang`` of an element or of the nearest around it."""
    for node in (element, *element.iterancestors()):
        value = node.get(XML_LANG)
        if value:
            return str(value).strip()
    return ""
