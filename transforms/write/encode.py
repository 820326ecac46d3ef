"""From rows to the bytes of Parquet files: sorted, cut into parts, encoded whole.

Sorting is what pays: rows that are asked for together (a topic, a domain, a time) lie together, and a
reader skips the rest by the statistics of row groups and pages.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.schema import PARTITIONS, TABLES
from transforms.write.packed import PackedText

Row = Mapping[str, Any]

MAX_PART_ROWS = 20_000
MAX_PART_TEXT = 64 << 20
ROW_GROUP_ROWS = {"articles": 5_000}
_DEFAULT_GROUP_ROWS = 20_000
_BATCH_ROWS = 1_000
_BLOOM_COLUMN = {"articles": "article_id", "article_topics": "article_id", "rejects": "reject_id"}
# Columns whose values repeat from row to row; a dictionary of the others is time and no space.
_UNIQUE = frozenset({
    "title", "url", "text", "article_id", "content_sha256", "final_url", "canonical_url", "url_key", "entry_version",
    "entry_id", "description", "body_sha256", "text_fingerprint", "snippet", "reject_id", "detail", "payload",
    "entry_json", "etag",
})  # fmt: skip


def sort_rows(table: str, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of a table in the order in which they are stored, the same whatever order they came in."""
    return sorted(rows, key=_SORT_KEYS[table])


def _article_key(row: Row) -> tuple[Any, ...]:
    topics = row["topics"]
    first = topics[0] if topics else ""
    return (not topics, first, row["domain"], row["fetched_at"], row["article_id"], row["revision"])


def _topic_key(row: Row) -> tuple[Any, ...]:
    return (row["domain"], row["fetched_at"], row["article_id"], row["revision"])


def _reject_key(row: Row) -> tuple[Any, ...]:
    return (row["stage"], row["reason"], row["url"] or "", row["reject_id"])


def _fetch_key(row: Row) -> tuple[Any, ...]:
    return (row["kind"], row["host"], row["url"], row["started_at"], row["outcome"])


def _story_key(row: Row) -> tuple[Any, ...]:
    return (row["story_id"], row["article_id"])


_SORT_KEYS = {
    "articles": _article_key,
    "article_topics": _topic_key,
    "rejects": _reject_key,
    "fetches": _fetch_key,
    "stories": _story_key,
}


def cut_parts(rows: Sequence[Row], max_rows: int = MAX_PART_ROWS, max_text: int = MAX_PART_TEXT) -> Iterator[list[Row]]:
    """Cuts sorted rows into parts, each a file.

    Args:
        rows: Rows of any table, sorted.
        max_rows: Most rows of a part.
        max_text: Most code points of text, or bytes of payload, of a part; a single row may be over it.
    """
    part: list[Row] = []
    size = 0
    for row in rows:
        weight = len(row.get("text") or row.get("payload") or "")
        if part and (len(part) >= max_rows or size + weight > max_text):
            yield part
            part, size = [], 0
        part.append(row)
        size += weight
    if part:
        yield part


def to_table(table: str, rows: Sequence[Row]) -> pa.Table:
    """Returns rows as an Arrow table with exactly the schema of the table."""
    schema = TABLES[table]
    values_of = itemgetter(*schema.names)
    batches = []
    # In pieces that fit into the processor's cache: rows are read row by row, columns are written.
    for start in range(0, len(rows), _BATCH_ROWS):
        columns = zip(*map(values_of, rows[start : start + _BATCH_ROWS]), strict=True)
        arrays = [pa.array(_unpacked(column), type=field.type) for column, field in zip(columns, schema, strict=True)]
        batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _unpacked(column: Sequence[Any]) -> Sequence[Any]:
    """Text is packed on its way; all values of a column are, or none is."""
    if not any(isinstance(value, PackedText) for value in column):
        return column
    return [None if value is None else str(value) for value in column]


def encode(table: str, rows: Sequence[Row]) -> bytes:
    """Returns sorted rows as the bytes of a Parquet file; without rows, a file of the schema alone."""
    return encode_table(table, to_table(table, rows))


def encode_table(table: str, data: pa.Table) -> bytes:
    """Returns an Arrow table as the bytes of a Parquet file, as all files of the dataset are made."""
    schema = TABLES[table]
    bloom = _BLOOM_COLUMN.get(table)
    sink = pa.BufferOutputStream()
    # Closed only when all went well: an early close would write a footer, and a part would look whole.
    writer = pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=_dictionary_columns(schema),
        write_page_index=True,
        write_page_checksum=True,
        bloom_filter_options={bloom: {"ndv": max(1, data.num_rows), "fpp": 0.01}} if bloom else None,
    )
    if data.num_rows:
        writer.write_table(data, row_group_size=ROW_GROUP_ROWS.get(table, _DEFAULT_GROUP_ROWS))
    writer.close()
    return bytes(sink.getvalue())


def _dictionary_columns(schema: pa.Schema) -> list[str]:
    return [path for field in schema if field.name not in _UNIQUE for path in _leaf_paths(field, field.name)]


def _leaf_paths(field: pa.Field, path: str) -> Iterator[str]:
    kind = field.type
    if pa.types.is_list(kind):
        yield from _leaf_paths(kind.value_field, f"{path}.list.element")
    elif pa.types.is_struct(kind):
        for inner in kind:
            yield from _leaf_paths(inner, f"{path}.{inner.name}")
    else:
        yield path


def data_path(table: str, partition: Mapping[str, str], stem: str) -> str:
    """Returns the path of a data file below the root; partition values are percent-encoded, never empty.

    Raises:
        ValueError: If the value of a partition is empty: readers take that for null.
    """
    folders = []
    for name in PARTITIONS[table]:
        if not partition[name]:
            raise ValueError(f"{table} needs a value for its partition {name}")
        folders.append(f"{name}={urllib.parse.quote(partition[name], safe='')}")
    return "/".join([table, *folders, f"{stem}.parquet"])
