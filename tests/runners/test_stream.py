"""A stream on Prism over feeds that go on: all that was shown is there, once; and again after kill -9."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.rows import assert_sound
from tests.runners.newsroom import Newsroom, assert_adds_up, count, is_complete, stream_words
from tests.runners.processes import PRISM, assert_loopback_only, descendants, end, needs, start, wait_for

pytestmark = pytest.mark.slow


@needs(PRISM)
@pytest.mark.timeout(1200)
def test_prism_loses_and_doubles_nothing_when_it_is_killed(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with Newsroom(feeds=3, rate_per_s=2.0, articles=100) as room:
        words = stream_words(room, root, tmp_path, "--runner", "prism")
        stream = start(words, tmp_path / "stream.log")
        try:
            wait_for("the first commits", lambda: len(list((root / "_runs").glob("*.json"))) > 3, timeout_s=300)
            room.kills.append(time.time())
            for pid in [stream.pid, *descendants(stream.pid)]:
                os.kill(pid, signal.SIGKILL)
            end(stream)
            stream = start(words, tmp_path / "stream.log")
            wait_for("all that was shown", lambda: is_complete(room, root), timeout_s=500, pause_s=2)
            assert_loopback_only("Prism with a stream")
        finally:
            end(stream, timeout_s=30)
        counted = count(room, root)
    print(counted)
    assert counted.is_right, (counted.lost, counted.stale)
    assert_sound(root)
    assert_adds_up(root)
