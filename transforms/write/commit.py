"""The commit protocol: staged files become the dataset all at once, whatever happens in between.

A commit writes ``_runs/<run_id>.journal`` (what will be done, and the manifest), does it by renames, and
writes ``_runs/<run_id>.json`` last. ``recover`` finishes a run that has a journal and removes what a run
without one has staged. Both may be repeated any number of times. The caller holds the lock.

Verbs of a journal: ``add`` puts a new file in place, ``replace`` puts one over another with the known hash
``old_sha256``, ``delete`` removes a file with that hash.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from transforms.write.manifest import (
    RUNS,
    Manifest,
    from_json,
    is_name_of_run,
    manifest_path,
    to_json,
    warn_of_stranger,
)
from transforms.write.storage import STAGING, DatasetError, Storage, storage_of

VERBS = ("add", "replace", "delete")
_SUFFIX = ".journal"


class Action(NamedTuple):
    """One step of a commit.

    Attributes:
        verb: One of ``VERBS``.
        path: The file that is made, changed or removed.
        staged: The file that takes its place; empty for ``delete``.
        old_sha256: Of the file before; empty for ``add``.
        new_sha256: Of the file after; empty for ``delete``.
    """

    verb: str
    path: str
    staged: str = ""
    old_sha256: str = ""
    new_sha256: str = ""


class Recovery(NamedTuple):
    """What ``recover`` found: runs that it finished, and runs whose staging it removed."""

    finished: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()


def staging_folder(run_id: str) -> str:
    """Returns the folder in which a run stages its files."""
    return f"{STAGING}/{run_id}"


def journal_path(run_id: str) -> str:
    """Returns the path of a run's journal below the root."""
    return f"{RUNS}/{run_id}{_SUFFIX}"


def commit(
    storage: Storage, manifest: Manifest, actions: Iterable[Action], before_manifest: Callable[[], None] | None = None
) -> str:
    """Makes a run part of the dataset.

    Args:
        storage: The dataset.
        manifest: What the run is, complete.
        actions: What is to be done with its files.
        before_manifest: Called when all files are in place and before the manifest; for derived files.

    Returns:
        The path of the manifest.

    Raises:
        DatasetError: If something cannot be written. Before the journal is there nothing has changed; after
            that, the next ``recover`` finishes the run.
    """
    todo = tuple(actions)
    _check(storage, todo)
    storage.decide(manifest.run_id, journal_path(manifest.run_id), _journal_bytes(manifest, todo))
    promote(storage, todo)
    if before_manifest is not None:
        before_manifest()
    return _close(storage, manifest)


def promote(storage: Storage, actions: Iterable[Action]) -> None:
    """Does what a journal says, in any state of half-done.

    Raises:
        DatasetError: If a staged file is gone and its target is not what it should be, or a file that is to
            be replaced or deleted is not the one that the journal means.
    """
    folders = set()
    for action in actions:
        folders.add(os.path.dirname(action.path))
        if action.verb == "delete":
            if not storage.delete_exactly(action.path, action.old_sha256):
                raise _changed(storage, action.path)
        elif storage.exists(action.staged):
            if action.verb == "replace":
                _expect(storage, action.path, (action.old_sha256, action.new_sha256))
            storage.move(action.staged, action.path)
        else:
            _expect(storage, action.path, (action.new_sha256,))
    storage.sync(folders)


def recover(root: str | Storage) -> Recovery:
    """Finishes the runs that have a journal and removes the staging of all others.

    Raises:
        DatasetError: If a journal is damaged or cannot be followed; nothing of that run is touched then.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    finished = []
    storage.carry_through()
    for run_id in journaled_runs(storage):
        _roll_forward(storage, run_id)
        finished.append(run_id)
    discarded = [name for name in storage.names(STAGING) if not name.endswith(".draft")]
    storage.delete_tree(STAGING)
    return Recovery(tuple(finished), tuple(discarded))


def journaled_runs(storage: Storage) -> list[str]:
    """Returns the ids of the runs that have a journal, sorted; files of strangers are told and left aside."""
    found = []
    for name in storage.names(RUNS):
        run_id = name.removesuffix(_SUFFIX)
        if run_id != name and (is_name_of_run(run_id) or _is_journal_of(storage, run_id)):
            found.append(run_id)
        elif run_id != name:
            warn_of_stranger(storage, f"{RUNS}/{name}")
    return found


def _is_journal_of(storage: Storage, run_id: str) -> bool:
    try:
        return _read_journal(storage, run_id)[0].run_id == run_id
    except DatasetError:
        return False


def finish_if_journaled(storage: Storage, run_id: str) -> bool:
    """Finishes a run that was begun by an attempt before; tells whether it is committed now.

    Raises:
        DatasetError: See ``recover``.
    """
    storage.carry_through()
    if storage.exists(journal_path(run_id)):
        _roll_forward(storage, run_id)
    return storage.exists(manifest_path(run_id))


def sha256_of(data: bytes) -> str:
    """Returns the hex sha256 by which files are known."""
    return hashlib.sha256(data).hexdigest()


def _roll_forward(storage: Storage, run_id: str) -> None:
    manifest, actions = _read_journal(storage, run_id)
    if not storage.exists(manifest_path(run_id)):  # else only the journal was left to remove
        promote(storage, actions)
    _close(storage, manifest)


def _close(storage: Storage, manifest: Manifest) -> str:
    path = manifest_path(manifest.run_id)
    storage.write(path, to_json(manifest))
    storage.delete(journal_path(manifest.run_id))
    storage.delete_tree(staging_folder(manifest.run_id))
    return path


def _check(storage: Storage, actions: Iterable[Action]) -> None:
    """Refuses a commit that could not be carried through, before anything is written."""
    for action in actions:
        if action.verb not in VERBS:
            raise ValueError(f"unknown verb {action.verb!r}")
        if action.verb != "delete" and not storage.exists(action.staged):
            full = storage.full_path(action.staged)
            raise DatasetError(f"the staged file {full} is gone; run the command again", full)
        if action.verb == "add" and storage.exists(action.path):
            _expect(storage, action.path, (action.new_sha256,))
        elif action.verb != "add":
            _expect(storage, action.path, (action.old_sha256,))


def _expect(storage: Storage, path: str, hashes: tuple[str, ...]) -> None:
    full = storage.full_path(path)
    if not storage.exists(path):
        raise DatasetError(f"{full} is missing, and an unfinished run needs it; restore it from a backup", full)
    if sha256_of(storage.read(path)) not in hashes:
        raise _changed(storage, path)


def _changed(storage: Storage, path: str) -> DatasetError:
    full = storage.full_path(path)
    return DatasetError(f"{full} was changed by something else than newsbeam; restore it from a backup", full)


def _journal_bytes(manifest: Manifest, actions: tuple[Action, ...]) -> bytes:
    plan = json.dumps([list(action) for action in actions])
    body = b'{"actions": ' + plan.encode() + b',\n"manifest": ' + to_json(manifest) + b"}\n"
    return sha256_of(body).encode() + b"\n" + body


def _read_journal(storage: Storage, run_id: str) -> tuple[Manifest, tuple[Action, ...]]:
    path = journal_path(run_id)
    full = storage.full_path(path)
    checksum, _, body = storage.read(path).partition(b"\n")
    if checksum.decode("ascii", "replace") != sha256_of(body):
        raise DatasetError(
            f"the journal {full} is damaged, so the run {run_id} can neither be finished nor undone; nothing was"
            " changed; restore the file from a backup, or let newsbeam dataset verify --repair set the run aside",
            full,
        )
    found = json.loads(body)
    manifest = from_json(json.dumps(found["manifest"]).encode(), full)
    return manifest, tuple(Action(*fields) for fields in found["actions"])
