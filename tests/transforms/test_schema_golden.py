"""The dataset is a contract: no column changes without a new version, no minor version breaks a reader."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from itertools import pairwise

import pyarrow as pa
import pytest

from tests.schema_golden import described, path_of, versions
from transforms import schema
from transforms.schema import SCHEMA_VERSION

MEND = f"""
This is what readers of version {SCHEMA_VERSION} rely on. If the change is meant:
  1. set SCHEMA_VERSION in transforms/schema.py: 1.0 -> 1.1 for a new nullable column, 2.0 for anything else
     (a new major version is a new dataset: old files do not fit it);
  2. python -m tests.schema_golden     (writes tests/data/schema/<version>.json; older files stay)
  3. make docs; say it in CHANGELOG.md and docs/howto/schema.md.
"""


def test_the_schema_is_that_of_its_version():
    path = path_of(SCHEMA_VERSION)
    assert path.exists(), f"no {path.name} in tests/data/schema{MEND}"
    promised = path.read_text(encoding="utf-8").splitlines()
    now = json.dumps(described(), indent=1).splitlines()
    changes = "\n".join(difflib.unified_diff(promised, now, "promised", "now", n=1, lineterm=""))
    assert not changes, f"the schema changed without a new version\n{changes}\n{MEND}"


def test_the_version_of_the_code_is_the_newest_that_was_promised():
    assert versions()[-1] == SCHEMA_VERSION
    assert versions()[0] == "1.0"


def test_a_minor_version_only_adds_nullable_columns():
    for older, newer in pairwise(versions()):
        breaks = breaks_between(*(json.loads(path_of(version).read_text()) for version in (older, newer)))
        assert older.split(".")[0] != newer.split(".")[0] or not breaks, f"{older} -> {newer}: {breaks}"


def breaks_between(older, newer):
    """What a reader of the older version would stumble over in the newer one."""
    found = []
    for table, old in older["tables"].items():
        new = newer["tables"].get(table, {"columns": [], "partitions": []})
        added = [column for column in new["columns"] if column not in old["columns"]]
        if [column for column in new["columns"] if column not in added] != old["columns"]:
            found.append(f"{table}: a column went, changed or moved")
        if new["partitions"] != old["partitions"]:
            found.append(f"{table}: other partitions")
        found += [
            f"{table}: {column}: a new column must be nullable" for column in added if column.endswith(" not null")
        ]
    return found


def test_what_breaks_readers_is_seen_and_what_does_not_is_let_pass():
    def tables(*columns, partitions=("ingest_date",)):
        return {"tables": {"t": {"columns": [*columns], "partitions": [*partitions]}}}

    old = tables("a: string not null", "b: int32")
    assert breaks_between(old, tables("a: string not null", "b: int32", "c: string")) == []
    assert breaks_between(old, tables("a: string not null", "c: string", "b: int32")) == []
    for broken in (
        tables("a: string not null", "b: int64"),
        tables("b: int32", "a: string not null"),
        tables("a: string", "b: int32"),
        tables("a: string not null"),
        tables("a: string not null", "b: int32", "c: string not null"),
        tables("a: string not null", "b: int32", partitions=("day",)),
        {"tables": {}},
    ):
        assert breaks_between(old, broken), broken


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.append(pa.field("byline", pa.string())),
        lambda table: table.remove(0),
        lambda table: table.set(0, table.field(0).with_nullable(False)),
        lambda table: table.set(17, table.field(17).with_type(pa.int64())),
        lambda table: pa.schema([table.field(1), table.field(0), *list(table)[2:]], table.metadata),
    ],
    ids=["added", "removed", "not null", "wider", "moved"],
)
def test_any_change_is_noticed(change, monkeypatch):
    before = described()
    monkeypatch.setitem(schema.TABLES, "articles", change(schema.ARTICLES))
    assert described() != before


def test_a_promise_is_not_written_over():
    done = subprocess.run([sys.executable, "-m", "tests.schema_golden"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is there" in done.stdout
