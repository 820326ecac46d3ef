"""Helpers for tests of polls: feeds of invented papers, a clock that can be set, the state that a poll leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa

from tests.servers import Answer, Request
from transforms.dedupe.fold import FEED_COLUMNS, merge
from transforms.dedupe.history import write_snapshot
from transforms.dedupe.snapshot import EMPTY, RELATIONS
from transforms.dedupe.state import FeedState, StateLocation
from transforms.feeds.ask import Asker
from transforms.feeds.memory import PollMemory, from_json
from transforms.feeds.poll import Known, PollLimits, PollResult, poll
from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.gate import HostGate
from transforms.fetch.robots import RobotsCache
from transforms.records import FeedSource, Fetch, RunContext
from transforms.write.storage import storage_of

TUESDAY = datetime(2026, 3, 10, 12, 0, tzinfo=timezone.utc)
CLIENT = ClientSettings("newsbeam-test/1 (+mailto:desk@harbour.example)", allow_loopback=True, retries=0)


def rss(*numbers: int, extra: str = "", day: datetime = TUESDAY, base: str = "https://harbour.example") -> str:
    """A feed of the stories with these numbers, each published that many minutes before ``day``."""
    items = "".join(
        f"<item><title>Ferry story {n}</title><link>{base}/story/{n}</link>"
        f"<pubDate>{day - timedelta(minutes=n):%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        for n in numbers
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Harbour Post</title>'
        f"<link>{base}/</link><description>News of the harbour</description>{extra}{items}</channel></rss>"
    )


HOUR, DAY = timedelta(hours=1), timedelta(days=1)
XML = {"Content-Type": "application/rss+xml"}


def feed(*numbers: int, extra: str = "", status: int = 200, **headers: str) -> Answer:
    """The answer of a feed's server; headers are written with ``_`` for ``-``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, rss(*numbers, extra=extra) if status == 200 else b"", XML | named)


def tallies(result: PollResult) -> dict[str, int]:
    """The tallies of a poll by outcome."""
    return {tally.outcome: tally.items for tally in result.tallies}


def memory(result: PollResult) -> PollMemory:
    """What a poll remembers."""
    return from_json(result.row.entry_json)


def conditions(request: Request) -> tuple[str | None, str | None]:
    """The validators of a request: ETag, date."""
    return request.headers.get("if-none-match"), request.headers.get("if-modified-since")


def run_at(moment: datetime) -> RunContext:
    """A run that starts at that moment, now."""
    return RunContext(f"{moment:%Y%m%dT%H%M%SZ}-0001", moment, time.time())


def state_after(row: Fetch) -> FeedState:
    """What the dataset knows of a feed once the row of its poll is committed."""
    fields = {name: getattr(row, name) for name in FEED_COLUMNS}
    return FeedState(row.url, row.started_at, **fields)


def make_asker(run: RunContext, gap_s: float = 0.0, client: ClientSettings = CLIENT) -> Asker:
    """A client with a gate and robots rules of its own."""
    gate = HostGate(gap_s)
    return Asker(HttpClient(client, run.now, gate), gate, RobotsCache(), client)


class Reader:
    """Polls one feed again and again, each time with the state that the poll before left.

    Attributes:
        state: After the last poll.
        results: Of all polls.
    """

    def __init__(self, source: FeedSource | str, limits: PollLimits | None = None, known: Known | None = None) -> None:
        self.source = source if isinstance(source, FeedSource) else FeedSource(source, "harbour")
        self.state: FeedState | None = None
        self.results: list[PollResult] = []
        self._limits = limits or PollLimits(max_age_s=1e9)
        self._known = known

    def poll(self, moment: datetime = TUESDAY, asker: Asker | None = None) -> PollResult:
        """Polls at a moment."""
        run = run_at(moment)
        result = poll(
            self.source,
            self.state,
            asker=asker or make_asker(run),
            limits=self._limits,
            run=run,
            known=self._known,
        )
        self.state = state_after(result.row)
        self.results.append(result)
        return result


def dataset_with(root: Path, rows: Iterable[Fetch], relations: Mapping[str, pa.Table] | None = None) -> StateLocation:
    """Writes the state of a dataset that knows these feed rows, and returns where it lies."""
    feeds = []
    for row in rows:
        state = {name: getattr(row, name) for name in FEED_COLUMNS}
        state = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in state.items()}
        state = {name: value for name, value in state.items() if value is not None}
        feeds.append({"name": row.url, "at": row.started_at, "json": json.dumps(state)})
    added = {
        "feed": pa.Table.from_pylist(feeds, schema=RELATIONS["feed"]),
        "run": pa.Table.from_pylist([{"name": "20260309T000000Z-0000", "sequence": 1}], schema=RELATIONS["run"]),
        **(relations or {}),
    }
    return StateLocation(str(root), write_snapshot(storage_of(str(root)), merge(EMPTY, [added])))
