"""From pairs of copies to stories: who leads, what stays as it is, what is linked, and the rows that say so.

A story has the id of the article that led it when it was first written down, and keeps it: an earlier copy that
comes to light later joins it. Only when two stories prove to be one are the articles of the later one told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from transforms.stories.clusters import clustered
from transforms.stories.compare import Copy
from transforms.stories.read import Grouped

Row = dict[str, Any]


class Grouping(NamedTuple):
    """What a run of the job has to say.

    Attributes:
        rows: Of ``stories``: articles that had none, and those whose story was linked to an earlier one.
        articles: Articles that were looked at.
        new: Articles that had no row.
        stories: Different stories among the articles.
        copies: Articles that are a copy of another.
        linked: Stories that were found to be an earlier one.
    """

    rows: list[Row]
    articles: int = 0
    new: int = 0
    stories: int = 0
    copies: int = 0
    linked: int = 0


def group(
    article_ids: Sequence[str],
    copies: Sequence[Copy],
    grouped: Mapping[str, Grouped],
    led_at: Callable[[str], datetime],
    now: datetime,
) -> Grouping:
    """Groups articles into stories.

    Args:
        article_ids: In the order in which they appeared; ``copies`` name them by place.
        copies: Pairs of copies.
        grouped: The newest row of each article that has one.
        led_at: When the leader of a story appeared, by story_id; asked only if stories are to be linked.
        now: Time of the rows; a row is never older than one before it.
    """
    components = _components(article_ids, copies, grouped)
    labels: dict[int, set[str]] = {}
    for article_id, component in zip(article_ids, components, strict=False):
        if article_id in grouped:
            labels.setdefault(component, set()).add(grouped[article_id].story_id)
    story_of = {}
    for component in set(components[: len(article_ids)]):
        story_of[component] = _story(article_ids[component], labels.get(component, set()), led_at)
    linked = {label: story_of[component] for component, found in labels.items() for label in found}
    linked = {label: story_id for label, story_id in linked.items() if label != story_id}
    stories = [story_of[component] for component in components[: len(article_ids)]]
    best = _best(copy for copy in copies if components[copy.first] == components[copy.second])
    as_of = max([now, *(row.as_of + timedelta(microseconds=1) for row in grouped.values())])
    rows = []
    for number, (article_id, story_id) in enumerate(zip(article_ids, stories, strict=True)):
        if article_id not in grouped or grouped[article_id].story_id != story_id:
            found = best.get(number)
            if article_id == story_id:
                rows.append(_row(article_id, story_id, None, 1.0, as_of))
            elif found is None:  # joined by its rows alone
                rows.append(_row(article_id, story_id, story_id, 0.0, as_of))
            else:
                rows.append(
                    _row(article_id, story_id, article_ids[found.number], round(1.0 - found.difference, 4), as_of)
                )
    # A leader that is too old to be looked at tells of all its articles where they are now.
    told = {row["article_id"] for row in rows}
    rows += [_row(label, story, story, 0.0, as_of) for label, story in sorted(linked.items()) if label not in told]
    return Grouping(
        rows,
        articles=len(article_ids),
        new=sum(article_id not in grouped for article_id in article_ids),
        stories=len(set(stories)),
        copies=sum(article_id != story_id for article_id, story_id in zip(article_ids, stories, strict=True)),
        linked=len(linked),
    )


def _story(earliest: str, labels: set[str], led_at: Callable[[str], datetime]) -> str:
    """The story that is there already, the earliest of several, or a new one that the earliest copy leads."""
    if len(labels) > 1:
        return min(labels, key=lambda label: (led_at(label), label))
    return next(iter(labels), earliest)


def _components(article_ids: Sequence[str], copies: Sequence[Copy], grouped: Mapping[str, Grouped]) -> list[int]:
    """What belongs together, by texts or by rows: the smallest number of each article's group.

    Leaders that are not among the articles get numbers after them.
    """
    numbers = {article_id: number for number, article_id in enumerate(article_ids)}
    together = []
    for article_id, row in grouped.items():
        if article_id in numbers:
            together.append((numbers[article_id], numbers.setdefault(row.story_id, len(numbers))))
    return clustered(len(numbers), together, copies)


class _Best(NamedTuple):
    is_later: bool  # an earlier copy is preferred, however alike
    difference: float
    number: int


def _best(copies: Iterable[Copy]) -> dict[int, _Best]:
    """The copy that each article resembles most."""
    best: dict[int, _Best] = {}
    for copy in copies:
        for number, other in ((copy.first, copy.second), (copy.second, copy.first)):
            found = _Best(other > number, 1.0 - copy.similarity, other)
            best[number] = min(best.get(number, found), found)
    return best


def _row(article_id: str, story_id: str, of: str | None, similarity: float, as_of: datetime) -> Row:
    return {
        "article_id": article_id,
        "story_id": story_id,
        "duplicate_of": of,
        "similarity": similarity,
        "as_of": as_of,
    }
