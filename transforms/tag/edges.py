"""Where words begin and end, judged by the script of the letters that touch.

Alphabets part words by blanks and marks; Han, Hiragana, Thai and their like do not; Korean hangs particles
on the end of a word; Arabic and Hebrew hang small words before it; a hashtag parts them by capitals.
"""

from __future__ import annotations

import re
import unicodedata

WORD_LENGTH_LIMIT = 100

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003fffd]"
)
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_ARABIC = re.compile("[\u0620-\u06ff]")
_HEBREW = re.compile("[\u05d0-\u05ea]")
# And, so; by, to, like; the; in the folded form of Arabic.
_ARABIC_PREFIX = re.compile("[وف]?(?:ال|لل|[بكل](?:ال)?)?")
_HEBREW_PREFIX = re.compile("[ושהמלבכ]{1,3}")
_PREFIX_LENGTH_LIMIT = 4
_HASH = "#\uff03"


def is_word_character(character: str) -> bool:
    """Tells letters, digits and the marks that belong to a letter."""
    return character.isalnum() or (character > "\u02ff" and unicodedata.category(character)[0] == "M")


def is_unspaced(character: str) -> bool:
    """Tells characters of scripts that write words without blanks (Han, Hiragana, Thai ...)."""
    return character > "\u0dff" and _UNSPACED.match(character) is not None


def has_left_edge(text: str, start: int) -> bool:
    """Tells whether a word begins at ``start`` of a folded text."""
    if start == 0:
        return True
    before, first = text[start - 1], text[start]
    if not is_word_character(before) or not is_word_character(first):
        return True
    if is_unspaced(before) or is_unspaced(first):
        return True
    if _differ_in(_KATAKANA, before, first) or _differ_in(_HANGUL, before, first):
        return True
    return _has_glued_prefix(text, start)


def has_right_edge(text: str, end: int) -> bool:
    """Tells whether a word may end before ``end`` of a folded text; Korean particles may follow."""
    if end >= len(text):
        return True
    last, after = text[end - 1], text[end]
    if unicodedata.category(after)[0] == "M":
        return False
    if not after.isalnum() or not is_word_character(last):
        return True
    if is_unspaced(last) or is_unspaced(after) or _HANGUL.match(last):
        return True
    return _differ_in(_KATAKANA, last, after) or _differ_in(_HANGUL, last, after)


def run_on(text: str, end: int) -> int | None:
    """Returns where the word that goes on at ``end`` ends, for terms with a star; ``None`` if it is no word."""
    limit = min(len(text), end + WORD_LENGTH_LIMIT)
    while end < limit and is_word_character(text[end]) and not is_unspaced(text[end]):
        end += 1
    return None if end < len(text) and end == limit else end


def hashtag_start(text: str, position: int) -> int | None:
    """Returns where the hashtag around ``position`` begins (after its #), or ``None`` outside of one."""
    first = max(0, position - WORD_LENGTH_LIMIT)
    start = max(text.rfind(sign, first, position) for sign in _HASH) + 1
    if start == 0:
        return None
    words = text[start:position].replace("_", "")
    return start if not words or words.isalnum() else None


def is_hashtag_edge(text: str, tag_start: int, position: int) -> bool:
    """Tells whether the words of a hashtag part at ``position`` of the text as written (#AbolishICENow)."""
    if position <= tag_start or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if not (before.isalnum() and after.isalnum()) or before.isdigit() != after.isdigit():
        return True
    if not after.isupper():
        return False
    return not before.isupper() or text[position + 1 : position + 2].islower()


def _differ_in(script: re.Pattern[str], one: str, other: str) -> bool:
    return (script.match(one) is None) != (script.match(other) is None)


def _has_glued_prefix(text: str, start: int) -> bool:
    first = text[start]
    pattern = _ARABIC_PREFIX if _ARABIC.match(first) else _HEBREW_PREFIX if _HEBREW.match(first) else None
    if pattern is None:
        return False
    begin = start
    while begin and start - begin <= _PREFIX_LENGTH_LIMIT and text[begin - 1].isalnum():
        begin -= 1
    return pattern.fullmatch(text, begin, start) is not None
