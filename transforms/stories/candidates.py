"""Which pairs of texts are worth comparing: MinHash sketches, and the texts that meet in them.

The *sketch* of a text is its smallest shingles (bottom-k MinHash): a sample that two texts take alike where they
agree, even if the one is only a part of the other. Texts that hold the same sketch hash meet; those that meet
often enough are candidates. All steps are linear in the number of texts: of a hash that many texts hold (a
common phrase, a story with hundreds of copies) each text meets only those next to it.

Texts are known by number, in the order of their appearance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from transforms.stories.clusters import Groups
from transforms.stories.shingles import Hashes

Numbers = npt.NDArray[np.int32]

SKETCH_WORDS = 3
SKETCH_SIZE = 64
NEIGHBOURS = 6  # that a text meets after it, of those with the same hash
MIN_MEETINGS = 4
MAX_CANDIDATES = 16  # that a text has before it, those met most often
BATCH_TEXTS = 4_000
MOST_NEEDED_MEETINGS = 12


class Meetings(NamedTuple):
    """Pairs of texts and how often each met; ``first`` < ``second``."""

    first: Numbers
    second: Numbers
    times: Numbers


def sketch(runs: Hashes) -> Hashes:
    """Returns the sketch of a text, given its runs of ``SKETCH_WORDS`` words in any order."""
    return np.unique(runs)[:SKETCH_SIZE]


def meetings(hashes: Hashes, texts: Numbers) -> Meetings:
    """Returns who meets whom in some sketch hashes.

    Args:
        hashes: Sketch hashes of any number of texts; all texts that hold one of these are there.
        texts: The text that holds each of them.
    """
    order = np.lexsort((texts, hashes))
    hashes, texts = hashes[order], texts[order]
    firsts, seconds = [], []
    for step in range(1, NEIGHBOURS + 1):
        together = hashes[step:] == hashes[:-step]
        firsts.append(texts[:-step][together])
        seconds.append(texts[step:][together])
    return _counted(np.concatenate(firsts), np.concatenate(seconds), None)


def candidates(parts: Iterable[Meetings]) -> Meetings:
    """Returns the pairs that are worth comparing: met ``MIN_MEETINGS`` times in all, the most met of each text.

    Args:
        parts: Meetings in different hashes.
    """
    found = list(parts)
    if not found:
        return Meetings(*(np.empty(0, dtype=np.int32) for _ in range(3)))
    total = _counted(*(np.concatenate(column) for column in zip(*found, strict=True)))
    often = total.times >= MIN_MEETINGS
    first, second, times = (column[often] for column in total)
    order = np.lexsort((first, -times, second))
    first, second, times = first[order], second[order], times[order]
    rank = np.arange(second.size) - np.searchsorted(second, second)  # place among the pairs of the same second
    kept = rank < MAX_CANDIDATES
    return Meetings(first[kept], second[kept], times[kept])


def _counted(first: Numbers, second: Numbers, times: Numbers | None) -> Meetings:
    """Adds up equal pairs."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    starts = np.flatnonzero(np.r_[True, (first[1:] != first[:-1]) | (second[1:] != second[:-1])][: first.size])
    if times is None:
        sums = np.diff(np.r_[starts, first.size])
    else:
        sums = np.add.reduceat(times[order], starts) if starts.size else times[:0]
    return Meetings(first[starts], second[starts], sums.astype(np.int32))


class Batches(NamedTuple):
    """Texts cut into batches that can be compared apart from each other.

    Attributes:
        texts: Those that have candidates, ascending.
        batch: The batch of each.
        pairs: The candidates.
    """

    texts: Numbers
    batch: Numbers
    pairs: Meetings


def batches(pairs: Meetings) -> Batches:
    """Cuts candidates into batches of about ``BATCH_TEXTS`` texts.

    Texts that are joined by candidates, over however many others, are in one batch. Where that makes a batch too
    large, the pairs that met least are dropped from it: chance pairs; copies meet more often.
    """
    needed = MIN_MEETINGS
    while True:
        texts, places = np.unique(np.concatenate([pairs.first, pairs.second]), return_inverse=True)
        first = places[: pairs.first.size]
        groups = Groups(texts.size)
        for a, b in zip(first.tolist(), places[pairs.first.size :].tolist(), strict=True):
            groups.join(a, b)
        _, group, sizes = np.unique(groups.roots(), return_inverse=True, return_counts=True)
        needed += 1
        kept = (sizes[group[first]] <= BATCH_TEXTS) | (pairs.times >= needed)
        if kept.all() or needed > MOST_NEEDED_MEETINGS:
            batch_of_group = (np.cumsum(sizes) - 1) // BATCH_TEXTS
            return Batches(texts, batch_of_group[group].astype(np.int32), pairs)
        pairs = Meetings(*(column[kept] for column in pairs))
