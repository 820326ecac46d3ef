"""Turns terms, exclusions and context phrases into the strings that the automaton looks for.

One surface gives several patterns, so that the search itself stays a plain comparison: a hyphen may be
a hyphen, a blank or nothing; a quotation mark may stand beside a blank ("sanctuary" city); in a hashtag
the words are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from transforms.tag.fold import BLANK, HYPHEN, QUOTE, search_form, written_letters
from transforms.tag.forms import regular_forms
from transforms.tag.model import Conditions, Exclusion, Phrase, Taxonomy, Term
from transforms.tag.term_text import is_prefix, without_star

_FREE_HYPHENS_LIMIT = 3
_ACCENTS_COUNT = frozenset(("vi",))
_GERMAN_SPELLINGS = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"))

TERM, EXCLUSION, CONTEXT = range(3)


class Use(NamedTuple):
    """What a pattern stands for.

    Attributes:
        kind: ``TERM``, ``EXCLUSION`` or ``CONTEXT``.
        topic: Index of the topic; of the phrase for a context.
        language: Language of term or exclusion; empty for a context.
        term: The term, if it is one.
        letters: Letters of the surface as written.
        case_exact: Whether they must stand so in the text.
        accents: Letters in lower case with their accents, where these make other words (Vietnamese).
        joined: Whether it stands for words joined in a hashtag.
        runs_on: Whether the word may go on behind it.
    """

    kind: int
    topic: int
    language: str
    term: Term | None
    letters: str
    case_exact: bool
    accents: str | None
    joined: bool
    runs_on: bool


class PatternSet(NamedTuple):
    """All patterns, what each stands for, and the context phrases by their index."""

    patterns: tuple[str, ...]
    uses: tuple[tuple[Use, ...], ...]
    phrases: dict[Phrase, int]


def surfaces(term: Term) -> list[str]:
    """Returns all surfaces of a term: itself, its forms, its regular forms, German without umlauts."""
    found = dict.fromkeys((term.text, *term.forms))
    if not is_prefix(term.text):
        found.update(dict.fromkeys(regular_forms(term.text, term.inflect, term.language)))
    if term.language == "de":
        found.update(dict.fromkeys(map(_without_umlauts, list(found))))
    return list(found)


def _without_umlauts(text: str) -> str:
    for umlaut, letters in _GERMAN_SPELLINGS:
        text = text.replace(umlaut, letters).replace(umlaut.upper(), letters.title())
    return text


def surface_key(text: str, case_exact: bool) -> str:
    """Returns what two surfaces share if they would find the same."""
    form = search_form(without_star(text)).replace(HYPHEN, BLANK)
    return f"{form}{'*' if is_prefix(text) else ''}{written_letters(text) if case_exact else ''}"


def patterns_of(surface: str) -> Iterator[tuple[str, bool]]:
    """Yields the patterns of one surface, and whether each is valid in a hashtag only."""
    form = search_form(without_star(surface))
    seen = set()
    for pattern in _spellings(form):
        if pattern not in seen:
            seen.add(pattern)
            yield pattern, False
    joined = form.replace(BLANK, "").replace(HYPHEN, "").replace(QUOTE, "")
    if joined and joined not in seen:
        yield joined, True


def _spellings(form: str) -> Iterator[str]:
    parts = form.split(HYPHEN)
    if len(parts) - 1 > _FREE_HYPHENS_LIMIT or "" in parts:
        spaced = [form.replace(HYPHEN, BLANK)]
    else:
        gaps = product((BLANK, ""), repeat=len(parts) - 1)
        spaced = [parts[0] + "".join(map("".join, zip(gap, parts[1:], strict=True))) for gap in gaps]
    for spelling in spaced:
        yield spelling
        for position, character in enumerate(spelling):
            if character == BLANK:
                yield f"{spelling[:position]}{QUOTE}{spelling[position:]}"
                yield f"{spelling[: position + 1]}{QUOTE}{spelling[position + 1 :]}"


def make_patterns(taxonomy: Taxonomy) -> PatternSet:
    """Returns the patterns of a whole taxonomy."""
    uses: dict[str, dict[Use, None]] = {}
    phrases: dict[Phrase, int] = {}
    for index, topic in enumerate(taxonomy.topics):
        for term in topic.terms:
            for surface in surfaces(term):
                _add(uses, surface, _use(TERM, index, term.language, term, term.case_exact, surface))
            _number_phrases(phrases, term.conditions)
        for exclusion in topic.exclude:
            _add(uses, exclusion.text, _exclusion_use(index, exclusion))
        _number_phrases(phrases, topic.conditions)
    for phrase, number in phrases.items():
        _add(uses, phrase.text, _use(CONTEXT, number, "", None, phrase.case_exact, phrase.text))
    return PatternSet(tuple(uses), tuple(map(tuple, uses.values())), phrases)


def _exclusion_use(topic: int, exclusion: Exclusion) -> Use:
    return _use(EXCLUSION, topic, exclusion.language, None, False, exclusion.text)


def _use(kind: int, topic: int, language: str, term: Term | None, case_exact: bool, surface: str) -> Use:
    stem = without_star(surface)
    accents = written_letters(stem, keep_accents=True).lower() if language in _ACCENTS_COUNT else None
    return Use(kind, topic, language, term, written_letters(stem), case_exact, accents, False, is_prefix(surface))


def _add(uses: dict[str, dict[Use, None]], surface: str, use: Use) -> None:
    for pattern, joined in patterns_of(surface):
        uses.setdefault(pattern, {})[use._replace(joined=True) if joined else use] = None


def _number_phrases(phrases: dict[Phrase, int], conditions: Conditions) -> None:
    nears = [near.phrases for near in (conditions.any_near, conditions.none_near) if near]
    for phrase in (*conditions.any_in_doc, *conditions.unless_in_doc, *(phrase for near in nears for phrase in near)):
        phrases.setdefault(phrase, len(phrases))
