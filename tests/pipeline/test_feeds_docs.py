"""docs/howto/feeds.md is true: its commands parse, those that ask nobody run, and no command imports Beam."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.cli.parser import build_parser, flags_of, parse
from tests.feed_polls import rss
from tests.program import ROOT
from transforms.feeds.health import PROBLEMS

HOWTO = (ROOT / "docs/howto/feeds.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"```sh\n(.*?)```", HOWTO, re.DOTALL))
COMMANDS = [line for line in BLOCKS.splitlines() if line.startswith("newsbeam ")]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_page_parses(line):
    assert parse(shlex.split(line)[1:]).call


def test_the_page_shows_every_command_of_feeds():
    shown = {shlex.split(line)[2] for line in COMMANDS if line.startswith("newsbeam feeds ")}
    assert shown == set(build_parser().commands["feeds"].commands) - {"list"}


def test_the_page_explains_every_state_in_the_order_of_the_code():
    table = HOWTO[HOWTO.index("## Are they well?") :]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(PROBLEMS)


def test_every_flag_of_the_feeds_commands_is_told():
    section = CLI.partition("## Commands of `feeds`")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(--?[a-z-]+)", section))
    own = {flag for parser in build_parser().commands["feeds"].commands.values() for flag in flags_of(parser)}
    assert told == own - {"-h", "--help", "--debug", "--config", "--dataset"}


def test_the_commands_that_ask_nobody_do_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("my-feeds.yaml").write_text((ROOT / "configs/feeds.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    Path("subscriptions.opml").write_text(
        '<opml version="2.0"><body><outline text="L" xmlUrl="https://lantern.example/f"/></body></opml>'
    )
    Path("saved.xml").write_text(rss(1))
    before = Path("my-feeds.yaml").read_text(encoding="utf-8")
    offline = [
        line for line in COMMANDS if "--unchecked" in line or re.search(r"import|export|health|saved\.xml", line)
    ]
    assert len(offline) == 6
    for line in offline:
        assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    after = Path("my-feeds.yaml").read_text(encoding="utf-8")
    assert set(before.splitlines()) <= set(after.splitlines())
    assert after.startswith(before)


@pytest.mark.parametrize(
    "words",
    [
        "list --feeds f.yaml",
        "check feed.xml",
        "check --feeds http://127.0.0.1:9/ --allow-loopback",
        "discover http://127.0.0.1:9/ --allow-loopback",
        "add https://lantern.example/f --file f.yaml --unchecked",
        "import f.yaml --file g.yaml",
        "export - --feeds f.yaml",
        "health -d out --feeds f.yaml",
    ],
)
def test_no_command_of_feeds_imports_beam(tmp_path, words):
    (tmp_path / "f.yaml").write_text("- https://ferry.example/rss\n")
    (tmp_path / "feed.xml").write_text(rss(1))
    code = (
        "import sys; from pipeline.cli import main; main(['feeds', *sys.argv[1:]]); "
        "print('beam' if 'apache_beam' in sys.modules else 'light', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "NEWSBEAM_HOST_GAP": "0"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr.splitlines()[-1] == "light", done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
