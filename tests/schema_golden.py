"""The schema as readers hold us to it, in one file a version under tests/data/schema.

    python -m tests.schema_golden        writes the file of the version that transforms/schema.py names

A file that is there is never written over: what a version promised stays promised. Comments are left out, for they may
be made better at any time.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from transforms.schema import PARTITIONS, SCHEMA_VERSION, TABLES, volatile_columns
from transforms.write.meta import bigquery_sql, datapackage_json, schema_json

FOLDER = Path(__file__).parent / "data" / "schema"


def described() -> dict[str, Any]:
    """Returns all that a reader can rely on: columns in their order, and the same as other tools are told."""
    package = json.loads(datapackage_json())["resources"]
    listed = json.loads(schema_json())["tables"]
    return {
        "tables": {
            table: {
                "partitions": list(PARTITIONS[table]),
                "columns": [f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema],
                "volatile": sorted(volatile_columns(table)),
            }
            for table, schema in TABLES.items()
        },
        "schema.json": {
            table: [f"{c['name']}: {c['type']}{'' if c['nullable'] else ' not null'}" for c in found["columns"]]
            for table, found in listed.items()
        },
        "datapackage.json": {
            resource["path"]: [
                f"{field['name']}: {field['type']}{' required' if 'constraints' in field else ''}"
                for field in resource["schema"]["fields"]
            ]
            for resource in package
        },
        "bigquery.sql": re.sub(r",\n  description = .*", "", bigquery_sql()).splitlines(),
    }


def path_of(version: str) -> Path:
    """Returns the file of a version."""
    return FOLDER / f"{version}.json"


def versions() -> list[str]:
    """Returns all versions that have a file, oldest first."""
    return sorted((path.stem for path in FOLDER.glob("*.json")), key=lambda name: tuple(map(int, name.split("."))))


def main() -> int:
    path = path_of(SCHEMA_VERSION)
    if path.exists():
        print(f"{path} is there; step SCHEMA_VERSION in transforms/schema.py first")
        return 1
    path.write_text(json.dumps(described(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
