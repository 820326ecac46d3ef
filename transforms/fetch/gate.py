"""Turns at a host: one request at a time, and a pause between two, for all stages of this process together.

The pause is counted from the end of one request to the start of the next, which also keeps the starts at
least as far apart: a host that answers slowly is not asked again the moment it is done.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from datetime import datetime


class _Place:
    """What is known of one host."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.line: deque[object] = deque()  # who is served, then who waits, first come first served
        self.ended_s = float("-inf")
        self.own_gap_s = 0.0
        self.held_until: datetime | None = None


class HostGate:
    """Keeps requests to one host apart; hosts do not wait for each other.

    Attributes:
        gap_s: Pause between two requests to a host, seconds; a host may ask for a longer one (``slow_down``).
    """

    def __init__(self, gap_s: float) -> None:
        self.gap_s = gap_s
        self._places: dict[str, _Place] = {}
        self._lock = threading.Lock()

    def _place(self, host: str) -> _Place:
        with self._lock:
            return self._places.setdefault(host, _Place())

    @contextlib.contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Waits for the turn of a host and keeps it inside the ``with`` block.

        Not to be nested: who holds one host's turn must not wait for another's. It does not look at ``hold``.

        Args:
            host: Lower case, without port, as in ``addresses.Target``.
        """
        place, ticket = self._place(host), object()
        with place.changed:
            place.line.append(ticket)
            while place.line[0] is not ticket:
                place.changed.wait()
        try:
            time.sleep(max(0.0, place.ended_s + self._gap_s_of(place) - time.monotonic()))
            yield
        finally:
            with place.changed:
                place.ended_s = time.monotonic()
                place.line.popleft()
                place.changed.notify_all()

    def gap_s_of(self, host: str) -> float:
        """Returns the pause that is kept at a host, seconds."""
        return self._gap_s_of(self._place(host))

    def _gap_s_of(self, place: _Place) -> float:
        return max(self.gap_s, place.own_gap_s)

    def slow_down(self, host: str, gap_s: float) -> None:
        """Sets the host's own pause (``Crawl-delay``); it counts where it is longer than ``gap_s``."""
        self._place(host).own_gap_s = gap_s

    def hold(self, host: str, until: datetime) -> None:
        """Notes that the host asked not to be asked before ``until``; a later time wins."""
        place = self._place(host)
        with place.changed:
            place.held_until = until if place.held_until is None else max(until, place.held_until)

    def held_until(self, host: str) -> datetime | None:
        """Returns until when the host asked to be left alone, past or not; the caller compares with its clock."""
        return self._place(host).held_until

    def forget(self, host: str) -> None:
        """Forgets all of a host: a new server stands at its address (in tests)."""
        with self._lock:
            self._places.pop(host, None)


_shared = HostGate(0.0)


def shared_gate(gap_s: float | None = None) -> HostGate:
    """Returns the gate of this process, the same for all stages and runs.

    Args:
        gap_s: The pause that it keeps from now on; ``None`` leaves it as it is.
    """
    if gap_s is not None:
        _shared.gap_s = gap_s
    return _shared
