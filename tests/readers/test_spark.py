"""Spark reads a dataset of two minor versions; left out where pyspark or Java is not installed."""

from __future__ import annotations

import shutil
import warnings

import pytest

from tests.readers.test_readers import ROWS, SECTIONS
from transforms.schema import PARTITIONS, TABLES

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed"),
    pytest.mark.filterwarnings("ignore"),  # of pyspark's own
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
        yield session
        session.stop()


def read(spark, root, table):
    return spark.read.option("mergeSchema", "true").parquet(str(root / table))


@pytest.mark.parametrize("table", TABLES)
def test_spark_reads_all_rows_and_columns(spark, two_versions, table):
    found = read(spark, two_versions, table)
    assert found.count() == ROWS[table]
    assert set(found.columns) == {*TABLES[table].names, *PARTITIONS[table]}


def test_spark_types_partitions_and_lists(spark, two_versions):
    found = read(spark, two_versions, "articles")
    types = dict(found.dtypes)
    assert types["ingest_date"] == "date"
    assert types["published_at"] == "timestamp"
    assert types["topics"] == "array<string>"
    assert types["matches"].startswith("array<struct<topic:string,term_id:string,surface:string,field:string,start:int")
    rows = [(str(row.ingest_date), row.section) for row in found.select("ingest_date", "section").collect()]
    assert sorted(rows, key=str) == sorted(SECTIONS, key=str)
    (row,) = found.where("revision = 2").selectExpr("matches.surface AS hits", "topics").collect()
    assert (row.hits, row.topics) == (["deportation", "immigration"], ["deportation", "immigration"])
    assert found.where("ingest_date = DATE'2026-12-01'").count() == 2
