"""Ends an exchange when its time is up, whatever the other side does.

The timeouts of a socket count from one byte to the next, so a server that sends two bytes a second is
never late for them. A watchdog thread shuts the socket instead: that ends slow headers, slow bodies and
slow TLS handshakes alike.
"""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time


class Watch:
    """The time limit of one exchange, as a context manager; made by ``Watchdog.watch``.

    Attributes:
        fired: True once the time was up. What was read by then is not to be trusted: a body without a
            length seems complete when its socket is shut.
    """

    def __init__(self, watchdog: Watchdog, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.fired = False
        self._watchdog = watchdog
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def seconds_left(self) -> float:
        """Returns the time that is left, at least a thousandth of a second."""
        return max(self.deadline - time.monotonic(), 0.001)

    def attach(self, connected: socket.socket) -> None:
        """Puts a socket under watch. A duplicate is kept, since TLS takes the socket itself over."""
        duplicate = connected.dup()
        with self._lock:
            self._sockets.append(duplicate)
            if self.fired:
                _shut(duplicate)

    def fire(self) -> None:
        """Shuts the sockets; a read that waits on one of them ends at once."""
        with self._lock:
            self.fired = True
            for duplicate in self._sockets:
                _shut(duplicate)

    def __enter__(self) -> Watch:
        self._watchdog.add(self)
        return self

    def __exit__(self, *error: object) -> None:
        self._watchdog.remove(self)
        with self._lock:
            for duplicate in self._sockets:
                duplicate.close()
            self._sockets.clear()


def _shut(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


class Watchdog:
    """One daemon thread for all exchanges of a client; it starts with the first of them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watches: set[Watch] = set()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None
        self._closed = False

    def watch(self, seconds: float) -> Watch:
        """Returns a limit of ``seconds`` that begins now; it holds inside its ``with`` block."""
        return Watch(self, seconds)

    def add(self, watch: Watch) -> None:
        """Begins to look after a watch."""
        with self._changed:
            self._watches.add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="fetch-watchdog", daemon=True)
                self._thread.start()
            elif watch.deadline < self._wakes_at:
                self._changed.notify()

    def remove(self, watch: Watch) -> None:
        """Ends looking after a watch."""
        with self._changed:
            self._watches.discard(watch)

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for watch in [watch for watch in self._watches if watch.deadline <= now]:
                    self._watches.discard(watch)
                    watch.fire()
                self._wakes_at = min((watch.deadline for watch in self._watches), default=math.inf)
                self._changed.wait(None if self._wakes_at == math.inf else self._wakes_at - now)
