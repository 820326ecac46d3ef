"""kill -9 of the command at each step of a commit, then the same command: same rows, none doubled."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.program import ROOT, newsbeam, page, rss, run_json, run_until_killed
from tests.rows import assert_same_rows, assert_sound, read_rows
from tests.servers import Answer, NewsServer

PLACES = (
    "after the first staged file",
    "between journal and promote",
    "in the middle of promote",
    "before the manifest",
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("undisturbed") / "out"
    run_json("--seeds", "seeds/*", "-d", root)
    return root


@pytest.mark.parametrize("place", PLACES)
def test_the_next_run_completes_what_a_killed_one_left(place, undisturbed, tmp_path):
    words = ["run", "--seeds", "seeds/*", "-d", str(tmp_path / "out")]
    run_until_killed(Path(__file__).parent / "killed_program.py", place, *words)
    assert not list((tmp_path / "out" / "_runs").glob("*.json"))

    newsbeam(*words)

    assert_same_rows(undisturbed, tmp_path / "out")
    assert_sound(tmp_path / "out")


def test_a_second_run_at_the_same_time_ends_with_exit_4_within_two_seconds(tmp_path):
    routes = {"/story/1": Answer(body=page(1), delay_s=8.0)}
    with NewsServer(routes, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = rss([server.url("/story/1")])
        words = ["run", "--feeds", server.url("/feed.xml"), "-d", str(tmp_path / "out"), "--allow-loopback"]
        first = subprocess.Popen([sys.executable, "-m", "pipeline", *words], cwd=ROOT, stdout=subprocess.DEVNULL)
        lock = tmp_path / "out" / "_lock"
        deadline = time.monotonic() + 60
        while not (lock.exists() and lock.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)

        second = newsbeam(*words, check=False)

        assert second.returncode == 4
        assert str(first.pid) in second.stderr
        assert len(second.stderr.strip().splitlines()) == 1
        assert first.poll() is None, "the second did not wait for the first"
        assert first.wait(timeout=60) == 0
    assert len(read_rows(tmp_path / "out", "articles")) == 1
