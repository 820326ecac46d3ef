"""One parsed tree of a page and what its head says; shared by metadata, text and dates."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from transforms.extract.jsonld import Graph, read_blocks

# libxml2 refuses a document type with a slash in it and a self-closing root.
_FAULTY_DOCTYPE = re.compile(rb"^\s*<\s*!\s*doctype[^>]*/[^<>]*>", re.IGNORECASE)
_FAULTY_ROOT = re.compile(rb"(<html[^>]{0,1000}?)\s*/>", re.IGNORECASE)
_WRAPPERS = re.compile(rb"</?(?:div|span|section|font|center|b|i|em|strong|small)\b[^<>]*>", re.IGNORECASE)
_ITEM_PROPERTIES = etree.XPath("//*[@itemprop]")
_PROPERTIES = frozenset({"datepublished", "datemodified", "articlesection"})
_META_KEYS = ("property", "name", "itemprop", "http-equiv")
_TAG_LIMIT = 200
# What papers call the words above a headline, as they name the element.
_KICKER_MARKS = (
    "kicker", "overline", "topline", "dachzeile", "eyebrow", "supertitle", "suptitle", "overtitle", "pretitle",
    "pre-title", "antetitulo", "occhiello", "surtitre", "roofline", "spitzmarke", "rubric", "label", "category",
    "strapline",
)  # fmt: skip

# Plain elements for every tag: lxml.html's own look-up asks Python code for each of them.
_PARSER = etree.HTMLParser(
    encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, default_doctype=False
)
_PARSER.set_element_class_lookup(etree.ElementDefaultClassLookup(element=HtmlElement))


class TimeTag(NamedTuple):
    """A ``<time>`` element: its ``datetime`` attribute or text, and whether the page marks it as publication."""

    value: str
    is_publication: bool


class Heading(NamedTuple):
    """An ``<h1>``: all of its words, and the same without the kicker that an element of its own sets before them."""

    text: str
    headline: str


class Page(NamedTuple):
    """A parsed page.

    Attributes:
        tree: The root; nobody changes it.
        metas: Contents of ``<meta>`` by lower-case property, name, itemprop or http-equiv.
        properties: Values of microdata ``itemprop`` elements outside ``<meta>``, by lower-case name.
        graph: The JSON-LD objects.
        headings: The ``<h1>`` elements, but for those of breadcrumb trails.
        title_tag: Text of ``<title>``.
        canonical_link: ``<link rel=canonical>``.
        language: ``<html lang>``.
        times: The ``<time>`` elements in order.
    """

    tree: HtmlElement
    metas: dict[str, list[str]]
    properties: dict[str, list[str]]
    graph: Graph
    headings: list[Heading]
    title_tag: str | None
    canonical_link: str | None
    language: str | None
    times: list[TimeTag]

    def meta(self, *keys: str) -> str | None:
        """Returns the first content that is not empty, keys in the order given."""
        for key in keys:
            for value in self.metas.get(key, ()):
                if value:
                    return value
        return None


def squeeze(text: str | None) -> str:
    """Returns a text with every run of white space as one space, trimmed."""
    return " ".join(text.split()) if text else ""


def new_element(tag: str) -> HtmlElement:
    """Returns an element of a tree of its own, of the same kind as those of a parsed page."""
    return _PARSER.makeelement(tag)


def stands_in(element: HtmlElement, tags: Collection[str], marks: Collection[str]) -> bool:
    """Tells whether an element, or one around it in the article, has one of the tags or is named by one of the marks.

    Args:
        element: Where to begin.
        tags: Of elements.
        marks: Parts of class and id, in lower case.
    """
    for place in [element, *element.iterancestors()]:
        if place.tag in tags:
            return True
        if place.tag in ("article", "main", "body"):
            return False
        names = f"{place.get('class') or ''} {place.get('id') or ''}".lower()
        if any(mark in names for mark in marks):
            return True
    return False


def parse_tree(html: bytes) -> HtmlElement | None:
    """Parses UTF-8 mark-up; ``None`` if nothing can be made of it."""
    start = html[:4096]
    if b"/" in start[:200] and _FAULTY_DOCTYPE.match(start[:200]):
        html = _FAULTY_DOCTYPE.sub(b"", html, count=1)
    if _FAULTY_ROOT.search(start):
        html = _FAULTY_ROOT.sub(rb"\1>", html, count=1)
    tree, is_too_deep = _parse(html)
    if is_too_deep:
        # libxml2 drops what lies deeper than 256 elements, and extraction walks such towers for minutes.
        tree, _ = _parse(_WRAPPERS.sub(b" ", html))
    return tree if tree is not None and len(tree) else None


def _parse(html: bytes) -> tuple[HtmlElement | None, bool]:
    try:
        tree = etree.fromstring(html, parser=_PARSER)
    except (etree.LxmlError, ValueError):
        tree = None
    return tree, any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in _PARSER.error_log)


def read_page(tree: HtmlElement) -> Page:
    """Collects in one walk what the head and the marked elements of a page say."""
    metas: defaultdict[str, list[str]] = defaultdict(list)
    scripts: list[str] = []
    headings: list[Heading] = []
    times: list[TimeTag] = []
    title_tag = canonical = None
    for element in tree.iter("meta", "link", "script", "h1", "title", "time"):
        tag = element.tag
        if tag == "meta":
            _add_meta(element, metas)
        elif tag == "script":
            if "ld+json" in (element.get("type") or "").lower() and element.text:
                scripts.append(element.text)
        elif tag == "link":
            if canonical is None and "canonical" in (element.get("rel") or "").lower().split():
                canonical = (element.get("href") or "").strip() or None
        elif tag == "h1":
            headings.append(_read_heading(element))
        elif tag == "title":
            title_tag = title_tag or squeeze(element.text_content()) or None
        elif len(times) < _TAG_LIMIT:
            times.append(_read_time(element))
    return Page(
        tree,
        dict(metas),
        _read_properties(tree),
        Graph(read_blocks(scripts)),
        [heading for heading in headings[:_TAG_LIMIT] if heading.headline],
        title_tag,
        canonical,
        (tree.get("lang") or tree.get("xml:lang") or "").strip() or None,
        times,
    )


def _add_meta(element: HtmlElement, metas: dict[str, list[str]]) -> None:
    content = squeeze(element.get("content"))
    if not content:
        return
    for attribute in _META_KEYS:
        for key in (element.get(attribute) or "").lower().split():
            metas[key].append(content)


def _read_heading(element: HtmlElement) -> Heading:
    """Reads an ``<h1>``; the last step of a breadcrumb trail is none."""
    for place in (element, *itertools.islice(element.iterancestors(), 3)):
        marks = " ".join((place.get("class") or "", place.get("itemtype") or "", place.get("aria-label") or "")).lower()
        if place.tag == "nav" or "breadcrumb" in marks or place.get("data-breadcrumb-headline") is not None:
            return Heading("", "")
    whole = squeeze(element.text_content())
    for part in element:
        marks = (part.get("class") or "").lower()
        kicker = squeeze(part.text_content())
        if kicker and whole.startswith(kicker) and any(mark in marks for mark in _KICKER_MARKS):
            rest = whole[len(kicker) :].lstrip(" \u00a0-–—:|•·/")
            if len(rest.split()) > max(2, len(kicker.split())):
                return Heading(whole, rest)
    return Heading(whole, whole)


def _read_time(element: HtmlElement) -> TimeTag:
    marks = f"{element.get('itemprop') or ''} {element.get('class') or ''}".lower()
    is_publication = "publish" in marks or element.get("pubdate") is not None
    return TimeTag(squeeze(element.get("datetime")) or squeeze(element.text_content()), is_publication)


def _read_properties(tree: HtmlElement) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for element in _ITEM_PROPERTIES(tree)[: 5 * _TAG_LIMIT]:
        if element.tag == "meta":
            continue
        name = (element.get("itemprop") or "").strip().lower()
        if name in _PROPERTIES:
            value = element.get("datetime") or element.get("content") or element.text_content()
            found[name].append(squeeze(value)[:500])
    return dict(found)
