"""Who wrote a page: structured data first, then the head, then the byline; the house itself only as a last resort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from transforms.extract.jsonld import Graph, Node
from transforms.extract.names import AUTHOR_LIMIT, is_name, is_organisation, is_publisher, same_name, split_names
from transforms.extract.page import Page, stands_in

_META_KEYS = (
    "author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator", "byl",
    "citation_author", "cxenseparse:author", "article.author", "og:article:author", "authors", "creator",
    "twitter:data1",
)  # fmt: skip
_BYLINE_ELEMENTS = (
    etree.XPath("//*[@rel='author' or @itemprop='author']"),
    etree.XPath(
        "//a[contains(@href, '/author') or contains(@href, '/autor') or contains(@href, '/auteur')"
        " or contains(@href, '/by/') or contains(@href, '/journalist') or contains(@href, '/redakteur')"
        " or contains(@href, '/reporter')]"
    ),
    etree.XPath(
        "//*[contains(@class, 'uthor') or contains(@class, 'yline') or contains(@id, 'author') or @class='byl']"
    ),
)
_FOREIGN_PLACES = (
    "comment",
    "related",
    "sidebar",
    "teaser",
    "footer",
    "recommend",
    "most-read",
    "promo",
    "card-",
    "widget",
)
_FOREIGN_TAGS = frozenset({"nav", "footer", "aside", "figure", "figcaption"})
_BYLINE_LIMIT_CHARS = 150
_CANDIDATE_LIMIT = 40


def find_authors(page: Page, node: Node | None, publishers: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Returns the authors' names and where they come from (``json_ld``, ``meta``, ``byline`` or ``none``).

    The publisher counts as an author only where the structured data names it and nobody else is named.

    Args:
        page: The parsed page.
        node: The JSON-LD object of the article.
        publishers: What the house calls itself.
    """
    house = tuple(publishers)
    declared = _unique(_declared_names(page.graph, node)) if node else []
    persons = [name for name in declared if not is_publisher(name, house)]
    if persons:
        return tuple(persons), "json_ld"
    in_head = [name for name in _unique(_meta_names(page)) if not is_publisher(name, house)]
    companies = in_head if in_head and all(map(is_organisation, in_head)) else []
    if in_head and not companies:
        return tuple(in_head), "meta"
    in_byline = [name for name in _byline_names(page.tree) if not is_publisher(name, house)]
    if in_byline:
        return tuple(in_byline), "byline"
    return (tuple(declared), "json_ld") if declared else ((), "none")


def _declared_names(graph: Graph, node: Node) -> Iterator[str]:
    for key in ("author", "creator"):
        found = False
        for value in graph.values(node, key):
            for name in _names_of(graph, value):
                found = True
                yield name
        if found:
            return


def _names_of(graph: Graph, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from split_names(value, is_byline=False)
    elif isinstance(value, dict):
        for name in graph.values(value, "name"):
            if isinstance(name, str):
                yield from split_names(name, is_byline=False)
        if "name" not in value and isinstance(value.get("givenName"), str):
            yield from split_names(f"{value['givenName']} {value.get('familyName') or ''}", is_byline=False)


def _meta_names(page: Page) -> Iterator[str]:
    for key in _META_KEYS:
        if key == "twitter:data1" and not (page.meta("twitter:label1") or "").lower().startswith(
            ("written", "by", "author")
        ):
            continue
        names = [name for value in page.metas.get(key, ()) for name in split_names(value)]
        if names:
            yield from names
            return


def _unique(names: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for name in names:
        if len(kept) < AUTHOR_LIMIT and not any(same_name(name, other) for other in kept):
            kept.append(name)
    return kept


def _byline_names(tree: HtmlElement) -> list[str]:
    for find in _BYLINE_ELEMENTS:
        names: list[str] = []
        holder = None
        for element in find(tree)[:_CANDIDATE_LIMIT]:
            if stands_in(element, _FOREIGN_TAGS, _FOREIGN_PLACES):
                continue
            text = (element.get("content") or _text_of(element)).strip()
            if not text or len(text) > _BYLINE_LIMIT_CHARS:
                continue
            found = [name for name in split_names(text) if _looks_like_person(name)]
            # A second byline far from the first belongs to another story.
            block = _block_of(element)
            if not found or (holder is not None and block is not holder):
                continue
            holder = block
            names.extend(found)
        if names:
            return _unique(names)
    return []


def _text_of(element: HtmlElement) -> str:
    return " ".join(part.strip() for part in element.itertext() if part.strip())


def _looks_like_person(name: str) -> bool:
    words = name.split()
    return (
        is_name(name) and 1 < len(words) <= 5 and sum(word[:1].isupper() or not word.isascii() for word in words) >= 2
    )


def _block_of(element: HtmlElement) -> HtmlElement:
    block = element
    for _ in range(3):
        parent = block.getparent()
        if parent is None or parent.tag in ("body", "html", "article", "main"):
            break
        block = parent
    return block
