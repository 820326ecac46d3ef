"""Whether two texts are copies of one story: exact comparison of their word pairs.

A copy may have another dateline and tail, be cut, and have every fifth word changed; then it still shares more
than half of the word pairs of the shorter text, and does so all over it. Two reports on one event share less;
where they quote the same statements at length, or a site puts the same around them, they share it in one place.
The limits were read off real articles; tests/eval/eval_stories.py measures them on three sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from transforms.stories.shingles import Hashes, Likeness, common, is_in, likeness

COMPARE_WORDS = 2
MIN_CONTAINMENT = 0.52
# Articles of one site share what the site puts around them, and forms that it fills in day by day.
MIN_CONTAINMENT_SAME_SITE = 0.7
# A few sentences find half of their word pairs by chance in a text many times as long.
LOPSIDED = 0.25
MIN_CONTAINMENT_LOPSIDED = 0.75
PLACES = 10
ENOUGH_OF_A_PLACE = 0.6
MIN_SPREAD = 0.42
STRONG_RESEMBLANCE = 0.7
MIN_COMMON_PART = 0.3


class Text(NamedTuple):
    """A text to compare.

    Attributes:
        site: Hash of its domain; 0 if it has none.
        exact: Not 0 for a text that is too short to be compared or is not stored: only texts for which it is
            equal are copies then.
        runs: Its runs of ``COMPARE_WORDS`` words, 32-bit hashes in the order of the text.
    """

    site: int
    exact: int
    runs: Hashes


class Copy(NamedTuple):
    """Two texts that are copies of one story, by number; ``similarity`` is the containment of the shorter."""

    first: int
    second: int
    similarity: float


def compare(a: Text, b: Text, pairs_a: Hashes, pairs_b: Hashes) -> Likeness | None:
    """Returns how far two texts agree; ``None`` if that is too little for copies of one story.

    Args:
        a: A text.
        b: Another one.
        pairs_a: The different runs of ``a``, ascending.
        pairs_b: Those of ``b``.
    """
    if a.exact or b.exact:
        return Likeness(1.0, 1.0) if a.exact == b.exact else None
    needed = MIN_CONTAINMENT
    if a.site and a.site == b.site:
        needed = MIN_CONTAINMENT_SAME_SITE
    if min(pairs_a.size, pairs_b.size) < LOPSIDED * max(pairs_a.size, pairs_b.size):
        needed = max(needed, MIN_CONTAINMENT_LOPSIDED)
    found = likeness(pairs_a, pairs_b)
    if found.containment < needed:
        return None
    is_spread = spread(a.runs, pairs_b) if pairs_a.size <= pairs_b.size else spread(b.runs, pairs_a)
    return found if is_spread >= MIN_SPREAD else None


def spread(runs: Hashes, others: Hashes) -> float:
    """Returns how evenly a text is found in another: the share of each tenth of it, counted up to a limit.

    Args:
        runs: Of the text, in its order; at least ``PLACES``, else it is 0.
        others: The different runs of the other text, ascending.
    """
    if runs.size < PLACES:
        return 0.0
    bounds = np.linspace(0, runs.size, PLACES + 1).astype(np.int64)
    shares = np.add.reduceat(is_in(runs, others), bounds[:-1], dtype=np.int64) / np.diff(bounds)
    return float(np.minimum(shares, ENOUGH_OF_A_PLACE).mean())


def copies_among(texts: Mapping[int, Text], pairs: Iterable[tuple[int, int]]) -> list[Copy]:
    """Returns those of the pairs that are copies of one story.

    A digest holds several stories; joined to all of them it would make them one. So of the shorter texts that a
    text holds only those count that share the same part of it as the one that covers most of it.

    Args:
        texts: By number.
        pairs: Candidates.
    """
    sets = {number: np.unique(text.runs) for number, text in texts.items()}
    held: dict[int, list[tuple[Likeness, int]]] = {}
    for a, b in pairs:
        found = compare(texts[a], texts[b], sets[a], sets[b])
        if found is not None:
            longer, shorter = sorted((a, b), key=lambda number: (-sets[number].size, number))
            held.setdefault(longer, []).append((found, shorter))
    copies = []
    for longer, shorter_ones in held.items():
        shorter_ones.sort(key=lambda one: (-one[0].resemblance, one[1]))
        main = shorter_ones[0][1]
        for found, shorter in shorter_ones:
            if shorter == main or _is_same_part(sets[longer], sets[main], sets[shorter], found):
                copies.append(Copy(min(longer, shorter), max(longer, shorter), found.containment))
    return sorted(copies)


def _is_same_part(longer: Hashes, main: Hashes, shorter: Hashes, found: Likeness) -> bool:
    """Tells whether two texts lie in the same part of a longer one."""
    if found.resemblance >= STRONG_RESEMBLANCE:
        return True
    part = common(longer, shorter)
    return common(part, main).size >= MIN_COMMON_PART * part.size
