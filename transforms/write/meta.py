"""What describes the dataset to its readers, all generated from the one Arrow schema.

``_meta/`` of every dataset gets the columns (schema.json), views for DuckDB (views.sql), external tables for
BigQuery (bigquery.sql) and a data package (datapackage.json). ``python -m transforms.write.meta docs`` writes
the generated pages of docs/, with ``--check`` it only tells whether they are up to date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from transforms.remote.bucket import is_remote
from transforms.remote.reader import file_system
from transforms.schema import PARTITIONS, SCHEMA_VERSION, TABLES, volatile_columns
from transforms.write.dictionary import TABLE_MEANING, data_dictionary, rejects_page
from transforms.write.storage import Storage
from transforms.write.views import ROOT_VARIABLE, views_sql

META = "_meta"


def meta_files() -> dict[str, str]:
    """Returns the files of ``_meta/`` by their path below the root."""
    return {
        f"{META}/schema.json": schema_json(),
        f"{META}/views.sql": views_sql(),
        f"{META}/bigquery.sql": bigquery_sql(),
        f"{META}/datapackage.json": datapackage_json(),
    }


def write_meta(storage: Storage) -> None:
    """Writes those files of ``_meta/`` that are absent or differ.

    Raises:
        DatasetError: If one cannot be read or written.
    """
    for path, text in meta_files().items():
        data = text.encode("utf-8")
        if not storage.exists(path) or storage.read(path) != data:
            storage.write(path, data)


def create_views(connection: Any, root: str) -> None:
    """Makes the views of ``views.sql`` over a dataset in a DuckDB connection.

    Args:
        connection: Of DuckDB.
        root: The dataset, local or in an object store that newsbeam reads.
    """
    if is_remote(root):
        connection.register_filesystem(file_system(root.partition("://")[0]))
    connection.execute(f"SET VARIABLE {ROOT_VARIABLE} = '{root.replace(chr(39), chr(39) * 2)}'")
    connection.execute(views_sql())


def schema_json() -> str:
    """Returns the columns of every table as JSON."""
    tables = {
        table: {"partitions": list(PARTITIONS[table]), "columns": [_column(field, table) for field in schema]}
        for table, schema in TABLES.items()
    }
    return _json({"schema_version": SCHEMA_VERSION, "tables": tables})


def _column(field: pa.Field, table: str) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": str(field.type),
        "nullable": field.nullable,
        "volatile": field.name in volatile_columns(table),
        "comment": _comment(field),
    }


def _comment(field: pa.Field) -> str:
    return str((field.metadata or {}).get(b"comment", b"").decode())


def bigquery_sql(root: str = "gs://BUCKET/PATH", dataset: str = "DATASET") -> str:
    """Returns statements that make external tables over a dataset in an object store.

    The columns come from the Parquet files; the types of the partitions are given, not guessed.

    Args:
        root: The dataset as BigQuery sees it.
        dataset: The BigQuery dataset that gets the tables.
    """
    parts = [f"-- External tables over a newsbeam dataset. Replace {root} and {dataset}."]
    for table in TABLES:
        keys = ", ".join(f"{name} {'DATE' if name == 'ingest_date' else 'STRING'}" for name in PARTITIONS[table])
        parts.append(
            f"CREATE OR REPLACE EXTERNAL TABLE `{dataset}.{table}`\n"
            f"WITH PARTITION COLUMNS ({keys})\n"
            "OPTIONS (\n"
            "  format = 'PARQUET',\n"
            f"  uris = ['{root}/{table}/*'],\n"
            f"  hive_partition_uri_prefix = '{root}/{table}',\n"
            "  enable_list_inference = TRUE,\n"
            f"  description = {json.dumps(TABLE_MEANING[table])}\n"
            ");"
        )
    parts.append(
        f"CREATE OR REPLACE VIEW `{dataset}.articles_latest` AS\n"
        f"SELECT * FROM `{dataset}.articles`\n"
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY article_id ORDER BY revision DESC) = 1;"
    )
    return "\n\n".join(parts) + "\n"


def datapackage_json() -> str:
    """Returns a Data Package (datapackage.org, version 2) of the tables."""
    resources = [
        {
            "name": table.replace("_", "-"),
            "path": f"{table}/**/*.parquet",
            "format": "parquet",
            "mediatype": "application/vnd.apache.parquet",
            "description": TABLE_MEANING[table],
            "schema": {"fields": [_package_field(field) for field in schema]},
        }
        for table, schema in TABLES.items()
    ]
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "newsbeam",
        "version": SCHEMA_VERSION,
        "resources": resources,
    }
    return _json(package)


def _package_field(field: pa.Field) -> dict[str, Any]:
    constraints = {} if field.nullable else {"constraints": {"required": True}}
    return {"name": field.name, "type": _package_type(field.type), "description": _comment(field)} | constraints


def _package_type(kind: pa.DataType) -> str:
    rules = (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_timestamp, "datetime"),
        (pa.types.is_list, "array"),
    )
    return next((name for rule, name in rules if rule(kind)), "string")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def docs_pages() -> dict[str, str]:
    """Returns the generated pages by their name in docs/."""
    return {"data-dictionary.md": data_dictionary(), "rejects.md": rejects_page()}


def main(arguments: list[str]) -> int:
    """Writes or checks the generated pages; returns an exit code."""
    if arguments not in (["docs"], ["docs", "--check"]):
        sys.stderr.write("usage: python -m transforms.write.meta docs [--check]\n")
        return 2
    folder = Path(__file__).resolve().parents[2] / "docs"
    stale = []
    for name, text in docs_pages().items():
        page = folder / name
        if not page.exists() or page.read_text("utf-8") != text:
            stale.append(f"docs/{name}")
            if "--check" not in arguments:
                page.write_text(text, "utf-8")
    if stale and "--check" in arguments:
        sys.stderr.write(f"{', '.join(stale)}: not up to date; run make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
