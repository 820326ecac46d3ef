"""What a term may look like: long enough, the star at its end only."""

from __future__ import annotations

import re
import unicodedata

STAR_LETTERS_NEEDED = 4
FOLDED_LETTERS_NEEDED = 3
LENGTH_LIMIT = 200
_PATTERN = re.compile(r"[\\|\[\]^{}]|\(\?|\w[?+](?:\w|$)|^/.*/$")


def is_prefix(text: str) -> bool:
    """Tells whether a term may run on to the end of a word (``Asyl*``)."""
    return text.endswith("*")


def without_star(text: str) -> str:
    """Returns the term without its star."""
    return text[:-1].rstrip() if is_prefix(text) else text


def term_fault(text: str, case_exact: bool) -> str | None:
    """Returns what is wrong with a term and how to mend it, or ``None``."""
    stem = without_star(text)
    if "*" in stem or text.endswith(" *"):
        return f'"*" may stand only at the end of a word that ends the term; write "{stem.replace("*", "").strip()}*"'
    letters = [character for character in stem if character.isalnum()]
    if _PATTERN.search(stem):
        return f'"{text}" looks like a pattern; terms are plain phrases: list the forms, or end a word in "*"'
    if text.startswith("$"):
        return "named lists may stand in requires, none_near and unless_in_doc only; write the terms out"
    if len(text) > LENGTH_LIMIT:
        return f"a term has at most {LENGTH_LIMIT} characters; shorten it"
    if not letters:
        return f'"{text}" holds no letter or digit, so it can never be found'
    if is_prefix(text) and len(letters) < STAR_LETTERS_NEEDED and _has_case(letters):
        return f'"{text}" would match too many words; give "*" at least {STAR_LETTERS_NEEDED} letters before it'
    if len(letters) < FOLDED_LETTERS_NEEDED and not case_exact and _has_case(letters):
        return f'"{text}" is too short to be safe; write {{text: "{text}", case: exact}} or a longer phrase'
    return None


def _has_case(letters: list[str]) -> bool:
    """Tells letters of scripts with upper and lower case, where two of them mean little, from others (移民)."""
    return all(unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Nd") for letter in letters)
