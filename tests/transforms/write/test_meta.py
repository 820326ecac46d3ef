from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.rows import data_files
from tests.transforms.write.make_items import START, fetch, reject, run_at, sha, tagged, tags
from transforms.dedupe.history import newest_state
from transforms.dedupe.state import KnownState
from transforms.records import TaggedArticle
from transforms.rejects import REASONS, STAGES
from transforms.schema import PARTITIONS, TABLES
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.dictionary import TABLE_MEANING
from transforms.write.encode import data_path, encode
from transforms.write.meta import bigquery_sql, create_views, docs_pages, main, meta_files, schema_json, write_meta
from transforms.write.rows import checked_article_row, fetch_row, ingest_date, reject_row
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, settle
from transforms.write.storage import LocalStorage

DOCS = Path(__file__).resolve().parents[3] / "docs"


def commit(root: Path, items: list[Item], number: int, at: Any = START) -> None:
    storage = LocalStorage(str(root))
    run_id = f"20261130T101502Z-000{number}"
    known = KnownState(newest_state(storage))
    settled = settle(items, known, ingest_date(at), f"{run_id}.00000")
    files = [stage_file(storage, run_id, file) for file in settled.files]
    parts = RunParts(files, settled.aliases, settled.tallies, [settled.summary])
    commit_run(storage, parts, known, run_id, at, at, {"taxonomy": {"topics": ["deportation", "immigration"]}})


def item(article: TaggedArticle) -> ArticleItem:
    row, _ = checked_article_row(article, run_at())
    assert row is not None
    return ArticleItem(row, len(article.article.text), article.tags.snippets)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("empty")
    commit(root, [], 1)
    return root


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on two days: an article in two revisions, a copy of it, an untagged one; polls, a refusal."""
    root = tmp_path_factory.mktemp("it's filled")
    words = sha("same words")
    both = tags(deportation="primary", immigration="relevant")
    next_day = START + timedelta(days=1)
    first: list[Item] = [
        item(tagged("https://a.example/1", "Two hurt.", topics=both, text_fingerprint=words, published_at=START)),
        item(tagged("https://b.example/1", "Two hurt!", topics=both, text_fingerprint=words, published_at=START)),
        RejectItem(reject_row(reject(), run_at())),
        FetchItem(fetch_row(fetch(entries_new=2, etag='"a"'), run_at())),
    ]
    second: list[Item] = [
        item(tagged("https://a.example/1", "Three hurt.", "v2", published_at=START)),
        item(tagged("https://c.example/1", "Rain.", topics=tags())),
        FetchItem(fetch_row(fetch(outcome="timeout", started_at=next_day, failures=1, entries_new=None), run_at())),
    ]
    commit(root, first, 1)
    commit(root, second, 2, next_day)
    return root


def query(root: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        create_views(connection, str(root))
        found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return found


VIEWS = (
    "articles", "articles_latest", "article_topics", "article_topics_latest", "rejects", "fetches", "stories",
    "topic_daily", "feed_health",
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_on_an_empty_dataset(empty: Path, view: str) -> None:
    assert query(empty, f"FROM {view}") == []


def test_the_latest_views_hold_one_revision_an_article(filled: Path) -> None:
    assert query(filled, "SELECT count(*) FROM articles") == [(4,)]
    latest = query(filled, "SELECT url, revision, text, ingest_date FROM articles_latest ORDER BY url")
    assert latest[0] == ("https://a.example/1", 2, "Three hurt.", date(2026, 12, 1))
    assert [row[1] for row in latest] == [2, 1, 1]
    topics = query(filled, "SELECT topic, url, revision FROM article_topics_latest ORDER BY ALL")
    assert topics == [
        ("deportation", "https://a.example/1", 2),
        ("deportation", "https://b.example/1", 1),
        ("immigration", "https://b.example/1", 1),
    ]


def test_topic_daily_counts_articles_and_copies(filled: Path) -> None:
    columns = "day, topic, articles, primary_articles, distinct_texts, domains"
    assert query(filled, f"SELECT {columns} FROM topic_daily ORDER BY topic") == [
        (date(2026, 11, 30), "deportation", 2, 2, 2, 2),
        (date(2026, 11, 30), "immigration", 1, 0, 1, 1),
    ]


def test_feed_health_tells_the_newest_poll_and_the_last_success(filled: Path) -> None:
    columns = "outcome, failures, polls, entries_new, epoch_us(last_success_at)"
    assert query(filled, f"SELECT {columns} FROM feed_health") == [
        ("timeout", 1, 2, 2, int(START.timestamp() * 1_000_000))
    ]


def test_stories_take_the_newest_grouping(filled: Path, tmp_path: Path) -> None:
    storage = LocalStorage(str(filled))
    article_id = query(filled, "SELECT article_id FROM articles WHERE domain = 'b.example'")[0][0]
    rows = [
        {"article_id": article_id, "story_id": story, "duplicate_of": None, "similarity": 1.0, "as_of": START + shift}
        for story, shift in (("1-old", timedelta()), ("1-new", timedelta(hours=1)))
    ]
    storage.write(data_path("stories", {"ingest_date": "2026-12-02"}, "r.00000.0"), encode("stories", rows))
    assert query(filled, "SELECT story_id, domain FROM stories") == [("1-new", "b.example")]


def test_the_same_file_serves_any_root(empty: Path, filled: Path) -> None:
    text = (filled / "_meta" / "views.sql").read_text()
    assert text == (empty / "_meta" / "views.sql").read_text()
    assert str(filled) not in text
    with duckdb.connect() as connection:
        connection.execute(f"SET VARIABLE newsbeam_root = '{empty}'")
        connection.execute(text)
        assert connection.execute("SELECT count(*) FROM articles").fetchall() == [(0,)]


@pytest.mark.parametrize("table", TABLES)
def test_every_reader_opens_every_table_filled_or_not(empty: Path, filled: Path, table: str) -> None:
    for root in (empty, filled):
        files = data_files(root, table)
        rows = sum(pq.ParquetFile(file).metadata.num_rows for file in files)
        columns = {*TABLES[table].names, *PARTITIONS[table]}
        polars = pl.read_parquet(f"{root}/{table}/**/*.parquet", hive_partitioning=True)
        pandas = pd.read_parquet(root / table)
        arrow = ds.dataset(root / table, partitioning="hive").to_table()
        for height, names in (
            (polars.height, polars.columns),
            (len(pandas), pandas.columns),
            (arrow.num_rows, arrow.column_names),
        ):
            assert height == rows
            assert set(names) == columns


def test_an_empty_article_topics_lies_below_the_first_topic(empty: Path) -> None:
    (file,) = data_files(empty, "article_topics")
    assert file.parent.relative_to(empty / "article_topics").parts == ("topic=deportation", "ingest_date=2026-11-30")


def test_meta_is_written_once_and_again_when_it_differs(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    write_meta(storage)
    assert set(meta_files()) == {str(path.relative_to(tmp_path)) for path in (tmp_path / "_meta").iterdir()}
    before = (tmp_path / "_meta" / "views.sql").stat().st_mtime_ns
    (tmp_path / "_meta" / "schema.json").write_text("old")
    write_meta(storage)
    assert (tmp_path / "_meta" / "views.sql").stat().st_mtime_ns == before
    assert (tmp_path / "_meta" / "schema.json").read_text() == schema_json()


def test_schema_json_has_every_column_with_its_comment() -> None:
    tables = json.loads(schema_json())["tables"]
    assert {table: [column["name"] for column in found["columns"]] for table, found in tables.items()} == {
        table: schema.names for table, schema in TABLES.items()
    }
    assert all(column["comment"] for found in tables.values() for column in found["columns"])


def test_bigquery_gets_the_partitions_with_their_types() -> None:
    text = bigquery_sql("gs://harrow-bay/news", "press")
    for table in TABLES:
        assert f"CREATE OR REPLACE EXTERNAL TABLE `press.{table}`" in text
        assert f"hive_partition_uri_prefix = 'gs://harrow-bay/news/{table}'" in text
    assert "WITH PARTITION COLUMNS (topic STRING, ingest_date DATE)" in text
    assert text.count("enable_list_inference = TRUE") == len(TABLES)


def test_the_data_package_names_each_table() -> None:
    package = json.loads(meta_files()["_meta/datapackage.json"])
    assert [resource["name"] for resource in package["resources"]] == [name.replace("_", "-") for name in TABLES]
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert fields["fetched_at"]["type"] == "datetime"
    assert fields["topics"]["type"] == "array"
    assert fields["url"]["constraints"] == {"required": True}
    assert "constraints" not in fields["title"]


@pytest.mark.parametrize("name", ["data-dictionary.md", "rejects.md"])
def test_the_generated_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == docs_pages()[name], "run: make docs"


def test_the_pages_tell_every_column_and_every_reason() -> None:
    pages = docs_pages()
    for table, schema in TABLES.items():
        assert f"## {table}\n" in pages["data-dictionary.md"]
        assert all(f"| {name} " in pages["data-dictionary.md"] for name in schema.names)
    assert all(f"| `{reason.name}` |" in pages["rejects.md"] for reason in REASONS)
    assert all(f"## {stage}\n" in pages["rejects.md"] for stage in STAGES)
    assert set(TABLE_MEANING) == set(TABLES)


def test_the_command_checks_and_refuses_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--check"]) == 0
    assert main(["pages"]) == 2
    assert "usage" in capsys.readouterr().err
