from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from transforms.write.lock import DatasetBusyError, acquire
from transforms.write.storage import DatasetError

_HOLD = (
    "import sys; from transforms.write.lock import acquire; lock = acquire(sys.argv[1]); print('held', flush=True); "
)


@contextmanager
def holder(root: Path, then: str = "input()") -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock of a dataset."""
    command = [sys.executable, "-c", _HOLD + then, str(root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            yield other
        finally:
            other.kill()


def test_a_busy_dataset_is_told_at_once_with_pid_and_start(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        with pytest.raises(DatasetBusyError) as raised:
            acquire(str(tmp_path))
        assert raised.value.pid == other.pid
        assert str(other.pid) in str(raised.value)
        assert raised.value.started_at is not None
        assert raised.value.started_at in str(raised.value)


def test_waiting_gets_the_lock_when_the_other_ends(tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        threading.Timer(0.3, other.kill).start()
        with acquire(str(tmp_path), wait=True):
            assert other.wait(5) == -signal.SIGKILL


def test_a_left_over_lock_file_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "_lock").write_text('{"pid": 1, "started_at": "2026-11-30T00:00:00Z"}')
    with acquire(str(tmp_path)):
        assert str(os.getpid()) in (tmp_path / "_lock").read_text()


def test_released_is_free_again(tmp_path: Path) -> None:
    lock = acquire(str(tmp_path))
    with pytest.raises(DatasetBusyError):
        acquire(str(tmp_path))
    lock.release()
    lock.release()
    acquire(str(tmp_path)).release()


def test_a_forked_child_does_not_keep_the_lock_of_a_killed_parent(tmp_path: Path) -> None:
    # The child says when it runs: it lets go of its copy before that.
    fork = "import os, time\npid = os.fork()\nif not pid: print(os.getpid(), flush=True); time.sleep(60)\ninput()"
    with holder(tmp_path, f"exec({fork!r})") as other:
        assert other.stdout is not None
        child = int(other.stdout.readline())
        try:
            other.kill()
            other.wait()
            acquire(str(tmp_path)).release()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_root_that_cannot_be_made_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="file/news"):
        acquire(str(tmp_path / "file" / "news"))


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(DatasetBusyError("busy", "/news/_lock", 7, "2026-11-30T00:00:00Z")))
    assert (str(error), error.pid, error.path) == ("busy", 7, "/news/_lock")
