"""From the committed runs of a dataset to the state of what is known, and the files that keep it.

Snapshots lie in ``_meta/state/<run_id>.parquet``. They save time and hold nothing that is not in the
manifests and tables: one that is absent, damaged, behind, or that knows of runs which the dataset does not
have, is made good from there. Where rows were pruned, ``_runs/<run_id>.known.parquet`` keeps in the same form
what was known before; it is no copy of anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.dedupe.fold import COLUMNS, Relations, additions_of, merge
from transforms.dedupe.snapshot import EMPTY, SnapshotError, State, from_file, runs_of, sequence_in, to_bytes
from transforms.write.manifest import RUNS, LiveFile, Manifest, committed_runs, live_files, read_manifest
from transforms.write.storage import DatasetError, Storage, storage_of

STATE_FOLDER = "_meta/state"
_KNOWN = ".known.parquet"


def rebuild(root: str | Storage) -> State:
    """Returns the state from the manifests, tables and kept keys alone.

    Raises:
        DatasetError: If one of them cannot be read.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    kept = kept_state(storage, EMPTY)
    return merge(kept, pending_additions(storage, kept))


def newest_state(storage: Storage, known: State | None = None) -> State:
    """Returns the state after all committed runs; ``known`` saves the reading of what it holds.

    Raises:
        DatasetError: If a manifest or data file is needed and cannot be read.
    """
    state = newest_snapshot(storage)[0] if known is None else kept_state(storage, known)
    pending = pending_additions(storage, state)
    return merge(state, pending) if pending else state


def newest_snapshot(storage: Storage) -> tuple[State, str | None]:
    """Returns the newest snapshot that is whole and holds only committed runs, and its path.

    Without one, or if rows were pruned since, what the last prune has kept, and no path.
    """
    committed = set(committed_runs(storage))
    for path in _snapshots(storage):
        try:
            state = read_snapshot(storage, path)
        except (DatasetError, SnapshotError):
            continue
        if committed.issuperset(runs_of(state)):
            kept = kept_state(storage, state)
            return kept, path if kept is state else None
    return kept_state(storage, EMPTY), None


def known_path(run_id: str) -> str:
    """Returns the path of the file that keeps what was known before a run deleted rows."""
    return f"{RUNS}/{run_id}{_KNOWN}"


def kept_state(storage: Storage, state: State) -> State:
    """Returns the state itself, or what the last prune has kept if the state is of a time before it.

    Raises:
        DatasetError: If that file is needed and damaged.
    """
    pruned = {name.removesuffix(_KNOWN) for name in storage.names(RUNS) if name.endswith(_KNOWN)}
    pruned -= runs_of(state).keys()
    # Two at once stand there only while a prune is being committed: the later one holds what the other does.
    paths = [known_path(run_id) for run_id in pruned.intersection(committed_runs(storage))] if pruned else []
    if not paths:
        return state
    path = max(paths, key=lambda path: _sequence_of(storage, path))
    try:
        return read_snapshot(storage, path)
    except SnapshotError as error:
        full = storage.full_path(path)
        raise DatasetError(f"{full} is damaged ({error}); restore it from a backup", full) from error


def pending_additions(storage: Storage, state: State) -> list[Relations]:
    """Returns what the runs that a state does not hold add to it, in the order of their commits.

    Rows that maintenance has put into other files count for the run that wrote them.
    """
    pending = set(committed_runs(storage)) - runs_of(state).keys()
    found = (read_manifest(storage, run_id) for run_id in pending)
    manifests = sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.sequence)
    live = live_files(manifests)
    moved = _moved_rows(storage, live.values(), [manifest.run_id for manifest in manifests if manifest.kind == "run"])
    additions = []
    for manifest in manifests:
        tables: Mapping[str, pa.Table] = {}
        if manifest.kind == "run":
            elsewhere = {file.path for file in manifest.files if not _is_writer(live.get(file.path), manifest)}
            tables = _joined(read_tables(storage, manifest, elsewhere), moved.pop(manifest.run_id, {}))
        additions.append(additions_of(manifest, tables))
    return additions


def _is_writer(file: LiveFile | None, manifest: Manifest) -> bool:
    return file is not None and file.writer.run_id == manifest.run_id


def _moved_rows(storage: Storage, files: Iterable[LiveFile], run_ids: Sequence[str]) -> dict[str, dict[str, pa.Table]]:
    """Returns by run and table the rows of these runs that lie in files which maintenance wrote."""
    moved: dict[str, dict[str, pa.Table]] = {}
    for file, writer in files if run_ids else ():
        if writer.kind == "run" or file.table not in COLUMNS or not file.rows:
            continue
        rows = _read_columns(storage, file.path, list(dict.fromkeys([*COLUMNS[file.table], "run_id"])))
        for run_id in set(rows["run_id"].unique().to_pylist()).intersection(run_ids):
            of_run = {file.table: rows.filter(pc.equal(rows["run_id"], run_id))}
            moved[run_id] = _joined(moved.get(run_id, {}), of_run)
    return moved


def _joined(a: Mapping[str, pa.Table], b: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the rows of both, by table, with the columns that the state needs."""
    parts = {name: [found[name].select(COLUMNS[name]) for found in (a, b) if name in found] for name in {**a, **b}}
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def read_tables(storage: Storage, manifest: Manifest, elsewhere: Iterable[str] = ()) -> Mapping[str, pa.Table]:
    """Reads the columns that the state needs of the files of a run.

    Args:
        storage: The dataset.
        manifest: The run.
        elsewhere: Files that a later run has taken away or written anew; its own files hold their rows.

    Raises:
        DatasetError: If a file is missing or damaged.
    """
    gone = set(elsewhere)
    tables: dict[str, list[pa.Table]] = {}
    for file in manifest.files:
        if file.table in COLUMNS and file.rows and file.path not in gone:
            tables.setdefault(file.table, []).append(_read_columns(storage, file.path, COLUMNS[file.table]))
    return {name: pa.concat_tables(parts) for name, parts in tables.items()}


def _read_columns(storage: Storage, path: str, columns: list[str]) -> pa.Table:
    with storage.open(path) as file:
        try:
            # In this thread: one of Arrow's that lets go of a Python file while the interpreter ends would abort it.
            return pq.ParquetFile(file, page_checksum_verification=True).read(columns=columns, use_threads=False)
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
