"""What was freed goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Prints by how many megabytes the resident memory fell when a large block was freed below a small one.
_SCRIPT = """
import sys
from transforms.allocator import limit_fragmentation

def resident_mb():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * 4096 >> 20

if sys.argv[1] == "limited" and not limit_fragmentation():
    raise SystemExit(3)
first = bytearray(b"x") * (16 << 20)  # glibc learns from the first block freed that such blocks belong on its heap
del first
large = bytearray(b"x") * (12 << 20)
pins = [bytearray(b"x") * 100_000 for _ in range(20)]
before = resident_mb()
del large
print(before - resident_mb())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_a_large_block_is_given_back_although_small_ones_lie_behind_it() -> None:
    def freed(mode: str) -> int:
        command = [sys.executable, "-c", _SCRIPT, mode]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        if done.returncode == 3:
            pytest.skip("this C library has no such knob")
        return int(done.stdout)

    assert freed("limited") >= 11 > freed("as it is")
