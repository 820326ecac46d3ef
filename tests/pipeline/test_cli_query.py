"""``newsbeam query`` and ``dataset schema``: rows on stdout, words on stderr, mistakes in a line."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from transforms.schema import PARTITIONS, TABLES
from transforms.write.meta import write_meta
from transforms.write.storage import storage_of

TITLE = 'Ferry line asks: "who, then?"'


def _filler(kind):
    if pa.types.is_list(kind):
        return []
    if pa.types.is_timestamp(kind):
        return datetime(2026, 11, 30, 10, tzinfo=timezone.utc)
    if pa.types.is_boolean(kind):
        return False
    return 0 if pa.types.is_integer(kind) or pa.types.is_floating(kind) else ""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A dataset with one article in two revisions, and empty tables."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {**{field.name: _filler(field.type) for field in TABLES["articles"]}, **more}
        for more in (
            {"article_id": "1-a", "revision": 1, "title": "old"},
            {"article_id": "1-a", "revision": 2, "title": TITLE, "text": "x\x1b[2Jy " * 400, "topics": ["immigration"]},
        )
    ]
    for name, schema in TABLES.items():
        folder = tmp_path.joinpath("out", name, *(f"{key}=2026-11-30" for key in PARTITIONS[name]))
        folder.mkdir(parents=True)
        found = pa.Table.from_pylist(rows if name == "articles" else [], schema=schema)
        pq.write_table(found, folder / "a.parquet")
    write_meta(storage_of(str(tmp_path / "out")))
    return tmp_path / "out"


def ask(capsys, *words):
    assert main(["query", *words]) == 0
    return capsys.readouterr()


def test_a_table_by_default(root, capsys):
    said = ask(capsys, "SELECT title, revision, topics, fetched_at FROM articles_latest")
    assert said.out.splitlines() == [
        "title                          revision  topics           fetched_at",
        "-----------------------------  --------  ---------------  -------------------------",
        f'{TITLE}         2  ["immigration"]  2026-11-30T10:00:00+00:00',
    ]
    assert said.err == "1 row\n"


def test_a_table_is_safe_for_a_terminal_and_short(root, capsys):
    lines = ask(capsys, "SELECT text FROM articles_latest").out.splitlines()
    assert "\x1b" not in lines[2]
    assert len(lines[2]) < 1000


def test_csv_is_whole_and_alone_on_stdout(root, capsys):
    said = ask(capsys, "FROM articles SELECT title, text ORDER BY revision", "--csv")
    rows = list(csv.reader(io.StringIO(said.out)))
    assert rows[0] == ["title", "text"]
    assert rows[1][0] == "old"
    assert rows[2] == [TITLE, "x\x1b[2Jy " * 400]
    assert said.err == ""


def test_json_is_an_object_a_line(root, capsys):
    said = ask(
        capsys, "SELECT title, topics, fetched_at, published_at, 'nan'::double AS nan FROM articles_latest", "--json"
    )
    assert json.loads(said.out) == {
        "title": TITLE,
        "topics": ["immigration"],
        "fetched_at": "2026-11-30T10:00:00+00:00",
        "published_at": "2026-11-30T10:00:00+00:00",
        "nan": None,
    }


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT 1.50::DECIMAL(9,2) AS x", 1.5),
        ("SELECT sum(revision) AS x FROM articles", 3),
        ("SELECT 'ab'::BLOB AS x", "6162"),
        ("SELECT DATE '2026-11-30' AS x", "2026-11-30"),
        ("SELECT {'a': [1, NULL]} AS x", {"a": [1, None]}),
        ("SELECT INTERVAL 90 MINUTE AS x", "1:30:00"),
    ],
)
def test_values_of_every_kind_become_json(root, capsys, sql, value):
    assert json.loads(ask(capsys, sql, "--json").out) == {"x": value}


def test_columns_of_one_name_stay_two(root, capsys):
    assert json.loads(ask(capsys, "SELECT 1 AS a, 2 AS a", "--json").out) == {"a": 1, "a_2": 2}


def test_a_table_of_very_many_rows_says_where_it_ends(root, capsys):
    said = ask(capsys, "FROM range(5000)")
    assert len(said.out.splitlines()) == 1002
    assert said.err == "the first 1,000 rows; --csv and --json give all\n"
    assert len(ask(capsys, "FROM range(5000)", "--csv").out.splitlines()) == 5001


@pytest.mark.parametrize(
    "sql",
    [
        "PIVOT articles ON title USING count(*)",
        "FROM (PIVOT articles ON title USING count(*))",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE FROM articles",
        "SUMMARIZE articles",
        "DESCRIBE articles",
        "SHOW TABLES",
        "WITH x AS (SELECT 1) FROM x;",
        "SELECT 1 -- ; SELECT 2",
    ],
)
def test_statements_that_only_read(root, capsys, sql):
    assert ask(capsys, sql).out


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("", "wants one SQL statement, and this is no statement"),
        (" ;-- nothing", "wants one SQL statement, and this is no statement"),
        ("SELECT 1; SELECT 2", "wants one SQL statement, and this is 2 statements"),
        ("CREATE TABLE t (a INTEGER)", "CREATE is refused"),
        ("DROP VIEW articles", "DROP is refused"),
        ("COPY articles TO 'out/a.csv'", "COPY is refused"),
        ("COPY (PIVOT articles ON title) TO 'out/a.csv'", "MULTI is refused"),
        ("EXPLAIN ANALYZE COPY articles TO 'out/a.csv'", "COPY is refused"),
        ("/**/EXPLAIN ANALYZE COPY articles TO 'out/a.csv'", "EXPLAIN is refused"),
        ("EXPLAIN (ANALYZE) COPY articles TO 'out/a.csv'", "COPY is refused"),
        ("ATTACH 'out/a.db'", "ATTACH is refused"),
        ("INSTALL httpfs", "LOAD is refused"),
        ("SET threads = 1", "SET is refused"),
        ("PRAGMA version", "PRAGMA is refused"),
    ],
)
def test_what_does_more_than_read_is_refused(root, capsys, sql, says):
    assert main(["query", sql]) == 2
    said = capsys.readouterr()
    assert (said.out, says in said.err, said.err.count("\n")) == ("", True, 1)
    assert not list(root.glob("a.*"))


@pytest.mark.parametrize("sql", ["FROM read_text('secret.txt')", "FROM glob('/etc/*')", "FROM 'secret.txt'"])
def test_no_file_outside_the_dataset_is_read(root, capsys, sql):
    (root.parent / "secret.txt").write_text("hidden words")
    assert main(["query", sql]) == 2
    assert "hidden words" not in "".join(capsys.readouterr())


def test_a_dataset_behind_a_link_whose_name_has_a_quote_is_read(root, capsys):
    (root.parent / "o'hara").symlink_to(root)
    assert json.loads(ask(capsys, "SELECT count(*) AS n FROM articles", "--json", "-d", "o'hara").out) == {"n": 2}


@pytest.mark.parametrize("keep", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"x" * len(data)])
def test_a_damaged_file_is_named_with_what_to_do(root, capsys, keep):
    (file,) = (root / "articles").rglob("*.parquet")
    file.write_bytes(keep(file.read_bytes()))
    assert main(["query", "FROM articles"]) == 1
    said = capsys.readouterr()
    assert "newsbeam dataset verify -d out" in said.err
    assert "a.parquet" in said.err


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELEC 1", "Parser Error: syntax error"),
        ("FROM nix", "Table with name nix does not exist"),
        ("SELECT x", '"x" was not found'),
    ],
)
def test_wrong_sql_is_one_line_and_exit_2(root, capsys, sql, says):
    assert main(["query", sql]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1


def test_without_a_dataset_the_next_command_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["query", "SELECT 1", "-d", "nix"]) == 2
    assert (
        capsys.readouterr().err
        == "newsbeam: nix: no dataset there; make one with newsbeam run -d nix, or name one with -d\n"
    )


def test_the_dataset_of_the_config_is_asked(root, capsys, tmp_path):
    (tmp_path / "newsbeam.yaml").write_text("dataset: out\n")
    assert json.loads(ask(capsys, "SELECT count(*) AS n FROM articles", "--json").out) == {"n": 2}


def test_the_schema_for_people(capsys):
    assert main(["dataset", "schema"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" / ")[0] for line in lines if " / " in line and "=..." in line] == list(TABLES)
    assert any(line.split()[:2] == ["published_at", "timestamp[us,"] for line in lines)


def test_the_schema_for_machines(capsys):
    assert main(["dataset", "schema", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["tables"]) == list(TABLES)
    assert main(["dataset", "schema", "--bigquery"]) == 0
    assert capsys.readouterr().out.count("CREATE OR REPLACE EXTERNAL TABLE") == len(TABLES)
    assert main(["dataset", "schema", "--arrow"]) == 0
    assert "article_id: string not null" in capsys.readouterr().out
