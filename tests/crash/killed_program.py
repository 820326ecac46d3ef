"""Runs newsbeam and kills it -9 at a named place; started by test_kill.py as a process of its own.

python killed_program.py PLACE WORDS...
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import transforms.write.commit as commit
import transforms.write.committer as committer
from pipeline.cli import main
from transforms.write.storage import LocalStorage


def _die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_after_calls(owner: Any, name: str, calls: int) -> None:
    """Lets a function work ``calls`` times and kills the process when it has returned for the last of them."""
    real = getattr(owner, name)
    left = [calls]

    def counted(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        left[0] -= 1
        if left[0] == 0:
            _die()
        return result

    setattr(owner, name, counted)


def _set_up(place: str) -> None:
    if place == "after the first staged file":
        import transforms.maintain.stage
        import transforms.write.stage

        for stage in (transforms.write.stage, transforms.maintain.stage):
            kill_after_calls(stage, "stage_file", 1)
    elif place == "between journal and promote":
        commit.promote = _die
    elif place == "in the middle of promote":
        kill_after_calls(LocalStorage, "move", 2)
    elif place == "before the manifest":
        kill_after_calls(committer, "write_meta", 1)
    else:
        raise ValueError(place)


if __name__ == "__main__":
    _set_up(sys.argv[1])
    raise SystemExit(main(sys.argv[2:]))
