"""Measures a taxonomy by labelled texts: how much it finds, how much of that is right, and what it gets most wrong.

A label says that a text is on a topic. What topics that one implies are neither asked for nor wrong: a text labelled
``deportation`` is not judged for ``immigration`` unless it is labelled so.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from transforms.records import Match, Tags
from transforms.tag.explain import explain
from transforms.tag.labelled import LabelledText
from transforms.tag.model import LEVELS, Taxonomy
from transforms.tag.tagger import Tagger
from transforms.text import word_count
from transforms.yaml_file import Mark

_HITS_SHOWN = 3
_AROUND = 40


class Figures(NamedTuple):
    """One topic at one level: an article counts as found if its level is this one or higher.

    Attributes:
        right: Texts with the label that were found.
        wrong: Texts without it that were found.
        missed: Texts with it that were not found.
    """

    topic: str
    level: str
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the found texts that have the label; ``None`` if none was found."""
        return _share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Share of the labelled texts that were found; ``None`` if none is labelled."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.right, 2 * self.right + self.wrong + self.missed)


class Evidence(NamedTuple):
    """A hit of the topic in a text.

    Attributes:
        before: The text in front of it.
        after: The text behind it.
        refusal: A key of ``evidence.REFUSALS`` if it does not count.
    """

    term_id: str
    field: str
    before: str
    surface: str
    after: str
    refusal: str | None = None


class Mistake(NamedTuple):
    """A text on which labels and tags disagree.

    Attributes:
        excerpt: Its title or how it begins.
        score: Of the topic.
        level: Of the topic, ``None`` if it has none.
        reason: The arithmetic, or which topics imply it.
        evidence: Some of its hits; of a text without any that count, those that do not.
    """

    mark: Mark
    topic: str
    excerpt: str
    language: str
    score: float
    level: str | None
    reason: str
    evidence: tuple[Evidence, ...]


class Measured(NamedTuple):
    """What was found out.

    Attributes:
        texts: How many were judged.
        figures: By topic, then level.
        misses: Labelled texts that do not reach the level asked for, by topic: the lowest score first.
        false_hits: Texts without the label that reach it, by topic: the highest score first.
    """

    texts: int
    figures: tuple[Figures, ...]
    misses: tuple[Mistake, ...]
    false_hits: tuple[Mistake, ...]


def measure(
    tagger: Tagger, texts: Iterable[LabelledText], topics: Collection[str], level: str = "relevant", worst: int = 5
) -> Measured:
    """Tags the texts and compares the tags with the labels.

    Args:
        tagger: With the taxonomy.
        texts: Read once, one at a time.
        topics: The topics that are measured.
        level: The level that misses and false hits are told for.
        worst: How many of each are told, a topic.
    """
    counts = {(topic, name): [0, 0, 0] for topic in topics for name in LEVELS}
    worst_ones = {(topic, is_miss): _Worst(worst) for topic in topics for is_miss in (True, False)}
    number = 0
    for number, text in enumerate(texts, 1):
        tags = tagger.tag_text(text.title, text.text, text.language)
        scores = {score.topic: score for score in tags.scores}
        for topic, is_labelled in _judgements(tagger.taxonomy, text, topics):
            score = scores.get(topic)
            reached = LEVELS.index(score.level) if score else -1
            for place, name in enumerate(LEVELS):
                if is_labelled or reached >= place:
                    counts[topic, name][_outcome(is_labelled, reached >= place)] += 1
            if is_labelled != (reached >= LEVELS.index(level)):
                points = score.score if score else 0.0
                list_of = worst_ones[topic, is_labelled]
                if list_of.wants(rank := points if is_labelled else -points):
                    list_of.add(rank, number, _mistake(tagger, text, tags, topic))
    return Measured(
        number,
        tuple(Figures(topic, name, *counts[topic, name]) for topic in topics for name in LEVELS),
        tuple(mistake for topic in topics for mistake in worst_ones[topic, True].mistakes()),
        tuple(mistake for topic in topics for mistake in worst_ones[topic, False].mistakes()),
    )


class _Worst:
    """The mistakes of the lowest ranks, the first of equal ones."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[float, int, Mistake]] = []

    def wants(self, rank: float) -> bool:
        return len(self._kept) < self._most or (self._most > 0 and rank < self._kept[-1][0])

    def add(self, rank: float, number: int, mistake: Mistake) -> None:
        insort(self._kept, (rank, number, mistake))
        del self._kept[self._most :]

    def mistakes(self) -> list[Mistake]:
        return [mistake for _, _, mistake in self._kept]


def _outcome(is_labelled: bool, is_found: bool) -> int:
    """Returns the place of a verdict among right, wrong and missed."""
    return (0 if is_found else 2) if is_labelled else 1


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _judgements(taxonomy: Taxonomy, text: LabelledText, topics: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yields the topics for which a text says yes or no."""
    implied: set[str] = set()
    waiting = list(text.topics)
    while waiting:
        above = set(taxonomy.topic(waiting.pop()).implies) - implied
        implied |= above
        waiting += above
    for topic in topics:
        is_labelled = topic in text.topics
        if is_labelled or (topic not in implied and (text.judged is None or topic in text.judged)):
            yield topic, is_labelled


def _mistake(tagger: Tagger, text: LabelledText, tags: Tags, topic: str) -> Mistake:
    explained = next(
        (item for item in explain(tagger.taxonomy, tags, word_count(text.text)) if item.topic == topic), None
    )
    evidence = [_evidence(text, match) for match in tags.matches if match.topic == topic]
    if not evidence:
        refused = tagger.refused(text.title, text.text, text.language)
        evidence = [_evidence(text, match, reason) for match, reason in refused if match.topic == topic]
    reason = "no term of the topic stands in it" if not evidence else "no hit counts"
    if explained is not None:
        reason = f"implied by {', '.join(explained.implied_by)}" if explained.implied_by else explained.arithmetic
    excerpt = " ".join((text.title or text.text[: 4 * _AROUND]).split())
    return Mistake(
        text.mark, topic, excerpt[: 2 * _AROUND], text.language, explained.score if explained else 0.0,
        explained.level if explained else None, reason, tuple(evidence[:_HITS_SHOWN]),
    )  # fmt: skip


def _evidence(text: LabelledText, match: Match, refusal: str | None = None) -> Evidence:
    source = (text.title or "") if match.field == "title" else text.text
    before, after = source[max(0, match.start - _AROUND) : match.start], source[match.end : match.end + _AROUND]
    refusal = "boilerplate" if match.in_boilerplate else refusal
    return Evidence(match.term_id, match.field, before, match.surface, after, refusal)
