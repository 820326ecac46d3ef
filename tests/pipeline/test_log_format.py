"""``--log-format json``: whatever goes to stderr is a JSON object a line."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pipeline.cli import main
from tests.program import newsbeam


def test_stderr_is_json_lines_with_time_level_message_and_fields(tmp_path: Path) -> None:
    words = ["--seeds", "seeds/council-vote.txt", "no-such-*.txt", "--log-format", "json", "-d", tmp_path / "out"]
    done = newsbeam("run", *words)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"time", "level", "message"} <= set.intersection(*(set(line) for line in told))
    assert all(datetime.fromisoformat(line["time"].replace("Z", "+00:00")).utcoffset() == timedelta(0) for line in told)
    assert any("no-such-*.txt" in line["message"] for line in told)
    assert not any(line["message"].startswith("newsbeam: ") for line in told)
    (committed,) = [line for line in told if line["message"].startswith("committed")]
    (manifest,) = (tmp_path / "out/_runs").glob("*.json")
    assert committed["run_id"] == manifest.stem
    assert (committed["items"]["new"], committed["level"]) == (1, "info")


def test_errors_are_json_too(tmp_path: Path) -> None:
    done = newsbeam("run", "--runner", "nonsense", "--log-format", "json", "-d", tmp_path, check=False)
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (done.returncode, line["level"]) == (2, "error")


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_time_of_a_line_of_watch_stands_there_once(form, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none.txt").write_text("# nothing yet\n")
    words = ["--urls", "none.txt", "-d", "out", "--until", "0", "--log-format", form]
    monkeypatch.setattr("pipeline.watch.watch", lambda plan, options, tell: tell("nothing was due") or 0)
    main(["watch", *words])
    (line,) = capsys.readouterr().err.splitlines()
    if form == "json":
        assert json.loads(line)["message"] == "nothing was due"
    else:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  nothing was due", line)
