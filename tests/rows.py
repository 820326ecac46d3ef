"""What tests need to read a dataset and to compare two: "same rows" has one meaning, and it is here.

Two datasets hold the same rows if all tables agree in all columns, but for those that ``schema.py`` marks
volatile and the folder ``ingest_date``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from transforms.schema import PARTITIONS, TABLES, volatile_columns

Row = dict[str, Any]


def data_files(root: str | Path, table: str) -> list[Path]:
    """Returns the data files of a table, sorted."""
    return sorted((Path(root) / table).glob("**/*.parquet"))


def read_rows(root: str | Path, table: str) -> list[Row]:
    """Returns all rows of a table as they lie in its files, partition columns included, sorted."""
    rows: list[Row] = []
    for file in data_files(root, table):
        folders = dict(part.split("=", 1) for part in file.parent.relative_to(Path(root) / table).parts)
        assert tuple(folders) == PARTITIONS[table], f"{file} is in the wrong folder"
        rows += [row | folders for row in pq.ParquetFile(file).read().to_pylist()]
    return sorted(rows, key=_sort_key)


def stable_rows(root: str | Path, table: str) -> list[Row]:
    """Returns the rows of a table without what may differ between two runs over the same input."""
    volatile = volatile_columns(table) | {"ingest_date"}
    rows = [{name: value for name, value in row.items() if name not in volatile} for row in read_rows(root, table)]
    return sorted(rows, key=_sort_key)


def assert_same_rows(root_a: str | Path, root_b: str | Path) -> None:
    """Fails with the first difference unless both datasets hold the same rows, each as often."""
    for table in TABLES:
        a, b = stable_rows(root_a, table), stable_rows(root_b, table)
        counts_a, counts_b = Counter(map(_sort_key, a)), Counter(map(_sort_key, b))
        only_a, only_b = list((counts_a - counts_b).elements()), list((counts_b - counts_a).elements())
        difference = (
            f"{table}: {len(a)} and {len(b)} rows; {len(only_a)} only in {root_a}, {len(only_b)} only in {root_b}\n"
            f"a: {only_a[:1]}\nb: {only_b[:1]}"
        )
        assert not [*only_a, *only_b], difference


def assert_sound(root: str | Path) -> None:
    """Fails unless files, manifests and keys of a dataset agree: nothing lost, doubled or left over."""
    root = Path(root)
    manifests = [json.loads(path.read_bytes()) for path in sorted((root / "_runs").glob("*.json"))]
    listed = Counter(file["path"] for manifest in manifests for file in manifest["files"])
    removed = {path for manifest in manifests for path in manifest["removes"]}
    present = {str(file.relative_to(root)) for table in TABLES for file in data_files(root, table)}
    assert set(listed) - removed == present, "manifests and files differ"
    assert max(listed.values(), default=1) == 1, "a file is in two manifests"
    rows = {file["path"]: file["rows"] for manifest in manifests for file in manifest["files"]}
    for path in present:
        assert pq.ParquetFile(root / path).metadata.num_rows == rows[path], f"{path} has other rows than listed"
    assert not list((root / "_runs").glob("*.journal")), "a journal is left"
    assert not list((root / "_staging").glob("**/*.parquet")), "staged files are left"
    assert sorted(m["sequence"] for m in manifests) == list(range(1, len(manifests) + 1)), "sequence has gaps"
    for table, key in (("articles", ("article_id", "revision")), ("rejects", ("reject_id",))):
        counts = Counter(tuple(row[name] for name in key) for row in read_rows(root, table))
        assert max(counts.values(), default=1) == 1, f"{table} has a row twice: {counts.most_common(1)}"


def _sort_key(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
