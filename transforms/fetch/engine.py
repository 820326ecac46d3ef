"""Walks many hosts side by side in threads and hands their steps over, a bounded number of bytes at a time.

A thread waits for its host nearly all the time, so many hosts cost little; what they bring waits in a queue
that is bounded in bytes, since the next stage is slower than the network. No Beam here.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from transforms import meter
from transforms.fetch.client import HttpClient
from transforms.fetch.gate import shared_gate
from transforms.fetch.pages import FetchSettings, HostWalk, Step, Tools
from transforms.fetch.robots import shared_robots
from transforms.records import Entry, RunContext

_STEP_SIZE_BYTES = 1024  # of what surrounds a body


class ClosedError(Exception):
    """Nobody waits for the steps any more; the walk ends."""


class StepQueue:
    """Steps on their way from the walks to one reader; bounded in bytes and number, but one always fits."""

    def __init__(self, limit_bytes: int, limit_items: int) -> None:
        self._limit_bytes = limit_bytes
        self._limit_items = limit_items
        self._changed = threading.Condition()
        self._items: deque[tuple[Any, Step, int]] = deque()
        self._size_bytes = 0
        self._walks = 0
        self._error: BaseException | None = None
        self._closed = False

    def begin_walk(self) -> None:
        """Counts a walk whose steps are to come."""
        with self._changed:
            self._walks += 1

    def end_walk(self, error: BaseException | None = None) -> None:
        """Counts a walk as done; an error is a bug and is raised to the reader."""
        with self._changed:
            self._walks -= 1
            self._error = self._error or error
            self._changed.notify_all()

    def put(self, mark: Any, step: Step) -> None:
        """Adds a step; waits while the queue is full.

        Raises:
            ClosedError: If the queue was closed.
        """
        size = _STEP_SIZE_BYTES + (len(step.document.body) if step.document else 0)
        with self._changed:
            while self._items and not self._closed and not self._fits(size):
                self._changed.wait()
            if self._closed:
                raise ClosedError
            self._items.append((mark, step, size))
            self._size_bytes += size
            self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return len(self._items) < self._limit_items and self._size_bytes + size <= self._limit_bytes

    def drain(self, wait: bool) -> Iterator[tuple[Any, Step]]:
        """Yields what is there; with ``wait``, until all walks are done."""
        while True:
            with self._changed:
                while wait and not self._items and self._walks and not self._error:
                    self._changed.wait()
                if self._error:
                    raise self._error
                if not self._items:
                    return
                mark, step, size = self._items.popleft()
                self._size_bytes -= size
                self._changed.notify_all()
            yield mark, step

    def close(self) -> None:
        """Lets all walks end at their next step."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class _Job(NamedTuple):
    """A host to walk. Jobs are compared by the first two fields only."""

    rank: tuple[bool, int]
    number: int
    out: StepQueue
    host: str
    entries: Sequence[Entry]
    mark: Any


class FetchEngine:
    """Threads that walk hosts; one for each worker of a stage.

    Args:
        settings: How pages are fetched.
        run: For the clock.
    """

    def __init__(self, settings: FetchSettings, run: RunContext) -> None:
        gate = shared_gate(settings.host_gap_s)
        client = HttpClient(settings.client, run.now, gate)
        self._settings = settings
        self._tools = Tools(settings, client, shared_robots(), gate, run.now, run.started_at)
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._threads: list[threading.Thread] = []
        self._out: StepQueue | None = None
        self.open()

    def open(self) -> None:
        """Begins a new bundle: steps of an earlier one that nobody took are dropped, and its walks end."""
        if self._out is not None:
            self._out.close()
        self._out = StepQueue(self._settings.queue_bytes, self._settings.queue_items)

    def submit(self, host: str, entries: Sequence[Entry], mark: Any) -> None:
        """Has a host walked as soon as a thread is free. Hosts that failed before come last, big ones first.

        Args:
            host: As in ``addresses.Target``.
            entries: All its entries.
            mark: Given back with each step.
        """
        assert self._out is not None
        self._out.begin_walk()
        failed_before = all(entry.attempts for entry in entries)
        self._jobs.put(_Job((failed_before, -len(entries)), next(self._numbers), self._out, host, entries, mark))
        if len(self._threads) < self._settings.threads:
            thread = threading.Thread(target=self._work, name=f"fetch-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def drain(self, wait: bool) -> Iterator[tuple[Any, Step]]:
        """Yields (mark, step): what is there, or with ``wait`` all until the hosts of this bundle are done."""
        assert self._out is not None
        return self._out.drain(wait)

    def close(self) -> None:
        """Ends the threads at their next step; those that wait for a server end with their exchange."""
        if self._out is not None:
            self._out.close()
        for _ in self._threads:
            self._jobs.put(_Job((True, 1), next(self._numbers), StepQueue(0, 0), "", (), _STOP))
        self._tools.client.close()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job.mark is _STOP:
                return
            error: BaseException | None = None
            try:
                for step in HostWalk(job.host, self._tools).steps(job.entries):
                    job.out.put(job.mark, step)
                    meter.add("fetched")
            except ClosedError:
                pass
            except BaseException as caught:
                error = caught
            job.out.end_walk(error)


_STOP = object()
