"""The standfirst: the sentence between headline and text, which many pages set in a box of its own."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement

from transforms.extract.page import stands_in

_MIN_CHARS = 40
_LIMIT_CHARS = 600
_CANDIDATE_LIMIT = 20
_PROBE_CHARS = 40
_MARKS = (
    "standfirst", "subtitle", "subhead", "sub-head", "dek", "deck", "lede", "lead", "intro", "summary", "abstract",
    "excerpt", "vorspann", "teaser", "chapo", "entradilla", "bajada", "sottotitolo", "ingress", "manchet", "perex",
)  # fmt: skip
# Beside the headline, or beside the box that holds only the headline.
_BESIDE_HEADLINE = etree.XPath(
    "((//h1)[position() < 4]/following-sibling::*[position() < 6]"
    " | (//h1)[position() < 4][count(../*) < 3]/../following-sibling::*[position() < 6])"
    "[self::p or self::h2 or self::h3 or self::div][@class]"
)
_SPELLED = etree.XPath("//body//text()[contains(., $start)]")
_LATER = etree.XPath("boolean(following::text()[contains(., $start)])")
_HEADLINE_BEFORE = etree.XPath("boolean(preceding::h1)")
_FOREIGN_TAGS = frozenset({"nav", "footer", "aside", "figure", "figcaption", "form", "li", "noscript"})
_FOREIGN_MARKS = ("related", "recommend", "comment", "card", "promo", "sidebar", "cookie", "newsletter", "caption")


def find_standfirst(tree: HtmlElement, text: str, descriptions: tuple[str, ...]) -> str | None:
    """Returns the standfirst if the page shows one between headline and text that the text lacks.

    Args:
        tree: The parsed page.
        text: What was extracted, a paragraph a line.
        descriptions: What the head of the page says of it: shown as it stands, it is the standfirst.
    """
    first = _first_words(text)
    if not first:
        return None
    squeezed = _squeeze(text)
    for element in _candidates(tree, squeezed, descriptions):
        content = _squeeze("".join(element.itertext()))
        if not _MIN_CHARS <= len(content) <= _LIMIT_CHARS or content[:_PROBE_CHARS] in squeezed:
            continue
        if stands_in(element, _FOREIGN_TAGS, _FOREIGN_MARKS) or _is_linked(element, content):
            continue
        if _HEADLINE_BEFORE(element) and _LATER(element, start=first):
            return content
    return None


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _first_words(text: str) -> str:
    line = next((line for line in text.split("\n") if len(line) >= _MIN_CHARS), "")
    # Mark-up may cut a paragraph into pieces: a short probe is in one of them.
    return line[: _PROBE_CHARS // 2]


def _candidates(tree: HtmlElement, text: str, descriptions: tuple[str, ...]) -> Iterator[HtmlElement]:
    for description in descriptions:
        wanted = _squeeze(description)
        if len(wanted) < _MIN_CHARS or wanted[:_PROBE_CHARS] in text:
            continue
        for piece in _SPELLED(tree, start=wanted[:_PROBE_CHARS])[:_CANDIDATE_LIMIT]:
            element = piece.getparent()
            if element is not None and _squeeze("".join(element.itertext())).startswith(wanted.rstrip(".… ")):
                yield element
    for element in _BESIDE_HEADLINE(tree)[:_CANDIDATE_LIMIT]:
        marks = element.get("class").lower()
        if any(mark in marks for mark in _MARKS):
            yield element


def _is_linked(element: HtmlElement, content: str) -> bool:
    return 2 * sum(len("".join(link.itertext())) for link in element.iter("a")) > len(content)
