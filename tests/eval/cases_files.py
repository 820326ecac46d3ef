"""Cases about the files themselves: zones of the machine, columns without a value, nothing to write."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from tests.eval.cases_run import Case, newsbeam, query, run
from tests.rows import data_files, stable_rows
from transforms.schema import TABLES

ZONES = ("Pacific/Auckland", "America/Los_Angeles", "UTC")


def time_zones(folder: Path, seeds: Path) -> Case:
    """24: the same rows and partitions under three zones; all times UTC-adjusted, microseconds."""
    trees = []
    for zone in ZONES:
        root = folder / zone.replace("/", "_")
        run(root, "--now", "2026-03-10T11:30:00Z", "--seeds", seeds, env={"TZ": zone})
        days = {part.name for table in TABLES for part in (root / table).glob("**/ingest_date=*")}
        trees.append((days, [stable_rows(root, table) for table in TABLES]))
    kinds = {
        str(column.logical_type)
        for table in TABLES
        for file in data_files(folder / "UTC", table)
        for column in map(pq.ParquetFile(file).schema.column, range(len(pq.ParquetFile(file).schema)))
        if "Timestamp" in str(column.logical_type)
    }
    proper = bool(kinds) and all("isAdjustedToUTC=true" in kind and "microseconds" in kind for kind in kinds)
    same = all(tree == trees[0] for tree in trees)
    return Case(
        "same rows: True, {'ingest_date=2026-03-10'}, UTC microseconds: True",
        f"same rows: {same}, {trees[0][0]}, UTC microseconds: {proper}",
    )


def null_columns(folder: Path, a: Path, b: Path) -> Case:
    """25: a column without a value in one file has its type all the same; every reader takes the folder."""
    root = folder / "out"
    run(root, "--seeds", a)
    run(root, "--seeds", b)
    articles = root / "articles"
    pattern = f"{articles}/**/*.parquet"
    found = {
        "pandas": len(pd.read_parquet(articles)),
        "pyarrow": ds.dataset(articles, partitioning="hive").to_table().num_rows,
        "Polars": pl.read_parquet(pattern, hive_partitioning=True).height,
        "DuckDB": duckdb.sql(f"SELECT count(*) FROM read_parquet('{pattern}')").fetchall()[0][0],
    }
    kinds = {str(pq.read_schema(file)) for file in data_files(root, "articles")}
    return Case(
        f"{dict.fromkeys(found, 4)}, 1 schema in 2 files",
        f"{found}, {len(kinds)} schema in {len(data_files(root, 'articles'))} files",
    )


def no_items(folder: Path, feed: str) -> Case:
    """27: exit 0, no article, and a table that can be read with its columns."""
    done = newsbeam("run", "--feeds", feed, "--allow-loopback", "-d", folder / "out")
    told = "0 articles" in done.stdout + done.stderr or "no new articles" in done.stdout + done.stderr
    columns = list(query(folder / "out", "SELECT * FROM (DESCRIBE articles)"))
    (file,) = data_files(folder / "out", "articles")
    groups = pq.ParquetFile(file).metadata.num_row_groups
    said = "says so" if told else (done.stdout + done.stderr)[-300:]
    return Case(
        f"exit 0, says so, {len(TABLES['articles']) + 1} columns, 0 row groups",
        f"exit {done.returncode}, {said}, {len(columns)} columns, {groups} row groups",
    )
