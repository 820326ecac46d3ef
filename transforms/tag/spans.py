"""Stretches of a text, and the question whether one of many overlaps another, fast for any number."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

Span = tuple[int, int]


class SpanSet:
    """Stretches that may lie in any order and overlap."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def overlaps(self, start: int, end: int) -> bool:
        """Tells whether any stretch shares a character with the one from ``start`` to ``end``."""
        index = bisect_left(self._starts, end) - 1
        return index >= 0 and self._reach[index] > start
