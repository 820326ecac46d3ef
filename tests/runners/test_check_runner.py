"""``newsbeam check --runner``: what is here, what is missing, and what mends it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.options import beam_arguments
from pipeline.runners.check import Finding, check_runner, require_local
from tests.program import newsbeam


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEWSBEAM_CACHE", str(tmp_path))
    return tmp_path


def _missing(found: list[Finding]) -> dict[str, str]:
    return {finding.what: finding.mend for finding in found if finding.is_needed and not finding.is_there}


def test_the_default_needs_nothing() -> None:
    assert _missing(check_runner(beam_arguments(None, []))) == {}


def test_prism_is_built_and_never_downloaded(cache: Path) -> None:
    (_, prism) = check_runner(beam_arguments("prism", []))
    assert (prism.is_there, prism.is_needed) == (False, True)
    assert "deploy/prism/build.sh" in str(prism)
    with pytest.raises(ConfigError, match=r"is not there; build it with deploy/prism/build\.sh"):
        require_local(beam_arguments("prism", []))
    require_local(beam_arguments("prism", ["--prism_location=https://example.org/prism.zip"]))  # as the user wishes

    program = cache / "beam-2.77.0/prism"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    flags = beam_arguments("prism", [])
    assert f"--prism_location={program}" in flags
    assert check_runner(flags)[1].is_there
    require_local(flags)


@pytest.mark.parametrize("runner", ["FlinkRunner", "SparkRunner"])
def test_no_job_server_is_downloaded(runner: str) -> None:
    with pytest.raises(ConfigError, match="wants --job_endpoint=HOST:PORT"):
        require_local(beam_arguments(runner, []))
    require_local(beam_arguments(runner, ["--job_endpoint=127.0.0.1:8099"]))


def test_a_run_says_in_one_line_what_is_missing(cache: Path, tmp_path: Path) -> None:
    done = newsbeam("run", "--seeds", "seeds/*.txt", "--runner", "prism", "-d", tmp_path / "out", check=False)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert "--prism_location=PATH" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("runner", ["flink", "spark"])
def test_a_job_server_is_knocked_at(runner: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        flags = beam_arguments(runner, [f"--job_endpoint=127.0.0.1:{port}"])
        assert _missing(check_runner(flags)) == {}
    assert _missing(check_runner(flags)) == {
        f"a job server at 127.0.0.1:{port}": f"start one with deploy/{runner}/job_server.sh {port}"
    }


def test_a_process_environment_wants_its_command() -> None:
    missing = _missing(check_runner(beam_arguments("flink", ["--environment_type", "PROCESS"])))
    assert "environment_config" in missing
    assert any(what.startswith("the boot program") for what in missing)


def test_dataflow_wants_its_flags() -> None:
    missing = _missing(check_runner(beam_arguments("dataflow", ["--project=my-project"])))
    assert missing["--temp_location"] == "add --temp_location=..."
    assert not any(what.startswith("--project") for what in missing)


def test_the_command_ends_with_2_if_a_run_would_fail() -> None:
    done = newsbeam("check", "--runner", "flink", "--job_endpoint=127.0.0.1:1", "--json", check=False)
    assert done.returncode == 2
    assert any(not finding["is_there"] for finding in json.loads(done.stdout))
    assert newsbeam("check", "--runner", "direct").stdout == "ok          runner in this process\n"
