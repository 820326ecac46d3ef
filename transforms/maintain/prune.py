"""Old days go, what is known of them stays: nothing of them is fetched or written again.

All that was known before is kept in ``_runs/<run_id>.known.parquet``, in the form of a snapshot of the state:
hashes of addresses and texts, article ids with their last revision, feeds, pages still due; no words of an
article. The state is rebuilt from there on. The next prune keeps what this one kept, and removes its file.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timezone
from typing import NamedTuple

from transforms.dedupe import history
from transforms.dedupe.snapshot import to_bytes
from transforms.maintain.contents import (
    Change,
    Contents,
    commit_change,
    new_run_id,
    parse_path,
    record_of,
    remove_empty_folders,
)
from transforms.schema import PARTITIONS, TABLES
from transforms.write.commit import sha256_of, staging_folder
from transforms.write.committer import StagedFile, stage_file
from transforms.write.encode import data_path, encode
from transforms.write.manifest import FileRecord, Manifest
from transforms.write.settle import DataFile
from transforms.write.storage import Storage


class PrunePlan(NamedTuple):
    """What would go.

    Attributes:
        files: Files of days before the day.
        rows: Their rows by table.
        days: How many days.
    """

    files: tuple[FileRecord, ...]
    rows: Mapping[str, int]
    days: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the files."""
        return sum(file.bytes for file in self.files)


def plan_prune(contents: Contents, before: date) -> PrunePlan:
    """Returns what lies in ingest days before a day."""
    files, days = [], set()
    rows: Counter[str] = Counter(dict.fromkeys(TABLES, 0))
    for path in sorted(contents.live):
        found, file = parse_path(path), contents.live[path].record
        # A file without rows only shows the columns of an empty table.
        if found is not None and file.rows and date.fromisoformat(found.day) < before:
            files.append(file)
            days.add(found.day)
            rows[file.table] += file.rows
    return PrunePlan(tuple(files), dict(rows), len(days))


def prune(contents: Contents, plan: PrunePlan, before: date) -> Manifest:
    """Deletes the files of a plan in a committed run. The caller holds the lock and has recovered.

    Raises:
        DatasetError: If what is known cannot be read, or something cannot be written.
    """
    storage = contents.storage
    started_at = datetime.now(timezone.utc)
    run_id = new_run_id(started_at)
    known = _stage_known(storage, run_id)
    shells = _shells(contents, plan, run_id, started_at)
    earlier = [manifest.known for manifest in contents.manifests if manifest.known]
    manifest = commit_change(
        storage,
        "prune",
        run_id,
        started_at,
        datetime.now(timezone.utc),
        Change(
            added=[known, *shells],
            removed=[*plan.files, *(file for file in earlier if storage.exists(file.path))],
        ),
        {"before": before.isoformat(), "files": len(plan.files), "rows": sum(plan.rows.values())},
        known=record_of(known),
    )
    remove_empty_folders(storage, (file.path for file in plan.files))
    return manifest


def _stage_known(storage: Storage, run_id: str) -> StagedFile:
    state = history.newest_state(storage)
    data = to_bytes(state)
    staged = f"{staging_folder(run_id)}/{uuid.uuid4().hex}.parquet"
    storage.write(staged, data)
    rows = sum(relation.num_rows for relation in state.values())
    return StagedFile("known", history.known_path(run_id), staged, rows, len(data), sha256_of(data))


def _shells(contents: Contents, plan: PrunePlan, run_id: str, at: datetime) -> list[StagedFile]:
    """A file without rows for each table that would have no file left, so that it still opens in every reader."""
    gone = {file.path for file in plan.files}
    staged = []
    for table in TABLES:
        left = [file for file in contents.files(table) if file.path not in gone]
        if not left and plan.rows[table]:
            partition = {"ingest_date": f"{at:%Y-%m-%d}", "topic": "none"}
            path = data_path(table, {name: partition[name] for name in PARTITIONS[table]}, f"{run_id}.schema.0")
            staged.append(stage_file(contents.storage, run_id, DataFile(table, path, 0, encode(table, []))))
    return staged
