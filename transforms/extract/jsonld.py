"""JSON-LD of a page, read the way that publishers write it: broken, nested, repeated, half escaped.

``read_blocks`` turns script texts into objects, ``Graph`` flattens them, resolves ``@id`` references and
finds the object that describes the article (schema.org Article and its subtypes).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

BLOCK_LIMIT_CHARS = 2_000_000
_NODE_LIMIT = 5000
_DEPTH_LIMIT = 12

# schema.org: Article and everything below it, plus what news sites use in its place.
ARTICLE_TYPES = frozenset((
    "Article", "AdvertiserContentArticle", "NewsArticle", "AnalysisNewsArticle", "AskPublicNewsArticle",
    "BackgroundNewsArticle", "OpinionNewsArticle", "ReportageNewsArticle", "ReviewNewsArticle", "SatiricalArticle",
    "ScholarlyArticle", "TechArticle", "Report", "SocialMediaPosting", "BlogPosting", "LiveBlogPosting",
    "DiscussionForumPosting", "Blog", "ClaimReview",
))  # fmt: skip
_GENERIC_TYPES = frozenset({"Article", "BlogPosting", "SocialMediaPosting", "Blog", "ClaimReview"})
PAGE_TYPES = frozenset((
    "WebPage", "ItemPage", "AboutPage", "MediaGallery", "ImageGallery", "VideoObject", "Recipe", "Review",
    "PodcastEpisode", "Episode", "Event",
))  # fmt: skip
# Keys under which other objects of the graph lie; all else is about the object itself.
_NESTING_KEYS = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item", "hasPart", "subjectOf")

_WRAPPING = re.compile(
    r"^\s*(?:(?://|/\*)?\s*<!\[CDATA\[\s*(?:\*/)?|<!--)|(?:(?://|/\*)?\s*\]\]>\s*(?:\*/)?|-->)\s*;?\s*$"
)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])')
_STRING_FIELD = re.compile(
    r'"(headline|datePublished|dateModified|articleSection|description|articleBody|@type)"\s*:\s*"((?:[^"\\]|\\.){1,100000})"'
)
_AUTHOR_FIELD = re.compile(r'"author"\s*:\s*[\[{][^\]}]{0,500}?"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"')
_DECODER = json.JSONDecoder(strict=False)

Node = dict[str, Any]


def read_blocks(texts: Iterable[str]) -> list[Any]:
    """Returns the JSON values of the scripts, as far as anything can be made of them."""
    values: list[Any] = []
    for text in texts:
        if text and len(text) <= BLOCK_LIMIT_CHARS:
            values.extend(_read_block(text))
    return values


def _read_block(text: str) -> list[Any]:
    cleaned = _WRAPPING.sub("", text).strip().strip("\ufeff;").strip()
    if not cleaned:
        return []
    values, whole = _decode_all(cleaned)
    if whole:
        return values
    repaired = html.unescape(cleaned) if cleaned[:40].count("&quot;") else cleaned
    repaired = _BAD_ESCAPE.sub(r"\\\\", _TRAILING_COMMA.sub(r"\1", repaired))
    better, whole = _decode_all(repaired)
    if whole or len(better) > len(values):
        values = better
    return values if whole else [*values, *_salvage(cleaned)]


def _decode_all(text: str) -> tuple[list[Any], bool]:
    """Reads one value after another; the flag tells whether all of the text was read."""
    values: list[Any] = []
    position = 0
    while position < len(text) and len(values) < _NODE_LIMIT:
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return values, False
        values.append(value)
        while position < len(text) and text[position] in " \t\r\n,;":
            position += 1
    return values, True


def _salvage(text: str) -> list[Any]:
    """Single fields of a block that is no JSON at all; the first of each wins."""
    node: Node = {}
    for field in _STRING_FIELD.finditer(text):
        node.setdefault(field[1], _unquote(field[2]))
    author = _AUTHOR_FIELD.search(text)
    if author:
        node["author"] = {"@type": "Person", "name": _unquote(author[1])}
    return [node] if "headline" in node or "datePublished" in node else []


def _unquote(raw: str) -> str:
    try:
        return str(_DECODER.decode(f'"{raw}"'))
    except ValueError:
        return raw


def types_of(node: Node) -> tuple[str, ...]:
    """Returns the names of a node's types without their vocabulary's address."""
    raw = node.get("@type")
    names = raw if isinstance(raw, list) else [raw]
    return tuple(name.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1] for name in names if isinstance(name, str))


class Graph:
    """All objects of a page's JSON-LD, flat, in order of appearance."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.nodes: list[Node] = []
        self._by_id: dict[str, Node] = {}
        for value in values:
            self._add(value, 0)

    def _add(self, value: Any, depth: int) -> None:
        if depth > _DEPTH_LIMIT or len(self.nodes) >= _NODE_LIMIT:
            return
        if isinstance(value, list):
            for item in value:
                self._add(item, depth + 1)
        elif isinstance(value, dict):
            self.nodes.append(value)
            identity = value.get("@id")
            if isinstance(identity, str) and len(value) > 1:
                self._by_id.setdefault(identity, value)
            for key in _NESTING_KEYS:
                if isinstance(value.get(key), (dict, list)):
                    self._add(value[key], depth + 1)

    def resolve(self, value: Any) -> Any:
        """Follows ``{"@id": ...}`` to the object it names, if that is on the page."""
        if isinstance(value, dict) and set(value) <= {"@id", "@type"}:
            return self._by_id.get(str(value.get("@id")), value)
        return value

    def values(self, node: Node, key: str) -> Iterator[Any]:
        """Yields the values of a key, lists opened up (nested ones too), references resolved."""
        yield from self._open(node.get(key), 0)

    def _open(self, value: Any, depth: int) -> Iterator[Any]:
        if isinstance(value, list) and depth < _DEPTH_LIMIT:
            for item in value:
                yield from self._open(item, depth + 1)
        elif value is not None and not isinstance(value, list):
            yield self.resolve(value)

    def text(self, node: Node, key: str) -> str | None:
        """Returns the first value of a key that is a text, entities and tags taken out."""
        for value in self.values(node, key):
            if isinstance(value, dict):
                value = value.get("name") or value.get("@value") or value.get("@id")
            if isinstance(value, (str, int)) and not isinstance(value, bool):
                return str(value).strip() or None
        return None

    def articles(self) -> list[Node]:
        """Returns the objects that describe an article, specific types before generic ones."""
        found = [node for node in self.nodes if _is_article(node)]
        return sorted(found, key=_rank)

    def pages(self) -> list[Node]:
        """Returns the objects that describe the page as such, a video or another thing with a date."""
        return [node for node in self.nodes if PAGE_TYPES.intersection(types_of(node))]


def _is_article(node: Node) -> bool:
    types = types_of(node)
    if ARTICLE_TYPES.intersection(types):
        return True
    return not types and "headline" in node and ("datePublished" in node or "author" in node)


def _rank(node: Node) -> tuple[bool, bool]:
    types = types_of(node)
    return ("headline" not in node and "datePublished" not in node, not set(types) - _GENERIC_TYPES)
