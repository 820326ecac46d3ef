"""What a dataset consists of by its manifests, and how a maintenance run changes it.

A maintenance run is a commit like any other, of a *kind* of its own: its journal adds, replaces and deletes
files, its manifest lists what it wrote, what it removed, and what it looked at and left. Rows keep the
``run_id`` of the run that first wrote them, so that the fold over the manifests stays what it was.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, NamedTuple
from urllib.parse import unquote

from transforms.schema import PARTITIONS
from transforms.write.commit import Action, commit
from transforms.write.committer import StagedFile
from transforms.write.encode import data_path
from transforms.write.manifest import (
    FileRecord,
    LiveFile,
    Manifest,
    live_files,
    read_manifests,
    read_outlines,
    require_order,
)
from transforms.write.storage import Storage, storage_of

Tell = Callable[[str], None]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Contents(NamedTuple):
    """A dataset as its manifests tell it.

    Attributes:
        manifests: In the order of their commits.
        live: The files that are part of it, by path.
    """

    storage: Storage
    manifests: tuple[Manifest, ...]
    live: Mapping[str, LiveFile]

    def files(self, table: str) -> list[FileRecord]:
        """Returns the files of a table, by path."""
        return [self.live[path].record for path in sorted(self.live) if self.live[path].record.table == table]


class DataPath(NamedTuple):
    """A path of a data file taken apart.

    Attributes:
        table: Its table.
        partition: Values of its folders, decoded.
        stem: ``<run_id>.<shard>.<part>``.
    """

    table: str
    partition: Mapping[str, str]
    stem: str

    @property
    def day(self) -> str:
        """The ingest date, ``YYYY-MM-DD``."""
        return self.partition["ingest_date"]


class Change(NamedTuple):
    """What a maintenance run does to the files.

    Attributes:
        added: Staged files with new paths.
        replaced: Staged files that take the place of one with the hash beside them.
        removed: Files that go.
        checked: Path and sha256 of files that stay as they are.
    """

    added: Sequence[StagedFile] = ()
    replaced: Sequence[tuple[StagedFile, str]] = ()
    removed: Sequence[FileRecord] = ()
    checked: Sequence[tuple[str, str]] = ()


def read_contents(root: str | Storage) -> Contents:
    """Reads all manifests of a dataset.

    Raises:
        DatasetError: If one is damaged or missing.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    manifests = tuple(read_manifests(storage))
    require_order(storage, manifests)
    return Contents(storage, manifests, live_files(manifests))


def parse_path(path: str) -> DataPath | None:
    """Returns the parts of a path below the root; ``None`` if no data file may lie there."""
    table, *folders = path.split("/")
    if table not in PARTITIONS or not folders or not folders[-1].endswith(".parquet"):
        return None
    pairs = [folder.partition("=") for folder in folders[:-1]]
    partition = {name: unquote(value) for name, _, value in pairs}
    if tuple(partition) != PARTITIONS[table] or not all(partition.values()) or not is_day(partition["ingest_date"]):
        return None
    found = DataPath(table, partition, folders[-1].removesuffix(".parquet"))
    return found if data_path(table, partition, found.stem) == path else None


def is_day(text: str) -> bool:
    """Tells whether a text is a date ``YYYY-MM-DD``."""
    try:
        return bool(_DAY.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def stem_of(path: str) -> str:
    """Returns what a file of articles and its files of article_topics have in common."""
    return path.rpartition("/")[2].removesuffix(".parquet")


def new_run_id(at: datetime) -> str:
    """Returns a name for a run that begins at this instant."""
    return f"{at.astimezone(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def commit_change(
    storage: Storage,
    kind: str,
    run_id: str,
    started_at: datetime,
    ended_at: datetime,
    change: Change,
    inputs: Mapping[str, Any],
    **more: Any,
) -> Manifest:
    """Commits a maintenance run. The caller holds the lock, and nothing else has committed since.

    Args:
        storage: The dataset.
        kind: Of the manifest.
        run_id: Its name.
        started_at: When it began; ``ended_at`` when its files were staged.
        ended_at: See there.
        change: The files.
        inputs: What it worked on, for the manifest.
        more: Further fields of the manifest.

    Raises:
        DatasetError: If something cannot be written, or a file is not the one that is to be changed.
    """
    sequence = 1 + max((manifest.sequence for manifest in read_outlines(storage)), default=0)
    written = sorted([*change.added, *(file for file, _ in change.replaced)], key=lambda file: file.path)
    manifest = Manifest(
        run_id,
        sequence,
        started_at,
        ended_at,
        kind=kind,
        inputs=inputs,
        files=tuple(record_of(file) for file in written if file.table in PARTITIONS),
        removes=tuple(sorted(file.path for file in change.removed)),
        checked=tuple(sorted(change.checked)),
        **more,
    )
    commit(storage, manifest, list(_actions(change)))
    return manifest


def _actions(change: Change) -> Iterable[Action]:
    """What is new comes first, so that a reader who lists folders meanwhile misses nothing."""
    for file in sorted(change.added, key=lambda file: file.path):
        yield Action("add", file.path, file.staged, "", file.sha256)
    for file, old in sorted(change.replaced, key=lambda pair: pair[0].path):
        yield Action("replace", file.path, file.staged, old, file.sha256)
    for gone in sorted(change.removed, key=lambda file: file.path):
        yield Action("delete", gone.path, "", gone.sha256, "")


def record_of(file: StagedFile) -> FileRecord:
    """Returns what the manifest says of a staged file."""
    return FileRecord(file.table, file.path, file.rows, file.bytes, file.sha256)


def remove_empty_folders(storage: Storage, paths: Iterable[str]) -> None:
    """Removes the partition folders of removed files that hold nothing any more."""
    for path in paths:
        folder = path.rpartition("/")[0]
        while "/" in folder and not storage.names(folder):
            storage.delete_tree(folder)
            folder = folder.rpartition("/")[0]
