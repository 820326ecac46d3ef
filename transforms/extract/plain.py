"""Text where all of the mark-up is the article: fragments of HTML from feeds and seed records."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "dd", "div", "dl", "dt", "fieldset", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_SKIPPED = frozenset((
    "script", "style", "template", "noscript", "iframe", "figure", "figcaption", "picture", "video", "audio", "svg",
    "form", "button", "select", "textarea", "object", "embed", "head", "title", "nav", "input",
))  # fmt: skip
_DEPTH_LIMIT = 400
_APPENDED = re.compile(r"(?:the post .{1,300} |.{0,40})(?:appeared first|first appeared) on .{1,100}", re.IGNORECASE)
_MORE = re.compile(
    r"\W*(?:continue reading|read (?:more|the full|the rest)|weiterlesen|lire la suite|leer más|more\W*$|"
    r"\[(?:…|\.\.\.)\]).{0,120}",
    re.IGNORECASE,
)
_CUT_END = re.compile(
    r"(?:…|\.\.\.|\[(?:…|\.\.\.|&hellip;)\]|(?:continue reading|read more)\W*(?:→|»|>)?)\s*$", re.IGNORECASE
)


def fragment_text(tree: HtmlElement) -> str:
    """Returns all text of a tree, a block a line, without scripts, forms and pictures."""
    parts: list[str] = []
    _collect(tree, parts, 0)
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _collect(element: HtmlElement, parts: list[str], depth: int) -> None:
    tag = element.tag
    if not isinstance(tag, str) or tag in _SKIPPED or depth > _DEPTH_LIMIT:
        return
    is_block = tag in _BLOCKS
    if is_block:
        parts.append("\n")
    if element.text:
        parts.append(element.text.replace("\n", " "))
    for child in element:
        _collect(child, parts, depth + 1)
        if child.tail:
            parts.append(child.tail.replace("\n", " "))
    if is_block:
        parts.append("\n")


def split_feed_tail(text: str) -> tuple[str, bool]:
    """Takes "The post ... appeared first on ..." and "Continue reading" off the end of a feed's text.

    Returns:
        The text and whether it is known to be cut.
    """
    lines = text.split("\n")
    is_cut = False
    while len(lines) > 1 and (_APPENDED.fullmatch(lines[-1]) or _MORE.fullmatch(lines[-1])):
        is_cut = is_cut or not _APPENDED.fullmatch(lines[-1])
        lines.pop()
    kept = "\n".join(lines)
    return kept, is_cut or bool(_CUT_END.search(kept))
