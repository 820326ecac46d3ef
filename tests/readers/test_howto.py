"""The snippets of docs/howto run as they stand, on a dataset of two minor versions."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pipeline.cli.parser import build_parser
from transforms.schema import ARTICLES

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"


def snippets(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (HOWTO / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def here(two_versions, tmp_path, monkeypatch):
    (tmp_path / "out").symlink_to(two_versions)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("page", "shown"), [("duckdb.md", "deportation"), ("pandas.md", "Council votes")])
def test_the_snippets_run(page, shown, here, capsys):
    code = "\n".join(snippets(page, "python"))
    exec(compile(code, page, "exec"), {})
    assert shown in capsys.readouterr().out


def test_the_newest_schema_brings_the_newer_column(here, capsys):
    exec(compile("\n".join(snippets("pandas.md", "python")), "pandas.md", "exec"), {})
    assert "'section'" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed")
def test_the_snippets_for_spark_run(here, capsys, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    found = {}
    exec(compile("\n".join(snippets("spark.md", "python")), "spark.md", "exec"), found)
    found["spark"].stop()
    shown = capsys.readouterr().out
    assert shown.count("Council votes") == 3 + 5


def test_athena_names_columns_that_there_are_with_their_types():
    (ddl,) = snippets("athena.md", "sql")
    columns = dict(re.findall(r"(\w+) (string|timestamp|int|array<string>)[,\n]", ddl.partition("PARTITIONED")[0]))
    kinds = {"string": "string", "timestamp": "timestamp[us, tz=UTC]", "int": "int32"}
    for name, kind in columns.items():
        wanted = kinds.get(kind, "list<element: string not null>")
        assert str(ARTICLES.field(name).type) == wanted, name
    assert len(columns) >= 10
    hits = re.search(r"matches array<struct<(.*?)>>", ddl, re.DOTALL)[1]
    names = [part.split(":")[0].strip(" `\n") for part in hits.split(",")]
    assert names == [field.name for field in ARTICLES.field("matches").type.value_type]


@pytest.mark.parametrize("page", ["duckdb.md", "bigquery.md", "athena.md", "schema.md"])
def test_the_commands_of_the_pages_are_there(page):
    text = (HOWTO / page).read_text(encoding="utf-8")
    for words in re.findall(r"(?:`|\n)newsbeam ([a-z]+(?: [a-z]+)?)", text):
        parser = build_parser()
        for word in words.split():
            if parser.commands:
                assert word in parser.commands, words
                parser = parser.commands[word]
