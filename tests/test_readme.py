"""What README.md promises: its snippets run and agree, its commands exist, its length is bounded."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from pipeline.cli.parser import parse
from tests.program import ROOT, newsbeam
from tests.rows import read_rows

README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a dataset ``out`` in which one article has two revisions."""
    folder = tmp_path_factory.mktemp("readme")
    first = '{"url": "https://vale-post.example/a", "title": "First %s", "text": "The council of Vale met. %s"}\n'
    for words in (("edition", "It adjourned."), ("edition, corrected", "It went on.")):
        (folder / "news.jsonl").write_text(first % words)
        newsbeam("run", "-c", ROOT / "configs/newsbeam.yaml", "--seeds", folder / "news.jsonl", "-d", folder / "out")
    newsbeam("run", "-c", ROOT / "configs/newsbeam.yaml", "-d", folder / "out")
    return folder


def test_there_is_a_snippet_for_each_of_four_readers():
    assert [re.findall(r"import (\w+)", snippet)[0] for snippet in SNIPPETS] == [
        "duckdb",
        "polars",
        "pandas",
        "pyarrow",
    ]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["duckdb", "polars", "pandas", "pyarrow"])
def test_a_snippet_reads_the_latest_revision_of_each_article(snippet, folder):
    count = "len(con.sql('FROM articles_latest').fetchall()) if 'con' in globals() else len(articles_latest)"
    code = f"{snippet}\nprint('ROWS', {count})\n"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    ids = {row["article_id"] for row in read_rows(folder / "out", "articles")}
    assert len(read_rows(folder / "out", "articles")) == len(ids) + 1
    assert f"ROWS {len(ids)}" in done.stdout
    assert "First edition" not in done.stdout.replace("First edition, corrected", "")


def test_the_commands_exist():
    blocks = README.split("```")[1::2]
    lines = [line for block in blocks for line in block.splitlines() if re.match(r"(\.venv/bin/)?newsbeam ", line)]
    assert len(lines) >= 5
    for line in lines:
        parse(shlex.split(line)[1:])


def test_it_is_short():
    assert len(README.splitlines()) <= 150
