"""What ``verify --repair`` does about a manifest that is cut or unreadable, and about a journal that is.

The manifest of a plain run can be written anew from its files: their names say which run wrote them. What it took in
and became known by other addresses is lost; those entries are looked at once more and found to be known. For those of
maintenance see ``salvage_change``. What was damaged is kept in ``_orphans/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timezone

import pyarrow.compute as pc

from transforms.dedupe import history
from transforms.dedupe.snapshot import EMPTY, State, runs_of
from transforms.maintain.salvage_change import UNREADABLE, Told, Traces, tell_change, whole_record
from transforms.write.manifest import (
    ITEM_OUTCOMES,
    FileRecord,
    Manifest,
    live_files,
    manifest_path,
    run_of_file,
    to_json,
)
from transforms.write.storage import DatasetError, Storage

_HEAD = re.compile(rb'"(sequence|kind)": ("?)([a-z0-9]+)\2,')
_RUN_ID = re.compile(r"(\d{8}T\d{6})Z-")
ORPHANS = "_orphans"


def rebuild_manifest(
    storage: Storage, run_id: str, others: Iterable[Manifest], paths: Iterable[str], traces: Traces | None = None
) -> str | None:
    """Writes the manifest of a run anew.

    Args:
        storage: The dataset; the caller holds its lock.
        run_id: The run whose manifest cannot be read.
        others: The manifests that can be read, in the order of the commits.
        paths: All files below the tables.
        traces: What differs from what ``others`` say; ``None`` if they are not the only thing that is lost.

    Returns:
        What was done, or ``None`` if it cannot be known what the manifest said.
    """
    others = list(others)
    path = manifest_path(run_id)
    head = {found[1].decode(): found[3].decode() for found in _HEAD.finditer(storage.read(path)[:2000])}
    sequence = _sequence_of(storage, run_id, head, others)
    live = live_files(others)
    told = None
    if head.get("kind") == "run" or ("kind" not in head and (traces is None or traces.is_plain)):
        told = _tell_run(storage, run_id, others, paths)
    elif traces is not None:
        told = tell_change(storage, run_id, live, traces)
    if told is None or sequence is None or told.kind != head.get("kind", told.kind):
        return None
    set_aside(storage, path)
    begun = _RUN_ID.match(run_id)
    at = datetime.strptime(begun[1] if begun else "19700101T000000", "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
    manifest = Manifest(run_id, sequence, at, at, items=_items(told) if told.kind == "run" else {})
    facts = told._asdict() | {"inputs": {**told.inputs, "rebuilt": True}}
    storage.write(path, to_json(manifest._replace(**facts)))
    gone = f" and {len(told.removes)} that are gone" if told.removes else ""
    return f"wrote {path} anew from {len(told.files)} files{gone}; what it was is in {ORPHANS}/{path}"


def _tell_run(storage: Storage, run_id: str, others: list[Manifest], paths: Iterable[str]) -> Told | None:
    live = live_files(others)
    removed = {gone for manifest in others for gone in manifest.removes}
    own = sorted(path for path in paths if run_of_file(path) == run_id and path not in live and path not in removed)
    try:
        return Told("run", tuple(_record_of(storage, path, run_id) for path in own))
    except UNREADABLE:
        return None


def _items(told: Told) -> dict[str, int]:
    rows = {table: sum(file.rows for file in told.files if file.table == table) for table in ("articles", "rejects")}
    items = dict.fromkeys(("in", *ITEM_OUTCOMES), 0)
    return items | {"in": sum(rows.values()), "new": rows["articles"], "rejected": rows["rejects"]}


def _sequence_of(storage: Storage, run_id: str, head: dict[str, str], others: list[Manifest]) -> int | None:
    """The place of the run among the commits: from its manifest, the snapshot, or the one gap that is left."""
    taken = {manifest.sequence for manifest in others}
    known = int(head["sequence"]) if head.get("sequence", "").isdecimal() else runs_of(_snapshot(storage)).get(run_id)
    if known is None:
        gaps = set(range(1, len(taken) + 2)) - taken
        known = gaps.pop() if len(gaps) == 1 else None
    return known if known not in taken else None


def _snapshot(storage: Storage) -> State:
    try:
        return history.newest_snapshot(storage)[0]
    except DatasetError:
        return EMPTY


def _record_of(storage: Storage, path: str, run_id: str) -> FileRecord:
    """Reads a whole file, so that a damaged one is noticed.

    Raises:
        ValueError: If it is not what a run writes.
    """
    record, rows = whole_record(storage, path)
    # A run writes its own rows and, where a table has none yet, files without rows.
    if rows.num_rows and not ("run_id" in rows.column_names and pc.all(pc.equal(rows["run_id"], run_id)).as_py()):
        raise ValueError(f"{path} holds rows of other runs")
    return record


def set_aside(storage: Storage, path: str) -> str:
    """Moves a file below ``_orphans/``, never over another; returns its new path."""
    number, target = 1, f"{ORPHANS}/{path}"
    while storage.exists(target):
        number += 1
        target = f"{ORPHANS}/{path}.{number}"
    storage.move(path, target)
    return target
