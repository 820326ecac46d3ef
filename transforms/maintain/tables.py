"""Files of the dataset as Arrow tables: read, sorted and cut as the writer does it, without a Python row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.schema import TABLES
from transforms.write.encode import encode_table
from transforms.write.storage import DatasetError, Storage

MAX_FILE_BYTES = 128 << 20
_PLAIN_KEYS = {
    "article_topics": ("domain", "fetched_at", "article_id", "revision"),
    "rejects": ("stage", "reason", "url", "reject_id"),
    "fetches": ("kind", "host", "url", "started_at", "outcome"),
    "stories": ("story_id", "article_id"),
}


def read_table(storage: Storage, path: str, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Reads a data file, or some of its columns; those that a minor version added since are null.

    Raises:
        DatasetError: If it is missing, damaged or of another schema.
    """
    with storage.open(path) as file:
        try:
            # In this thread: one of Arrow's that lets go of a Python file while the interpreter ends would abort it.
            found = pq.ParquetFile(file).read(columns=None if columns is None else list(columns), use_threads=False)
            names = TABLES[table].names if columns is None else list(columns)
            schema = pa.schema([TABLES[table].field(name) for name in names], metadata=TABLES[table].metadata)
            return _with_newer_columns(found, schema).select(names).cast(schema)
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            full = storage.full_path(path)
            raise DatasetError(f"{full} is damaged ({error}); restore it from a backup", full) from error


def _with_newer_columns(found: pa.Table, schema: pa.Schema) -> pa.Table:
    for field in schema:
        if field.nullable and field.name not in found.column_names:
            found = found.append_column(field, pa.nulls(found.num_rows, field.type))
    return found


def is_of_version(found: pa.Schema, contract: pa.Schema) -> bool:
    """Tells whether a file has the columns of a table, or those of an earlier minor version of it."""
    known = [field for field in contract if field.name in found.names or not field.nullable]
    return bool(found.equals(pa.schema(known)))


def sorted_table(table: str, data: pa.Table) -> pa.Table:
    """Returns the rows in the order in which the writer stores them (``encode.sort_rows``)."""
    if not data.num_rows:
        return data
    if table == "articles":
        # The first topic of each row as text, empty if it has none.
        first = pc.binary_join(pc.list_slice(data["topics"], 0, 1).cast(pa.list_(pa.string())), "")
        keys = [pc.equal(pc.list_value_length(data["topics"]), 0), first]
        keys += [data["domain"], data["fetched_at"], data["article_id"], data["revision"]]
    else:
        keys = [data[name] for name in _PLAIN_KEYS[table]]
    filled = [pc.fill_null(key, "") if pa.types.is_string(key.type) else key for key in keys]
    names = [f"key{place}" for place in range(len(filled))]
    order = pc.sort_indices(pa.table(filled, names=names), sort_keys=[(name, "ascending") for name in names])
    return data.take(order)


def encoded_parts(table: str, data: pa.Table, max_bytes: int = MAX_FILE_BYTES) -> Iterator[tuple[pa.Table, bytes]]:
    """Encodes a sorted table as one file, or as several if it would be too big; yields rows and bytes of each."""
    encoded = encode_table(table, data)
    if len(encoded) <= max_bytes or data.num_rows < 2:
        yield data, encoded
        return
    half = data.num_rows // 2
    yield from encoded_parts(table, data.slice(0, half), max_bytes)
    yield from encoded_parts(table, data.slice(half), max_bytes)


def with_columns(data: pa.Table, values: dict[str, Any]) -> pa.Table:
    """Returns a table with some columns replaced; a value that is no list stands for all rows."""
    for name, value in values.items():
        field = data.schema.field(name)
        column = pa.array(value if isinstance(value, list) else [value] * data.num_rows, type=field.type)
        data = data.set_column(data.schema.get_field_index(name), field, column)
    return data


def revision_keys(data: pa.Table) -> Any:
    """Returns ``article_id:revision`` of each row."""
    return pc.binary_join_element_wise(data["article_id"], data["revision"].cast(pa.string()), ":")
