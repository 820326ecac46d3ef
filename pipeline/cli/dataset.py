"""``newsbeam dataset``: what concerns the dataset as a whole. Further commands are added to ``add_to``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from pipeline.cli import dataset_flags, dataset_stories
from pipeline.cli.output import out, styled, table
from pipeline.cli.parser import Commands

_EXAMPLES = """
newsbeam dataset verify
newsbeam dataset compact
newsbeam dataset retag --plan
"""


def add_to(commands: Commands) -> None:
    """Adds ``dataset`` and its commands."""
    does = "Looks after a dataset: verifies, compacts, prunes, tags again, groups."
    below = Commands(commands.add("dataset", does, _EXAMPLES))
    schema = below.add(
        "schema",
        "Shows the columns of every table. They are the same for all datasets of this version.",
        "newsbeam dataset schema\nnewsbeam dataset schema --bigquery > tables.sql",
        f"{__name__}:schema",
    )
    form = schema.add_mutually_exclusive_group()
    form.add_argument("--arrow", action="store_true", help="as Arrow schemas")
    form.add_argument("--bigquery", action="store_true", help="as BigQuery external tables")
    form.add_argument("--json", action="store_true", help="as one JSON object")
    schema.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    dataset_flags.add_to(below)
    dataset_stories.add_to(below)


def schema(args: argparse.Namespace) -> int:
    """Shows the schema of every table."""
    from transforms.schema import PARTITIONS, TABLES
    from transforms.write.meta import bigquery_sql, schema_json

    if args.bigquery:
        out(bigquery_sql().rstrip())
    elif args.json:
        out(schema_json().rstrip())
    elif args.arrow:
        for name, fields in TABLES.items():
            out(f"# {name}\n{fields.to_string(show_field_metadata=False, show_schema_metadata=False)}\n")
    else:
        for name, fields in TABLES.items():
            folders = " / ".join(f"{partition}=..." for partition in PARTITIONS[name])
            out(styled(f"{name} / {folders}", "bold", sys.stdout))
            out(table(("column", "type", "meaning"), list(_rows(fields)), sys.stdout) + "\n")
    return 0


def _rows(fields: Any) -> Iterator[tuple[str, str, str]]:
    """A row a column; a ``?`` after the type says that it may be null. Parts of a list of records come below it."""
    for field in fields:
        element = getattr(field.type, "value_type", None)
        parts = list(element) if element is not None and element.num_fields else []
        kind = "list of records" if parts else str(field.type).replace("element: ", "").replace(" not null", "")
        yield field.name, kind + ("?" if field.nullable else ""), (field.metadata or {}).get(b"comment", b"").decode()
        for part in parts:
            yield f"  {part.name}", f"{part.type}" + ("?" if part.nullable else ""), ""
