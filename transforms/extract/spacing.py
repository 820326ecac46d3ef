"""White space where mark-up alone parts words: minified pages set none, and extraction would glue them together."""

from __future__ import annotations

from lxml import etree
from lxml.html import HtmlElement

# A block that follows bare text, and an inline element that follows another with nothing between them.
_BLOCK_AFTER_TEXT = etree.XPath(
    "//*[self::div or self::p or self::section or self::ul or self::ol or self::h2 or self::h3]"
    "[preceding-sibling::node()[1][self::text()][normalize-space()]]"
)
_INLINE_AFTER_INLINE = etree.XPath(
    "//*[self::span or self::time or self::a or self::strong or self::b]"
    "[preceding-sibling::node()[1][self::span or self::time or self::a or self::strong or self::b]]"
)


def part_words(tree: HtmlElement) -> None:
    """Puts white space before blocks that follow text, and between inline elements that show two words, in place."""
    for block in _BLOCK_AFTER_TEXT(tree):
        before = block.getprevious()
        if before is not None and before.tail:
            before.tail = _open(before.tail)
        elif before is None and block.getparent() is not None:
            parent = block.getparent()
            parent.text = _open(parent.text or "")
    for inline in _INLINE_AFTER_INLINE(tree):
        before = inline.getprevious()
        if before is not None and not before.tail and _is_two_words(_last_char(before), _first_char(inline)):
            before.tail = " "


def _open(text: str) -> str:
    return text if text[-1:].isspace() else text + "\n"


def _first_char(element: HtmlElement) -> str:
    return next((text[0] for text in element.itertext() if text), "")


def _last_char(element: HtmlElement) -> str:
    last = ""
    for text in element.itertext():
        last = text[-1:] or last
    return last


def _is_two_words(left: str, right: str) -> bool:
    """``t|1`` and ``d|M`` are two words; ``H|ello`` and ``2|nd`` are one."""
    if not (left.isalnum() and right.isalnum()):
        return False
    return (left.islower() and (right.isupper() or right.isdigit())) or (left.isdigit() and right.isupper())
