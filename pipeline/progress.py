"""The display while a run works: one live line on a terminal, else a plain line now and then.

Everything goes to stderr. Outside a terminal there is neither a carriage return nor an escape.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from transforms import meter

_ORDER = ("feeds", "read", "fetched", "extracted", "tagged")
PLAIN_EVERY_S = 10.0
LIVE_EVERY_S = 0.2


def progress_line(counts: dict[str, int], elapsed_s: float) -> str:
    """Returns the counts as people read them: ``read 120 · extracted 80 · tagged 80 · 12.3/s``."""
    parts = [f"{name} {counts[name]:,}" for name in _ORDER if counts.get(name)]
    done = counts.get("tagged", 0)
    if done and elapsed_s > 1:
        parts.append(f"{done / elapsed_s:.1f}/s")
    return " · ".join([*parts, f"{elapsed_s:.0f} s"])


class Progress:
    """Shows the counts of ``transforms.meter`` while the body of a ``with`` runs.

    Args:
        enabled: False shows nothing (``-q``, ``--json``).
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._live = enabled and sys.stderr.isatty()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if self._enabled:
            self._thread = threading.Thread(target=self._show, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2)

    def _show(self) -> None:
        began = time.monotonic()
        if not self._live:
            while not self._stop.wait(PLAIN_EVERY_S):
                sys.stderr.write(progress_line(meter.counts(), time.monotonic() - began) + "\n")
            return
        from rich.console import Console  # only on a terminal: a fifth of a second
        from rich.status import Status

        with Status("starting", console=Console(stderr=True)) as status:
            while not self._stop.wait(LIVE_EVERY_S):
                status.update(progress_line(meter.counts(), time.monotonic() - began))
