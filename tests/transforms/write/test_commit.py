from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from transforms.write.commit import Action, commit, journal_path, promote, recover, sha256_of, staging_folder
from transforms.write.manifest import FileRecord, Manifest, read_manifest
from transforms.write.storage import DatasetError, LocalStorage

AT = datetime(2026, 11, 30, 10, tzinfo=timezone.utc)
RUN_ID = "20261130T101502Z-0001"
OLD, NEW = "articles/ingest_date=2026-11-29/old.0.0.parquet", "articles/ingest_date=2026-11-30/new.0.0.parquet"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    found = LocalStorage(str(tmp_path))
    found.write(OLD, b"old")
    return found


def manifest_of(run_id: str, *paths: str) -> Manifest:
    files = tuple(FileRecord("articles", path, 1, 3, "") for path in paths)
    return Manifest(run_id, 1, AT, AT, files=files)


def staged(storage: LocalStorage, run_id: str, data: bytes) -> str:
    path = f"{staging_folder(run_id)}/{sha256_of(data)[:8]}.parquet"
    storage.write(path, data)
    return path


def add(storage: LocalStorage, run_id: str, path: str, data: bytes) -> Action:
    return Action("add", path, staged(storage, run_id, data), "", sha256_of(data))


def test_add_replace_and_delete_in_one_commit(storage: LocalStorage) -> None:
    storage.write("articles/b", b"small")
    actions = [
        add(storage, "r", NEW, b"new"),
        Action("replace", OLD, staged(storage, "r", b"better"), sha256_of(b"old"), sha256_of(b"better")),
        Action("delete", "articles/b", "", sha256_of(b"small"), ""),
    ]
    called = []
    commit(storage, manifest_of("r", NEW, OLD), actions, lambda: called.append(storage.exists("_runs/r.json")))
    assert (storage.read(NEW), storage.read(OLD), storage.exists("articles/b")) == (b"new", b"better", False)
    assert called == [False]
    assert storage.names("_runs") == ["r.json"]
    assert storage.names("_staging") == []


def test_promote_may_be_repeated(storage: LocalStorage) -> None:
    actions = [
        add(storage, "r", NEW, b"new"),
        Action("replace", OLD, staged(storage, "r", b"better"), sha256_of(b"old"), sha256_of(b"better")),
        Action("delete", "articles/b", "", sha256_of(b"small"), ""),
    ]
    for _ in range(3):
        promote(storage, actions)
    assert (storage.read(NEW), storage.read(OLD)) == (b"new", b"better")


def test_a_journal_is_followed_to_its_end_and_staging_without_one_goes(storage: LocalStorage) -> None:
    action = add(storage, "done", NEW, b"new")
    with pytest.raises(RuntimeError):
        commit(storage, manifest_of("done", NEW), [action], _stop)
    staged(storage, "done-not", b"other")
    recovery = recover(storage)
    assert recovery.finished == ("done",)
    assert recovery.discarded == ("done-not",)
    assert read_manifest(storage, "done") is not None
    assert read_manifest(storage, "done-not") is None
    assert storage.names("_staging") == []
    assert recover(storage) == ((), ())


def _stop() -> None:
    raise RuntimeError("stopped between promote and manifest")


def test_a_damaged_journal_is_told_and_nothing_is_touched(storage: LocalStorage) -> None:
    action = add(storage, RUN_ID, NEW, b"new")
    storage.write(journal_path(RUN_ID), b"0000\n{}")
    with pytest.raises(DatasetError, match=rf"{RUN_ID}\.journal is damaged"):
        recover(storage)
    assert storage.exists(action.staged)
    assert not storage.exists(NEW)
    assert storage.exists(journal_path(RUN_ID))


@pytest.mark.parametrize("verb", ["replace", "delete"])
def test_a_file_that_somebody_changed_is_neither_replaced_nor_deleted(storage: LocalStorage, verb: str) -> None:
    new = staged(storage, "r", b"new") if verb == "replace" else ""
    action = Action(verb, OLD, new, sha256_of(b"something else"), sha256_of(b"new"))
    with pytest.raises(DatasetError, match="was changed by something else"):
        commit(storage, manifest_of("r"), [action])
    assert storage.read(OLD) == b"old"
    assert storage.names("_runs") == []


def test_a_lost_staged_file_stops_the_commit_before_the_journal(storage: LocalStorage) -> None:
    with pytest.raises(DatasetError, match="is gone"):
        commit(storage, manifest_of("r", NEW), [Action("add", NEW, "_staging/r/none", "", sha256_of(b"new"))])
    assert storage.names("_runs") == []


def test_an_unknown_verb_is_a_bug(storage: LocalStorage) -> None:
    with pytest.raises(ValueError, match="unknown verb"):
        commit(storage, manifest_of("r"), [Action("rename", OLD)])
