"""The stage "Poll feeds": feeds in, entries out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms import trigger, window
from apache_beam.utils.windowed_value import WindowedValue

from transforms import meter
from transforms.dedupe.state import StateLocation, open_state
from transforms.feeds.ask import Asker
from transforms.feeds.hosts import PollTools, held_hosts, host_of_feed, poll_host
from transforms.feeds.poll import Known, PollLimits, PollResult
from transforms.fetch.client import HttpClient
from transforms.fetch.gate import shared_gate
from transforms.fetch.pages import FetchSettings
from transforms.fetch.robots import shared_robots
from transforms.records import FeedSource, RunContext, Tally

SIDE = "side"
_PANE_S = 3
_STREAM_BUDGET_S = 20.0  # a stream's bundle must end before its checkpoint is late


class PollSettings(NamedTuple):
    """How feeds are polled.

    Attributes:
        fetch: How requests are made; ``threads`` hosts are walked at the same time.
        due_now: Polls every feed whatever its schedule; Retry-After and the host's gap still hold.
        max_age_s: Entries that were published or updated earlier are left aside; 0 for no limit.
        max_items_per_feed: Entries taken of one document, newest first; the rest is put off; 0 for no limit.
    """

    fetch: FetchSettings
    due_now: bool = False
    max_age_s: float = 7 * 86400.0
    max_items_per_feed: int = 50


class PolledFeeds(NamedTuple):
    """What ``PollFeeds`` yields.

    Attributes:
        entries: ``Entry``s, newest first within a feed; known ones too.
        side: ``Fetch`` rows of polls, robots.txt, sitemaps and entries put off, ``Reject``s, ``Tally``s.
    """

    entries: beam.PCollection
    side: beam.PCollection


class PollFeeds(beam.PTransform):
    """Polls the feeds that are due, host by host, all hosts side by side.

    In: ``FeedSource``s, bounded or not. Out: ``PolledFeeds``.

    Guaranteed: each document is asked for at most once; each poll is one ``Fetch`` row of kind ``feed`` that
    holds all that the next one must know, so that nothing has happened if the run is not committed. In the
    tallies of stage ``poll``, polled = ok + not_modified + failed, and item = passed + rejected + known +
    duplicate + deferred; feeds that are not polled are ``not_due``, ``postponed`` or ``duplicate_feed``.

    Args:
        settings: Limits and pace.
        location: Where the state of earlier runs lies.
        run: The run's clock and id.
    """

    def __init__(self, settings: PollSettings, location: StateLocation, run: RunContext) -> None:
        super().__init__()
        self._settings = settings
        self._location = location
        self._run = run

    def expand(self, sources: beam.PCollection) -> PolledFeeds:
        """Joins the steps."""
        settings = self._settings
        keyed = sources | "Key by host" >> beam.ParDo(_ByHost(self._location)).with_output_types(tuple[str, Any])
        if not sources.is_bounded:
            budget_s = min(settings.fetch.host_time_budget_s, _STREAM_BUDGET_S)
            settings = settings._replace(fetch=settings.fetch._replace(host_time_budget_s=budget_s))
            keyed |= "Panes" >> beam.WindowInto(  # the in-process runner cannot do this for bounded input
                window.GlobalWindows(),
                trigger=trigger.Repeatedly(trigger.AfterProcessingTime(_PANE_S)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
        polled = (
            keyed
            | "Group by host" >> beam.GroupByKey()
            | "Poll" >> beam.ParDo(_PollHosts(settings, self._location, self._run)).with_outputs(SIDE, main="entries")
        )
        return PolledFeeds(polled.entries, polled[SIDE])


class _ByHost(beam.DoFn):
    """A feed -> (host that serves it, feed)."""

    def __init__(self, location: StateLocation) -> None:
        self._location = location

    def process(self, source: FeedSource) -> Iterator[tuple[str, FeedSource]]:
        yield host_of_feed(source, open_state(self._location).feeds()), source


class _PollHosts(beam.DoFn):
    """(host, feeds) -> entries; ``process`` never waits, so that all hosts of a bundle are under way at once."""

    def __init__(self, settings: PollSettings, location: StateLocation, run: RunContext) -> None:
        self._settings = settings
        self._location = location
        self._run = run

    def setup(self) -> None:
        fetch = self._settings.fetch
        gate = shared_gate(fetch.host_gap_s)
        self._client = HttpClient(fetch.client, self._run.now, gate)
        self._asker = Asker(self._client, gate, shared_robots(), fetch.client)
        self._pool = ThreadPoolExecutor(fetch.threads, thread_name_prefix="poll")
        for host, until in held_hosts(open_state(self._location).feeds(), self._run.now()).items():
            gate.hold(host, until)

    def start_bundle(self) -> None:
        self._under_way: dict[Future[list[PollResult | Tally]], Any] = {}
        self._tallies: Counter[tuple[str, str]] = Counter()
        self._last_mark: Any = None

    def process(
        self,
        element: tuple[str, Iterable[FeedSource]],
        timestamp: Any = beam.DoFn.TimestampParam,
        pane_window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[Any]:
        host, sources = element
        self._last_mark = (timestamp, pane_window)
        future = self._pool.submit(self._walk, host, list(sources))
        self._under_way[future] = self._last_mark
        yield from self._take([future for future in self._under_way if future.done()])

    def finish_bundle(self) -> Iterator[Any]:
        yield from self._take(as_completed(list(self._under_way)))
        for (stage, outcome), items in sorted(self._tallies.items()):
            beam.metrics.Metrics.counter(stage, outcome).inc(items)
            yield _side(Tally(stage, outcome, items), self._last_mark)

    def teardown(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _walk(self, host: str, sources: list[FeedSource]) -> list[PollResult | Tally]:
        """Polls the feeds of one host; runs in a thread."""
        settings = self._settings
        state = open_state(self._location)
        tools = PollTools(
            asker=self._asker,
            limits=PollLimits(settings.max_age_s, settings.max_items_per_feed),
            run=self._run,
            feeds=state.feeds(),
            known=Known(state.is_known, state.due_entry),
            due_now=settings.due_now,
            host_time_budget_s=settings.fetch.host_time_budget_s,
        )
        results = []
        for result in poll_host(host, sources, tools):
            results.append(result)
            if isinstance(result, PollResult):
                meter.add("feeds")
        return results

    def _take(self, done: Iterable[Future[list[PollResult | Tally]]]) -> Iterator[Any]:
        for future in done:
            mark = self._under_way.pop(future)
            for result in future.result():
                if isinstance(result, Tally):
                    self._tallies[result.stage, result.outcome] += result.items
                    continue
                for entry in result.entries:
                    yield _windowed(entry, mark)
                for row in (result.row, *result.fetches, *result.rejects):
                    yield _side(row, mark)
                for tally in result.tallies:
                    self._tallies[tally.stage, tally.outcome] += tally.items


def _windowed(value: Any, mark: Any) -> WindowedValue:
    timestamp, pane_window = mark
    return WindowedValue(value, timestamp, (pane_window,))


def _side(row: Any, mark: Any) -> beam.pvalue.TaggedOutput:
    return beam.pvalue.TaggedOutput(SIDE, _windowed(row, mark))
