"""Counts of what passes through this process, for the progress display only.

On the in-process runner the stages and the command share one process, so that the display can read
these numbers while the pipeline runs. They are no part of the result: what counts is in the tallies.
"""

from __future__ import annotations

import threading
from collections import Counter

_LOCK = threading.Lock()
_COUNTS: Counter[str] = Counter()


def add(what: str, items: int = 1) -> None:
    """Counts ``items`` more of ``what``: ``feeds``, ``read``, ``fetched``, ``extracted``, ``tagged``."""
    with _LOCK:
        _COUNTS[what] += items


def counts() -> dict[str, int]:
    """Returns the counts so far."""
    with _LOCK:
        return dict(_COUNTS)


def reset() -> None:
    """Starts again at nothing, before a run."""
    with _LOCK:
        _COUNTS.clear()
