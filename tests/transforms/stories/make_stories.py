"""Invented reports, long enough to be compared, and edited copies of them."""

from __future__ import annotations

import random

from transforms.stories.compare import COMPARE_WORDS, Text
from transforms.stories.shingles import Shingler, folded_words, runs_of

_SYLLABLES = ("ba", "cor", "del", "fen", "gil", "har", "is", "jun", "kel", "lo", "mar", "nor", "os", "pra", "ti", "vel")
_GLUE = ("the", "of", "and", "a", "in", "to", "for", "on")


def report(number: int, sentences: int = 14) -> str:
    """Returns a text of twelve invented words a sentence; each number gives another one."""
    rng = random.Random(number)

    def word() -> str:
        return "".join(rng.choices(_SYLLABLES, k=3)) if rng.random() < 0.6 else rng.choice(_GLUE)

    return " ".join(f"{' '.join(word() for _ in range(12))}." for _ in range(sentences))


def edited(text: str, share: float, seed: int = 1) -> str:
    """Returns the text with a share of its words replaced."""
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(10**6)}" if rng.random() < share else word for word in text.split())


def compared(text: str, site: int = 0) -> Text:
    return Text(site, 0, runs_of(Shingler().hashes(folded_words(text)), COMPARE_WORDS))
