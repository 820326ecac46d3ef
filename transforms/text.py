"""Text as it should be: bytes to text, cleaning, counting, and the hashes by which texts are compared.

Leaves finding the article in a page to ``transforms/extract``. Works on plain text only.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from transforms.counters import strip_counters
from transforms.decoding import decode, looks_binary

__all__ = [
    "clean_text",
    "content_sha256",
    "decode",
    "lines_of",
    "looks_binary",
    "strip_counters",
    "text_fingerprint",
    "word_count",
]

_LINE_END = re.compile(r"\r\n|\n|\r")
_BREAKS = re.compile(r"\r\n|[\r\n\x0b\x0c\u2028]")  # U+2028 is a line separator; lines_of leaves it alone
_REPAIR_LENGTH_LIMIT = 200_000  # longer than any article; bounds the time
_MOJIBAKE_HINT = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\ufffe\uffff]"
)
# Joiners are letters' own business in Arabic, Indic and emoji, and noise elsewhere.
_STRAY_JOINER = re.compile("(?<![\u0590-\u1cff\u2600-\uffff\U00010000-\U0010ffff])[\u200c\u200d]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_BLANKS = re.compile(r"[\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_WORD = re.compile(r"[^\W_]+")


def lines_of(text: str) -> list[str]:
    r"""Splits at ``\n``, ``\r\n`` and ``\r`` only; ``str.splitlines`` also cuts at U+2028, form feeds and others."""
    return _LINE_END.split(text)


def clean_text(text: str) -> str:
    r"""Returns a text in the form in which articles are stored and offsets are counted.

    NFC; lone surrogates become U+FFFD; mojibake is repaired where ftfy is sure; control, zero-width and
    bidirectional marks, BOMs and soft hyphens go; line ends are ``\n``; runs of blanks of any kind inside
    a line become one blank; lines are trimmed. Paragraphs are kept: single breaks stay, runs of empty lines
    become one empty line. Idempotent; never raises.
    """
    text = _cleaned_once(_without_lone_surrogates(text))
    # A sign that went may have stood inside of damage, which only now can be seen.
    while len(text) <= _REPAIR_LENGTH_LIMIT and _MOJIBAKE_HINT.search(text):
        again = _cleaned_once(text)
        if again == text:
            break
        text = again
    return text


def _cleaned_once(text: str) -> str:
    text = _BREAKS.sub("\n", text).replace("\u2029", "\n\n")
    if len(text) <= _REPAIR_LENGTH_LIMIT and _MOJIBAKE_HINT.search(text):
        text = "\n".join(_repair_mojibake(line) for line in text.split("\n"))
    text = _CONTROL.sub("", text.replace("\x85", "\n"))
    text = _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))
    text = unicodedata.normalize("NFC", text)
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _repair_mojibake(line: str) -> str:
    if not _MOJIBAKE_HINT.search(line):
        return line
    import ftfy  # only texts that look damaged pay for it

    return str(ftfy.fix_encoding(line))


def word_count(text: str) -> int:
    """Returns the number of runs of letters and digits."""
    return sum(1 for _ in _WORD.finditer(text))


def content_sha256(title: str | None, text: str) -> str:
    """Returns the hash whose change makes a revision, 64 hex digits.

    White space does not count, nor do lines and sentences that are only a counter or an age
    (``12 comments``, ``Updated 3 minutes ago``). Everything else does: a changed death toll is news.
    """
    parts = [_without_space(title or ""), _without_space(strip_counters(text))]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def _without_space(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())


def text_fingerprint(text: str) -> str:
    """Returns a hash of the words, 32 hex digits: equal for copies that differ in case, blanks, punctuation.

    Returns:
        An empty string for a text without words, which is no copy of anything.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if not words:
        return ""
    return hashlib.sha256(" ".join(words).encode("utf-8", "replace")).hexdigest()[:32]
