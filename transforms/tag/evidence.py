"""Which hits count: conditions of terms and topics, exclusions, the longest hit where several overlap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from transforms.tag.matcher import FieldHits, Hit, Matcher
from transforms.tag.model import Conditions, Near, Phrase, Taxonomy
from transforms.tag.spans import Span
from transforms.tag.words import Words

REFUSALS = {
    "exclude": "an exclude phrase covers it",
    "requires": "the words that it requires do not stand near, or in the article",
    "none_near": "a word of none_near stands near it",
    "capitals": "in a line of capitals its case says nothing, and there is no other evidence of the topic",
    "longer_term": "a longer term of the topic covers it",
    "boilerplate": "it stands in a line that is no part of the story",
}
_LONGEST_TOKEN = 40


class Evidence:
    """The hits of one article, title and text, judged together."""

    def __init__(
        self, taxonomy: Taxonomy, matcher: Matcher, words: Words, fields: list[FieldHits], language: str | None
    ) -> None:
        self._taxonomy = taxonomy
        self._matcher = matcher
        self._words = words
        self._fields = fields
        self._language = language
        self._ranks = {taxonomy.default_language: 1} | ({language: 0} if language else {})
        self._contexts: dict[tuple[frozenset[int], str], list[Span]] = {}

    def hits(self) -> list[tuple[FieldHits, list[Hit]]]:
        """Returns the hits that count, by field and place, the longest where some of one topic overlap."""
        judged = [(found, [hit for hit in found.hits if self._refusal(found, hit) is None]) for found in self._fields]
        # A term in capitals needs other evidence of its topic somewhere in the article.
        proven = {hit.topic for _, hits in judged for hit in hits if not (hit.needs_company or hit.in_boilerplate)}
        return [
            (found, self._longest([hit for hit in hits if not hit.needs_company or hit.topic in proven]))
            for found, hits in judged
        ]

    def refused(self) -> list[tuple[FieldHits, Hit, str]]:
        """Returns the hits that do not count and why: one of ``REFUSALS``."""
        counted = {(found.field.name, hit) for found, hits in self.hits() for hit in hits}
        spans = {(name, hit.topic, hit.start, hit.end) for name, hit in counted}
        return [
            (found, hit, self._why(found, hit, spans))
            for found in self._fields
            for hit in found.hits
            if (found.field.name, hit.topic, hit.start, hit.end) not in spans
        ]

    def _why(self, found: FieldHits, hit: Hit, counted: set[tuple[str, int, int, int]]) -> str:
        for name, topic, start, end in counted:
            if name == found.field.name and topic == hit.topic and start < hit.end and hit.start < end:
                return "longer_term"
        return self._refusal(found, hit) or "capitals"

    def _refusal(self, found: FieldHits, hit: Hit) -> str | None:
        """Returns why a hit does not count on its own, or ``None``."""
        if hit.topic in found.exclusions and found.exclusions[hit.topic].overlaps(hit.start, hit.end):
            return "exclude"
        for conditions in (hit.term.conditions, self._taxonomy.topics[hit.topic].conditions):
            if any(conditions) and (refusal := self._fails(conditions, found, hit)) is not None:
                return refusal
        return None

    def _fails(self, conditions: Conditions, found: FieldHits, hit: Hit) -> str | None:
        if conditions.any_in_doc and not self._stands_in_doc(conditions.any_in_doc, found, hit):
            return "requires"
        if conditions.any_near and not self._stands_near(conditions.any_near, found, hit):
            return "requires"
        if conditions.none_near is None or not self._stands_near(conditions.none_near, found, hit):
            return None
        unless = conditions.unless_in_doc
        return None if unless and self._stands_in_doc(unless, found, hit) else "none_near"

    def _stands_in_doc(self, phrases: tuple[Phrase, ...], found: FieldHits, hit: Hit) -> bool:
        for field in self._fields:
            spans = self._spans(phrases, field)
            if spans and (field is not found or any(not _touch(span, hit) for span in spans)):
                return True
        return False

    def _stands_near(self, near: Near, found: FieldHits, hit: Hit) -> bool:
        for start, end in _neighbours(self._spans(near.phrases, found), hit):
            between = (end, hit.start) if end <= hit.start else (hit.end, start)
            if between[1] - between[0] > near.distance * _LONGEST_TOKEN:
                continue
            text = found.field.original[between[0] : between[1]]
            # Next to each other is a distance of 1: distance - 1 tokens may stand between.
            if self._words.count_is_within(text, near.distance - 1, self._language):
                return True
        return False

    def _spans(self, phrases: tuple[Phrase, ...], found: FieldHits) -> list[Span]:
        """Returns where any of the phrases stands in a field, in order."""
        numbers = self._matcher.numbers(phrases)
        key = (numbers, found.field.name)
        spans = self._contexts.get(key)
        if spans is None:
            spans = self._contexts[key] = found.contexts(numbers)
        return spans

    def _longest(self, hits: list[Hit]) -> list[Hit]:
        """Returns the leftmost longest hits of each topic, in order of place.

        Of hits with the same span the one in the article's language is taken.
        """
        kept: list[Hit] = []
        reach: dict[int, int] = {}
        for hit in sorted(hits, key=self._order):
            if hit.start >= reach.get(hit.topic, 0):
                kept.append(hit)
                reach[hit.topic] = hit.end
        return kept

    def _order(self, hit: Hit) -> tuple[int, int, int, int, float, str]:
        term = hit.term
        return hit.start, -hit.end, hit.topic, self._ranks.get(term.language, 2), -term.weight, term.term_id


def _touch(span: Span, hit: Hit) -> bool:
    return span[0] < hit.end and hit.start < span[1]


def _neighbours(spans: list[Span], hit: Hit) -> Iterable[Span]:
    """Yields the nearest span before and the nearest after a hit, without those that overlap it."""
    index = bisect_left(spans, (hit.start, 0))
    before = index - 1
    while before >= 0 and _touch(spans[before], hit):
        before -= 1
    if before >= 0:
        yield spans[before]
    while index < len(spans) and _touch(spans[index], hit):
        index += 1
    if index < len(spans):
        yield spans[index]
