"""``newsbeam query``: SQL over the dataset."""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pipeline.cli.output import err, out, shown_path, table
from pipeline.errors import ConfigError, RunError

_BATCH = 1_000
# A table is for looking at; CSV and JSON give everything.
_TABLE_ROWS = 1_000
_CELL_LETTERS = 200
_EXPLAIN = re.compile(r"^\s*EXPLAIN(\s+ANALYZE\b|\s*\([^)]*\))?", re.IGNORECASE)
# PIVOT is several statements to DuckDB; those that begin with other words may write.
_PIVOT = re.compile(r"\s*(PIVOT|UNPIVOT|SELECT|FROM)\b", re.IGNORECASE)
_OF_FILES = re.compile(r"\.parquet\b|parquet file|TProtocol|[Dd]ecompress")


def run(args: argparse.Namespace) -> int:
    """Runs one statement that only reads and writes its rows to stdout.

    Raises:
        ConfigError: If there is no dataset, DuckDB is missing, or the statement is wrong.
        RunError: If a file of the dataset is damaged.
    """
    from pipeline.config.load import load_config
    from transforms.write.meta import META, create_views
    from transforms.write.storage import has_folder

    root = load_config(args.config, vars(args)).dataset
    if not has_folder(root, META):
        shown = shown_path(root)
        raise ConfigError(f"{shown}: no dataset there; make one with newsbeam run -d {shown}, or name one with -d")
    try:
        import duckdb
    except ImportError:
        raise ConfigError("query needs DuckDB; install it with pip install 'newsbeam[query]'") from None
    with duckdb.connect() as connection:
        try:
            _check_statement(duckdb, args.sql)
            create_views(connection, root)
            _lock(connection, root)
            _write(_execute(connection, args.sql), args)
        except duckdb.Error as error:
            said = _one_line(str(error))
            if isinstance(error, duckdb.IOException) or _OF_FILES.search(said):
                verify = f"newsbeam dataset verify -d {shlex.quote(shown_path(root))}"
                raise RunError(
                    f"a file of the dataset cannot be read: {said}; {verify} says what is damaged"
                ) from error
            raise ConfigError(said) from error
    return 0


def _check_statement(duckdb: Any, sql: str) -> None:
    """Lets one statement pass that only reads.

    Raises:
        ConfigError: If there is none, or another one.
    """
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        count = f"{len(statements)} statements" if statements else "no statement"
        raise ConfigError(f"query wants one SQL statement, and this is {count}")
    kind, inner = statements[0].type, _EXPLAIN.sub("", sql)
    types = duckdb.StatementType
    if kind == types.EXPLAIN and inner != sql:
        _check_statement(duckdb, inner)  # EXPLAIN ANALYZE does what it explains
    elif kind != types.SELECT and not (kind == types.MULTI and _PIVOT.match(sql)):
        raise ConfigError(
            f"query only reads (SELECT, FROM, PIVOT, DESCRIBE, SUMMARIZE, EXPLAIN); {kind.name} is refused"
        )


def _lock(connection: Any, root: str) -> None:
    """Leaves nothing open but the files of the dataset: no other file, no network, no extensions."""
    folder = root.rstrip("/").replace("'", "''")
    for setting in (
        "TimeZone = 'UTC'",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        f"allowed_directories = ['{folder}/']",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")


def _execute(connection: Any, sql: str) -> Any:
    """Executes in a thread beside: DuckDB does not see every Ctrl-C by itself."""
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(connection.execute, sql).result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _one_line(message: str) -> str:
    """DuckDB's message without the echo of the statement and its pointer."""
    lines = [line.strip() for line in message.splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(("LINE ", "^")))


def _write(cursor: Any, args: argparse.Namespace) -> None:
    names = _unique([str(column[0]) for column in cursor.description])
    if args.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        while rows := cursor.fetchmany(_BATCH):
            writer.writerows([_flat(value) for value in row] for row in rows)
    elif args.json:
        while rows := cursor.fetchmany(_BATCH):
            for row in rows:
                out(_json({name: plain(value) for name, value in zip(names, row, strict=True)}))
    else:
        _write_table(names, cursor.fetchmany(_TABLE_ROWS + 1))


def _write_table(names: list[str], rows: list[Sequence[Any]]) -> None:
    cells = [[_cell(_flat(value)) for value in row] for row in rows[:_TABLE_ROWS]]
    out(table(names, cells, sys.stdout))
    if len(rows) > _TABLE_ROWS:
        err(f"the first {_TABLE_ROWS:,} rows; --csv and --json give all")
    else:
        err(f"{len(rows)} row{'' if len(rows) == 1 else 's'}")


def _unique(names: list[str]) -> list[str]:
    """Two columns of one name would be one in JSON; the later ones get a number."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[position] = f"{name}_{seen[name]}"
    return names


def plain(value: Any) -> Any:
    """Returns a value of DuckDB as JSON has it: times as ISO 8601, bytes as hex, NaN as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime | date) else str(value)


def _flat(value: Any) -> Any:
    value = plain(value)
    return _json(value) if isinstance(value, list | dict) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cell(value: Any) -> Any:
    return f"{value[:_CELL_LETTERS]}…" if isinstance(value, str) and len(value) > _CELL_LETTERS else value
