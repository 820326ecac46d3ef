"""Paragraphs that extraction left behind: of the same make as those it took, and found by the second opinion too.

Articles that are laid out in several containers, and the posts of live blogs, are often taken only in
part. A paragraph is taken back if at least three taken paragraphs have its class and the classes of the
two elements around it, hardly any of it is link, and the other extractor holds it for text as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lxml.html import HtmlElement

_ALIKE_MIN = 3
_RECOVERED_MIN_CHARS = 300
_PARAGRAPH_MIN_CHARS = 20
_LINK_SHARE_MAX = 0.3
_PROBE_CHARS = 60

Make = tuple[tuple[str, str], ...]


def recover_paragraphs(tree: HtmlElement, text: str, other: str) -> str:
    """Returns the text with the paragraphs that belong to it, in the page's order.

    Args:
        tree: The page, link teasers dropped.
        text: What was extracted, a paragraph a line.
        other: The second opinion's text.
    """
    lines = text.split("\n")
    place_of = {_squeeze(line): index for index, line in enumerate(lines)}
    witness = _squeeze(other)
    paragraphs = [(element, _squeeze("".join(element.itertext()))) for element in tree.iter("p")]
    makes = Counter(_make_of(element) for element, content in paragraphs if content in place_of)
    inserted: dict[int, list[str]] = {}
    place = -1
    for element, content in paragraphs:
        if content in place_of:
            place = place_of[content]
        elif makes[_make_of(element)] >= _ALIKE_MIN and _is_story(element, content, witness):
            inserted.setdefault(place, []).append(content)
    found = [content for contents in inserted.values() for content in contents]
    if sum(map(len, found)) < _RECOVERED_MIN_CHARS or len(set(found)) < len(found) / 2:
        return text
    return "\n".join(_merge(lines, inserted))


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _make_of(element: HtmlElement) -> Make:
    chain = [element, *_first_two(element)]
    return tuple((str(part.tag), part.get("class") or "") for part in chain)


def _first_two(element: HtmlElement) -> Iterator[HtmlElement]:
    for count, ancestor in enumerate(element.iterancestors()):
        if count == 2:
            return
        yield ancestor


def _is_story(element: HtmlElement, content: str, witness: str) -> bool:
    if (
        len(content) < _PARAGRAPH_MIN_CHARS
        or content[:_PROBE_CHARS] not in witness
        or content[-_PROBE_CHARS:] not in witness
    ):
        return False
    linked = sum(len(_squeeze("".join(link.itertext()))) for link in element.iter("a"))
    return linked <= _LINK_SHARE_MAX * len(content)


def _merge(lines: list[str], inserted: dict[int, list[str]]) -> Iterator[str]:
    seen: set[str] = set()
    for index, line in enumerate(["", *lines], start=-1):
        if index >= 0:
            yield line
        for content in inserted.get(index, ()):
            if content not in seen:
                seen.add(content)
                yield content
