from __future__ import annotations

import io
import random
from datetime import timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.transforms.write.make_items import START, run_at, tagged, tags
from transforms.schema import ARTICLES, TABLES
from transforms.write.encode import cut_parts, data_path, encode, sort_rows, to_table
from transforms.write.rows import article_row


def rows_of(count: int) -> list[dict[str, Any]]:
    return [
        article_row(
            tagged(
                f"https://paper{number % 3}.example/{number}",
                f"Story number {number}.",
                topics=tags(deportation="primary") if number % 2 else tags(),
                fetched_at=START + timedelta(seconds=count - number),
            ),
            run_at(),
        )
        for number in range(count)
    ]


def test_rows_are_sorted_by_topic_domain_and_time_untagged_last() -> None:
    rows = sort_rows("articles", rows_of(12))
    assert [bool(row["topics"]) for row in rows] == [True] * 6 + [False] * 6
    tagged_part = [(row["domain"], row["fetched_at"]) for row in rows[:6]]
    assert tagged_part == sorted(tagged_part)


def test_the_bytes_do_not_depend_on_the_order_of_arrival() -> None:
    rows = rows_of(30)
    shuffled = rows[:]
    random.Random(1).shuffle(shuffled)
    assert encode("articles", sort_rows("articles", rows)) == encode("articles", sort_rows("articles", shuffled))


def test_what_is_encoded_is_read_back() -> None:
    rows = sort_rows("articles", rows_of(2_500))
    file = pq.ParquetFile(io.BytesIO(encode("articles", rows)))
    assert file.schema_arrow.equals(ARTICLES, check_metadata=True)
    found = file.read().to_pylist()
    assert [row["article_id"] for row in found] == [row["article_id"] for row in rows]
    assert found[7] == {name: list(value) if isinstance(value, tuple) else value for name, value in rows[7].items()}


def test_files_carry_what_makes_selective_reads_fast() -> None:
    metadata = pq.ParquetFile(io.BytesIO(encode("articles", rows_of(10)))).metadata
    columns = {metadata.row_group(0).column(i).path_in_schema: i for i in range(metadata.num_columns)}
    article_id = metadata.row_group(0).column(columns["article_id"])
    assert article_id.compression == "ZSTD"
    assert article_id.has_column_index
    assert article_id.has_offset_index
    assert metadata.row_group(0).column(columns["domain"]).has_dictionary_page
    assert not article_id.has_dictionary_page


def test_row_groups_of_articles_hold_5000_rows() -> None:
    row = rows_of(1)[0]
    metadata = pq.ParquetFile(io.BytesIO(encode("articles", [row] * 12_000))).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [5_000, 5_000, 2_000]


@pytest.mark.parametrize("table", TABLES)
def test_without_rows_there_is_the_schema_and_no_row_group(table: str) -> None:
    file = pq.ParquetFile(io.BytesIO(encode(table, [])))
    assert file.metadata.num_row_groups == 0
    assert file.schema_arrow.equals(TABLES[table], check_metadata=True)


def test_parts_are_cut_by_rows_and_by_text() -> None:
    rows = [{"text": "x" * 10}] * 7
    assert [len(part) for part in cut_parts(rows, max_rows=3)] == [3, 3, 1]
    assert [len(part) for part in cut_parts(rows, max_text=25)] == [2, 2, 2, 1]
    assert [len(part) for part in cut_parts([{"text": "x" * 99}, {"text": None}], max_text=25)] == [1, 1]
    assert list(cut_parts([])) == []


def test_a_table_of_no_rows_has_the_schema() -> None:
    assert to_table("rejects", []).schema.equals(TABLES["rejects"], check_metadata=True)


def test_partition_values_are_percent_encoded_and_never_empty() -> None:
    path = data_path("article_topics", {"topic": "a/b=c d%é", "ingest_date": "2026-11-30"}, "r.00000.0")
    assert path == "article_topics/topic=a%2Fb%3Dc%20d%25%C3%A9/ingest_date=2026-11-30/r.00000.0.parquet"
    with pytest.raises(ValueError, match="topic"):
        data_path("article_topics", {"topic": "", "ingest_date": "2026-11-30"}, "r.00000.0")
