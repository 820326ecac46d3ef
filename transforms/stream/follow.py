"""What a tick of a stream does: polls feeds that are due, and says what is to go into the graph now. No Beam.

Polls run in threads that may outlast a tick: each answer goes into the spool, and what is in the spool comes out at
this tick or the next. What has gone out is remembered by the caller (in the runner's state) until it is committed.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from typing import NamedTuple

from transforms import meter
from transforms.dedupe.state import FeedState, KnownState, StateLocation, open_state
from transforms.feeds.ask import Asker
from transforms.feeds.hosts import PollTools, held_hosts, host_of_feed, may_poll, poll_host, state_of
from transforms.feeds.poll import Known, PollLimits, PollResult
from transforms.fetch.client import HttpClient
from transforms.fetch.gate import shared_gate
from transforms.fetch.pages import FetchSettings
from transforms.fetch.robots import shared_robots
from transforms.records import Entry, FeedSource, RunContext
from transforms.stream.spool import Spool, Spooled, feed_state, is_told, open_entries
from transforms.urls import host_of

STATE_AGE_S = 1.0  # what is committed is read again this often
SENT_S = 600.0  # after this time, what went out and was not committed goes out again
# The same by the memory of this process: for runners that let two bundles of one key run at a time (Prism 2.77 does),
# and short, since a process may live on when its runner goes back to a checkpoint.
SENT_HERE_S = 30.0
POLL_WAIT_S = 5.0  # of a tick; polls that take longer come out at a later one
HOST_BUDGET_S = 20.0  # how long the pages of a host may take at a time
MOST_WAITING = 50_000  # entries in the spool; no feed is polled while there are more
MOST_AT_ONCE = 500  # entries that a bucket sends at a tick
QUICK_HOST_WINDOW = 100
REREAD_S = 10.0  # the list of feeds is looked at again this often

Sent = dict[str, float]
Reread = Callable[[], Sequence[FeedSource] | None]


class Emission(NamedTuple):
    """What a tick passes on: announced entries, and entries due again."""

    entries: list[Entry]
    due: list[Entry]


class Follower:
    """Follows a list of feeds; one for each process, safe to share between threads.

    Args:
        feeds: All feeds.
        fetch: How requests are made; ``threads`` hosts are asked at the same time.
        limits: What is taken of a document.
        location: Where the state of the dataset lies.
        run: The clock.
        buckets: Number of shares that hosts are spread over.
        reread: Gives the list of feeds anew, or ``None`` if it is as it was.
    """

    def __init__(
        self,
        feeds: Sequence[FeedSource],
        fetch: FetchSettings,
        limits: PollLimits,
        location: StateLocation,
        run: RunContext,
        buckets: int = 1,
        reread: Reread | None = None,
    ) -> None:
        self._feeds = feeds
        self._reread = reread
        self._reread_at_s = time.monotonic()
        self._fetch = fetch
        self._limits = limits
        self._location = location
        self._run = run
        self._buckets = buckets
        self._spool = Spool(location.root)
        self._gate = shared_gate(fetch.host_gap_s)
        self._client = HttpClient(fetch.client, run.now, self._gate)
        self._asker = Asker(self._client, self._gate, shared_robots(), fetch.client)
        self._pool = ThreadPoolExecutor(fetch.threads, thread_name_prefix="poll")
        self._under_way: set[str] = set()
        self._lock = threading.Lock()
        self._ticking = threading.Lock()
        self._sent_here: Sent = {}
        for host, until in held_hosts(open_state(location).feeds(), run.now()).items():
            self._gate.hold(host, until)

    def tick(self, bucket: int, sent: Sent) -> Emission:
        """Does what is due in one bucket.

        Args:
            bucket: Of ``buckets``.
            sent: What went out lately, key to real time; changed in place. Empty at a cold start: then feeds
                are asked without validators once, and all that is not committed goes out.
        """
        with self._ticking:
            known = open_state(self._location, STATE_AGE_S)
            self._look_at_list()
            now_s = time.time()
            cold = not sent
            _forget(sent, SENT_S, now_s)
            _forget(self._sent_here, SENT_HERE_S, now_s)
            sent[""] = now_s  # no longer cold
            self._poll(bucket, known, cold)
            going = _Going(sent, self._sent_here)
            for spooled in self._spool.read():
                if self._bucket_of(spooled.host) == bucket:
                    self._send_spooled(spooled, known, going)
            self._send_due(bucket, known, going)
            return going.emission

    def close(self) -> None:
        """Starts nothing more; what is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _look_at_list(self) -> None:
        if self._reread is None or time.monotonic() - self._reread_at_s < REREAD_S:
            return
        self._reread_at_s = time.monotonic()
        feeds = self._reread()
        if feeds is not None:
            self._feeds = feeds

    def _bucket_of(self, host: str) -> int:
        return int.from_bytes(hashlib.sha256(host.encode()).digest()[:4], "big") % self._buckets

    def _poll(self, bucket: int, known: KnownState, cold: bool) -> None:
        """Asks the hosts of a bucket that have feeds due, and waits a little for the answers."""
        waiting = self._spool.read()
        if sum(len(spooled.result.entries) for spooled in waiting) > MOST_WAITING:
            return
        states = _newest_states(known, waiting)
        now = self._run.now()
        by_host: dict[str, list[FeedSource]] = {}
        for source in self._feeds:
            host = host_of_feed(source, states)
            if self._bucket_of(host) == bucket:
                by_host.setdefault(host, []).append(source._replace(conditional="never") if cold else source)
        started = []
        for host, sources in by_host.items():
            with self._lock:
                if host in self._under_way or not _any_due(sources, states, now):
                    continue
                self._under_way.add(host)
            started.append(self._pool.submit(self._walk, host, sources, states))
        done, _ = wait(started, timeout=POLL_WAIT_S)
        _raise_bugs(done)

    def _walk(self, host: str, sources: list[FeedSource], states: Mapping[str, FeedState]) -> None:
        known = open_state(self._location)
        run = self._run
        tools = PollTools(
            asker=self._asker,
            limits=self._limits,
            # Rows are told apart by their time, so each walk has its own start.
            run=run._replace(started_at=run.now(), started_epoch_s=time.time()),
            feeds=states,
            known=Known(known.is_known, known.due_entry),
            host_time_budget_s=self._fetch.host_time_budget_s,
        )
        try:
            for result in poll_host(host, sources, tools):
                if isinstance(result, PollResult):
                    self._spool.add(host, result)
                    meter.add("feeds")
        finally:
            with self._lock:
                self._under_way.discard(host)

    def _send_spooled(self, spooled: Spooled, known: KnownState, going: _Going) -> None:
        """Sends what has not ended of a poll; its rows and tallies are taken from the spool by the committer."""
        entries = open_entries(spooled, known, self._run.now())
        if not entries and is_told(spooled, known):
            self._spool.remove(spooled.name)
            return
        for entry in entries:
            if self._may_send(_key(entry), entry, going):
                going.emission.entries.append(entry)

    def _send_due(self, bucket: int, known: KnownState, going: _Going) -> None:
        for entry in known.due_entries(self._run.now()):
            if self._bucket_of(host_of(entry.url or "")) != bucket:
                continue
            page = known.due_entry(entry.url_key)
            key = _short(f"{entry.url_key} due {page.next_due_at if page else None} {entry.attempts}")
            if self._may_send(key, entry, going):
                going.emission.due.append(entry)

    def _may_send(self, key: str, entry: Entry, going: _Going) -> bool:
        """Tells whether an entry goes out now, and notes that it did: once, and no more than its host can do."""
        host = host_of(entry.url or "")
        if going.is_sent(key):
            going.in_flight[host] += 1
            return False
        gap_s = self._gate.gap_s_of(host)
        window = max(1, int(HOST_BUDGET_S / gap_s)) if gap_s > 0 else QUICK_HOST_WINDOW
        full = len(going.emission.entries) + len(going.emission.due) >= MOST_AT_ONCE
        if full or going.in_flight[host] >= min(window, QUICK_HOST_WINDOW):
            return False
        going.in_flight[host] += 1
        return going.note(key)


class _Going:
    """What goes out at one tick, and what went out before."""

    def __init__(self, sent: Sent, sent_here: Sent) -> None:
        self.emission = Emission([], [])
        self.in_flight: Counter[str] = Counter()
        self._sent = sent
        self._sent_here = sent_here

    def is_sent(self, key: str) -> bool:
        """Tells whether this went out before and may still be on its way."""
        return key in self._sent or key in self._sent_here

    def note(self, key: str) -> bool:
        """Notes that this goes out; tells whether it is new."""
        if self.is_sent(key):
            return False
        self._sent[key] = self._sent_here[key] = time.time()
        return True


def _key(entry: Entry) -> str:
    return _short(f"{entry.url_key} {entry.entry_version}")


def _short(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:20]


def _forget(sent: Sent, after_s: float, now_s: float) -> None:
    """Removes what is too old, or of a time to come (the clock was set back)."""
    for key in [key for key, at_s in sent.items() if not now_s - after_s < at_s <= now_s + after_s]:
        del sent[key]


def _newest_states(known: KnownState, waiting: Iterable[Spooled]) -> dict[str, FeedState]:
    states = dict(known.feeds())
    for spooled in waiting:
        row = spooled.result.row
        state = states.get(row.url)
        if state is None or state.started_at < row.started_at:
            states[row.url] = feed_state(row)
    return states


def _any_due(sources: Iterable[FeedSource], states: Mapping[str, FeedState], now: datetime) -> bool:
    return any(may_poll(state_of(source, states), now, due_now=False) for source in sources)


def _raise_bugs(done: Iterable[Future[None]]) -> None:
    for future in done:
        future.result()


_SHARED: dict[tuple[str, float], Follower] = {}
_SHARING = threading.Lock()


def shared_follower(
    feeds: Sequence[FeedSource],
    fetch: FetchSettings,
    limits: PollLimits,
    location: StateLocation,
    run: RunContext,
    buckets: int,
    reread: Reread | None = None,
) -> Follower:
    """Returns the one follower of this process for a dataset and a start of its stream."""
    key = (location.root, run.started_epoch_s)
    with _SHARING:
        if key not in _SHARED:
            _SHARED[key] = Follower(feeds, fetch, limits, location, run, buckets, reread)
        return _SHARED[key]
