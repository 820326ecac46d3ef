"""How the process ends after a run on a runner that has servers in it.

gRPC's threads may still be at work when the interpreter takes itself apart, and abort the process after all is done
("terminate called without an active exception"): a committed run would end with a failure. What is to be done at the
end is done, then the process ends at once.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pipeline.options import is_in_process

_has_servers = False


def expect_servers(beam_flags: Sequence[str]) -> None:
    """Notes what kind of runner works in this process.

    Args:
        beam_flags: Checked flags for Beam.
    """
    global _has_servers
    _has_servers = _has_servers or not is_in_process(beam_flags)


def leave(code: int) -> NoReturn:
    """Ends the process with an exit code."""
    if not _has_servers:
        raise SystemExit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
