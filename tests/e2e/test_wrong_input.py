"""What users do wrong: one clear line each, the right exit code, no traceback, nothing written."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.program import ROOT, newsbeam, run_json


def _said(*words, code, **how):
    done = newsbeam(*words, check=False, **how)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert lines
    return lines


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["run", "-c", "no-such.yaml"], "no-such.yaml"),
        (["run", "--seeds", "no/such/*.txt"], "no seed file matches"),
        (["run", "--seeds", "no-such-seed.txt"], "no-such-seed.txt"),
        (["run", "--seeds", "seeds"], "is a directory"),
        (["run", "--topics", "no-topics.yaml", "--seeds", "seeds/*.txt"], "no-topics.yaml"),
        (["run", "--sedes", "seeds/*.txt"], "--seeds"),
        (["run", "--runer", "DirectRunner"], "--runner"),
        (["run", "--feeds", "https://courier.example/feed"], "contact"),
        (["run", "--keep", "some", "--seeds", "seeds/*.txt"], "keep"),
        (["rum"], "run"),
        (["explain", "no-such-file.txt"], "no-such-file.txt"),
        (["query", "SELECT 1", "-d", "no/such/dataset"], "no/such/dataset"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(words, part, tmp_path):
    lines = _said(*words, *(["-d", tmp_path / "out"] if words[0] == "run" else []), code=2)

    assert any(part in line for line in lines)
    assert len(lines) == 1
    assert not (tmp_path / "out").exists()


def test_an_unwritable_output_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("in the way")

    lines = _said("run", "--seeds", "seeds/*.txt", "-d", tmp_path / "file" / "out", code=2)

    assert len(lines) == 1
    assert str(tmp_path / "file") in lines[0]


def test_every_mistake_of_a_file_is_named_with_its_place(tmp_path):
    config = tmp_path / "news.yaml"
    config.write_text("version: 1\nsedes: [a.txt]\nkeep: sometimes\nhost_gap: soon\n")

    lines = _said("run", "-c", config, code=2)

    assert any(f"{config}:2:1" in line and "seeds" in line for line in lines)
    assert any(f"{config}:3:" in line for line in lines)
    assert any(f"{config}:4:" in line for line in lines)


@pytest.mark.parametrize(("name", "body"), [("paper.pdf", b"%PDF-1.7\n"), ("page.html", b"<html></html>")])
def test_only_seeds_of_no_use_is_exit_1(name, body, tmp_path):
    (tmp_path / name).write_bytes(body)

    done = newsbeam("run", "--seeds", tmp_path / name, "-d", tmp_path / "out", check=False)

    assert done.returncode == 1
    assert "rejected 1" in done.stdout
    assert "every seed and address failed" in done.stderr


def test_all_feeds_failing_is_exit_1_and_one_of_two_is_0(tmp_path):
    closed = ["http://127.0.0.1:9/a.xml", "http://127.0.0.1:9/b.xml"]
    flags = ["--allow-loopback", "--host-gap", "0", "-d", tmp_path / "out"]

    done = newsbeam("run", "--feeds", *closed, *flags, check=False)

    assert done.returncode == 1
    assert "every feed failed" in done.stderr
    (tmp_path / "quiet.txt").write_text("The council of Vale met on Monday.")
    mixed = newsbeam("run", "--feeds", *closed, "--due-now", "--seeds", tmp_path / "quiet.txt", *flags, check=False)
    assert mixed.returncode == 1


def test_more_rejects_than_allowed_is_exit_3(tmp_path):
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7\n")
    (tmp_path / "good.txt").write_text("The council of Vale met on Monday.")

    done = newsbeam("run", "--seeds", tmp_path / "*", "-d", tmp_path / "out", "--max-rejects", "0", check=False)

    assert done.returncode == 3


def test_outside_a_terminal_there_is_no_escape_and_no_carriage_return(tmp_path):
    done = newsbeam("run", "--seeds", "seeds/*.txt", "-d", tmp_path / "out")

    assert "\r" not in done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_closed_pipe_is_no_error(tmp_path):
    run_json("--seeds", "seeds/*.txt", "-d", tmp_path / "out")

    command = f"{sys.executable} -m pipeline query 'FROM articles' --json -d {tmp_path / 'out'} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=ROOT)

    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(tmp_path):
    done = newsbeam("run", "-c", "no-such.yaml", "--debug", check=False)

    assert "Traceback" in done.stderr
