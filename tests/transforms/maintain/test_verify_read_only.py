"""``dataset verify`` where nothing may be written: a backup, a mounted snapshot, the dataset of another account."""

from __future__ import annotations

import ctypes
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import ROOT
from transforms.write.lock import LOCK_FILE

_DROP, _DAC_OVERRIDE = 24, 1  # linux/prctl.h, linux/capability.h


def _bound_by_permissions() -> None:
    """Takes from root the right to write where nobody may."""
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(_DROP, _DAC_OVERRIDE, 0, 0, 0)


def verify(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline", "dataset", "verify", "-d", str(root), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        preexec_fn=_bound_by_permissions,
    )


@pytest.fixture(params=["with a lock file", "without"])
def read_only(root: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    if request.param == "with a lock file":
        (root / LOCK_FILE).write_bytes(b"")
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & ~0o222)
    yield root
    for path in paths:
        path.chmod(path.stat().st_mode | 0o200)


def test_a_read_only_dataset_is_verified(read_only: Path) -> None:
    before = sorted(map(str, read_only.rglob("*")))
    told = verify(read_only)
    assert (told.returncode, told.stdout.split(":")[0]) == (0, "clean"), told.stderr
    assert sorted(map(str, read_only.rglob("*"))) == before


@pytest.mark.parametrize("read_only", ["with a lock file"], indirect=True)
def test_repair_needs_the_right_to_write_and_says_so(read_only: Path) -> None:
    told = verify(read_only, "--repair")
    assert told.returncode == 1
    assert told.stderr.strip() == f"newsbeam: cannot write to the dataset {read_only}: Permission denied"


def test_a_run_at_work_is_seen_without_the_right_to_write(root: Path) -> None:
    lock = root / LOCK_FILE
    lock.write_bytes(b"")
    lock.chmod(0o444)
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told = verify(root)
    assert told.returncode == 4
    assert "is busy" in told.stderr
