"""``newsbeam query``: SQL over the dataset."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pipeline.cli.output import err, out, shown_path, table
from pipeline.errors import ConfigError

_BATCH = 1_000
# A table is for looking at; CSV and JSON give everything.
_TABLE_ROWS = 1_000
_CELL_LETTERS = 200


def run(args: argparse.Namespace) -> int:
    """Runs one statement and writes its rows to stdout.

    Raises:
        ConfigError: If there is no dataset, DuckDB is missing, or the statement is wrong.
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
            connection.execute("SET TimeZone = 'UTC'")
            create_views(connection, root)
            cursor = connection.execute(args.sql)
            if cursor is not None and cursor.description:
                _write(cursor, args)
        except duckdb.Error as error:
            raise ConfigError(_one_line(str(error))) from error
    return 0


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
