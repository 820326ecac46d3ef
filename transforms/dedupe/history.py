"""From the committed runs of a dataset to the state of what is known, and the files that keep it.

Snapshots lie in ``_meta/state/<run_id>.parquet``. They save time and hold nothing that is not in the
manifests and tables: one that is absent, damaged, behind, or that knows of runs which the dataset does not
have, is made good from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.dedupe.fold import COLUMNS, Relations, additions_of, merge
from transforms.dedupe.snapshot import EMPTY, SnapshotError, State, from_file, runs_of, sequence_in, to_bytes
from transforms.write.manifest import Manifest, committed_runs, read_manifest
from transforms.write.storage import DatasetError, Storage, storage_of

STATE_FOLDER = "_meta/state"


def rebuild(root: str | Storage) -> State:
    """Returns the state from the manifests and tables alone.

    Raises:
        DatasetError: If one of them cannot be read.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    return merge(EMPTY, pending_additions(storage, EMPTY))


def newest_state(storage: Storage, known: State | None = None) -> State:
    """Returns the state after all committed runs; ``known`` saves the reading of what it holds.

    Raises:
        DatasetError: If a manifest or data file is needed and cannot be read.
    """
    state = newest_snapshot(storage)[0] if known is None else known
    pending = pending_additions(storage, state)
    return merge(state, pending) if pending else state


def newest_snapshot(storage: Storage) -> tuple[State, str | None]:
    """Returns the newest snapshot that is whole and holds only committed runs, and its path."""
    committed = set(committed_runs(storage))
    for path in _snapshots(storage):
        try:
            state = read_snapshot(storage, path)
        except (DatasetError, SnapshotError):
            continue
        if committed.issuperset(runs_of(state)):
            return state, path
    return EMPTY, None


def pending_additions(storage: Storage, state: State) -> list[Relations]:
    """Returns what the runs that a state does not hold add to it, in the order of their commits."""
    pending = set(committed_runs(storage)) - runs_of(state).keys()
    found = (read_manifest(storage, run_id) for run_id in pending)
    manifests = sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.sequence)
    removed = {path for manifest in manifests for path in manifest.removes}
    return [additions_of(manifest, read_tables(storage, manifest, removed)) for manifest in manifests]


def read_tables(storage: Storage, manifest: Manifest, removed: Iterable[str] = ()) -> Mapping[str, pa.Table]:
    """Reads the columns that the state needs of the files of a run.

    Args:
        storage: The dataset.
        manifest: The run.
        removed: Files that a later run has taken away; its own files hold their rows.

    Raises:
        DatasetError: If a file is missing or damaged.
    """
    gone = set(removed)
    tables: dict[str, list[pa.Table]] = {}
    for file in manifest.files:
        if file.table in COLUMNS and file.rows and file.path not in gone:
            tables.setdefault(file.table, []).append(_read_columns(storage, file.path, COLUMNS[file.table]))
    return {name: pa.concat_tables(parts) for name, parts in tables.items()}


def _read_columns(storage: Storage, path: str, columns: list[str]) -> pa.Table:
    with storage.open(path) as file:
        try:
            return pq.ParquetFile(file).read(columns=columns)
        except (pa.ArrowException, OSError, KeyError) as error:
            full = storage.full_path(path)
            raise DatasetError(f"{full} is damaged ({error}); restore it from a backup", full) from error


def write_snapshot(storage: Storage, state: State) -> str:
    """Writes the snapshot of a state, named after its last run; keeps one older one; returns its path."""
    runs = runs_of(state)
    path = f"{STATE_FOLDER}/{max(runs, key=runs.__getitem__)}.parquet"
    storage.write(path, to_bytes(state))
    return path


def read_snapshot(storage: Storage, path: str) -> State:
    """Reads a snapshot.

    Raises:
        DatasetError: If it cannot be opened.
        SnapshotError: If it is damaged.
    """
    with storage.open(path) as file:
        return from_file(file)


def prune_snapshots(storage: Storage, newest: str) -> None:
    """Removes all snapshots but ``newest`` and the one before it."""
    others = [path for path in _snapshots(storage) if path != newest]
    for path in others[1:]:
        storage.delete(path)


def _snapshots(storage: Storage) -> list[str]:
    """The paths of all snapshots, the one with most runs first."""
    paths = [f"{STATE_FOLDER}/{name}" for name in storage.names(STATE_FOLDER) if name.endswith(".parquet")]
    return sorted(paths, key=lambda path: (_sequence_of(storage, path), path), reverse=True)


def _sequence_of(storage: Storage, path: str) -> int:
    with storage.open(path) as file:
        return sequence_in(file)
