"""DuckDB, Polars, pandas and PyArrow read a dataset of two minor versions as docs/howto says."""

from __future__ import annotations

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.readers.conftest import START
from transforms.schema import ARTICLES, PARTITIONS, TABLES

ROWS = {"articles": 4, "article_topics": 5, "rejects": 1, "fetches": 2, "stories": 2}
SECTIONS = [("2026-11-30", None), ("2026-11-30", None), ("2026-12-01", "Harbor"), ("2026-12-01", "Weather")]
FIRST, SECOND = dt.date(2026, 11, 30), dt.date(2026, 12, 1)


def newest_schema(root, table):
    """The schema with all columns: that of the newest file, and the partitions."""
    file = max((root / table).glob("**/*.parquet"), key=lambda path: path.name)
    return pq.read_schema(file)


def test_the_older_files_lack_a_column_that_the_newer_have(two_versions):
    schemas = [pq.read_schema(file).names for file in sorted((two_versions / "articles").glob("**/*.parquet"))]
    assert ["section" in names for names in schemas] == [False, True]


@pytest.mark.parametrize("table", TABLES)
def test_duckdb_reads_all_rows_and_columns(two_versions, table):
    found = duckdb.sql(
        f"FROM read_parquet('{two_versions}/{table}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    )
    assert len(found) == ROWS[table]
    assert set(found.columns) == {*TABLES[table].names, *PARTITIONS[table]}


def test_duckdb_types_partitions_and_lists(two_versions):
    found = duckdb.sql(
        f"FROM read_parquet('{two_versions}/articles/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    )
    types = {name: str(kind) for name, kind in zip(found.columns, found.types, strict=True)}
    assert types["ingest_date"] == "DATE"
    assert types["published_at"] == "TIMESTAMP WITH TIME ZONE"
    assert types["topics"] == types["authors"] == "VARCHAR[]"
    assert types["revision"] == "INTEGER"
    assert types["matches"].startswith("STRUCT(topic VARCHAR, term_id VARCHAR, surface VARCHAR")
    assert types["matches"].endswith("[]")
    rows = found.select("CAST(ingest_date AS VARCHAR), section").fetchall()
    assert sorted(rows, key=str) == sorted(SECTIONS, key=str)
    (hits,) = found.filter("revision = 2").select("[m.surface for m in matches]").fetchall()
    assert hits == (["deportation", "immigration"],)


@pytest.mark.parametrize("table", TABLES)
def test_polars_reads_all_rows_and_columns(two_versions, table):
    found = scanned(two_versions, table).collect()
    assert found.height == ROWS[table]
    assert set(found.columns) == {*TABLES[table].names, *PARTITIONS[table]}


def scanned(root, table):
    schema = pl.from_arrow(newest_schema(root, table).empty_table()).schema
    return pl.scan_parquet(
        f"{root}/{table}/**/*.parquet", hive_partitioning=True, schema=schema, missing_columns="insert"
    )


def test_polars_types_partitions_and_lists(two_versions):
    found = scanned(two_versions, "articles").collect()
    assert found.schema["ingest_date"] == pl.Date
    assert found.schema["published_at"] == pl.Datetime("us", "UTC")
    assert found.schema["topics"] == pl.List(pl.String)
    assert found.schema["matches"].inner.to_schema()["start"] == pl.Int32
    rows = found.select(pl.col("ingest_date").cast(pl.String), "section").rows()
    assert sorted(rows, key=str) == sorted(SECTIONS, key=str)
    hits = found.filter(pl.col("revision") == 2).explode("matches").unnest("matches", separator=".")["matches.surface"]
    assert hits.to_list() == ["deportation", "immigration"]


@pytest.mark.parametrize("table", TABLES)
def test_pandas_reads_all_rows_and_columns(two_versions, table):
    found = read_with_pandas(two_versions, table)
    assert len(found) == ROWS[table]
    assert set(found.columns) == {*TABLES[table].names, *PARTITIONS[table]}


def read_with_pandas(root, table):
    partitions = pa.schema([(name, pa.string()) for name in PARTITIONS[table]])
    schema = pa.unify_schemas([newest_schema(root, table), partitions])
    return pd.read_parquet(root / table, schema=schema)


def test_pandas_types_partitions_and_lists(two_versions):
    found = read_with_pandas(two_versions, "articles")
    assert str(found["published_at"].dtype) == "datetime64[us, UTC]"
    assert found["revision"].dtype == "int32"
    rows = [(row.ingest_date, None if pd.isna(row.section) else row.section) for row in found.itertuples()]
    assert sorted(rows, key=str) == sorted(SECTIONS, key=str)
    (row,) = found[found["revision"] == 2].to_dict("records")
    assert list(row["topics"]) == ["deportation", "immigration"]
    assert [hit["surface"] for hit in row["matches"]] == ["deportation", "immigration"]
    assert len(pd.read_parquet(two_versions / "articles", filters=[("ingest_date", "==", "2026-12-01")])) == 2


@pytest.mark.parametrize("table", TABLES)
def test_pyarrow_reads_all_rows_and_columns(two_versions, table):
    found = opened(two_versions, table).to_table()
    assert found.num_rows == ROWS[table]
    assert set(found.column_names) == {*TABLES[table].names, *PARTITIONS[table]}


def opened(root, table):
    kinds = pa.schema([(name, pa.date32() if name == "ingest_date" else pa.string()) for name in PARTITIONS[table]])
    schema = pa.unify_schemas([newest_schema(root, table), kinds])
    return ds.dataset(root / table, schema=schema, partitioning=ds.partitioning(kinds, flavor="hive"))


def test_pyarrow_types_partitions_and_lists(two_versions):
    articles = opened(two_versions, "articles")
    assert articles.schema.field("matches").type == ARTICLES.field("matches").type
    found = articles.to_table(filter=ds.field("ingest_date") == SECOND).to_pylist()
    assert {(row["ingest_date"], row["section"]) for row in found} == {(SECOND, "Harbor"), (SECOND, "Weather")}
    (rain,) = (row for row in found if row["section"] == "Weather")
    assert rain["text"] == "Rain: ä, 新聞, 🌊."
    assert rain["live_posts"][0]["at"] == START
    assert articles.to_table(filter=ds.field("ingest_date") == FIRST).num_rows == 2


@pytest.mark.parametrize("reader", ["pandas", "PyArrow"])
def test_without_a_schema_the_rows_are_there_and_only_the_newer_column_is_not(two_versions, reader):
    folder = two_versions / "articles"
    names = {
        "pandas": lambda: pd.read_parquet(folder).columns,
        "PyArrow": lambda: ds.dataset(folder, partitioning="hive").to_table().column_names,
    }[reader]()
    assert set(ARTICLES.names) - set(names) == {"section"}
