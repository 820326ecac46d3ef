"""From a text to what it is compared by: the set of its runs of words, as hashes.

A *shingle* is a run of folded words, kept as a 64-bit hash; two texts share as many of them as they share
passages (Broder, "On the resemblance and containment of documents", 1997). Nothing is known of other texts here.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.unsignedinteger[Any]]

MAX_LETTERS = 200_000  # longer than any article; bounds time and memory
_MOST_KEPT_WORDS = 500_000
_WORD = re.compile(r"[^\W_]+")
# Scripts that set no blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_EMPTY: Hashes = np.empty(0, dtype=np.uint64)


def folded_words(text: str) -> list[str]:
    """Returns the words of a text without case, accents and punctuation; pairs of letters where no blanks are set."""
    folded = unicodedata.normalize("NFKD", text[:MAX_LETTERS]).casefold()
    if not folded.isascii():
        folded = "".join(letter for letter in folded if not unicodedata.combining(letter))
        folded = _UNSPACED.sub(_letter_pairs, folded)
    return _WORD.findall(folded)


def _letter_pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(letters[at : at + 2] for at in range(max(1, len(letters) - 1)))} "


class Shingler:
    """Makes shingles; remembers the hashes of words, so that one object should do many texts."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def hashes(self, words: list[str]) -> Hashes:
        """Returns the hash of each word, in order; the same in every process."""
        return np.fromiter(self._of_words(words), dtype=np.uint64, count=len(words))

    def _of_words(self, words: list[str]) -> Iterator[int]:
        known = self._known
        if len(known) > _MOST_KEPT_WORDS:
            known.clear()
        for word in words:
            found = known.get(word)
            if found is None:
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                found = known[word] = int.from_bytes(digest, "little")
            yield found


def runs_of(hashes: Hashes, length: int) -> Hashes:
    """Returns the runs of words of a text as hashes, in its order; a run that comes twice is there twice.

    Args:
        hashes: Of its words, in order.
        length: Words of a run; a text with fewer has none.
    """
    count = len(hashes) - length + 1
    if count < 1:
        return _EMPTY
    runs = _mixed(hashes[:count])
    for place in range(1, length):
        runs = _mixed(runs + hashes[place : place + count])
    return runs


def _mixed(values: Hashes) -> Hashes:
    """Spreads each bit over all bits (the finaliser of SplitMix64); overflow is meant."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def is_in(values: Hashes, others: Hashes) -> npt.NDArray[np.bool_]:
    """Tells for each value whether it is among others, which are in ascending order."""
    if not others.size:
        return np.zeros(values.size, dtype=np.bool_)
    places = np.searchsorted(others, values)
    places[places == others.size] = 0
    found: npt.NDArray[np.bool_] = others[places] == values
    return found


def common(a: Hashes, b: Hashes) -> Hashes:
    """Returns the shingles that two texts share, ascending as they are."""
    if a.size > b.size:
        a, b = b, a
    return a[is_in(a, b)]


class Likeness(NamedTuple):
    """How far two texts agree, each from 0 to 1.

    Attributes:
        containment: Shared shingles / shingles of the shorter text.
        resemblance: Shared shingles / shingles of either (Jaccard).
    """

    containment: float
    resemblance: float


def likeness(a: Hashes, b: Hashes) -> Likeness:
    """Returns how far two texts agree, exactly; a text without shingles agrees with nothing."""
    if not (a.size and b.size):
        return Likeness(0.0, 0.0)
    shared = common(a, b).size
    return Likeness(shared / min(a.size, b.size), shared / (a.size + b.size - shared))
