"""The form in which text and terms are compared, and the way back to the stored text.

``fold`` changes letters one by one and never the length, so that a place in the fold is a place in the
text: lower case, no accents, one kind of quote, hyphen, blank and line break. ``SearchText`` then closes
up what must not part a phrase (runs of blanks, single line breaks, invisible characters), writes ligatures out
and remembers where, so that each hit can be given in the characters of the stored text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

BLANK, HYPHEN, DASH, QUOTE, BREAK, WALL, IGNORED = " ", "-", "\x1d", "'", "\n", "\x1e", "\x00"

# The zero-width non-joiner parts the members of Persian words as a hyphen does.
_HYPHENS = (
    "\u200c\u2010\u2011\u2012\u2013\u2212\u2043\u02d7\u058a\u05be\u1400\u1806\u2e17\u2e1a\u2e40\u2e5d\u30a0"
    "\ufe58\ufe63\uff0d"
)
_DASHES = "\u2014\u2015\u2e3a\u2e3b\ufe31\ufe32\u301c\u3030"
_BLANKS = "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_BREAKS = "\r\x0b\x0c\x85\u2028"
_WALLS = "\x1c\u2029"
_QUOTES = (
    '"`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u2035\u2036\u00ab\u00bb\u2039\u203a'
    "\u02b9\u02bb\u02bc\u02bd\u02c8\u02ca\u05f3\u05f4\u300c\u300d\u300e\u300f\u301d\u301e\u301f\uff02\uff07"
)
# Soft hyphen, zero-width and direction marks, and the marks that Hebrew and Arabic texts may have or lack.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u0640\u180e\u200b\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
_OPTIONAL_MARKS = ((0x0300, 0x036F), (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2), (0x05C4, 0x05C5),
                   (0x05C7, 0x05C7), (0x064B, 0x0652), (0x0670, 0x0670))  # fmt: skip
_LETTERS = {
    "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ı": "i", "ŧ": "t", "ƒ": "f", "ς": "σ", "ё": "е",
    "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ک": "ك", "ی": "ي",
}  # fmt: skip
# One sign for several letters; terms and texts are compared with the letters written out.
_LIGATURES = {
    "œ": "oe", "æ": "ae", "\u0133": "ij", "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi",
    "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
_ACCENTED_BLOCKS = ((0x00C0, 0x024F), (0x0386, 0x03CE), (0x1E00, 0x1FFF))
_FULL_WIDTH = (0xFF01, 0xFF5E)
_FULL_WIDTH_SHIFT = 0xFEE0


def _base_letter(character: str) -> str:
    decomposed = unicodedata.normalize("NFD", character)
    return decomposed[0] if len(decomposed) > 1 and decomposed[0].isalpha() else character


def _make_folds() -> dict[str, str]:
    """Returns what each foldable character (in lower case) becomes."""
    folds = {"…": ".", "_": BLANK} | _LETTERS
    groups = (
        (_HYPHENS, HYPHEN), (_DASHES, DASH), (_BLANKS, BLANK), (_BREAKS, BREAK), (_WALLS, WALL), (_QUOTES, QUOTE),
        (_INVISIBLE, IGNORED),
    )  # fmt: skip
    for characters, folded in groups:
        folds.update(dict.fromkeys(characters, folded))
    for first, last in _OPTIONAL_MARKS:
        folds.update((chr(code), IGNORED) for code in range(first, last + 1))
    for first, last in _ACCENTED_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            if character.isalpha() and character not in folds:
                folds[character] = _base_letter(character)
    for code in range(_FULL_WIDTH[0], _FULL_WIDTH[1] + 1):
        folds.setdefault(chr(code), chr(code - _FULL_WIDTH_SHIFT).lower().replace('"', QUOTE).replace("`", QUOTE))
    return {character: folded for character, folded in folds.items() if folded != character}


_FOLDS = _make_folds()
_ASCII_TABLE = bytes(ord(_FOLDS.get(chr(code).lower(), chr(code).lower())) for code in range(128)) + bytes(128)
_ASCII_FOLDS = tuple((character, folded) for character, folded in _FOLDS.items() if character.isascii())
# The typographic characters of a usual news text: without them most texts are ASCII, which is folded at once.
_COMMON_FOLDS = tuple((character, _FOLDS[character]) for character in "’“”‘–—…\u00a0")
_FOLDABLE = re.compile("[" + "".join(map(re.escape, (c for c in _FOLDS if not c.isascii()))) + "]")
_RUN_LIMIT = 200  # a longer run of blanks is layout, such as the columns of a table
_UNSPACED = "[\u0e00-\u0eff\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
_TO_CLOSE_UP = re.compile(
    # Runs of blanks, a line that breaks behind a hyphen, a break where words are not parted by blanks, ligatures.
    f"[ \n\x00]{{2,}}|\x00|-\n(?![ \n])|(?<={_UNSPACED})\n(?={_UNSPACED})|[{''.join(_LIGATURES)}]"
)
_UNSPACED_BREAK = re.compile(f"{_UNSPACED}\n{_UNSPACED}")


def fold(text: str) -> str:
    """Returns the text in the form that is compared, character by character and of the same length."""
    if "\r\n" in text:
        text = text.replace("\r\n", " \n")
    if not text.isascii():
        for character, folded in _COMMON_FOLDS:
            if character in text:
                text = text.replace(character, folded)
    if text.isascii():
        return text.encode("ascii").translate(_ASCII_TABLE).decode("ascii")
    if "\u0130" in text:  # the one letter whose lower case is two characters
        text = text.replace("\u0130", "i")
    text = text.lower()
    for character, folded in _ASCII_FOLDS:
        if character in text:
            text = text.replace(character, folded)
    for character in set(_FOLDABLE.findall(text)):
        text = text.replace(character, _FOLDS[character])
    return text


def _needs_closing(folded: str, has_breaks: bool) -> bool:
    if "  " in folded or IGNORED in folded:
        return True
    if has_breaks and (" \n" in folded or "\n " in folded or "-\n" in folded):
        return True
    if folded.isascii():
        return False
    return any(ligature in folded for ligature in _LIGATURES) or (
        has_breaks and _UNSPACED_BREAK.search(folded) is not None
    )


def _closed_up(run: str) -> str:
    """Returns what stands for a run of blanks and breaks, for a hyphen at a line's end, or for a ligature."""
    if run in _LIGATURES:
        return _LIGATURES[run]
    if run[0] == HYPHEN:
        return HYPHEN
    if run.count(BREAK) > 1 or len(run) > _RUN_LIMIT:
        return WALL
    return "" if run == BREAK else BLANK if run.strip(IGNORED) else ""


class SearchText:
    """A text made ready for the search.

    Attributes:
        original: The text as stored; all offsets that leave this class refer to it.
        text: What the automaton reads: folded, ligatures written out, hyphens as blanks, runs of blanks and
            single line breaks closed up to one blank (to nothing behind a hyphen and where words are not parted by
            blanks), empty lines as a wall that no phrase crosses.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self._starts: list[int] = []
        self._shifts: list[int] = []
        folded = fold(original)
        if BREAK in folded:
            folded = folded.replace(BREAK + BREAK, WALL + WALL)
        has_breaks = BREAK in folded
        if _needs_closing(folded, has_breaks):
            folded = self._close_up(folded)
        if has_breaks:
            folded = folded.replace(BREAK, BLANK)
        self.text = folded.replace(HYPHEN, BLANK)

    def _close_up(self, folded: str) -> str:
        pieces: list[str] = []
        position = length = 0
        for found in _TO_CLOSE_UP.finditer(folded):
            kept = _closed_up(found.group())
            pieces += (folded[position : found.start()], kept)
            length += found.start() - position
            for _ in kept[1:]:  # the second letter of a ligature lies where the first does
                length += 1
                self._starts.append(length)
                self._shifts.append(found.start() - length)
            length += bool(kept)
            position = found.end()
            self._starts.append(length)
            self._shifts.append(position - length)
        pieces.append(folded[position:])
        return "".join(pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns where a stretch of ``text`` lies in ``original``; combining marks stay with their letter."""
        if self._starts:
            start += self._shift(start)
            end = end - 1 + self._shift(end - 1) + 1
        while end < len(self.original) and unicodedata.combining(self.original[end]):
            end += 1
        return start, end

    def _shift(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        return self._shifts[index] if index >= 0 else 0


def search_form(phrase: str) -> str:
    """Returns a phrase as it is looked for: folded, hyphens kept, blanks closed up, nothing invisible."""
    folded = fold(unicodedata.normalize("NFC", phrase)).replace(IGNORED, "").replace(BREAK, BLANK)
    for ligature, letters in _LIGATURES.items():
        folded = folded.replace(ligature, letters)
    return BLANK.join(filter(None, folded.split(BLANK)))


def written_letters(text: str, keep_accents: bool = False) -> str:
    """Returns letters and digits only, in their own case, to compare terms whose case (or accents) count."""
    composed = unicodedata.normalize("NFC", text)
    if not keep_accents:
        composed = unicodedata.normalize("NFKD", composed)
    return "".join(character for character in composed if character.isalnum())
