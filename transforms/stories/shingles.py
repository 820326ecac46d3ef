"""From a text to what it is compared by: the set of its runs of words, and a small sample of that set.

A *shingle* is a run of ``WORDS`` folded words, kept as a 64-bit hash; two texts share as many shingles as they
share passages. The *sketch* of a text is its ``SKETCH`` smallest shingles: bottom-k MinHash (Broder, "On the
resemblance and containment of documents", 1997). Texts that share a passage share shingles of their sketches,
a short text that lies within a long one too.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

WORDS = 3
SKETCH = 64
# Below this length texts are alike by chance ("Read the full story here"): only equal title and text count.
SHORT_WORDS = 25
MAX_LETTERS = 200_000  # longer than any article; bounds time and memory
_WORD = re.compile(r"[^\W_]+")
# Scripts that set no blanks between words; there two letters stand for a word.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MOST_KEPT_WORDS = 500_000
_EMPTY: Hashes = np.empty(0, dtype=np.uint64)


def folded_words(text: str) -> list[str]:
    """Returns the words of a text without case, accents and punctuation; pairs of letters where no blanks are set."""
    folded = unicodedata.normalize("NFKD", text[:MAX_LETTERS]).casefold()
    if not folded.isascii():
        folded = "".join(character for character in folded if not unicodedata.combining(character))
        folded = _UNSPACED.sub(_letter_pairs, folded)
    return _WORD.findall(folded)


def _letter_pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(letters[at : at + 2] for at in range(max(1, len(letters) - 1)))} "


class Shingler:
    """Makes shingles; remembers the hashes of words, so that one object should do many texts."""

    def __init__(self) -> None:
        self._hashes: dict[str, int] = {}

    def shingles(self, words: list[str]) -> Hashes:
        """Returns the different shingles of a text in ascending order; none for fewer words than a shingle has."""
        if len(words) < WORDS:
            return _EMPTY
        hashes = np.fromiter(self._of_words(words), dtype=np.uint64, count=len(words))
        runs = hashes[: len(words) - WORDS + 1].copy()
        for place in range(1, WORDS):
            runs = _mixed(runs) + hashes[place : len(words) - WORDS + 1 + place]
        return np.unique(_mixed(runs))

    def _of_words(self, words: list[str]) -> Iterable[int]:
        known = self._hashes
        if len(known) > _MOST_KEPT_WORDS:
            known.clear()
        for word in words:
            found = known.get(word)
            if found is None:
                # Not hash(): it differs from process to process.
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                found = known[word] = int.from_bytes(digest, "little")
            yield found


def _mixed(values: Hashes) -> Hashes:
    """Spreads each bit over all bits (the finaliser of SplitMix64); overflow is meant."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def sketch(shingles: Hashes) -> Hashes:
    """Returns the smallest shingles of a text; ``shingles`` in ascending order."""
    return shingles[:SKETCH]


class Likeness(NamedTuple):
    """How far two texts agree, each from 0 to 1.

    Attributes:
        resemblance: Shingles of both / shingles of either (Jaccard).
        containment: Shingles of both / shingles of the shorter text.
    """

    resemblance: float
    containment: float


def likeness(a: Hashes, b: Hashes) -> Likeness:
    """Returns how far two texts agree, exactly; texts without shingles agree with nothing."""
    if not (a.size and b.size):
        return Likeness(0.0, 0.0)
    both = np.intersect1d(a, b, assume_unique=True).size
    return Likeness(both / (a.size + b.size - both), both / min(a.size, b.size))
