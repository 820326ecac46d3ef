"""Commits to an object store and kills itself -9 at a named step; started as a process of its own.

python killed_run.py STEP commit ROOT    a run without Beam, of test_gcs_commit.py
python killed_run.py STEP WORDS...       newsbeam itself, of test_gcs_run.py
"""

from __future__ import annotations

import sys
from typing import Any

import transforms.write.commit as commit
import transforms.write.committer as committer
import transforms.write.stage as stage
from pipeline.cli import main
from tests.crash.killed_program import kill_after_calls
from tests.transforms.write import test_write_crash as without_beam
from transforms.remote.gcs import GcsBucket
from transforms.write.lease import Lease
from transforms.write.lock import acquire
from transforms.write.object_storage import ObjectStorage
from transforms.write.storage import storage_of

STEPS: dict[str, tuple[Any, str, int]] = {
    "after the first staged file": (stage, "stage_file", 1),
    "decided, before the journal": (Lease, "decide", 1),
    "after the journal": (ObjectStorage, "decide", 1),
    "between copy and removal": (GcsBucket, "copy", 1),
    "in the middle of the moves": (ObjectStorage, "move", 2),
    "before the manifest": (committer, "write_meta", 1),
    "after the commit, before the lease is given back": (commit, "_close", 1),
}


def commit_without_beam(root: str) -> int:
    with acquire(root):
        without_beam.run_once(root, without_beam.SECOND, "20261130T111502Z-dead", storage_of(root))  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    owner, function, calls = STEPS[sys.argv[1]]
    if sys.argv[2] == "commit" and function == "stage_file":
        owner = without_beam
    kill_after_calls(owner, function, calls)
    raise SystemExit(commit_without_beam(sys.argv[3]) if sys.argv[2] == "commit" else main(sys.argv[2:]))
