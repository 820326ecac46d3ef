"""``newsbeam watch``: one bounded run after the other, over the feeds and pages that are due.

All state is in the dataset, so that a watch can be stopped at any moment and goes on where it was. Between two
cycles the dataset is free for other commands.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from pipeline.cli.output import plural
from pipeline.errors import ExitCode
from pipeline.plan import Plan
from pipeline.reread import Reread
from pipeline.upkeep import Upkeep
from transforms.allocator import give_back
from transforms.dedupe.state import latest_state, open_state
from transforms.feeds.hosts import due_feeds
from transforms.write.commit import recover
from transforms.write.lock import acquire
from transforms.write.manifest import Manifest


class WatchOptions(NamedTuple):
    """How to watch.

    Attributes:
        every_s: Time from the start of one cycle to that of the next.
        until: When to stop; ``None`` for never.
        beam_flags: Checked flags for Beam.
        upkeep: Whether stories are grouped and small files merged between two cycles.
        quiet: No status.
    """

    every_s: float
    until: datetime | None
    beam_flags: tuple[str, ...]
    upkeep: bool = True
    quiet: bool = False


class Cycle(NamedTuple):
    """One cycle: what was due, and the manifests of its runs (none if nothing was due)."""

    due_feeds: int
    due_pages: int
    manifests: tuple[Manifest, ...] = ()


def watch(plan: Plan, options: WatchOptions, tell: Callable[[str], None]) -> ExitCode:
    """Runs cycles until the time is over or a signal comes.

    Args:
        plan: Feeds and lists of addresses; seeds are left to ``run``.
        options: How to watch.
        tell: Called with a line after each cycle.

    Returns:
        ``DONE`` at the end of the time or after SIGTERM, ``INTERRUPTED`` after Ctrl-C.
    """
    stop = _Stop()
    upkeep = Upkeep(plan.config.dataset, tell)
    reread = Reread(plan, tell)
    lists = plan.url_paths
    while True:
        began = time.monotonic()
        plan = reread.apply(plan)
        cycle = run_cycle(plan._replace(seed_batches=(), url_paths=lists), options)
        lists = ()  # read once; what they named is known or due by now
        tell(_line(cycle, time.monotonic() - began))
        if options.upkeep and not stop.is_told:
            upkeep.after(cycle.manifests)
        if cycle.manifests:
            give_back()
        if options.until is not None and datetime.now(timezone.utc) >= options.until:
            return ExitCode.DONE
        rest_s = max(0.0, options.every_s - (time.monotonic() - began))
        if options.until is not None:
            rest_s = min(rest_s, max(0.0, (options.until - datetime.now(timezone.utc)).total_seconds()))
        if stop.sleep(rest_s):
            return stop.exit_code
        if options.until is not None and datetime.now(timezone.utc) >= options.until:
            return ExitCode.DONE


def run_cycle(plan: Plan, options: WatchOptions) -> Cycle:
    """Does what is due now, if anything is; holds the lock meanwhile."""
    with acquire(plan.config.dataset, wait=True):
        recover(plan.config.dataset)
        known = open_state(latest_state(plan.config.dataset))
        now = datetime.now(timezone.utc)
        feeds = tuple(due_feeds(plan.feeds, known.feeds(), now))
        pages = len(known.due_entries(now))
        if not (feeds or pages or plan.url_paths):
            return Cycle(0, 0)
        # Beam comes with the first cycle that has work.
        from pipeline.launch import RunOptions, execute

        options_of_run = RunOptions(
            beam_flags=options.beam_flags, show_progress=sys.stderr.isatty() and not options.quiet
        )
        return Cycle(len(feeds), pages, tuple(execute(plan._replace(feeds=feeds), options_of_run)))


def _line(cycle: Cycle, elapsed_s: float) -> str:
    if not cycle.manifests:
        return "nothing was due"
    totals = {name: sum(m.items.get(name, 0) for m in cycle.manifests) for name in cycle.manifests[0].items}
    failed = sum(m.feeds.get("failed", 0) for m in cycle.manifests)
    shown = ", ".join(f"{name} {count:,}" for name, count in totals.items() if count and name != "in")
    feeds = plural(cycle.due_feeds, "feed") + (f" ({failed:,} failed)" if failed else "")
    return f"{feeds}, {plural(cycle.due_pages, 'page')} due: {shown or 'no items'} · {elapsed_s:.1f} s"


class _Stop:
    """Turns SIGINT and SIGTERM into the end of the pause between two cycles.

    Within a run the handlers of ``launch`` end the process at once; nothing is lost by that.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self.exit_code = ExitCode.DONE
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:
        self.exit_code = ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.DONE
        self._event.set()

    @property
    def is_told(self) -> bool:
        """Whether a signal came."""
        return self._event.is_set()

    def sleep(self, seconds: float) -> bool:
        """Waits; returns True if a signal came."""
        return self._event.wait(seconds)


def until_time(word: str, now: datetime) -> datetime:
    """Reads ``--until``: an instant, or a duration from now such as ``2h``.

    Raises:
        ValueError: If it is neither; the message says so in words for people.
    """
    from pipeline.config import values

    try:
        return now + timedelta(seconds=values.duration(word))
    except (ValueError, TypeError):
        pass
    try:
        found = datetime.fromisoformat(word.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(
            f'"{word}" is neither a time from now such as 2h nor one such as 2026-12-01T08:00:00Z'
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
