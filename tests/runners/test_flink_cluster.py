"""A real Flink cluster: batch rows equal, and a stream whose TaskManager and workers are killed in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import ROOT, newsbeam, run_json
from tests.rows import assert_same_rows, assert_sound
from tests.runners.newsroom import Newsroom, assert_adds_up, count, is_complete, items_of_all, stream_words
from tests.runners.processes import (
    BOOT,
    CLUSTER_JARS,
    DEPLOY,
    FLINK_JARS,
    FlinkCluster,
    assert_loopback_only,
    end,
    needs,
    start,
    wait_for,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), needs(FLINK_JARS, CLUSTER_JARS, BOOT)]

WORKER = f'{{"command": "{DEPLOY}/worker.sh"}}'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    with FlinkCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
        assert_loopback_only("a Flink cluster")


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


@pytest.mark.parametrize("environment", ["LOOPBACK", "PROCESS"])
def test_a_stream_outlives_kills_and_loses_nothing(
    cluster: FlinkCluster, environment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "out"
    kills = int(os.environ.get("NEWSBEAM_KILLS", "3"))
    launcher = None
    with Newsroom(feeds=3, rate_per_s=1.0, articles=60 + 40 * kills) as room:
        words = stream_words(room, root, tmp_path, *_flags(cluster, environment), "--checkpointing_interval=3000")
        if environment == "PROCESS":  # the launcher leaves, and the dataset is complete all the same
            newsbeam(*words[3:], "--detach", timeout_s=180)
        else:
            launcher = start(words, tmp_path / "stream.log")
        try:
            for kill in range(kills):
                _kill(cluster, room, root, kill)
            wait_for("all that was shown", lambda: is_complete(room, root), timeout_s=600, pause_s=2)
            (job,) = cluster.running_jobs()
            checkpoints = cluster.checkpoints(job)
        finally:
            if launcher is not None:
                end(launcher, timeout_s=30)
            cluster.cancel_all()
            cluster.kill_workers()
        counted = count(room, root)
    with capsys.disabled():
        print(f"\n{environment}, {kills} kills, {checkpoints['restored']} restores: {counted}\n  {items_of_all(root)}")
    assert counted.is_right, (counted.lost, counted.stale)
    assert checkpoints["restored"] >= 1
    assert_sound(root)
    assert_adds_up(root)


def test_a_stream_stopped_with_a_savepoint_goes_on_from_it(
    cluster: FlinkCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "out"
    with Newsroom(feeds=3, rate_per_s=1.0, articles=90) as room:
        words = stream_words(room, root, tmp_path, *_flags(cluster, "PROCESS"), "--checkpointing_interval=3000")
        newsbeam(*words[3:], "--detach", timeout_s=180)
        try:
            wait_for("commits", lambda: _commits(root) >= 4, timeout_s=400)
            (job,) = cluster.running_jobs()
            savepoint = cluster.stop_with_savepoint(job)
            before = _commits(root)
            newsbeam(*words[3:], "--detach", f"--savepoint_path={savepoint}", timeout_s=180)
            wait_for("all that was shown", lambda: is_complete(room, root), timeout_s=600, pause_s=2)
            (job,) = cluster.running_jobs()
            restored = cluster.checkpoints(job)["restored"]
        finally:
            cluster.cancel_all()
            cluster.kill_workers()
        counted = count(room, root)
    with capsys.disabled():
        print(f"\nsavepoint after {before} commits, {restored} restores: {counted}\n  {items_of_all(root)}")
    assert counted.is_right, (counted.lost, counted.stale)
    assert restored >= 1
    assert_sound(root)
    assert_adds_up(root)


def _kill(cluster: FlinkCluster, room: Newsroom, root: Path, kill: int) -> None:
    """Kills the TaskManager in mid-stream: its workers live on, die with it, or stop and go on when others work."""
    before = _commits(root)
    wait_for("commits", lambda: _commits(root) >= before + 3, timeout_s=400)
    workers = cluster.worker_groups()
    room.kills.append(time.time())
    if kill % 3 == 2:
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
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
