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
from transforms.records import FeedSource, Fetch
from transforms.urls import without_logins
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
    first_folder = f"ingest_date={now - LOOK_BACK:%Y-%m-%d}"
    paths: list[str] = []
    polls: pa.Table | None = None
    for folder in storage.names("fetches"):
        new = [name for name in storage.names(f"fetches/{folder}") if name.endswith(".parquet")]
        if folder < first_folder or not new:
            continue
        numbers = range(len(paths), len(paths) + len(new))
        paths += [f"fetches/{folder}/{name}" for name in new]
        tables = [_small_columns(storage, paths[number], number, now) for number in numbers]
        # Day by day, since what can be left aside of one day can be left aside for good.
        polls = _only_needed(pa.concat_tables([*tables, polls] if polls is not None else tables))
    if polls is None or not polls.num_rows:
        return []
    memories = _memories(storage, paths, polls)
    return [_poll(row, memories) for row in polls.to_pylist()]


def _read(storage: Storage, path: str, columns: Iterable[str]) -> pa.Table:
    try:
        with storage.open(path) as file:
            table = pq.ParquetFile(file).read(list(columns))
    except (pa.ArrowException, OSError) as error:
        full = storage.full_path(path)
        raise DatasetError(f"cannot read {full}: {str(error).splitlines()[0]}", full) from error
    return table.filter(pc.equal(table["kind"], "feed"))


def _small_columns(storage: Storage, path: str, number: int, now: datetime) -> pa.Table:
    table = _read(storage, path, _COLUMNS).replace_schema_metadata(None)
    table = table.append_column(_FILE, pa.array([number] * table.num_rows, pa.int32()))
    return table.filter(pc.less_equal(table["started_at"], pa.scalar(now, table.schema.field("started_at").type)))


def _only_needed(polls: pa.Table) -> pa.Table:
    """Returns the polls that matter in the order of time.

    They are those with news or a gap, and of each feed the newest, the newest with a document, and the first.
    """
    polls = polls.sort_by("started_at")
    feeds, numbers = _feed_numbers(polls), np.arange(polls.num_rows)
    has_news = pc.fill_null(pc.greater(polls["entries_new"], 0), False)
    matter = pc.or_(has_news, polls["gap_suspected"]).to_numpy()
    whole = numbers[polls["entries_seen"].is_valid().to_numpy()]
    parts = (numbers[matter], *(_last_of_each(feeds, rows) for rows in (numbers, whole, numbers[::-1])))
    return polls.take(pa.array(np.unique(np.concatenate(parts)))).combine_chunks()


def _feed_numbers(polls: pa.Table) -> Any:
    """A number for each poll that is the same for the polls of a feed."""
    return polls["url"].combine_chunks().dictionary_encode().indices.to_numpy()


def _last_of_each(feeds: Any, numbers: Any) -> Any:
    """The last of these rows for each feed that has one."""
    last = np.full(feeds.max(initial=-1) + 1, -1)
    last[feeds[numbers]] = numbers  # where a feed comes several times, the last one stays
    return last[last >= 0]


def _memories(storage: Storage, paths: list[str], polls: pa.Table) -> dict[tuple[str, datetime], str]:
    """Returns ``entry_json`` of each feed's newest poll, by address and time."""
    newest = polls.take(pa.array(_last_of_each(_feed_numbers(polls), np.arange(polls.num_rows))))
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
    return judge_feeds([source._replace(url=without_logins(source.url)) for source in sources], polls, now)


def _polled(polls: list[Fetch]) -> Iterator[FeedSource]:
    newest: dict[str, Fetch] = {}
    for poll in sorted(polls, key=lambda poll: poll.started_at):
        newest[poll.url] = poll
    for poll in sorted(newest.values(), key=lambda poll: poll.url):
        yield FeedSource(poll.url, poll.source_id or poll.host)
