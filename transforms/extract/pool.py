"""Child processes that extract, each behind a thread of its own, each killable.

One parent thread owns one child over one socket pair, one page at a time: a page that hangs, explodes or
kills its process costs itself and nothing else. Children start when there is work for them, and are
replaced after a time-out, a crash, a memory overrun and after ``CHILD_PAGES`` pages. Nothing here relies
on being closed: children end by themselves when the parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from transforms.extract import worker
from transforms.extract.article import Extraction, refuse
from transforms.records import Document, Reject

CHILD_PAGES = 2000
FAILED_STARTS_LIMIT = 3
_START_LIMIT_S = 60.0
_ALARM_FACTOR = 2.0
_EXIT_GRACE_S = 2.0  # between the end of a connection and the end of its process, whose exit code tells why
_EXTRACT = "transforms.extract.article:extract"

Result = Extraction | Reject


class PoolError(RuntimeError):
    """Extraction processes cannot be started at all."""


class PoolSettings(NamedTuple):
    """How pages are extracted.

    Attributes:
        workers: Number of child processes; at least 1.
        timeout_s: Longest time for a page, seconds.
        memory_bytes: Address space of a child (RLIMIT_AS), which holds the libraries too.
        function: ``module:function`` that the child calls with each document.
    """

    workers: int
    timeout_s: float = 10.0
    memory_bytes: int = 1536 * 1024 * 1024
    function: str = _EXTRACT


class _Child:
    """A running child process and our end of its socket."""

    def __init__(self, settings: PoolSettings) -> None:
        ours, theirs = socket.socketpair()
        self.pages = 0
        self.channel = ours
        command = [
            sys.executable, "-m", "transforms.extract.worker", str(theirs.fileno()), str(os.getpid()),
            str(settings.timeout_s * _ALARM_FACTOR), str(settings.memory_bytes), settings.function,
        ]  # fmt: skip
        root = Path(__file__).resolve().parents[2]
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own module, our own arguments
                command,
                cwd=root,
                env=_environment(root),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # what a command prints is its own; complaints go to stderr
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    def wait_until_ready(self) -> bool:
        deadline = time.monotonic() + _START_LIMIT_S
        with contextlib.suppress(OSError, EOFError):
            return self._receive(deadline) == worker.READY
        return False

    def call(self, document: Document, timeout_s: float) -> bytes:
        """Raises TimeoutError, EOFError or OSError."""
        deadline = time.monotonic() + timeout_s
        self.channel.settimeout(timeout_s)
        worker.send_frame(self.channel, pickle.dumps(document._replace(body=b""), pickle.HIGHEST_PROTOCOL))
        worker.send_frame(self.channel, document.body)
        self.pages += 1
        return self._receive(deadline)

    def _receive(self, deadline: float) -> bytes:
        def set_remaining_time() -> None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            self.channel.settimeout(remaining)

        return worker.receive_frame(self.channel, set_remaining_time)

    def end(self, grace_s: float = 0.0) -> int:
        """Kills the process if it still runs after the grace and returns its exit code."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(grace_s)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        return self.process.wait()


def _environment(root: Path) -> dict[str, str]:
    """The child finds what we find, in the same order; one thread a child, and the same hash order in each."""
    places = [str(root), *(str(Path(place or ".").resolve()) for place in sys.path)]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(places)),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


class ExtractPool:
    """A pool of child processes; use ``acquire_pool`` to share one a process."""

    def __init__(self, settings: PoolSettings) -> None:
        self.settings = settings
        self._tasks: queue.SimpleQueue[tuple[Document, Future[Result]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._children: set[_Child] = set()
        self._waiting = 0
        self._failed_starts = 0
        self._last_failure = ""
        self._is_closed = False

    def submit(self, document: Document) -> Future[Result]:
        """Hands a document to the next free child.

        Returns:
            A future of the extraction or reject; it raises ``PoolError`` if no child can be started.

        Raises:
            PoolError: If the pool is closed.
        """
        future: Future[Result] = Future()
        with self._lock:
            if self._is_closed:
                raise PoolError("the extraction pool is closed")
            self._waiting += 1
            if self._waiting > len(self._threads) and len(self._threads) < self.settings.workers:
                thread = threading.Thread(target=self._run, name="extract", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._tasks.put((document, future))
        return future

    def close(self) -> None:
        """Ends the children; the futures of documents that still wait raise ``PoolError``."""
        self.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout=5)

    def kill(self) -> None:
        """Kills all children at once; safe in a signal handler, since it waits for nothing but the kernel."""
        self._is_closed = True
        for child in tuple(self._children):
            with contextlib.suppress(ProcessLookupError):
                child.process.kill()

    def _run(self) -> None:
        child: _Child | None = None
        while (task := self._tasks.get()) is not None:
            document, future = task
            try:
                child = child or self._start()
                result, child = self._extract(child, document)
                future.set_result(result)
            except Exception as error:  # whoever waits must hear of it, whatever it is
                future.set_exception(error)
            finally:
                with self._lock:
                    self._waiting -= 1
        if child is not None:
            self._drop(child)

    def _start(self) -> _Child:
        while not self._is_closed:
            with self._lock:
                if self._failed_starts >= FAILED_STARTS_LIMIT:
                    break
            try:
                child = _Child(self.settings)
            except OSError as error:  # no memory, no process or file left
                failure = str(error)
            else:
                self._children.add(child)
                if child.wait_until_ready():
                    self._failed_starts = 0
                    return child
                failure = f"exit code {self._drop(child, _EXIT_GRACE_S)}"
            with self._lock:
                self._failed_starts += 1
                self._last_failure = failure
        if self._is_closed:
            raise PoolError("the extraction pool is closed")
        raise PoolError(
            f"extraction processes do not start ({FAILED_STARTS_LIMIT} tries, {self._last_failure}); "
            f"try: {sys.executable} -c 'import {self.settings.function.partition(':')[0]}'"
        )

    def _drop(self, child: _Child, grace_s: float = 0.0) -> int:
        code = child.end(grace_s)
        self._children.discard(child)
        return code

    def _extract(self, child: _Child, document: Document) -> tuple[Result, _Child | None]:
        limit_s = self.settings.timeout_s
        try:
            answer = child.call(document, limit_s)
        except TimeoutError:
            self._drop(child)
            return refuse(document, "timeout", f"not done after {limit_s:g} s"), None
        except (EOFError, OSError):
            code = self._drop(child, _EXIT_GRACE_S)
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return refuse(document, "crash", f"its process died: {how}"), None
        if answer.startswith(worker.DONE):
            result: Result = pickle.loads(answer[len(worker.DONE) :])  # noqa: S301 - from the child that we started
        elif answer.startswith(worker.FAILED):
            result = refuse(document, "crash", answer[len(worker.FAILED) :].decode("utf-8", "replace"))
        else:
            self._drop(child)
            megabytes = self.settings.memory_bytes // 1024**2
            return refuse(document, "memory", f"more than {megabytes} MB of address space"), None
        if child.pages >= CHILD_PAGES:
            self._drop(child)
            return result, None
        return result, child


_registry_lock = threading.Lock()
_shared: dict[PoolSettings, tuple[ExtractPool, int]] = {}


def acquire_pool(settings: PoolSettings) -> ExtractPool:
    """Returns the process-wide pool of these settings; each call needs one ``release_pool``."""
    with _registry_lock:
        pool, users = _shared.get(settings, (None, 0))
        pool = pool or ExtractPool(settings)
        _shared[settings] = (pool, users + 1)
        return pool


def release_pool(pool: ExtractPool) -> None:
    """Gives a pool back; the last user closes it."""
    with _registry_lock:
        _, users = _shared.get(pool.settings, (pool, 1))
        if users > 1:
            _shared[pool.settings] = (pool, users - 1)
            return
        _shared.pop(pool.settings, None)
    pool.close()


@contextlib.contextmanager
def kept_pool(settings: PoolSettings) -> Iterator[None]:
    """Keeps the pool of these settings, so that several runs in a row share its children."""
    pool = acquire_pool(settings)
    try:
        yield
    finally:
        release_pool(pool)


def kill_pools() -> None:
    """Kills the children of all pools of this process, for signal handlers; the pools are of no use afterwards."""
    for pool, _ in list(_shared.values()):
        pool.kill()


def available_cores() -> int:
    """Returns the number of cores that this process may use."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
