"""The lease: one holder at a time, taken over from the dead alone, and lost without harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from transforms.remote.bucket import bucket_of
from transforms.write import lease
from transforms.write.lease import Decision
from transforms.write.lock import DatasetBusyError, acquire
from transforms.write.storage import DatasetError, storage_of

_HOLD = (
    "import sys; from transforms.write.lock import acquire; lock = acquire(sys.argv[1]); print('held', flush=True);"
    "input()"
)
_RACE = """
import sys
from transforms.write.lock import DatasetBusyError, acquire
sys.stdin.readline()
try:
    lock = acquire(sys.argv[1])
except DatasetBusyError:
    print("busy", flush=True)
else:
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def process(root: str, code: str = _HOLD):
    with subprocess.Popen(
        [sys.executable, "-c", code, root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as other:
        try:
            yield other
        finally:
            other.kill()


def holder_in(root: str) -> dict[str, object] | None:
    bucket, prefix = bucket_of(root)
    stat = bucket.stat(f"{prefix}/_lock")
    return None if stat is None else json.loads(bucket.read(stat.name))


def end_without_a_word(held: lease.Lease) -> None:
    """Leaves the lease as a process does whose machine is switched off."""
    held._ended.set()
    held._thread.join()
    lease._HELD.pop(held.root, None)


def test_a_second_process_is_told_who_holds_it(any_root):
    with process(any_root) as other:
        assert other.stdout.readline() == "held\n"
        began = time.monotonic()
        with pytest.raises(
            DatasetBusyError, match=rf"is busy: process {other.pid} on .*, which started at 20"
        ) as raised:
            acquire(any_root)
        assert time.monotonic() - began < 5
        assert raised.value.pid == other.pid
        assert "--wait" in str(raised.value)


def test_a_released_lease_leaves_nothing(any_root):
    with acquire(any_root) as held:
        assert holder_in(any_root) is not None
    held.release()
    assert holder_in(any_root) is None
    acquire(any_root).release()


def test_of_processes_that_start_at_once_one_wins(fake_gcs_root):
    with process(fake_gcs_root, _RACE) as a, process(fake_gcs_root, _RACE) as b, process(fake_gcs_root, _RACE) as c:
        for other in (a, b, c):
            other.stdin.write("\n")
            other.stdin.flush()
        assert sorted(other.stdout.readline() for other in (a, b, c)) == ["busy\n", "busy\n", "held\n"]


def test_one_that_waits_comes_next(fake_gcs_root, monkeypatch):
    monkeypatch.setattr(lease, "_ASK_AGAIN_S", 0.05)
    first = acquire(fake_gcs_root)
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(acquire(fake_gcs_root, wait=True)))
    waiting.start()
    waiting.join(0.5)
    assert waiting.is_alive()
    first.release()
    waiting.join(30)
    taken[0].release()
    assert holder_in(fake_gcs_root) is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="elsewhere a killed process is known by time alone")
def test_a_killed_process_of_this_machine_is_known_at_once(any_root):
    with process(any_root) as other:
        assert other.stdout.readline() == "held\n"
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    acquire(any_root).release()


def test_a_holder_elsewhere_is_taken_for_dead_after_its_time(fake_gcs_root, monkeypatch):
    monkeypatch.setattr(lease, "_machine", lambda: "")
    with process(fake_gcs_root) as other:
        assert other.stdout.readline() == "held\n"
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    with pytest.raises(DatasetBusyError):
        acquire(fake_gcs_root)
    monkeypatch.setattr(lease, "EXPIRES_S", 0.0)
    acquire(fake_gcs_root).release()


def test_it_is_renewed(fake_gcs_root, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_S", 0.02)
    with acquire(fake_gcs_root):
        first = holder_in(fake_gcs_root)["nonce"]
        deadline = time.monotonic() + 30
        while holder_in(fake_gcs_root)["nonce"] == first:
            assert time.monotonic() < deadline


@pytest.fixture
def zombie(fake_gcs_root, monkeypatch):
    """A holder whose lease was taken over without its knowledge; another holds it now."""
    first = acquire(fake_gcs_root)
    end_without_a_word(first)
    with monkeypatch.context() as changed:
        changed.setattr(lease, "EXPIRES_S", 0.0)
        second = acquire(fake_gcs_root)
    lease._HELD[fake_gcs_root] = first
    yield first
    lease._HELD[fake_gcs_root] = second
    second.release()


def test_a_zombie_stages_and_does_not_decide(zombie):
    storage = storage_of(zombie.root)
    storage.write("_staging/r1/a.parquet", b"1")
    with pytest.raises(DatasetError, match=r"was taken over by process .* run the command again"):
        storage.decide("r1", "_runs/r1.journal", b"journal")
    assert storage.names("_runs") == []
    for change in (
        lambda: storage.move("_staging/r1/a.parquet", "articles/a.parquet"),
        lambda: storage.write("_runs/r1.json", b""),
        lambda: storage.delete("_staging/r1/a.parquet"),
        lambda: storage.delete_tree("_staging"),
    ):
        with pytest.raises(DatasetError, match="was taken over"):
            change()
    zombie.release()
    assert holder_in(zombie.root) is not None, "the lease of the other was removed"


def test_a_zombie_removes_nothing_of_the_next_holder(zombie):
    storage = storage_of(zombie.root)
    storage.write("_staging/r2/of-the-next.parquet", b"1")
    with pytest.raises(DatasetError, match="was taken over"):
        storage.delete_tree("_staging")
    assert storage.exists("_staging/r2/of-the-next.parquet")


def test_without_an_answer_of_the_store_a_holder_stops_in_time(fake_gcs_root, monkeypatch):
    held = acquire(fake_gcs_root)
    monkeypatch.setattr(lease, "_SAFE_S", -1.0)
    monkeypatch.setattr(held._bucket, "write", lambda *_: (_ for _ in ()).throw(OSError(5, "no answer")))
    with pytest.raises(DatasetError, match="no answer"):
        storage_of(fake_gcs_root).write("_runs/r1.json", b"")
    monkeypatch.undo()
    held.release()


DECISION = Decision("r1", "_runs/r1.journal", "_staging/r1/x.decision")


def test_what_a_killed_holder_decided_is_carried_through(fake_gcs_root, monkeypatch):
    first = acquire(fake_gcs_root)
    storage_of(fake_gcs_root).write(DECISION.staged, b"the journal")
    first.decide(DECISION)
    end_without_a_word(first)
    with monkeypatch.context() as changed:
        changed.setattr(lease, "EXPIRES_S", 0.0)
        second = acquire(fake_gcs_root)
    storage = storage_of(fake_gcs_root)
    storage.carry_through()
    assert storage.read("_runs/r1.journal") == b"the journal"
    second.release()
    assert holder_in(fake_gcs_root) is None


def test_a_decision_outlives_a_release(fake_gcs_root):
    with acquire(fake_gcs_root) as first:
        storage_of(fake_gcs_root).write(DECISION.staged, b"the journal")
        first.decide(DECISION)
    with acquire(fake_gcs_root):
        storage = storage_of(fake_gcs_root)
        storage.carry_through()
        assert storage.names("_runs") == ["r1.journal"]


def test_a_committed_run_is_not_journaled_again(fake_gcs_root):
    with acquire(fake_gcs_root) as first:
        storage = storage_of(fake_gcs_root)
        storage.decide("r1", "_runs/r1.journal", b"the journal")
        storage.write("_runs/r1.json", b"{}")
        storage.delete("_runs/r1.journal")
        first.decide(DECISION)
    with acquire(fake_gcs_root):
        storage_of(fake_gcs_root).carry_through()
        assert storage.names("_runs") == ["r1.json"]


def test_a_worker_elsewhere_decides_for_its_launcher_alone(fake_gcs_root):
    with process(
        fake_gcs_root,
        _HOLD.replace(
            "input()",
            "\nfrom transforms.write.storage import storage_of\nstorage_of(sys.argv[1]).begin('r1')\nprint('begun', flush=True)\ninput()\nlock.release()",
        ),
    ) as launcher:
        assert [launcher.stdout.readline() for _ in range(2)] == ["held\n", "begun\n"]
        storage = storage_of(fake_gcs_root)  # of this process, which holds nothing
        with pytest.raises(DatasetError, match="the launcher of the run r0 holds"):
            storage.decide("r0", "_runs/r0.journal", b"")
        storage.decide("r1", "_runs/r1.journal", b"the journal")
        assert storage.names("_runs") == ["r1.journal"]
        launcher.stdin.write("\n")
        launcher.stdin.flush()
        assert launcher.wait(30) == 0
    with pytest.raises(DatasetError, match="the launcher of the run r1 holds"):
        storage.decide("r1", "_runs/r1.journal", b"")
