"""The manifest of a compaction, prune or retag, told from what it did to the files.

Its own new files have its name, those that it removed are missing by the other manifests, those that it replaced are
others than these say. Only where all of that fits what such a run does, and nothing else is wrong with the dataset, is
it believed: one damaged manifest, and no file missing or changed that the run cannot account for.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.dedupe import history
from transforms.dedupe.snapshot import SnapshotError
from transforms.maintain.contents import parse_path, stem_of
from transforms.maintain.findings import Finding
from transforms.maintain.tables import is_of_version
from transforms.schema import TABLES
from transforms.write.commit import sha256_of
from transforms.write.manifest import FileRecord, LiveFile, run_of_file
from transforms.write.storage import DatasetError, Storage

UNREADABLE = (DatasetError, SnapshotError, pa.ArrowException, OSError, ValueError, KeyError)


class Traces(NamedTuple):
    """What differs from what the readable manifests say, by path.

    Attributes:
        gone: Files that are missing.
        changed: Files with another content.
        strange: Files below a table that no manifest knows.
    """

    gone: frozenset[str]
    changed: frozenset[str]
    strange: frozenset[str]

    @property
    def is_plain(self) -> bool:
        """Whether nothing that was there is missing or changed: so it is after a run that only added."""
        return not self.gone and not self.changed


class Told(NamedTuple):
    """The fields of a manifest of maintenance that could be told."""

    kind: str
    files: tuple[FileRecord, ...] = ()
    removes: tuple[str, ...] = ()
    taxonomy: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] = {}
    known: FileRecord | None = None


def traces_of(findings: Iterable[Finding]) -> Traces:
    """Returns the traces among what ``verify`` found."""
    paths: dict[str, set[str]] = {}
    for finding in findings:
        paths.setdefault(finding.kind, set()).add(finding.path)
    return Traces(*(frozenset(paths.get(kind, ())) for kind in ("missing", "damaged", "orphan")))


def tell_change(storage: Storage, run_id: str, live: Mapping[str, LiveFile], traces: Traces) -> Told | None:
    """Returns what a run of maintenance did; ``None`` unless one kind of it accounts for all traces.

    Args:
        storage: The dataset.
        run_id: The run.
        live: What the other manifests say is there.
        traces: What differs from that.
    """
    try:
        if storage.exists(history.known_path(run_id)):
            return _pruned(storage, run_id, live, traces)
        return _retagged(storage, live, traces) if traces.changed else _compacted(storage, run_id, live, traces)
    except UNREADABLE:
        return None


def whole_record(storage: Storage, path: str) -> tuple[FileRecord, pa.Table]:
    """Reads a file whole, so that a damaged one is noticed.

    Raises:
        ValueError: If it is none of the contract.
    """
    place, data = parse_path(path), storage.read(path)
    rows = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True).read(use_threads=False)
    if place is None or not is_of_version(rows.schema, TABLES[place.table]):
        raise ValueError(f"{path} is none of the tables")
    return FileRecord(place.table, path, rows.num_rows, len(data), sha256_of(data)), rows


def _rows(files: Iterable[FileRecord]) -> Counter[tuple[str, str]]:
    """Rows by table and day."""
    counts: Counter[tuple[str, str]] = Counter()
    for file in files:
        place = parse_path(file.path)
        counts[file.table, place.day if place else ""] += file.rows
    return counts


def _compacted(storage: Storage, run_id: str, live: Mapping[str, LiveFile], traces: Traces) -> Told | None:
    own = tuple(whole_record(storage, path)[0] for path in sorted(traces.strange))
    days = {day for _, day in _rows(own)}
    is_named = all(run_of_file(file.path) == run_id for file in own)
    if not (own and is_named and traces.gone <= live.keys() and len(days) == 1):
        return None
    removed = [live[path].record for path in traces.gone]
    if _rows(own) != _rows(removed):
        return None
    inputs = {"ingest_date": days.pop(), "files": len(removed), "rows": sum(file.rows for file in removed)}
    return Told("compact", own, tuple(sorted(traces.gone)), inputs=inputs)


def _pruned(storage: Storage, run_id: str, live: Mapping[str, LiveFile], traces: Traces) -> Told | None:
    path = history.known_path(run_id)
    state, data = history.read_snapshot(storage, path), storage.read(path)
    known = FileRecord("known", path, sum(table.num_rows for table in state.values()), len(data), sha256_of(data))
    shells = tuple(whole_record(storage, strange)[0] for strange in sorted(traces.strange))
    is_named = all(not file.rows and run_of_file(file.path) == run_id for file in shells)
    days = [_day(gone) for gone in traces.gone if gone in live]
    left = [_day(path) for path, file in live.items() if file.record.rows and path not in traces.gone]
    if traces.changed or not is_named or not days or (left and max(days) >= min(left)):
        return None
    rows = sum(live[gone].record.rows for gone in traces.gone if gone in live)
    before = (date.fromisoformat(max(days)) + timedelta(days=1)).isoformat()
    inputs = {"before": before, "files": len(days), "rows": rows}
    return Told("prune", shells, tuple(sorted(traces.gone)), inputs=inputs, known=known)


def _day(path: str) -> str:
    place = parse_path(path)
    return place.day if place else ""


def _retagged(storage: Storage, live: Mapping[str, LiveFile], traces: Traces) -> Told | None:
    written = [whole_record(storage, path) for path in sorted(traces.changed | traces.strange)]
    articles = [(file, rows) for file, rows in written if file.table == "articles"]
    stems = {stem_of(file.path) for file, _ in articles}
    beside = [path for path in (*traces.changed, *traces.gone, *traces.strange) if not path.startswith("articles/")]
    if any(not path.startswith("article_topics/") or stem_of(path) not in stems for path in beside):
        return None
    if any(file.path not in live or file.rows != live[file.path].record.rows for file, _ in articles):
        return None
    names = ("id", "version", "sha256")
    used = {tuple(row.values()) for _, rows in articles for row in _distinct(rows, names)}
    if len(used) != 1:
        return None
    taxonomy = dict(zip(names, used.pop(), strict=True))
    changed = sum(file.rows for file, _ in articles)
    inputs = {"files": len(articles), "files_changed": len(articles), "rows": changed}
    files = tuple(sorted((file for file, _ in written), key=lambda file: file.path))
    return Told("retag", files, tuple(sorted(traces.gone)), taxonomy, inputs)


def _distinct(rows: pa.Table, names: Iterable[str]) -> list[dict[str, Any]]:
    columns = [f"taxonomy_{name}" for name in names]
    found: list[dict[str, Any]] = rows.select(columns).group_by(columns).aggregate([]).to_pylist()
    return found
