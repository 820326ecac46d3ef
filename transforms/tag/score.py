"""The arithmetic: from matches to scores, from scores to levels.

A score can be computed again from what a row of ``articles`` stores: its matches, the counts of the topic
and the number of words. The lead's matches are the first ``lead_count`` ones of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from transforms.records import Match, TopicScore
from transforms.tag.model import LEVELS, Taxonomy, Thresholds

MATCH_LIMIT = 200
TITLE_FACTOR = 3.0
LEAD_FACTOR = 1.5
WORDS_PER_UNIT = 500
LEAD_WORDS = 80
LEAD_CHARACTERS = 640
"""The lead is the first 80 words, and never more than this many characters (scripts without blanks)."""

_DECIMALS = 4
_WORD = re.compile(r"[^\W_]+")


class FieldSum(NamedTuple):
    """What the hits of one field add: weights summed, times the factor.

    Attributes:
        field: ``title``, ``lead`` or ``body``.
        hits: Hits that carry weight.
        weight: Their weights in all.
        factor: What the weight is multiplied by.
    """

    field: str
    hits: int
    weight: float
    factor: float

    @property
    def points(self) -> float:
        """The field's part of the score."""
        return self.weight * self.factor


def lead_end(text: str) -> int:
    """Returns the offset at which the lead of a text ends."""
    last = next(islice(_WORD.finditer(text, 0, LEAD_CHARACTERS), LEAD_WORDS - 1, None), None)
    return min(len(text), LEAD_CHARACTERS) if last is None else last.end()


def field_sums(matches: Iterable[Match], counts: tuple[int, int, int], word_count: int) -> tuple[FieldSum, ...]:
    """Returns what title, lead and body add to the score of a topic.

    Args:
        matches: The topic's stored matches in order; those in boilerplate count for nothing.
        counts: Hits with weight in title, lead and body; more than are stored if ``matches_truncated``: then
            the stored ones stand for all by their mean weight.
        word_count: Words of the text.
    """
    titles: list[float] = []
    lead_and_body: list[float] = []
    for match in matches:
        if not match.in_boilerplate:
            (titles if match.field == "title" else lead_and_body).append(match.weight)
    lead, body = lead_and_body[: counts[1]], lead_and_body[counts[1] :]
    length_factor = 1.0 / max(1.0, word_count / WORDS_PER_UNIT)
    return (
        FieldSum("title", counts[0], _extrapolated(titles, counts[0]), TITLE_FACTOR),
        FieldSum("lead", counts[1], _extrapolated(lead, counts[1]), LEAD_FACTOR),
        FieldSum("body", counts[2], _extrapolated(body, counts[2]), length_factor),
    )


def _extrapolated(weights: Sequence[float], count: int) -> float:
    if len(weights) == count:
        return sum(weights)
    return count * (sum(weights) / len(weights) if weights else 1.0)


def score_of(matches: Iterable[Match], counts: tuple[int, int, int], word_count: int) -> float:
    """Returns ``3 * title + 1.5 * lead + body / max(1, words / 500)``; see ``field_sums`` for the arguments."""
    return round(sum(field.points for field in field_sums(matches, counts, word_count)), _DECIMALS)


def level_of(score: float, thresholds: Thresholds) -> str | None:
    """Returns the highest level that a score reaches, or ``None`` if it does not even reach ``mention``."""
    reached = [level for level, least in zip(LEVELS, thresholds, strict=True) if score >= least]
    return reached[-1] if reached else None


def select_matches(matches: Sequence[Match]) -> tuple[Match, ...]:
    """Returns at most ``MATCH_LIMIT`` matches, in their order: the first ones of each topic, boilerplate last."""
    if len(matches) <= MATCH_LIMIT:
        return tuple(matches)
    ranks: dict[str, int] = {}
    ranked = []
    for index in sorted(range(len(matches)), key=lambda index: (matches[index].in_boilerplate, index)):
        topic = matches[index].topic
        ranks[topic] = ranks.get(topic, 0) + 1
        ranked.append((ranks[topic], index))
    return tuple(matches[index] for index in sorted(index for _, index in sorted(ranked)[:MATCH_LIMIT]))


def with_implied(taxonomy: Taxonomy, scores: Iterable[TopicScore]) -> tuple[TopicScore, ...]:
    """Returns the scores with those of implied topics, best first, then by id.

    A topic that is relevant or primary makes the topics that it implies at least ``relevant``; these keep their own
    score and hits, and say ``implied``.
    """
    by_id = {score.topic: score for score in scores}
    waiting = [topic for topic, score in by_id.items() if score.level != LEVELS[0]]
    while waiting:
        for topic in taxonomy.topic(waiting.pop()).implies:
            score = by_id.get(topic)
            if score is not None and score.level != LEVELS[0]:
                continue
            own = score or TopicScore(topic, "", 0.0, 0, 0, 0, 0, True)
            by_id[topic] = own._replace(level=LEVELS[1], implied=True)
            waiting.append(topic)
    return tuple(sorted(by_id.values(), key=lambda score: (-score.score, score.topic)))
