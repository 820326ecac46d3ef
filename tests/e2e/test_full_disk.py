"""A disk that is full: one line with the path, exit 1, nothing half-written, and the next run completes the work."""

from __future__ import annotations

import resource
import subprocess
import sys

from tests.program import ROOT, run_json
from tests.rows import assert_sound, read_rows


def _small_files() -> None:
    # Writes beyond this size fail, as on a full disk (EFBIG; Python ignores the signal).
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))


def test_a_full_disk_is_one_line_and_the_next_run_completes_the_work(tmp_path):
    words = ["run", "-q", "--seeds", "seeds/*", "-d", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=_small_files,
        timeout=100,
    )

    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert str(tmp_path / "out") in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("*/**/*.parquet"))

    assert run_json(*words[2:])["items"]["new"] == len(read_rows(tmp_path / "out", "articles")) > 0
    assert_sound(tmp_path / "out")
