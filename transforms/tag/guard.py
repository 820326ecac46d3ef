"""Stretches of a text that are addresses, not words: URLs, host names, file names, e-mails, @handles."""

from __future__ import annotations

import re
from collections.abc import Iterator

_EAST_ASIAN = "\u2e80-\u9fff\uac00-\ud7a3\uff00-\uffef"
# An address ends where East Asian text goes on without a blank, unless that text is a part of its path.
_TAIL = rf"(?:[^\s<>\"“”‘’«»{_EAST_ASIAN}]|(?<=[/=?&])[{_EAST_ASIAN}]+)*"
_URL = re.compile(rf"(?:(?<![a-z0-9])[a-z][a-z0-9+.-]{{1,15}}://|(?<!\w)(?:www\.|mailto:)){_TAIL}", re.IGNORECASE)
_HOST = re.compile(
    rf"(?<![\w@.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}"
    rf"(?:(?:com|org|net|gov|edu|info|news|eu|int|mil|(?:co|gov|org|ac)\.uk)(?![\w-])(?:/{_TAIL})?"
    rf"|[a-z]{{2,6}}/{_TAIL}"
    rf"|(?:html?|php|aspx?|pdf|jpe?g|png|gif|webp|mp[34]|csv|docx?|xlsx?)(?!\w))"
)
_AT = re.compile(r"@[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?")
_BEFORE_AT = re.compile(r"[A-Za-z0-9_.+%-]")
_LOCAL_PART_LIMIT = 64
_SIGN = re.compile(r"[@/:]|[^\W_]\.[^\W_]")
_REACH = 300
# Most words have a blank before and a blank or mark behind (the empty string: the text's ends).
_BEFORE_WORDS = frozenset(("", " ", "\n", "“", "‘", '"', "'"))
_BEHIND_WORDS = frozenset(("", " ", "\n", ",", ";", "!", ")", "”", "’", '"', "'"))


def is_address(text: str, start: int, end: int) -> bool:
    """Tells whether any character between ``start`` and ``end`` belongs to an address.

    Only the run of characters without blanks around the stretch is looked at.
    """
    if text[start - 1 : start] in _BEFORE_WORDS and text[end : end + 1] in _BEHIND_WORDS:
        return False
    first = max(0, start - _REACH)
    first = max(text.rfind(" ", first, start), text.rfind("\n", first, start), first - 1) + 1
    last = text.find(" ", end, end + _REACH)
    last = last if last >= 0 else min(len(text), end + _REACH)
    chunk = text[first:last]
    if _SIGN.search(chunk) is None:
        return False
    return any(begin < end - first and start - first < stop for begin, stop in _addresses(chunk))


def _addresses(chunk: str) -> Iterator[tuple[int, int]]:
    for pattern in (_URL, _HOST):
        for found in pattern.finditer(chunk):
            yield found.span()
    for found in _AT.finditer(chunk):
        yield _with_local_part(chunk, *found.span())


def _with_local_part(text: str, start: int, end: int) -> tuple[int, int]:
    begin = start
    while begin and start - begin < _LOCAL_PART_LIMIT and _BEFORE_AT.match(text[begin - 1]):
        begin -= 1
    return begin, end
