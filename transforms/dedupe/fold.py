"""What each committed run adds to the state of what is known, and how that is added up.

The state is the fold over the manifests and the files that they list. The rules do not depend on the order
of rows (the newest row of a feed, the highest revision, the earliest text win), so that a state grown run by
run, one rebuilt from nothing, and one rebuilt from compacted files are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from transforms.dedupe.snapshot import RELATIONS, State, key_of
from transforms.urls import url_key
from transforms.write.manifest import Manifest

Relations = Mapping[str, pa.Table]
Row = dict[str, Any]

COLUMNS: dict[str, list[str]] = {
    "articles": [
        "article_id", "revision", "content_sha256", "url_key", "entry_version", "final_url", "canonical_url",
        "text_fingerprint", "first_seen_at", "is_truncated", "text_source",
    ],
    "rejects": ["reject_id", "retryable", "url", "input_uri", "body_sha256"],
    "fetches": [
        "kind", "url", "url_key", "host", "started_at", "http_status", "outcome", "etag", "last_modified",
        "body_sha256", "failures", "attempts", "next_due_at", "retry_after_until", "entry_json", "moved_to", "run_id",
    ],
}  # fmt: skip
FEED_COLUMNS = (
    "http_status", "outcome", "etag", "last_modified", "body_sha256", "failures", "next_due_at",
    "retry_after_until", "entry_json", "moved_to",
)  # fmt: skip
# What decides where two rows of one run would be equal but for their place in the files, which compaction changes.
_ORDER = {
    "articles": ("article_id", "revision"),
    "rejects": ("reject_id",),
    "fetches": ("started_at", "kind", "url", "outcome", "entry_json"),
}
_CARRIED = ("etag", "last_modified", "body_sha256", "entry_json")
FETCH_MEMORY = timedelta(days=1)


def fold(previous: State, manifest: Manifest, tables: Mapping[str, pa.Table]) -> State:
    """Returns the state after one more committed run.

    Args:
        previous: The state before it.
        manifest: The run.
        tables: The rows of its files by table, with at least ``COLUMNS``; tables without rows may be absent.
    """
    return merge(previous, [additions_of(manifest, tables)])


def additions_of(manifest: Manifest, tables: Mapping[str, pa.Table]) -> Relations:
    """Returns what one run adds to each relation; what is absent has nothing."""
    rows: dict[str, list[Row]] = {name: [] for name in RELATIONS}
    for alias in manifest.aliases:
        rows["version"].append({"key": _version_key(alias.url_key, alias.entry_version)})
        rows["url"].append({"key": key_of(alias.url_key), "article_id": alias.article_id})
    for row in _rows_of(tables, "articles"):
        _add_article(rows, row)
    for row in _rows_of(tables, "rejects"):
        _add_reject(rows, row)
    for row in _rows_of(tables, "fetches"):
        _add_fetch(rows, row)
    rows["run"].append({"name": manifest.run_id, "sequence": manifest.sequence})
    return {name: pa.Table.from_pylist(found, schema=RELATIONS[name]) for name, found in rows.items() if found}


def brings_news(additions: Relations) -> bool:
    """Tells whether there is more in the additions than that the run has been."""
    return any(name != "run" for name in additions)


def merge(previous: State, additions: Sequence[Relations]) -> State:
    """Returns the state with the additions of any number of runs, given in the order of their commits."""
    state = dict(previous)
    for name in RELATIONS:
        added = [found[name] for found in additions if name in found]
        if added:
            state[name] = _MERGE[name](pa.concat_tables([previous[name], *added]))
    return state


def _rows_of(tables: Mapping[str, pa.Table], name: str) -> Iterable[Row]:
    table = tables.get(name)
    if table is None:
        return
    ordered = table.select(COLUMNS[name]).sort_by([(column, "ascending") for column in _ORDER[name]])
    for batch in ordered.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _version_key(key: str, entry_version: str | None) -> int:
    return key_of(key, entry_version or "")


def is_poor(row: Mapping[str, Any]) -> bool:
    """Tells whether a row of ``articles`` may hold less than the page had: a truncated text, a feed's own content."""
    return bool(row["is_truncated"]) or row["text_source"] == "feed_content"


def _add_article(rows: dict[str, list[Row]], row: Row) -> None:
    article_id = row["article_id"]
    rows["version"].append({"key": _version_key(row["url_key"], row["entry_version"])})
    keys = [row["url_key"]] + [url_key(url) for url in (row["final_url"], row["canonical_url"]) if url]
    rows["url"] += [{"key": key_of(key), "article_id": article_id} for key in dict.fromkeys(keys)]
    rows["article"].append(
        {
            "key": key_of(article_id),
            "article_id": article_id,
            "revision": row["revision"],
            "content_sha256": bytes.fromhex(row["content_sha256"]),
            "at": row["first_seen_at"],
            "is_poor": is_poor(row),
        }
    )
    if row["text_fingerprint"]:
        key = key_of(row["text_fingerprint"])
        rows["text"].append({"key": key, "article_id": article_id, "at": row["first_seen_at"]})


def _add_reject(rows: dict[str, list[Row]], row: Row) -> None:
    rows["reject"].append({"key": key_of(row["reject_id"])})
    if row["retryable"]:
        return
    if row["input_uri"]:  # a seed: its address may come again with better content
        if row["body_sha256"]:
            rows["refused"].append({"key": key_of("body", row["body_sha256"])})
    elif row["url"]:
        rows["refused"].append({"key": key_of("url", url_key(row["url"]))})


def _add_fetch(rows: dict[str, list[Row]], row: Row) -> None:
    at = row["started_at"]
    if row["kind"] == "feed":
        state = {name: _plain(row[name]) for name in FEED_COLUMNS if row[name] is not None}
        rows["feed"].append({"name": row["url"], "at": at, "json": json.dumps(state)})
    elif row["kind"] == "page" and row["url_key"]:
        due = None
        if row["entry_json"]:
            due = json.dumps({"next_due_at": _plain(row["next_due_at"]), "entry": row["entry_json"]})
        rows["due"].append({"name": row["url_key"], "at": at, "json": due})
    if row["retry_after_until"] is not None:
        rows["host"].append({"name": row["host"], "at": row["retry_after_until"]})
    if "." in row["run_id"]:  # only a stream can bring the same row twice
        rows["fetch"].append({"key": fetch_key(row["kind"], row["url"], at), "at": at})


def fetch_key(kind: str, url: str, started_at: datetime) -> int:
    """Returns the key that tells whether a stream has committed this very exchange."""
    return key_of(kind, url, str(round(started_at.timestamp() * 1e6)))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _keys(table: pa.Table) -> npt.NDArray[np.uint64]:
    keys: npt.NDArray[np.uint64] = table["key"].to_numpy()
    return keys


def _first_of_each(table: pa.Table, *tie_breaks: npt.NDArray[Any]) -> pa.Table:
    """Keeps one row a key, the first by the tie breaks and then by place; sorted by key."""
    keys = _keys(table)
    order = np.lexsort((*reversed(tie_breaks), keys)) if tie_breaks else np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return table.take(pa.array(order[first])).combine_chunks()


def _times(table: pa.Table) -> npt.NDArray[np.int64]:
    times: npt.NDArray[np.int64] = table["at"].cast(pa.int64()).to_numpy()
    return times


def _merge_articles(table: pa.Table) -> pa.Table:
    return _first_of_each(table, -table["revision"].to_numpy())


def _merge_texts(table: pa.Table) -> pa.Table:
    return _first_of_each(table, _times(table))


def _merge_fetches(table: pa.Table) -> pa.Table:
    times = _times(table)
    fresh = times >= times.max() - FETCH_MEMORY // timedelta(microseconds=1)
    return _first_of_each(table.filter(pa.array(fresh)))


def _newest(table: pa.Table) -> dict[str, Row]:
    """The newest row of each name; of two at one instant the later one."""
    newest: dict[str, Row] = {}
    for row in table.to_pylist():
        if row["name"] not in newest or row["at"] >= newest[row["name"]]["at"]:
            newest[row["name"]] = row
    return newest


def _merge_due(table: pa.Table) -> pa.Table:
    open_ones = [row for row in _newest(table).values() if row["json"] is not None]
    return pa.Table.from_pylist(sorted(open_ones, key=lambda row: str(row["name"])), schema=RELATIONS["due"])


def _merge_hosts(table: pa.Table) -> pa.Table:
    newest = sorted(_newest(table).values(), key=lambda row: str(row["name"]))
    return pa.Table.from_pylist(newest, schema=RELATIONS["host"])


def _merge_feeds(table: pa.Table) -> pa.Table:
    rows: dict[str, Row] = {}
    for row in sorted(table.to_pylist(), key=lambda row: row["at"]):
        before = rows.get(row["name"])
        rows[row["name"]] = row if before is None else _carry(before, row)
    return pa.Table.from_pylist([rows[name] for name in sorted(rows)], schema=RELATIONS["feed"])


def _carry(before: Row, row: Row) -> Row:
    """A poll that brought no answer says nothing of the validators: those of the last answer stay."""
    old, new = json.loads(before["json"]), json.loads(row["json"])
    if new.get("outcome") == "ok" or any(name in new for name in _CARRIED):
        return row
    kept = {name: old[name] for name in _CARRIED if name in old}
    return {**row, "json": json.dumps(new | kept)}


def _merge_runs(table: pa.Table) -> pa.Table:
    return pa.Table.from_pylist(list({row["name"]: row for row in table.to_pylist()}.values()), schema=RELATIONS["run"])


_MERGE = {
    "version": _first_of_each,
    "url": _first_of_each,
    "article": _merge_articles,
    "text": _merge_texts,
    "reject": _first_of_each,
    "refused": _first_of_each,
    "feed": _merge_feeds,
    "due": _merge_due,
    "host": _merge_hosts,
    "fetch": _merge_fetches,
    "run": _merge_runs,
}
