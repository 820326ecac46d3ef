"""Whether two texts are copies of one story: exact comparison of their word pairs.

A copy may have another dateline and tail, be cut, and have every fifth word changed; then it still shares more
than half of the word pairs of the shorter text. Two reports on one event share far less, even if they quote the
same statements at length. The limits were read off two sets of real articles; tests/eval/eval_stories.py
measures them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from transforms.stories.shingles import Hashes, Likeness, common, likeness

COMPARE_WORDS = 2
MIN_CONTAINMENT = 0.52
# Articles of one site share what the site puts around them, and forms that it fills in day by day.
MIN_CONTAINMENT_SAME_SITE = 0.7
# A few sentences find half of their word pairs by chance in a text many times as long.
LOPSIDED = 0.25
MIN_CONTAINMENT_LOPSIDED = 0.75
STRONG_RESEMBLANCE = 0.7
MIN_COMMON_PART = 0.3


class Text(NamedTuple):
    """A text to compare.

    Attributes:
        site: Hash of its domain; 0 if it has none.
        exact: Not 0 for a text that is too short to be compared or is not stored: only texts for which it is
            equal are copies then.
        pairs: Its shingles of ``COMPARE_WORDS`` words, ascending.
    """

    site: int
    exact: int
    pairs: Hashes


class Copy(NamedTuple):
    """Two texts that are copies of one story, by number; ``similarity`` is the containment of the shorter."""

    first: int
    second: int
    similarity: float


def compare(a: Text, b: Text) -> Likeness | None:
    """Returns how far two texts agree; ``None`` if that is too little for copies of one story."""
    if a.exact or b.exact:
        return Likeness(1.0, 1.0) if a.exact == b.exact else None
    needed = MIN_CONTAINMENT
    if a.site and a.site == b.site:
        needed = MIN_CONTAINMENT_SAME_SITE
    if min(a.pairs.size, b.pairs.size) < LOPSIDED * max(a.pairs.size, b.pairs.size):
        needed = max(needed, MIN_CONTAINMENT_LOPSIDED)
    found = likeness(a.pairs, b.pairs)
    return found if found.containment >= needed else None


def copies_among(texts: Mapping[int, Text], pairs: Iterable[tuple[int, int]]) -> list[Copy]:
    """Returns those of the pairs that are copies of one story.

    A digest holds several stories; joined to all of them it would make them one. So of the shorter texts that a
    text holds only those count that share the same part of it as the one that covers most of it.

    Args:
        texts: By number.
        pairs: Candidates.
    """
    held: dict[int, list[tuple[Likeness, int]]] = {}
    for pair in pairs:
        found = compare(texts[pair[0]], texts[pair[1]])
        if found is not None:
            longer, shorter = sorted(pair, key=lambda number: (-texts[number].pairs.size, number))
            held.setdefault(longer, []).append((found, shorter))
    copies = []
    for longer, shorter_ones in held.items():
        shorter_ones.sort(key=lambda one: (-one[0].resemblance, one[1]))
        main = shorter_ones[0][1]
        for found, shorter in shorter_ones:
            if shorter == main or _is_same_part(texts[longer], texts[main], texts[shorter], found):
                copies.append(Copy(min(longer, shorter), max(longer, shorter), found.containment))
    return sorted(copies)


def _is_same_part(longer: Text, main: Text, shorter: Text, found: Likeness) -> bool:
    """Tells whether two texts lie in the same part of a longer one."""
    if found.resemblance >= STRONG_RESEMBLANCE:
        return True
    part = common(longer.pairs, shorter.pairs)
    return common(part, main.pairs).size >= MIN_COMMON_PART * part.size
