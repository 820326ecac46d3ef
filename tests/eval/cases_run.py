"""What the cases of eval_cases.py need to run the program and to ask what came of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from tests import program
from transforms.write.meta import create_views


class Case(NamedTuple):
    """What was to be and what was, in words that can be compared."""

    expected: str
    got: str

    @property
    def is_right(self) -> bool:
        return self.expected == self.got


def newsbeam(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command; it must end with 0."""
    return program.newsbeam(*words, **how)


def run(root: Path, *words: object, **how: Any) -> dict[str, Any]:
    """Runs ``newsbeam run --json`` into a dataset and returns the summary."""
    return program.run_json("-d", root, *words, **how)


def write_jsonl(path: Path, records: list[dict[str, Any]]) -> Path:
    """Writes a seed file and returns its path."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def query(root: Path, sql: str) -> list[dict[str, Any]]:
    """Asks the views of a dataset."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        create_views(connection, str(root))
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
