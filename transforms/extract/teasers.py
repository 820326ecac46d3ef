"""Teasers for other stories inside an article: blocks and lists that are nothing but links. They go before extraction.

A block goes if at least four fifths of its text are one link and the link reads as a teaser: it is in
capitals, or it begins like "Read more:", or the block is a paragraph of its own. A list goes if each of its
items is a link of headline length.
"""

from __future__ import annotations

from lxml.html import HtmlElement

from transforms.extract.line_rules import LEAD_IN
from transforms.extract.lines import is_capitals

_LINK_SHARE_MIN = 0.8
_CLIMB_LIMIT = 5
_TEASER_LIMIT_CHARS = 300
_LEAD_IN_LIMIT_CHARS = 40
_HEADLINE_MIN_CHARS = 20
_BLOCK_TAGS = frozenset({"p", "div", "li", "ul", "ol", "h2", "h3", "h4", "h5", "h6", "section", "aside", "blockquote"})
_INLINE_TAGS = frozenset({"a", "span", "strong", "b", "em", "i", "u", "font", "small", "mark"})


def drop_link_teasers(tree: HtmlElement) -> list[str]:
    """Removes teasers from a tree, in place.

    Returns:
        The texts of what was removed, in order.
    """
    dropped: list[str] = []
    for link in list(tree.iter("a")):
        text = text_of(link)
        if 3 <= len(text) <= _TEASER_LIMIT_CHARS and _may_be_teaser(link, text):
            _drop_single_link(link, text, dropped)
    for found in list(tree.iter("ul", "ol")):
        _drop_list(found, dropped)
    return dropped


def _may_be_teaser(link: HtmlElement, text: str) -> bool:
    """A cheap look, since most links of a page are its menus."""
    parent = link.getparent()
    if parent is None:
        return False
    if parent.tag == "p" or is_capitals(text) or LEAD_IN.match(text):
        return True
    around = parent.text
    if around and LEAD_IN.match(around):
        return True
    if parent.tag in _INLINE_TAGS:
        above = parent.getparent()
        return above is not None and (
            above.tag == "p" or above.tag in _INLINE_TAGS or bool(above.text and LEAD_IN.match(above.text))
        )
    above = parent.getparent()
    return _is_alone(link) and above is not None and above.tag == "p"


def _is_alone(element: HtmlElement) -> bool:
    return element.getnext() is None and element.getprevious() is None


def _drop_single_link(link: HtmlElement, text: str, dropped: list[str]) -> None:
    block = _link_block(link, text)
    if block is None:
        return
    whole = text_of(block)
    if is_capitals(text) or LEAD_IN.match(whole) or block.tag == "p" or _is_around_paragraph(block):
        dropped.append(whole)
        remove(block)


def _is_around_paragraph(block: HtmlElement) -> bool:
    return len(block) > 0 and block[0].tag == "p" and _is_alone(block[0])


def _link_block(link: HtmlElement, text: str) -> HtmlElement | None:
    """The outermost element around a link that holds hardly more than the link."""
    block = None
    element = link
    for _ in range(_CLIMB_LIMIT):
        parent = element.getparent()
        if parent is None or (parent.tag not in _BLOCK_TAGS and parent.tag not in _INLINE_TAGS):
            break
        whole = text_of(parent)
        if len(whole) * _LINK_SHARE_MIN > len(text) and not _is_led_in(whole, text):
            break
        if parent.tag in _BLOCK_TAGS:
            block = parent
        element = parent
    return block


def _is_led_in(whole: str, link_text: str) -> bool:
    return len(whole) <= len(link_text) + _LEAD_IN_LIMIT_CHARS and LEAD_IN.match(whole) is not None


def _drop_list(found: HtmlElement, dropped: list[str]) -> None:
    items = [item for item in found if item.tag == "li"]
    if len(items) < 2 or found.getparent() is None:
        return
    texts: list[str] = []
    for item in items:
        text = text_of(item)
        if len(text) < _HEADLINE_MIN_CHARS // 2 or _link_chars(item) < _LINK_SHARE_MIN * len(text):
            return
        texts.append(text)
    if sum(map(len, texts)) >= _HEADLINE_MIN_CHARS * len(items):
        dropped.extend(texts)
        remove(found)


def text_of(element: HtmlElement) -> str:
    """Returns an element's text with white space squeezed."""
    return " ".join("".join(element.itertext()).split())


def _link_chars(element: HtmlElement) -> int:
    return sum(len(text_of(link)) for link in element.iter("a"))


def remove(element: HtmlElement) -> None:
    """Takes an element out of its tree; the text after it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
