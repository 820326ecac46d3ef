"""How the process ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.options import DIRECT_RUNNER
from tests.program import ROOT

_SCRIPT = """
import atexit, sys, threading, time
from pipeline.leave import expect_servers, leave
atexit.register(lambda: print("at the end"))
threading.Thread(target=time.sleep, args=(float(sys.argv[1]),)).start()  # the interpreter waits for it
expect_servers(sys.argv[2:])
print("done")
leave(3)
"""


@pytest.mark.parametrize(
    ("sleep_s", "flags"),
    [
        ("0", []),
        ("0", [f"--runner={DIRECT_RUNNER}"]),
        ("600", [f"--runner={DIRECT_RUNNER}", "--direct_running_mode=multi_processing"]),
        ("600", ["--runner=FlinkRunner"]),
    ],
)
def test_what_is_printed_and_registered_is_done_and_servers_are_not_waited_for(sleep_s, flags):
    command = [sys.executable, "-c", _SCRIPT, sleep_s, *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split("\n")) == (3, ["done", "at the end", ""])
