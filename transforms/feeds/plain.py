"""Titles and teasers of feeds as plain text.

Feeds write titles as text, as HTML, and escaped once too often; what is meant has to be told from the
title itself: formatting that is opened and closed is markup, a lone ``<table>`` is a word.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter

TITLE_LIMIT = 1000
TEASER_LIMIT = 4000
"""Characters of HTML that are looked at for a teaser."""

_PAIR_LIMIT = 40
"""Tags in a title up to which they may be formatting."""

_INLINE = "b|strong|i|em|u|s|q|a|font|span|small|big|sub|sup|mark|cite|code|tt|kbd|abbr|del|ins|strike|bdi|bdo|nobr"
_INLINE_TAG = re.compile(rf"<(/?)({_INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_VOID_TAG = re.compile(r"<(?:br|wbr|hr|img)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_WRAPPED = re.compile(r"\s*<(p|div|h[1-6]|title)(?:\s[^<>]*)?>(.*)</\1>\s*", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CDATA_LEFT = re.compile(r"<!\[CDATA\[|\]\]>")

_HIDDEN = re.compile(
    r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL
)
_BREAK = re.compile(
    r"</?(?:p|div|br|hr|li|ul|ol|tr|td|th|table|h[1-6]|blockquote|section|article|figure|figcaption|dd|dt|pre)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")


def one_line(text: str) -> str:
    """Folds white space, also no-break and wide blanks."""
    return " ".join(text.split())


def unescape(text: str) -> str:
    """Replaces character references that end in a semicolon; ``&copy=1`` of an address stays."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def headline(text: str) -> str | None:
    """Returns the plain text of a title of unknown make (RSS, JSON Feed, Atom without type).

    Paired formatting goes, other words in angle brackets stay, entities are resolved up to twice more than XML did.
    """
    text = text.strip()[:TITLE_LIMIT]
    if "<" in text or "&" in text:
        text = _CDATA_LEFT.sub("", text)
        wrapped = _WRAPPED.fullmatch(text)
        text = wrapped[2] if wrapped else text
        for _ in range(2):
            text = unescape(_without_pairs(text))
        text = _without_pairs(text)
    return _tidy(text, TITLE_LIMIT)


def literal(text: str) -> str | None:
    """Returns a title that is declared as text: nothing in it is markup."""
    return _tidy(text, TITLE_LIMIT)


def markup_text(markup: str, limit: int = TEASER_LIMIT) -> str | None:
    """Returns the plain text of HTML, blocks apart by a blank, at most of its first ``limit`` characters."""
    text = markup[:limit]
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _HIDDEN.sub(" ", _CDATA_LEFT.sub("", text))))
    return _tidy(unescape(unescape(text)), limit)


def _without_pairs(text: str) -> str:
    if not 0 < text.count("<") <= _PAIR_LIMIT:
        return text
    seen = Counter((match[1], match[2].lower()) for match in _INLINE_TAG.finditer(text))
    paired = {name for _, name in seen if seen["", name] and seen["/", name]}
    text = _INLINE_TAG.sub(lambda match: "" if match[2].lower() in paired else match[0], text)
    return _VOID_TAG.sub(" ", text)


def _tidy(text: str, limit: int) -> str | None:
    """One line in NFC without control and invisible characters; ``None`` if nothing is left."""
    text = one_line(text)[:limit]
    if not text.isprintable():
        # Joiners are letters' own business in Arabic, Indic scripts and emoji.
        text = one_line("".join(c for c in text if c.isprintable() or c in "\u200c\u200d"))
    return unicodedata.normalize("NFC", text) or None
