"""The commit in an object store: a crash, and a holder that was taken for dead, at each request that changes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gcs import killed_run, stores
from tests.gcs.killed_run import STEPS
from tests.program import run_until_killed
from tests.rows import assert_same_rows, assert_sound
from tests.transforms.write.make_items import START
from tests.transforms.write.test_write_crash import FIRST, SECOND, Crash, run_once
from transforms.maintain.verify import verify
from transforms.remote import bucket as buckets
from transforms.write import lease
from transforms.write.commit import Action, commit, recover, sha256_of
from transforms.write.lock import acquire
from transforms.write.manifest import Manifest
from transforms.write.storage import DatasetError, storage_of

MOST_STEPS = 80


class StepBucket:
    """Calls a function before its n-th request that changes something."""

    def __init__(self, real: Any, steps: int, hook: Callable[[], None]) -> None:
        self._real = real
        self.left = steps
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in ("write", "copy", "delete"):
            return found

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.left -= 1
            if self.left == -1:
                self._hook()
            return found(*args, **kwargs)

        return counted


class RemovalBucket(StepBucket):
    """Calls a function before the removal of one object, and honours its condition, which fake-gcs-server does not."""

    def __init__(self, real: Any, path: str, hook: Callable[[], None]) -> None:
        super().__init__(real, -1, hook)
        self._path = path

    def delete(self, name: str, if_generation: int | None = None) -> None:
        if name.endswith(self._path):
            self._hook()
            now = self._real.stat(name)
            if now is not None and if_generation not in (None, now.generation):
                raise buckets.ChangedError("was changed by another process", name)
        self._real.delete(name, if_generation)


def locked_run(root: str, articles: Any, run_id: str) -> None:
    with acquire(root):
        run_once(root, articles, run_id, storage_of(root))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("undisturbed")
    run_once(root, FIRST, "20261130T101502Z-0001")
    run_once(root, SECOND, "20261130T111502Z-0002")
    return root


def put_in(root: str, wrapped: Any) -> None:
    buckets._BUCKETS[root.rpartition("/")[0]] = wrapped


def abandon(root: str) -> None:
    """Drops the lease as the death of its process does."""
    held = lease.held(root)
    if held is not None:
        held._ended.set()
        held._thread.join()
        lease._HELD.pop(root)


class Dead(lease.Lease):
    """A lease whose process is killed: it is not given back."""

    def release(self) -> None:
        abandon(self.root)


def take_over(monkeypatch: pytest.MonkeyPatch, root: str, run_id: str, articles: Any = SECOND) -> None:
    with monkeypatch.context() as changed:
        changed.setattr(lease, "EXPIRES_S", -60.0)
        held = acquire(root)
    with held:
        run_once(root, articles, run_id, storage_of(root))


def assert_complete(root: str, undisturbed: Path, folder: Path) -> None:
    stores.download(root, folder)
    assert_same_rows(undisturbed, folder)
    assert_sound(folder)


def test_a_crash_before_each_change_then_rerun(any_root, undisturbed, tmp_path, monkeypatch):
    real = buckets.bucket_of(any_root)[0]

    def crash() -> None:
        raise Crash

    for step in range(MOST_STEPS):
        root = f"{any_root}-{step}"
        put_in(root, real)
        locked_run(root, FIRST, "20261130T101502Z-0001")
        put_in(root, StepBucket(real, step, crash))
        try:
            with monkeypatch.context() as changed:
                changed.setattr(lease, "Lease", Dead)
                locked_run(root, SECOND, "20261130T111502Z-dead")
        except Crash:
            put_in(root, real)
            take_over(monkeypatch, root, "20261130T111602Z-0002")
        else:
            assert step >= 12
            print(f"{step} changes of the store")
            break
        assert_complete(root, undisturbed, tmp_path / str(step))
    else:
        pytest.fail("the run never came to its end")


@pytest.mark.parametrize("step", STEPS)
def test_kill_9_at_each_step_then_rerun(any_root, undisturbed, tmp_path, step):
    locked_run(any_root, FIRST, "20261130T101502Z-0001")
    run_until_killed(Path(killed_run.__file__), step, "commit", any_root, timeout_s=200)

    locked_run(any_root, SECOND, "20261130T111602Z-0002")  # at once: the process of the lease is known to be gone

    assert_complete(any_root, undisturbed, tmp_path / "out")
    assert verify(storage_of(any_root), lambda line: None).findings == ()


@pytest.mark.parametrize("content", [b"the same again", b"something new"])
def test_a_removal_by_a_holder_that_was_taken_for_dead_spares_what_was_written_since(
    fake_gcs_root, monkeypatch, content
):
    """It has compared the hash and sleeps; another carries its run through, and a later run writes the path again."""
    real = buckets.bucket_of(fake_gcs_root)[0]
    path = "articles/ingest_date=2026-11-30/old.0.0.parquet"
    storage = storage_of(fake_gcs_root)
    storage.write(path, b"the same again")

    def others() -> None:
        put_in(fake_gcs_root, real)
        asleep = lease._HELD.pop(fake_gcs_root)
        with monkeypatch.context() as changed:
            changed.setattr(lease, "EXPIRES_S", -60.0)
            held = acquire(fake_gcs_root)
        with held:
            assert recover(storage_of(fake_gcs_root)).finished == ("20261130T101502Z-slow",)
            assert not storage_of(fake_gcs_root).exists(path)
            storage_of(fake_gcs_root).write(path, content)
        lease._HELD[fake_gcs_root] = asleep

    def slow_run(bucket: Any) -> None:
        put_in(fake_gcs_root, bucket)
        with acquire(fake_gcs_root):
            action = Action("delete", path, "", sha256_of(b"the same again"))
            commit(storage_of(fake_gcs_root), Manifest("20261130T101502Z-slow", 1, START, START), [action])

    with pytest.raises(DatasetError, match="was taken over by"):
        slow_run(RemovalBucket(real, path, others))
    put_in(fake_gcs_root, real)
    assert storage.read(path) == content


@pytest.mark.parametrize("goes_on", [False, True], ids=["it wakes at once", "the dataset has gone on"])
def test_a_holder_that_was_taken_for_dead_does_no_harm(fake_gcs_root, undisturbed, tmp_path, monkeypatch, goes_on):
    """At each request: another run takes over, does its work whole, and then the first one goes on."""
    real = buckets.bucket_of(fake_gcs_root)[0]
    told: list[str] = []
    for step in range(MOST_STEPS):
        root = f"{fake_gcs_root}-{step}"
        put_in(root, real)
        locked_run(root, FIRST, "20261130T101502Z-0001")

        def other_run(root: str = root) -> None:
            put_in(root, real)
            asleep = lease._HELD.pop(root, None)
            take_over(monkeypatch, root, "20261130T111602Z-0002")
            if goes_on:
                take_over(monkeypatch, root, "20261130T111702Z-0003", FIRST)
                take_over(monkeypatch, root, "20261130T111802Z-0004")
            if asleep is not None:
                lease._HELD[root] = asleep

        wrapped = StepBucket(real, step, other_run)
        put_in(root, wrapped)
        try:
            locked_run(root, SECOND, "20261130T111502Z-slow")
        except DatasetError as error:
            told.append(str(error))
        put_in(root, real)
        if wrapped.left >= 0:
            assert step >= 12
            assert any("was taken over" in error for error in told)
            break
        abandon(root)
        take_over(monkeypatch, root, "20261130T121502Z-last")
        if goes_on:
            assert_sound(stores.download(root, tmp_path / str(step)))
        else:
            assert_complete(root, undisturbed, tmp_path / str(step))
    else:
        pytest.fail("the run never came to its end")
