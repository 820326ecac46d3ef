"""Links of feeds and entries: where they are written, and the ``xml:base`` that holds for each.

Which link is the address of the story is decided in ``finish.py``.
"""

from __future__ import annotations

from typing import TypeAlias
from urllib.parse import urljoin

from lxml import etree

from transforms.feeds.model import Link
from transforms.feeds.xml_names import Fields, attribute, text_of

XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_LINK_LIMIT = 20
_LENGTH_LIMIT = 4096

Element: TypeAlias = etree._Element


class LinkReader:
    """Reads the links of one document."""

    def __init__(self, root: Element) -> None:
        self._has_bases = any(XML_BASE in node.attrib for node in root.iter())
        self._last_parent: Element | None = None
        self._last_base = ""

    def of(self, fields: Fields, item: Element | None = None) -> tuple[Link, ...]:
        """Returns the links among the children of a feed or an item, in the order of the document."""
        found: list[Link] = []
        for name in (("", "link"), ("atom", "link")):
            found += [link for e in fields.get(name, [])[:_LINK_LIMIT] if (link := self._link(e))]
        found += [Link(text_of(e), "guid") for e in fields.get(("", "guid"), [])[:1] if _is_address(e)]
        for space in ("", "atom"):
            found += [Link(text_of(e), "id") for e in fields.get((space, "id"), [])[:1]]
            found += [
                Link(source, "content", attribute(e, "type") or None, base=self._base(e))
                for e in fields.get((space, "content"), [])[:1]
                if (source := attribute(e, "src"))
            ]
        found += [Link(text_of(e), "origlink") for e in fields.get(("feedburner", "origlink"), [])[:1]]
        about = self.about(item) if item is not None else None
        found += [Link(about, "about")] if about else []
        return tuple(link._replace(href=link.href.strip()[:_LENGTH_LIMIT]) for link in found if link.href.strip())

    def about(self, item: Element) -> str | None:
        """Returns ``rdf:about`` of an item."""
        return (item.get(_ABOUT) or "").strip() or None

    def _link(self, element: Element) -> Link | None:
        href = attribute(element, "href") or text_of(element) or attribute(element, "resource")
        if not href.strip():
            return None
        rel = attribute(element, "rel").lower().removeprefix("http://www.iana.org/assignments/relation/")
        kind = attribute(element, "type").lower().partition(";")[0].strip()
        length = attribute(element, "length") or None
        return Link(href, rel or "alternate", kind or None, length, self._base(element))

    def _base(self, element: Element) -> str:
        """Returns the ``xml:base`` that holds for an element (RFC 3986 section 5.1.1)."""
        if not self._has_bases:
            return ""
        parent = element.getparent()
        if parent is not None and parent is not self._last_parent:
            self._last_parent, self._last_base = parent, _base_of(parent)
        own = element.get(XML_BASE)
        return _join(self._last_base, str(own)) if own else self._last_base


def _base_of(element: Element) -> str:
    base = ""
    for node in (element, *element.iterancestors()):
        if own := node.get(XML_BASE):
            base = _join(str(own), base)
    return base


def _join(base: str, href: str) -> str:
    try:
        return urljoin(base.strip(), href.strip())
    except ValueError:
        return href


def _is_address(guid: Element) -> bool:
    return attribute(guid, "ispermalink").lower() != "false"
