"""The errors that end the program, and its exit codes.

::

    NewsbeamError
     +-- ConfigError   the user can mend it: command line, configuration     exit 2
     +-- RunError      the run could not be done or everything in it failed  exit 1

Beside them stand ``transforms.yaml_file.ProblemsError`` (mistakes in files, exit 2),
``transforms.remote.bucket.StoreSetupError`` (no credentials, no such bucket, exit 2) and
``transforms.write.lock.DatasetBusyError`` (exit 4), which know nothing of the program. Bad data is never
an error: it becomes rows of ``rejects``. Any other exception is a bug. ``pipeline.cli.main`` is the one
place that turns all of them into a line and an exit code.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """What the command tells the shell; docs/cli.md says the same in a table."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    TOO_MANY_REJECTS = 3
    BUSY = 4
    INTERRUPTED = 130
    TERMINATED = 143


class NewsbeamError(Exception):
    """An end that the user is told of in one line, without a traceback.

    Attributes:
        exit_code: What the program exits with.
    """

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.message,))


class ConfigError(NewsbeamError):
    """The command line or the configuration is wrong; nothing was done."""

    exit_code = ExitCode.USAGE


class RunError(NewsbeamError):
    """The run could not be done, or every feed or every seed of it failed."""

    exit_code = ExitCode.FAILED
