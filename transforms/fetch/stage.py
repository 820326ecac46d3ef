"""The stage "Fetch pages": entries in, documents out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms import trigger, window
from apache_beam.utils.windowed_value import WindowedValue

from transforms.fetch.addresses import host_of
from transforms.fetch.engine import FetchEngine
from transforms.fetch.pages import FetchSettings
from transforms.records import Document, Entry, RunContext, Side, Tally

__all__ = ["FetchPages", "FetchSettings", "FetchedPages"]

SIDE = "side"
_PANE_S = 3
_STREAM_BUDGET_S = 20.0  # a stream's bundle must end before its checkpoint is late


class FetchedPages(NamedTuple):
    """What ``FetchPages`` yields.

    Attributes:
        documents: ``Document``s of kind ``page`` or ``feed_content``.
        side: ``Fetch`` rows of pages and robots.txt, ``Reject``s, ``Alias``es of duplicates, ``Tally``s.
    """

    documents: beam.PCollection
    side: beam.PCollection


class FetchPages(beam.PTransform):
    """Fetches the page of each entry, host by host, all hosts side by side.

    In: ``Entry``s with an http(s) address, bounded or not. Out: ``FetchedPages``.

    Guaranteed: each entry leaves exactly once in the tallies (in = passed + duplicate + deferred + rejected);
    what is deferred has a ``Fetch`` row with ``next_due_at`` and the entry; entries of one ``url_key`` are
    fetched once. Within a process a host has one request at a time and its gap between two; bodies are not
    shuffled. A bundle that is repeated asks again and yields the same if the servers do, but for rows of
    robots.txt, which is asked once a day.

    Args:
        settings: Limits and pace.
        run: The run's clock and id.
    """

    def __init__(self, settings: FetchSettings, run: RunContext) -> None:
        super().__init__()
        self._settings = settings
        self._run = run

    def expand(self, entries: beam.PCollection) -> FetchedPages:
        """Joins the steps."""
        settings = self._settings
        keyed = entries | "Key by host" >> beam.Map(_by_host).with_output_types(tuple[str, Any])
        if not entries.is_bounded:
            settings = settings._replace(host_time_budget_s=min(settings.host_time_budget_s, _STREAM_BUDGET_S))
            keyed |= "Panes" >> beam.WindowInto(  # the in-process runner cannot do this for bounded input
                window.GlobalWindows(),
                trigger=trigger.Repeatedly(trigger.AfterProcessingTime(_PANE_S)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
        fetched = (
            keyed
            | "Group by host" >> beam.GroupByKey()
            | "Fetch" >> beam.ParDo(_FetchHosts(settings, self._run)).with_outputs(SIDE, main="documents")
        )
        return FetchedPages(fetched.documents, fetched[SIDE])


def _by_host(entry: Entry) -> tuple[str, Entry]:
    return host_of(entry.url or ""), entry


class _FetchHosts(beam.DoFn):
    """(host, entries) -> documents; ``process`` never waits, so that all hosts of a bundle are under way at once."""

    def __init__(self, settings: FetchSettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run

    def setup(self) -> None:
        self._engine = FetchEngine(self._settings, self._run)

    def start_bundle(self) -> None:
        self._engine.open()
        self._tallies: Counter[str] = Counter()
        self._last_mark: Any = None

    def process(
        self,
        element: tuple[str, Iterable[Entry]],
        timestamp: Any = beam.DoFn.TimestampParam,
        pane_window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[Any]:
        host, entries = element
        group = list(entries)
        self._tallies["in"] += len(group)
        self._last_mark = (timestamp, pane_window)
        self._engine.submit(host, group, self._last_mark)
        yield from self._take(wait=False)

    def finish_bundle(self) -> Iterator[Any]:
        yield from self._take(wait=True)
        for outcome, items in sorted(self._tallies.items()):
            beam.metrics.Metrics.counter("fetch", outcome).inc(items)
            yield _side(Tally("fetch", outcome, items), self._last_mark)

    def _take(self, wait: bool) -> Iterator[Any]:
        for mark, step in self._engine.drain(wait):
            self._tallies[step.outcome] += 1
            if step.document is not None:
                yield _windowed(step.document, mark)
            for row in step.side:
                yield _side(row, mark)

    def teardown(self) -> None:
        self._engine.close()


def _windowed(value: Document | Side, mark: Any) -> WindowedValue:
    timestamp, pane_window = mark
    return WindowedValue(value, timestamp, (pane_window,))


def _side(row: Side, mark: Any) -> beam.pvalue.TaggedOutput:
    return beam.pvalue.TaggedOutput(SIDE, _windowed(row, mark))
