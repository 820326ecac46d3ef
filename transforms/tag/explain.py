"""How a score came about, as plain data: for ``topics test``, ``explain`` and reports. Prints nothing.

Works from what a row of ``articles`` stores, so that an old article is explained by its own evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from transforms.records import Match, Tags, TopicScore
from transforms.tag.model import LEVELS, Taxonomy, Thresholds
from transforms.tag.score import WORDS_PER_UNIT, FieldSum, field_sums


class TopicExplanation(NamedTuple):
    """One topic of one article.

    Attributes:
        topic: Its id.
        label: What readers call it.
        level: ``mention``, ``relevant`` or ``primary``.
        score: As stored.
        thresholds: Least scores of the three levels.
        implied_by: Topics of this article that imply it, if its level comes from them.
        parts: What title, lead and body add.
        arithmetic: The sum in one line: ``3 x 1 (title) + 1.5 x 2.4 (lead) + 7 / 1.3 (body) = 11.9846``.
        missing: Points that the next level needs; ``None`` at the highest.
        matches: The stored hits, in order.
    """

    topic: str
    label: str
    level: str
    score: float
    thresholds: Thresholds
    implied_by: tuple[str, ...]
    parts: tuple[FieldSum, ...]
    arithmetic: str
    missing: float | None
    matches: tuple[Match, ...]


class Segment(NamedTuple):
    """A stretch of title or text and the topics whose hits cover it; none for plain text."""

    text: str
    topics: tuple[str, ...]


def explain(taxonomy: Taxonomy, tags: Tags, word_count: int, language: str = "en") -> tuple[TopicExplanation, ...]:
    """Returns the topics of an article in their order, each with its arithmetic.

    Args:
        taxonomy: The one that tagged it; a topic that it does not know is explained without thresholds.
        tags: As stored.
        word_count: Words of the text.
        language: Of the labels, where there is one.
    """
    return tuple(_explain_topic(taxonomy, tags, score, word_count, language) for score in tags.scores)


def _explain_topic(
    taxonomy: Taxonomy, tags: Tags, score: TopicScore, word_count: int, language: str
) -> TopicExplanation:
    topics = {topic.id: topic for topic in taxonomy.topics}
    topic = topics.get(score.topic)
    thresholds = topic.thresholds if topic else (0.0, 0.0, 0.0)
    matches = tuple(match for match in tags.matches if match.topic == score.topic)
    parts = field_sums(matches, (score.title_count, score.lead_count, score.body_count), word_count)
    implied_by = tuple(
        other for other in tags.topics if score.implied and other in topics and score.topic in topics[other].implies
    )
    higher = [least - score.score for least in thresholds if least > score.score]
    return TopicExplanation(
        topic=score.topic,
        label=topic.label.get(language) or next(iter(topic.label.values())) if topic else score.topic,
        level=score.level,
        score=score.score,
        thresholds=thresholds,
        implied_by=implied_by,
        parts=parts,
        arithmetic=_arithmetic(parts, word_count, score.score),
        missing=min(higher) if higher and score.level != LEVELS[-1] else None,
        matches=matches,
    )


def _arithmetic(parts: Sequence[FieldSum], word_count: int, score: float) -> str:
    title, lead, body = parts
    units = max(1.0, word_count / WORDS_PER_UNIT)
    spread = f" / {units:.4g}" if units > 1 else ""
    return (
        f"{title.factor:g} x {title.weight:.4g} (title) + {lead.factor:g} x {lead.weight:.4g} (lead) + "
        f"{body.weight:.4g}{spread} (body) = {score:g}"
    )


def segments(text: str, matches: Iterable[Match]) -> tuple[Segment, ...]:
    """Cuts a title or text at its hits, so that they can be shown in colour; joined again it is the text.

    Args:
        text: The field's text.
        matches: Hits of this field; they may overlap.
    """
    spans = [(match.start, match.end, match.topic) for match in matches]
    cuts = sorted({0, len(text)} | {place for start, end, _ in spans for place in (start, end) if place <= len(text)})
    found = []
    for start, end in pairwise(cuts):
        topics = tuple(dict.fromkeys(topic for first, last, topic in spans if first < end and start < last))
        found.append(Segment(text[start:end], topics))
    return tuple(found)
