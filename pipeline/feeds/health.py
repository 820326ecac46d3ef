"""The polls that a dataset holds, as far as they tell how feeds are doing.

A year of polls may be millions of rows, nearly all of which say "nothing new". Only the few columns that are
needed are read, rows that change no judgement are left aside, and the one wide column is read only where a
feed's newest poll stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.feeds.health import FeedHealth, fetch_of_row, judge_feeds
from transforms.fetch.addresses import without_credentials
from transforms.records import FeedSource, Fetch
from transforms.write.storage import DatasetError, Storage, storage_of

LOOK_BACK = timedelta(days=60)
_COLUMNS = (
    *("kind", "url", "host", "started_at", "http_status", "outcome", "entries_seen", "entries_new"),
    *("gap_suspected", "failures", "next_due_at", "moved_to", "source_id"),
)
_FILE = "file_number"


def read_polls(root: str, now: datetime) -> list[Fetch]:
    """Returns the polls of the last 60 days that matter for ``judge_feeds``, in no order.

    Args:
        root: The dataset; one that does not exist has no polls.
        now: The present.

    Raises:
        DatasetError: If a file cannot be read.
    """
    storage = storage_of(root)
    paths = list(_paths(storage, f"ingest_date={now - LOOK_BACK:%Y-%m-%d}"))
    tables = [_small_columns(storage, path, number) for number, path in enumerate(paths)]
    found = [table for table in tables if table.num_rows]
    if not found:
        return []
    polls = pa.concat_tables(found)
    present = pa.scalar(now, polls.schema.field("started_at").type)
    polls = polls.filter(pc.less_equal(polls["started_at"], present)).sort_by("started_at")
    needed, newest = _needed_rows(polls)
    memories = _memories(storage, paths, polls.take(newest))
    return [_poll(row, memories) for row in polls.take(needed).to_pylist()]


def _paths(storage: Storage, first_folder: str) -> Iterator[str]:
    for folder in storage.names("fetches"):
        if folder >= first_folder:
            names = storage.names(f"fetches/{folder}")
            yield from (f"fetches/{folder}/{name}" for name in names if name.endswith(".parquet"))


def _read(storage: Storage, path: str, columns: Iterable[str]) -> pa.Table:
    try:
        with storage.open(path) as file:
            table = pq.ParquetFile(file).read(list(columns))
    except (pa.ArrowException, OSError) as error:
        full = storage.full_path(path)
        raise DatasetError(f"cannot read {full}: {str(error).splitlines()[0]}", full) from error
    return table.filter(pc.equal(table["kind"], "feed"))


def _small_columns(storage: Storage, path: str, number: int) -> pa.Table:
    table = _read(storage, path, _COLUMNS).replace_schema_metadata(None)
    return table.append_column(_FILE, pa.array([number] * table.num_rows, pa.int32()))


def _needed_rows(polls: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Returns the numbers of the rows that matter, and those of each feed's newest poll.

    They are polls with news or a gap, and of each feed the newest, the newest with a document, and the first.

    Args:
        polls: In the order of time.
    """
    feeds = polls["url"].combine_chunks().dictionary_encode().indices.to_numpy()
    numbers = np.arange(len(feeds))
    has_news = pc.fill_null(pc.greater(polls["entries_new"], 0), False)
    matter = pc.or_(has_news, polls["gap_suspected"]).to_numpy()
    is_whole = polls["entries_seen"].is_valid().to_numpy()
    newest = _last_of_each(feeds, numbers)
    parts = (numbers[matter], newest, _last_of_each(feeds, numbers[is_whole]), _last_of_each(feeds, numbers[::-1]))
    return pa.array(np.unique(np.concatenate(parts))), pa.array(newest)


def _last_of_each(feeds: Any, numbers: Any) -> Any:
    """The last of these rows for each feed that has one."""
    last = np.full(feeds.max(initial=-1) + 1, -1)
    last[feeds[numbers]] = numbers  # where a feed comes several times, the last one stays
    return last[last >= 0]


def _memories(storage: Storage, paths: list[str], newest: pa.Table) -> dict[tuple[str, datetime], str]:
    """Returns ``entry_json`` of each feed's newest poll."""
    wanted = set(zip(newest["url"].to_pylist(), newest["started_at"].to_pylist(), strict=True))
    found: dict[tuple[str, datetime], str] = {}
    for number in pc.unique(newest[_FILE]).to_pylist():
        table = _read(storage, paths[number], ("kind", "url", "started_at", "entry_json"))
        for row in table.to_pylist():
            if (row["url"], row["started_at"]) in wanted and row["entry_json"] is not None:
                found[row["url"], row["started_at"]] = row["entry_json"]
    return found


def _poll(row: dict[str, Any], memories: Mapping[tuple[str, datetime], str]) -> Fetch:
    poll = fetch_of_row(row)
    return poll._replace(entry_json=memories.get((poll.url, poll.started_at)))


def judge(sources: list[FeedSource], polls: list[Fetch], now: datetime) -> list[FeedHealth]:
    """Returns the health of the configured feeds, or of all that were polled if none is configured."""
    if not sources:
        sources = list(_polled(polls))
    # The dataset holds addresses without user and password.
    return judge_feeds([source._replace(url=without_credentials(source.url)) for source in sources], polls, now)


def _polled(polls: list[Fetch]) -> Iterator[FeedSource]:
    newest: dict[str, Fetch] = {}
    for poll in sorted(polls, key=lambda poll: poll.started_at):
        newest[poll.url] = poll
    for poll in sorted(newest.values(), key=lambda poll: poll.url):
        yield FeedSource(poll.url, poll.source_id or poll.host)
