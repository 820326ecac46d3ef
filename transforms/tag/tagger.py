"""Tags an article: which topics it has, how strongly, and by which words at which place.

The one way in for the stage, for ``topics test`` and ``explain``, and for ``dataset retag``. Deterministic:
the same title, text and language give the same tags in any process and order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from transforms.records import Article, Boilerplate, Match, Tags, TopicScore
from transforms.tag.entities import EntityFinder
from transforms.tag.evidence import Evidence
from transforms.tag.matcher import FieldHits, FieldText, Hit, Matcher
from transforms.tag.model import LEVELS, Taxonomy
from transforms.tag.score import MATCH_LIMIT, lead_end, level_of, score_of, select_matches, with_implied
from transforms.tag.words import Words
from transforms.text import word_count as count_words

__all__ = ["MATCH_LIMIT", "TagSettings", "Tagger"]

_UNKNOWN_LANGUAGES = (None, "", "und")


class TagSettings(NamedTuple):
    """Options of tagging.

    Attributes:
        entity_model: Name or path of a spaCy model whose named entities are stored with tagged articles.
    """

    entity_model: str | None = None


class Tagger:
    """A taxonomy made ready for use. Built once a process (0.05 s); threads may share it."""

    def __init__(self, taxonomy: Taxonomy, settings: TagSettings | None = None) -> None:
        self.taxonomy = taxonomy
        self._matcher = Matcher(taxonomy)
        self._words = Words()
        model = settings.entity_model if settings else None
        self._entities = EntityFinder(model) if model else None

    def tag(self, article: Article) -> Tags:
        """Returns the tags of an article."""
        return self._tag(article.title, article.text, article.language, article.boilerplate, article.word_count)

    def tag_text(
        self, title: str | None, text: str, language: str | None, boilerplate: Iterable[Boilerplate] = ()
    ) -> Tags:
        """Returns the tags of a text that is no article yet.

        Args:
            title: Headline; its hits weigh three times.
            text: The text in NFC; offsets are code points of it.
            language: Primary tag such as ``en``; ``None`` or ``und`` looks for the terms of all languages.
            boilerplate: Ranges of the text where no hit has weight.
        """
        return self._tag(title, text, language, boilerplate, None)

    def _tag(
        self, title: str | None, text: str, language: str | None, boilerplate: Iterable[Boilerplate], words: int | None
    ) -> Tags:
        fields, known = self._find(title, text, language, boilerplate)
        if not any(found.hits for found in fields):
            return self._tags((), (), False, {}, text)
        evidence = Evidence(self.taxonomy, self._matcher, self._words, fields, known).hits()
        matches = [self._match(found, hit) for found, hits in evidence for hit in hits]
        stored = select_matches(matches)
        scores = self._scores(matches, stored, lead_end(text), count_words(text) if words is None else words)
        is_cut = len(stored) < len(matches) or any(found.is_cut for found in fields)
        snippets = self._snippets(title or "", text, scores, stored, known)
        return self._tags(scores, stored, is_cut, snippets, text)

    def refused(
        self, title: str | None, text: str, language: str | None, boilerplate: Iterable[Boilerplate] = ()
    ) -> list[tuple[Match, str]]:
        """Returns the terms that stand in a text but do not count, each with a key of ``evidence.REFUSALS``.

        For people who ask why nothing was found; the arguments are those of ``tag_text``.
        """
        fields, known = self._find(title, text, language, boilerplate)
        evidence = Evidence(self.taxonomy, self._matcher, self._words, fields, known)
        return [(self._match(found, hit), reason) for found, hit, reason in evidence.refused()]

    def _find(
        self, title: str | None, text: str, language: str | None, boilerplate: Iterable[Boilerplate]
    ) -> tuple[list[FieldHits], str | None]:
        """Returns what stands in title and text, and the language if it is known."""
        known = None if language in _UNKNOWN_LANGUAGES else str(language).split("-")[0].lower()
        languages = frozenset((known, self.taxonomy.default_language)) if known else None
        fields = (FieldText("title", title or ""), FieldText("text", text, boilerplate))
        return [self._matcher.find(field, languages) for field in fields], known

    def _match(self, found: FieldHits, hit: Hit) -> Match:
        topic = self.taxonomy.topics[hit.topic]
        return Match(
            topic=topic.id,
            term_id=hit.term.term_id,
            surface=found.field.original[hit.start : hit.end],
            field=found.field.name,
            start=hit.start,
            end=hit.end,
            weight=0.0 if hit.in_boilerplate else hit.term.weight,
            in_boilerplate=hit.in_boilerplate,
            language=hit.term.language,
        )

    def _scores(
        self, matches: Iterable[Match], stored: Iterable[Match], lead: int, word_count: int
    ) -> tuple[TopicScore, ...]:
        counts: dict[str, list[int]] = {}
        for match in matches:
            if not match.in_boilerplate:
                place = 0 if match.field == "title" else 1 if match.start < lead else 2
                counts.setdefault(match.topic, [0, 0, 0])[place] += 1
        scores = []
        for topic, (in_title, in_lead, in_body) in counts.items():
            own = [match for match in stored if match.topic == topic]
            score = score_of(own, (in_title, in_lead, in_body), word_count)
            level = level_of(score, self.taxonomy.topic(topic).thresholds)
            if level is not None:
                total = in_title + in_lead + in_body
                scores.append(TopicScore(topic, level, score, total, in_title, in_lead, in_body, False))
        return with_implied(self.taxonomy, scores)

    def _snippets(
        self, title: str, text: str, scores: Iterable[TopicScore], matches: Iterable[Match], language: str | None
    ) -> dict[str, str]:
        """Returns the sentence of each topic's best hit; of an implied one without hits that of who implies it."""
        snippets: dict[str, str] = {}
        implied: list[str] = []
        for score in scores:
            if score.level == LEVELS[0]:
                continue
            own = [match for match in matches if match.topic == score.topic and not match.in_boilerplate]
            # The best hit is the heaviest, the first of these; a sentence of the text says more than the title.
            best = min(own, key=lambda match: (match.field == "title", -match.weight, match.start), default=None)
            if best is not None:
                source = title if best.field == "title" else text
                snippets[score.topic] = self._words.snippet(source, best.start, best.end, language)
            else:
                implied.append(score.topic)
        for topic in implied:
            for other in list(snippets):
                if topic in self.taxonomy.topic(other).implies:
                    snippets.setdefault(topic, snippets[other])
        return snippets

    def _tags(
        self,
        scores: tuple[TopicScore, ...],
        matches: tuple[Match, ...],
        is_cut: bool,
        snippets: dict[str, str],
        text: str,
    ) -> Tags:
        topics = tuple(score.topic for score in scores if score.level != LEVELS[0])
        entities = self._entities.find(text) if self._entities and topics else ()
        return Tags(
            topics=topics,
            scores=scores,
            matches=matches,
            matches_truncated=is_cut,
            snippets=snippets,
            taxonomy_id=self.taxonomy.id,
            taxonomy_version=self.taxonomy.version,
            taxonomy_sha256=self.taxonomy.sha256,
            entities=entities,
        )
