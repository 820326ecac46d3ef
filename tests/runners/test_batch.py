"""The same seeds and the same feed through other runners: the rows are those of the in-process run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import items_of, page, rss, run_json
from tests.rows import assert_same_rows, assert_sound
from tests.runners.processes import (
    BOOT,
    DEPLOY,
    FLINK_JARS,
    PRISM,
    SPARK_JARS,
    assert_loopback_only,
    job_server,
    needs,
)
from tests.servers import NewsServer

pytestmark = pytest.mark.slow

STORIES = 12
PROCESS = ["--environment_type=PROCESS", f'--environment_config={{"command": "{DEPLOY}/worker.sh"}}']


@pytest.fixture(scope="module")
def server() -> Iterator[NewsServer]:
    routes = {f"/story/{number}": page(number) for number in range(STORIES)}
    with NewsServer(routes, host="127.0.0.2") as running:
        links = [f"/story/{number}" for number in range(STORIES)] + ["/story/3", "/gone"]
        running.routes["/feed.xml"] = rss([running.url(link) for link in links])
        yield running


@pytest.fixture(scope="module")
def inputs(server: NewsServer) -> list[object]:
    return [
        *("--feeds", server.url("/feed.xml"), "--seeds", "seeds/*.txt", "seeds/*.html", "seeds/*.jsonl", "seeds/*.xml"),
        *("--topics", "configs/topics.yaml", "--allow-loopback", "--host-gap", "0", "--now", "2026-11-30T10:00:00Z"),
    ]


@pytest.fixture(scope="module")
def in_process(inputs: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("in_process") / "out"
    summary = run_json(*inputs, "-d", root)
    assert summary["items"]["new"] > STORIES
    assert summary["items"]["rejected"] == 1
    return root


def _assert_same(in_process: Path, root: Path, inputs: list[object], *flags: object) -> None:
    summary = run_json(*inputs, "-d", root, *flags, timeout_s=300)
    assert summary["adds_up"]
    assert_same_rows(in_process, root)
    assert_sound(root)
    assert _funnel(in_process) == _funnel(root)
    again = run_json(*inputs, "--due-now", "-d", root, *flags, timeout_s=300)
    assert set(items_of(again)) == {"in", "known"}


def _funnel(root: Path) -> dict[str, int]:
    (manifest,) = [json.loads(path.read_bytes()) for path in (root / "_runs").glob("*.json")]
    return {f"{tally['stage']} {tally['outcome']}": tally["n"] for tally in manifest["stages"]}


def test_worker_processes(in_process: Path, inputs: list[object], tmp_path: Path) -> None:
    flags = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]
    _assert_same(in_process, tmp_path / "out", inputs, *flags)


@needs(PRISM)
@pytest.mark.timeout(600)
def test_prism(in_process: Path, inputs: list[object], tmp_path: Path) -> None:
    _assert_same(in_process, tmp_path / "out", inputs, "--runner", "prism")
    assert_loopback_only("the tests' own server, after Prism")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "environment",
    [pytest.param("LOOPBACK", marks=needs(FLINK_JARS)), pytest.param("PROCESS", marks=needs(FLINK_JARS, BOOT))],
)
def test_embedded_flink(in_process: Path, inputs: list[object], tmp_path: Path, environment: str) -> None:
    with job_server("flink", tmp_path / "flink") as port:
        flags = ["--runner", "flink", f"--job_endpoint=127.0.0.1:{port}"]
        flags += PROCESS if environment == "PROCESS" else []
        _assert_same(in_process, tmp_path / "out", inputs, *flags)


@needs(SPARK_JARS)
@pytest.mark.timeout(900)
def test_embedded_spark(in_process: Path, inputs: list[object], tmp_path: Path) -> None:
    with job_server("spark", tmp_path / "spark") as port:
        flags = ["--runner", "spark", f"--job_endpoint=127.0.0.1:{port}"]
        _assert_same(in_process, tmp_path / "out", inputs, *flags)
