"""The state of what is known, as sorted columns: small in memory, quick to read, one Parquet file.

A state is a few *relations*, each an Arrow table with the columns of ``RELATIONS``. Keys are 64-bit hashes
in ascending order: a false hit would drop one article in silence, but with 10 million known keys it takes
a million look-ups to meet one with a chance of 5 in 10 million. Where an id can be compared whole, it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

FORMAT = 2
_ABOUT = b"newsbeam.state"
_KEY = pa.field("key", pa.uint64())
_ID = pa.field("article_id", pa.string())
_AT = pa.field("at", pa.timestamp("us", tz="UTC"))
_NAME = pa.field("name", pa.string())
_JSON = pa.field("json", pa.string())
_IS_POOR = pa.field("is_poor", pa.bool_())

RELATIONS: dict[str, pa.Schema] = {
    # committed (url_key, entry_version)
    "version": pa.schema([_KEY]),
    # url_key of announced, final and canonical addresses -> article
    "url": pa.schema([_KEY, _ID]),
    # article -> newest revision; at = first_seen_at
    "article": pa.schema(
        [_KEY, _ID, pa.field("revision", pa.int32()), pa.field("content_sha256", pa.binary(32)), _AT, _IS_POOR]
    ),
    # text_fingerprint -> earliest article; at = its first_seen_at
    "text": pa.schema([_KEY, _ID, _AT]),
    # reject_id
    "reject": pa.schema([_KEY]),
    # finally refused: url_key of pages, sha256 of seeds
    "refused": pa.schema([_KEY]),
    # name = feed address, json = its newest row of fetches; at = started_at
    "feed": pa.schema([_NAME, _AT, _JSON]),
    # name = url_key of a page that is still due, at = started_at of its newest row, json = due time and entry
    "due": pa.schema([_NAME, _AT, _JSON]),
    # name = host, at = retry_after_until
    "host": pa.schema([_NAME, _AT]),
    # rows of fetches that a stream committed lately; at = started_at
    "fetch": pa.schema([_KEY, _AT]),
    # name = run_id of each manifest that is part of the state
    "run": pa.schema([_NAME, pa.field("sequence", pa.int64())]),
}

State = Mapping[str, pa.Table]
EMPTY: State = {name: schema.empty_table() for name, schema in RELATIONS.items()}


class SnapshotError(Exception):
    """A snapshot is damaged or of another format; it is rebuilt then."""


def key_of(*parts: str) -> int:
    """Returns the 64-bit key of one or more texts."""
    data = "\n".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def runs_of(state: State) -> dict[str, int]:
    """Returns the runs that a state holds, with their sequence."""
    runs = state["run"]
    return dict(zip(runs["name"].to_pylist(), runs["sequence"].to_pylist(), strict=True))


def last_sequence(state: State) -> int:
    """Returns the place of a state's last run among the commits, 0 for the empty state."""
    return max(runs_of(state).values(), default=0)


def to_bytes(state: State) -> bytes:
    """Returns a state as a Parquet file: all columns of all relations side by side, a relation a row group."""
    wide = pa.unify_schemas(list(RELATIONS.values()))
    sizes = {name: state[name].num_rows for name in RELATIONS}
    sink = pa.BufferOutputStream()
    options = {"compression": "zstd", "compression_level": 1, "use_dictionary": False, "write_page_checksum": True}
    writer = pq.ParquetWriter(sink, wide, **options)
    for name in RELATIONS:
        if sizes[name]:
            table = _widen(state[name], wide)
            writer.write_table(table, row_group_size=sizes[name])
    about = {"format": FORMAT, "rows": sizes, "sequence": last_sequence(state)}
    writer.add_key_value_metadata({_ABOUT.decode(): json.dumps(about)})
    writer.close()
    return bytes(sink.getvalue())


def from_file(source: IO[bytes]) -> State:
    """Reads what ``to_bytes`` gave to a file.

    Raises:
        SnapshotError: If it is damaged or has another format.
    """
    try:
        file = pq.ParquetFile(source, page_checksum_verification=True)
        about = _about(file)
        if about["format"] != FORMAT or set(about["rows"]) != set(RELATIONS):
            raise SnapshotError("another format")
        state: dict[str, pa.Table] = {}
        group = 0
        for name, schema in RELATIONS.items():
            if not about["rows"][name]:
                state[name] = schema.empty_table()
                continue
            table = file.read_row_group(group, columns=schema.names, use_threads=False).select(schema.names)
            state[name] = table.cast(schema).combine_chunks()
            group += 1
            if table.num_rows != about["rows"][name]:
                raise SnapshotError(f"{name} has {table.num_rows} rows instead of {about['rows'][name]}")
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SnapshotError(str(error)) from error
    return state


def sequence_in(source: IO[bytes]) -> int:
    """Returns the ``last_sequence`` of the state in a file without reading it all, -1 if it is damaged."""
    try:
        return int(_about(pq.ParquetFile(source))["sequence"])
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
        return -1


def _about(file: pq.ParquetFile) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((file.metadata.metadata or {})[_ABOUT])
    return about


def _widen(table: pa.Table, wide: pa.Schema) -> pa.Table:
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(table.num_rows, field.type)
        for field in wide
    ]
    return pa.table(columns, schema=wide)
