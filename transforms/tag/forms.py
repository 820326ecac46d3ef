"""Regular forms of words, where a term asks for them with ``inflect``; irregular ones are listed by hand."""

from __future__ import annotations

import re
from collections.abc import Callable

_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_SHORT_SYLLABLE = re.compile(r"^[^aeiou]*[aeiou][bdfglmnprt]$")


def _english_plural(word: str) -> str:
    if _CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    return word + ("es" if _HISSING.search(word) else "s")


def _spanish_plural(word: str) -> str:
    if word.endswith("z"):
        return word[:-1] + "ces"
    if word[-1] in "sx" and len(word) > 3:
        return word
    return word + ("s" if word[-1] in "aeiouáéó" else "es")


def _portuguese_plural(word: str) -> str:
    for ending, plural in (("ão", "ões"), ("m", "ns"), ("al", "ais"), ("el", "eis"), ("ol", "ois"), ("ul", "uis")):
        if word.endswith(ending):
            return word.removesuffix(ending) + plural
    return word + ("es" if word[-1] in "rzs" else "s")


def _french_plural(word: str) -> str:
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith(("eau", "eu")) else "s")


def _italian_plural(word: str) -> str:
    for ending, plural in (("io", "i"), ("ca", "che"), ("ga", "ghe"), ("o", "i"), ("a", "e"), ("e", "i")):
        if word.endswith(ending):
            return word.removesuffix(ending) + plural
    return word


_PLURALS: dict[str, Callable[[str], str]] = {
    "en": _english_plural,
    "es": _spanish_plural,
    "pt": _portuguese_plural,
    "fr": _french_plural,
    "it": _italian_plural,
}
NOUN_LANGUAGES = tuple(sorted(_PLURALS))
VERB_LANGUAGES = ("en",)


def regular_forms(text: str, inflect: str, language: str) -> list[str]:
    """Returns the regular forms of a term besides the term itself.

    English inflects the last word of a phrase (``asylum seekers``); the Romance languages the first, and
    in a second form every word (``demandeurs d'asile``, ``immigrés clandestins``).
    """
    words = text.split(" ")
    if inflect == "noun" and language in _PLURALS:
        plural = _PLURALS[language]
        if language == "en":
            return [" ".join([*words[:-1], plural(words[-1])])]
        forms = [" ".join([plural(words[0]), *words[1:]])]
        if len(words) > 1:
            forms.append(" ".join(map(plural, words)))
        return forms
    if inflect == "verb" and language in VERB_LANGUAGES:
        return [" ".join([form, *words[1:]]) for form in _english_verb(words[0])]
    return []


def _english_verb(word: str) -> list[str]:
    third = _english_plural(word)
    if word.endswith("e"):
        return [third, word + "d", word[:-1] + "ing"]
    if _CONSONANT_Y.search(word):
        return [third, word[:-1] + "ied", word + "ing"]
    stems = [word]
    if _SHORT_SYLLABLE.match(word):
        stems.append(word + word[-1])
    return [third, *(stem + ending for stem in stems for ending in ("ed", "ing"))]
