"""A real Flink cluster: batch rows equal, and a stream whose TaskManager and workers are killed in the middle."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import ROOT, newsbeam, run_json
from tests.rows import assert_same_rows, assert_sound
from tests.runners.newsroom import Newsroom, count, is_complete, items_of_all, stream_words
from tests.runners.processes import (
    BOOT,
    CLUSTER_JARS,
    DEPLOY,
    FLINK_JARS,
    FlinkCluster,
    end,
    is_loopback_only,
    listeners,
    needs,
    start,
    wait_for,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), needs(FLINK_JARS, CLUSTER_JARS, BOOT)]

WORKER = f'{{"command": "{DEPLOY}/worker.sh"}}'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    with FlinkCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
        assert is_loopback_only(), listeners()


def _flags(cluster: FlinkCluster, environment: str) -> list[object]:
    flags: list[object] = ["--runner", "flink", f"--job_endpoint=127.0.0.1:{cluster.job_port}"]
    if environment == "PROCESS":
        flags += ["--environment_type=PROCESS", f"--environment_config={WORKER}"]
    return flags


def _commits(root: Path) -> int:
    return len(list((root / "_runs").glob("*.json")))


@pytest.mark.parametrize("environment", ["LOOPBACK", "PROCESS"])
def test_batch_rows_are_those_of_the_in_process_run(cluster: FlinkCluster, environment: str, tmp_path: Path) -> None:
    seeds = ["-c", ROOT / "configs/newsbeam.yaml"]
    run_json(*seeds, "-d", tmp_path / "here")
    run_json(*seeds, "-d", tmp_path / "there", *_flags(cluster, environment), timeout_s=300)
    assert_same_rows(tmp_path / "here", tmp_path / "there")
    assert_sound(tmp_path / "there")
    cluster.kill_workers()


def test_a_stream_in_the_launcher_is_complete(cluster: FlinkCluster, tmp_path: Path) -> None:
    root = tmp_path / "out"
    with Newsroom(feeds=2, rate_per_s=1.0, articles=30) as room:
        words = stream_words(room, root, tmp_path, *_flags(cluster, "LOOPBACK"), "--checkpointing_interval=3000")
        stream = start(words, tmp_path / "stream.log")
        try:
            wait_for("all that was shown", lambda: is_complete(room, root), timeout_s=240, pause_s=2)
        finally:
            end(stream, timeout_s=30)
            cluster.cancel_all()
        counted = count(room, root)
    print(counted)
    assert (counted.lost, counted.stale, counted.doubled) == ([], [], 0)
    assert_sound(root)


def test_a_detached_stream_outlives_kills_and_loses_nothing(cluster: FlinkCluster, tmp_path: Path) -> None:
    root = tmp_path / "out"
    kills = int(os.environ.get("NEWSBEAM_KILLS", "3"))
    with Newsroom(feeds=3, rate_per_s=1.0, articles=60 + 50 * kills) as room:
        words = stream_words(room, root, tmp_path, *_flags(cluster, "PROCESS"), "--checkpointing_interval=3000")
        newsbeam(*words[3:], "--detach", timeout_s=180)
        for kill in range(kills):
            before = _commits(root)
            wait_for("commits", lambda before=before: _commits(root) >= before + 3, timeout_s=150)
            workers = cluster.worker_groups()
            room.kills.append(time.time())
            if kill % 3 == 2:  # zombies: stopped in the middle of their work, they go on when others have taken over
                for pid in workers:
                    os.kill(pid, signal.SIGSTOP)
            cluster.kill_taskmanager()
            if kill % 3 == 1:
                cluster.kill_workers()
            time.sleep(2)
            cluster.start_taskmanager()
            if kill % 3 == 2:
                time.sleep(15)
                for pid in workers:
                    os.kill(pid, signal.SIGCONT)
            print(f"kill {kill + 1} after {before} commits, {room.published} published")
        wait_for("all that was shown", lambda: is_complete(room, root), timeout_s=300, pause_s=2)
        (job,) = cluster.running_jobs()
        checkpoints = cluster.checkpoints(job)
        cluster.cancel_all()
        cluster.kill_workers()
        counted = count(room, root)
    print(f"{counted}\ncheckpoints {checkpoints}", file=sys.stderr)
    assert (counted.lost, counted.stale, counted.doubled) == ([], [], 0)
    assert checkpoints["restored"] >= 1
    assert_sound(root)
    # What was on its way at a checkpoint may be taken in twice and end once, so the sum may be over by as many.
    items = items_of_all(root)
    print(items, file=sys.stderr)
    assert items["in"] >= sum(number for name, number in items.items() if name != "in")
