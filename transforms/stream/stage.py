"""The Beam side of a stream: ticks in, entries out; see ``follow`` and ``spool`` for what happens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam import coders
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec

from transforms.dedupe.state import StateLocation
from transforms.feeds.poll import PollLimits
from transforms.feeds.stage import PollSettings
from transforms.records import FeedSource, RunContext
from transforms.stream.follow import Reread, shared_follower

SIDE, DUE = "side", "due"
HEARTBEAT = "heartbeat"
_SENT_CELL = beam.DoFn.StateParam(ReadModifyWriteStateSpec("sent", coders.BytesCoder()))


class FollowedFeeds(NamedTuple):
    """What ``FollowFeeds`` yields: PCollections of ``Entry`` (announced, and due again), and heartbeats."""

    entries: Any
    due: Any
    side: Any


class FollowFeeds(beam.PTransform):
    """Polls feeds as they become due, for as long as ticks come.

    In: an unbounded PCollection whose elements mean nothing. Out: ``FollowedFeeds``; ``side`` is a heartbeat a tick
    and bucket, at which the committer takes the rows and tallies of polls out of the spool, and by which runners
    that close bundles by what comes in close the last one too.

    Guaranteed: what a poll brought goes out again until it is committed, whatever is killed; what has gone out
    does so again only after a rollback or after ten minutes; no more goes out than the hosts can do. Needs no
    watermark and sets no timer. The global window is the only one that it is made for, since state is told
    apart by window.

    Args:
        settings: Limits and pace.
        feeds: All feeds.
        location: Where the state of the dataset lies; the spool is beside it.
        run: The clock.
        buckets: Shares that hosts are spread over, at most as many workers poll at the same time.
        reread: Gives the list of feeds anew, or ``None`` if it is as it was; pickled into the graph, called by
            workers every ten seconds.
    """

    def __init__(
        self,
        settings: PollSettings,
        feeds: Sequence[FeedSource],
        location: StateLocation,
        run: RunContext,
        buckets: int = 1,
        reread: Reread | None = None,
    ) -> None:
        super().__init__()
        self._follow = _Follow(settings, tuple(feeds), location, run, buckets, reread)
        self._buckets = buckets

    def expand(self, ticks: Any) -> FollowedFeeds:
        """Joins the steps."""
        out = (
            ticks
            | "To buckets" >> beam.FlatMap(_to_buckets, self._buckets).with_output_types(tuple[int, int])
            | "Follow" >> beam.ParDo(self._follow).with_outputs(SIDE, DUE, main="entries")
        )
        return FollowedFeeds(out.entries, out[DUE], out[SIDE])


def _to_buckets(_: object, buckets: int) -> Iterator[tuple[int, int]]:
    yield from ((bucket, 0) for bucket in range(buckets))


class _Follow(beam.DoFn):
    """One tick of one bucket. The state is one cell a bucket: what went out lately, and when."""

    def __init__(
        self,
        settings: PollSettings,
        feeds: tuple[FeedSource, ...],
        location: StateLocation,
        run: RunContext,
        buckets: int,
        reread: Reread | None,
    ) -> None:
        self._reread = reread
        self._settings = settings
        self._feeds = feeds
        self._location = location
        self._run = run
        self._buckets = buckets

    def setup(self) -> None:
        settings = self._settings
        limits = PollLimits(settings.max_age_s, settings.max_items_per_feed)
        self._follower = shared_follower(
            self._feeds, settings.fetch, limits, self._location, self._run, self._buckets, self._reread
        )

    def process(self, element: tuple[int, int], sent_cell: Any = _SENT_CELL) -> Iterator[Any]:
        sent = json.loads(sent_cell.read() or b"{}")
        emission = self._follower.tick(element[0], sent)
        sent_cell.write(json.dumps(sent).encode())
        yield TaggedOutput(SIDE, HEARTBEAT)
        for kind, number in (("announced", len(emission.entries)), ("due", len(emission.due))):
            beam.metrics.Metrics.counter("follow", kind).inc(number)
        for entry in emission.due:
            yield TaggedOutput(DUE, entry)
        yield from emission.entries
