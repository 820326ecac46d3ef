"""Runs newsbeam on an object store and kills it -9 at a named step; started by test_gcs_run.py.

python killed_run.py STEP WORDS...
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import transforms.write.commit as commit
import transforms.write.committer as committer
import transforms.write.stage as stage
from pipeline.cli import main
from transforms.remote.gcs import GcsBucket
from transforms.write.lease import Lease
from transforms.write.object_storage import ObjectStorage

STEPS: dict[str, tuple[Any, str, int]] = {
    "after the first staged file": (stage, "stage_file", 1),
    "decided, before the journal": (Lease, "decide", 1),
    "after the journal": (ObjectStorage, "decide", 1),
    "between copy and removal": (GcsBucket, "copy", 1),
    "in the middle of the moves": (ObjectStorage, "move", 2),
    "before the manifest": (committer, "write_meta", 1),
    "after the commit, before the lease is given back": (commit, "_close", 1),
}


def kill_after_calls(owner: Any, name: str, calls: int) -> None:
    """Lets a function work so many times and kills the process when it has returned for the last of them."""
    real = getattr(owner, name)
    left = [calls]

    def counted(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, counted)


if __name__ == "__main__":
    kill_after_calls(*STEPS[sys.argv[1]])
    raise SystemExit(main(sys.argv[2:]))
