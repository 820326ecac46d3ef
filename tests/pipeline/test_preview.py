"""``newsbeam run --plan``: what would be done, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import ExitCode


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("vote.txt").write_text("The council of Orrin voted to stay a sanctuary city.\n")
    Path("pages.txt").write_text("http://127.0.0.1:9/a\n")


def plan(capsys, *words):
    """Stdout of ``run --plan`` over one seed file, one list of addresses and two feeds of one host."""
    feeds = ("http://127.0.0.1:9/a.xml", "http://127.0.0.1:9/b.xml")
    inputs = ("--seeds", "vote.txt", "--urls", "pages.txt", "--feeds", *feeds)
    assert main(["run", "--plan", *inputs, "--allow-loopback", "-d", "out", *words]) == ExitCode.DONE
    return capsys.readouterr().out


def test_the_plan_as_json(capsys):
    shown = json.loads(plan(capsys, "--json", "--host-gap", "3s"))
    assert shown["dataset"] == str(Path("out").absolute())
    counts = ("seed_files", "runs", "feeds", "feed_hosts", "due_feeds", "url_files", "due_pages", "host_gap_s")
    assert [shown[name] for name in counts] == [1, 1, 2, 1, 2, 1, 0, 3]
    assert not Path("out").exists()


def test_the_plan_for_people(capsys):
    shown = plan(capsys).splitlines()
    assert "seeds       1 file in 1 run" in shown
    assert "feeds       2 feeds on 1 host, 2 due" in shown
    assert shown[-1] == "nothing was done; leave out --plan to do it"


def test_a_feed_of_this_machine_without_its_flag_is_told_beforehand(capsys):
    words = ("run", "--plan", "--feeds", "http://localhost:9/a.xml", "-d", "out")
    main([*words, "--allow-loopback"])
    assert capsys.readouterr().err == ""
    main([*words])
    assert (
        "http://localhost:9/a.xml is on this machine, which is asked with --allow-loopback only"
        in capsys.readouterr().err
    )
