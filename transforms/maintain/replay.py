"""Which refusals are worth another try, and how they go in again.

A refused page becomes an entry that is due; a refused record of a seed file is read again from its file, if that
is still there. What is refused once more gives the same row of rejects as before, which is not written twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from transforms.dedupe.replay import Replay
from transforms.dedupe.state import KnownState
from transforms.maintain.contents import Contents
from transforms.maintain.tables import read_table
from transforms.records import Entry
from transforms.rejects import REASONS, STAGES
from transforms.remote.files import is_file
from transforms.urls import host_of, to_fetchable, url_key

_COLUMNS = ("reject_id", "stage", "reason", "retryable", "source_id", "feed_url", "url", "input_uri", "body_sha256")
_LINE = "#L"
_LINES_OF_SEEDS = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")


class Choice(NamedTuple):
    """Which refusals are meant; ``None`` means any.

    Attributes:
        stage, reason: As in docs/rejects.md.
        retryable_only: Only those that the list calls retryable.
    """

    stage: str | None = None
    reason: str | None = None
    retryable_only: bool = False


class ReplayPlan(NamedTuple):
    """What goes in again.

    Attributes:
        replay: Entries and keys of records.
        seed_paths, url_paths: Files that are read again.
        rows: Rows of rejects that go in again, by ``stage:reason``.
        left: Rows that match and cannot go in again, by why.
    """

    replay: Replay
    seed_paths: tuple[str, ...]
    url_paths: tuple[str, ...]
    rows: dict[str, int]
    left: dict[str, int]


def reasons_of(stage: str | None) -> list[str]:
    """Returns the reasons that a stage (or any) can give."""
    return sorted({reason.name for reason in REASONS if stage in (None, reason.stage)})


def plan_replay(contents: Contents, known: KnownState, choice: Choice) -> ReplayPlan:
    """Returns what a choice means for a dataset.

    Args:
        contents: The dataset.
        known: What is committed: what has come in since is left out.
        choice: Which refusals.

    Raises:
        DatasetError: If a file of rejects cannot be read.
    """
    entries: dict[str, Entry] = {}
    bodies: set[str] = set()
    paths: dict[str, set[str]] = {"seeds": set(), "urls": set()}
    rows: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for row in _chosen_rows(contents, choice):
        obstacle = _obstacle(row, known)
        if obstacle:
            left[obstacle] += 1
            continue
        rows[f"{row['stage']}:{row['reason']}"] += 1
        if row["input_uri"]:
            path = path_of(row["input_uri"])
            paths["urls" if _is_list(row["input_uri"]) else "seeds"].add(path)
            if row["body_sha256"]:
                bodies.add(row["body_sha256"])
        else:
            entry = _entry_of(row)
            entries.setdefault(entry.url_key, entry)
    return ReplayPlan(
        Replay(tuple(entries[key] for key in sorted(entries)), frozenset(bodies), sum(rows.values())),
        tuple(sorted(paths["seeds"])),
        tuple(sorted(paths["urls"])),
        dict(sorted(rows.items())),
        dict(left),
    )


def path_of(input_uri: str) -> str:
    """Returns the file of ``path#L12``."""
    path, mark, line = input_uri.rpartition(_LINE)
    return path if mark and line.isdigit() else input_uri


def _is_list(input_uri: str) -> bool:
    """Tells whether a refused line was one of a list of addresses; seeds have lines in JSON only."""
    path = path_of(input_uri)
    return path != input_uri and not path.lower().endswith(_LINES_OF_SEEDS)


def _chosen_rows(contents: Contents, choice: Choice) -> Iterator[dict[str, Any]]:
    for file in contents.files("rejects"):
        table: pa.Table = read_table(contents.storage, file.path, "rejects", _COLUMNS)
        for batch in table.to_batches(max_chunksize=10_000):
            for row in batch.to_pylist():
                if (
                    choice.stage in (None, row["stage"])
                    and choice.reason in (None, row["reason"])
                    and (row["retryable"] or not choice.retryable_only)
                ):
                    yield row


def _obstacle(row: dict[str, Any], known: KnownState) -> str | None:
    """Returns why a refusal cannot go in again."""
    if row["input_uri"]:
        return None if _is_there(path_of(row["input_uri"])) else "its file is gone"
    url = to_fetchable(row["url"]) if row["url"] else None
    if url is None:
        return "it has no address"
    return "its article is here by now" if known.is_committed(url_key(url), None) else None


def _is_there(path: str) -> bool:
    try:
        return is_file(path)
    except OSError:
        return False


def _entry_of(row: dict[str, Any]) -> Entry:
    url = to_fetchable(row["url"])
    assert url is not None
    return Entry(
        url=url,
        url_key=url_key(url),
        entry_version=None,
        source_id=row["source_id"] or host_of(url),
        discovered_via="feed" if row["feed_url"] else "urls",
        feed_url=row["feed_url"],
    )


def check_choice(stage: str | None, reason: str | None) -> Sequence[str]:
    """Returns the names that could be meant if stage or reason are unknown, else nothing."""
    if stage is not None and stage not in STAGES:
        return STAGES
    return reasons_of(stage) if reason is not None and reason not in reasons_of(stage) else ()
