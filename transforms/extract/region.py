"""The part of a page that its publisher names as the article's body: extraction of it alone takes half the time."""

from __future__ import annotations

import itertools
import re
from copy import deepcopy

from lxml.html import HtmlElement

from transforms.extract.page import new_element

# As publishing systems name the element, in class, id or itemprop (schema.org articleBody).
_NAME = re.compile(
    r"(?:article|art|story|entry|post|text)[-_]{0,2}(?:body|content|text)\b|articlebody|postcontent|articlecontent|body-text",
    re.IGNORECASE,
)
_TEXT_MIN_CHARS = 800


def article_region(tree: HtmlElement) -> HtmlElement | None:
    """Returns a page that holds nothing but the article's body, a copy.

    A body in several parts counts as one if they have the same name and stand in the same ``<article>``; of
    several bodies the one with the most text is taken.

    Returns:
        ``None`` if no element is named so, or if there is little text in it.
    """
    groups: dict[tuple[str, HtmlElement | None], list[HtmlElement]] = {}
    for element in tree.iter("article", "div", "main", "section"):
        if _is_named(element):
            group = groups.setdefault((element.get("class") or "", _frame_of(element)), [])
            if not group or group[-1] not in element.iterancestors():
                group.append(element)
    parts = max(groups.values(), key=paragraph_chars, default=[])
    if not parts:
        parts = list(itertools.islice(tree.iter("article"), 1))
    return _page_of(parts) if paragraph_chars(parts) >= _TEXT_MIN_CHARS else None


def paragraph_chars(parts: list[HtmlElement]) -> int:
    """Returns how much text the paragraphs of some elements hold, characters."""
    return sum(len(text) for part in parts for paragraph in part.iter("p") for text in paragraph.itertext())


def _is_named(element: HtmlElement) -> bool:
    marks = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('itemprop') or ''}"
    return len(marks) > 2 and _NAME.search(marks) is not None


def _frame_of(element: HtmlElement) -> HtmlElement | None:
    return next(element.iterancestors("article", "main"), None)


def _page_of(parts: list[HtmlElement]) -> HtmlElement:
    root = new_element("html")
    body = new_element("body")
    root.append(body)
    frame = new_element("article")
    body.append(frame)
    for part in parts:
        copied = deepcopy(part)
        copied.tail = None
        copied.attrib.clear()  # extraction would take the first part that has the name, and leave the rest
        frame.append(copied)
    return root
