"""Finds the terms, exclusions and context phrases of a taxonomy in one text.

One pass of an Aho-Corasick automaton gives candidates; each is then judged here: word edges, addresses,
case, language, line breaks. What the hits are worth is left to ``evidence.py`` and ``score.py``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from transforms.records import Boilerplate
from transforms.tag import edges, teasers
from transforms.tag.fold import SearchText, written_letters
from transforms.tag.guard import is_address
from transforms.tag.model import Phrase, Taxonomy, Term
from transforms.tag.patterns import CONTEXT, TERM, PatternSet, Use, make_patterns
from transforms.tag.spans import Span, SpanSet

TEXT_LIMIT = 1_000_000
"""Characters of a text that are searched; more is no article, and the rest is left unread."""

CANDIDATE_LIMIT = 50_000
_FAST_AUTOMATON_CHARACTERS = 100_000
_BREAK = re.compile(r"\s*[\r\n\x0b\x0c\x85\u2028]\s*")


class Hit(NamedTuple):
    """A term that stands in a text; offsets are code points of the stored text.

    Attributes:
        topic: Index of the topic in the taxonomy.
        needs_company: True for a term whose case counts in a line of capitals, where case says nothing: it
            counts only beside other evidence.
    """

    topic: int
    term: Term
    start: int
    end: int
    in_boilerplate: bool
    needs_company: bool


# A match with word edges whose case, address and paragraph are not judged yet: use, start and end in the fold.
_Candidate = tuple[Use, int, int]


class FieldText:
    """One field of an article and what is known of it while it is searched."""

    def __init__(self, name: str, original: str, boilerplate: Iterable[Boilerplate] = ()) -> None:
        self.name = name
        self.original = original[:TEXT_LIMIT]
        self.is_cut = len(original) > TEXT_LIMIT
        self.search = SearchText(self.original)
        self.has_hashtags = "#" in self.search.text
        self._boilerplate = SpanSet((item.start, item.end) for item in boilerplate)
        self._line: tuple[int, int, bool, bool] = (0, -1, False, False)

    def line_is_shouted(self, position: int) -> bool:
        """Tells whether the line around a position is in capitals."""
        return self._line_at(position)[2]

    def is_boilerplate(self, start: int, end: int) -> bool:
        """Tells whether a stretch is no part of the story."""
        if self._boilerplate.overlaps(start, end):
            return True
        return self.name == "text" and self._line_at(start)[3]

    def _line_at(self, position: int) -> tuple[int, int, bool, bool]:
        start, end, _, _ = self._line
        if not start <= position <= end:
            start = self.original.rfind("\n", 0, position) + 1
            end = self.original.find("\n", position)
            end = len(self.original) if end < 0 else end
            line = self.original[start : min(end, start + 2 * edges.WORD_LENGTH_LIMIT + 200)]
            is_shouted = teasers.is_shouted(line)
            is_teaser = teasers.is_headline_inside(line, self.original) if is_shouted else False
            self._line = (start, end, is_shouted, is_teaser or teasers.is_teaser(line))
        return self._line


class FieldHits:
    """All that was found in one field: hits and exclusions, and contexts that are judged when asked for."""

    def __init__(self, field: FieldText) -> None:
        self.field = field
        self.hits: list[Hit] = []
        self.exclusions: dict[int, SpanSet] = {}
        self.is_cut = field.is_cut
        self._candidates: dict[int, list[_Candidate]] = {}
        self._contexts: dict[int, list[Span]] = {}

    def add_context(self, candidate: _Candidate) -> None:
        """Keeps a context phrase for later."""
        self._candidates.setdefault(candidate[0].topic, []).append(candidate)

    def contexts(self, phrases: frozenset[int]) -> list[Span]:
        """Returns where context phrases stand, in order; not in addresses, boilerplate or the wrong case."""
        present = [phrase for phrase in self._candidates if phrase in phrases]
        return sorted(span for phrase in present for span in self._context(phrase))

    def _context(self, phrase: int) -> list[Span]:
        found = self._contexts.get(phrase)
        if found is None:
            found = [span for span in map(self._judge, self._candidates[phrase]) if span is not None]
            self._contexts[phrase] = found
        return found

    def _judge(self, candidate: _Candidate) -> Span | None:
        field, use = self.field, candidate[0]
        span = self.span(candidate)
        if span is None or field.is_boilerplate(*span):
            return None
        if use.case_exact and (field.line_is_shouted(span[0]) or not _is_written_as(field.original[slice(*span)], use)):
            return None
        return span

    def span(self, candidate: _Candidate) -> Span | None:
        """Returns where a candidate lies in the stored text, or ``None`` in an address or over two paragraphs."""
        use, first, last = candidate
        original = self.field.original
        start, end = self.field.search.span(first, last)
        if is_address(original, start, end) or breaks_paragraph(original, start, end, use):
            return None
        return start, end

    def add_term(self, candidate: _Candidate) -> None:
        """Adds a candidate to the hits if case and accents are right."""
        field, use = self.field, candidate[0]
        span = self.span(candidate)
        if span is None:
            return
        needs_company = False
        if use.case_exact or use.accents is not None:
            surface = field.original[slice(*span)]
            needs_company = use.case_exact and field.line_is_shouted(span[0])
            if not _is_written_as(surface.upper() if needs_company else surface, use, in_capitals=needs_company):
                return
        assert use.term is not None
        self.hits.append(Hit(use.topic, use.term, *span, field.is_boilerplate(*span), needs_company))


class _Automaton:
    """The search machine for the terms of some languages."""

    def __init__(self, patterns: PatternSet, languages: frozenset[str] | None) -> None:
        chosen = {
            pattern: kept
            for pattern, uses in zip(patterns.patterns, patterns.uses, strict=True)
            if (kept := [use for use in uses if use.kind == CONTEXT or languages is None or use.language in languages])
        }
        self.uses = list(chosen.values())
        self.spelled_uses = [[use for use in uses if not use.joined] for uses in self.uses]
        self.is_plain = [
            pattern[0].isalnum() and pattern[-1].isalnum() and not any(use.runs_on for use in uses)
            for pattern, uses in chosen.items()
        ]
        # The fastest form takes much memory for long lists.
        is_small = sum(map(len, chosen)) < _FAST_AUTOMATON_CHARACTERS
        self.machine = AhoCorasick(
            list(chosen),
            matchkind=MatchKind.Standard,
            implementation=Implementation.DFA if is_small else Implementation.ContiguousNFA,
        )


class Matcher:
    """The automata of a taxonomy, made once a process and set of languages (0.05 s), then only read."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy
        self._patterns = make_patterns(taxonomy)
        self._numbers: dict[int, frozenset[int]] = {}
        self._automata: dict[frozenset[str] | None, _Automaton] = {}
        self._languages = {term.language for topic in taxonomy.topics for term in topic.terms}
        self._lock = threading.Lock()

    def find(self, field: FieldText, languages: frozenset[str] | None) -> FieldHits:
        """Returns all hits in a field, overlapping ones too.

        Args:
            field: The text.
            languages: Whose terms count; ``None`` for all.
        """
        found = FieldHits(field)
        candidates = _candidates(field, self._automaton(languages))
        if len(candidates) > CANDIDATE_LIMIT:
            found.is_cut = True
            del candidates[CANDIDATE_LIMIT:]
        exclusions: dict[int, list[Span]] = {}
        for candidate in candidates:
            use = candidate[0]
            if use.kind == CONTEXT:
                found.add_context(candidate)
            elif use.kind == TERM:
                found.add_term(candidate)
            elif (span := found.span(candidate)) is not None:
                exclusions.setdefault(use.topic, []).append(span)
        found.exclusions.update((topic, SpanSet(spans)) for topic, spans in exclusions.items())
        return found

    def numbers(self, phrases: tuple[Phrase, ...]) -> frozenset[int]:
        """Returns the numbers of the context phrases of a condition of this taxonomy."""
        # By identity: the taxonomy keeps its tuples, and to hash a long list for each hit is slow.
        found = self._numbers.get(id(phrases))
        if found is None:
            found = frozenset(self._patterns.phrases[phrase] for phrase in phrases)
            self._numbers[id(phrases)] = found
        return found

    def _automaton(self, languages: frozenset[str] | None) -> _Automaton:
        key = None if languages is None else languages & self._languages
        automaton = self._automata.get(key)
        if automaton is None:
            with self._lock:
                automaton = self._automata.setdefault(key, _Automaton(self._patterns, key))
        return automaton


def _candidates(field: FieldText, automaton: _Automaton) -> list[_Candidate]:
    """Returns the raw matches that begin and end at word edges."""
    text = field.search.text
    length = len(text)
    is_simple = text.isascii() and not field.has_hashtags
    found: list[_Candidate] = []
    for number, start, end in automaton.machine.find_matches_as_indexes(text, overlapping=True):
        is_clear = (start == 0 or not text[start - 1].isalnum()) and (end == length or not text[end].isalnum())
        if is_simple and (is_clear or automaton.is_plain[number]):
            if is_clear:
                found += [(use, start, end) for use in automaton.spelled_uses[number]]
            continue
        for use in automaton.uses[number]:
            stop = _checked_end(field, start, end, use)
            if stop is not None:
                found.append((use, start, stop))
    return found


def _checked_end(field: FieldText, start: int, end: int, use: Use) -> int | None:
    """Returns where a match ends if it has word edges, else ``None``."""
    text = field.search.text
    if not use.joined and edges.has_left_edge(text, start):
        if use.runs_on:
            return edges.run_on(text, end)
        if edges.has_right_edge(text, end):
            return end
    if not field.has_hashtags:
        return None
    first, last = field.search.span(start, end)
    tag_start = edges.hashtag_start(field.original, first)
    if tag_start is None or not edges.is_hashtag_edge(field.original, tag_start, first):
        return None
    if use.runs_on:
        return edges.run_on(text, end)
    return end if edges.is_hashtag_edge(field.original, tag_start, last) else None


def _is_written_as(surface: str, use: Use, in_capitals: bool = False) -> bool:
    if use.accents is not None and not written_letters(surface, keep_accents=True).lower().startswith(use.accents):
        return False
    if not use.case_exact:
        return True
    letters = use.letters.upper() if in_capitals else use.letters
    written = written_letters(surface)
    return written.startswith(letters) if use.runs_on else written == letters


def breaks_paragraph(original: str, start: int, end: int, use: Use) -> bool:
    """Tells whether a match runs over a line break that looks like the end of a paragraph.

    A line break may stand for a blank, since texts come with hard-wrapped lines; but where the next line
    begins with a capital that the term does not have, after a word without one, a new paragraph begins.
    """
    surface = original[start:end]
    if surface.isprintable():
        return False
    lines = _BREAK.split(surface)
    letters = 0
    for line, following in pairwise(lines):
        letters += len(written_letters(line))
        word = line.split()[-1] if line.split() else line
        if following[:1].isupper() and not word[:1].isupper() and not use.letters[letters : letters + 1].isupper():
            return True
    return False
