"""The pages of docs/ that are generated from the code: the columns of every table, the reasons for refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from transforms.rejects import FETCH_OUTCOMES, REASONS, STAGES
from transforms.schema import PARTITIONS, SCHEMA_VERSION, TABLES, volatile_columns

TABLE_MEANING = {
    "articles": "A row an article and revision. The view `articles_latest` has the newest revision of each.",
    "article_topics": "A row an article revision and topic at level relevant or primary, with the evidence in short.",
    "rejects": "A row a refusal: what was announced or given but did not become an article, and why.",
    "fetches": "A row an HTTP exchange: polls of feeds, pages, robots.txt; also pages that were put off.",
    "stories": (
        "A row an article that `newsbeam dataset stories` has grouped; copies, edited ones too, share a story_id."
        " Of several rows the newest counts: the view `stories` has it."
    ),
}
_SORTED_BY = {
    "articles": "first topic (articles without one last), domain, fetched_at, article_id",
    "article_topics": "domain, fetched_at, article_id",
    "rejects": "stage, reason, url, reject_id",
    "fetches": "kind, host, url, started_at",
    "stories": "story_id, article_id",
}
_STAGE_MEANING = {
    "read": "Reading seed files and lists of addresses.",
    "poll": "Reading the entries of feeds.",
    "fetch": "Fetching pages.",
    "extract": "Finding the text of a page or seed.",
    "tag": "Tagging.",
    "write": "Writing rows.",
}


def data_dictionary() -> str:
    """Returns docs/data-dictionary.md."""
    lines = [
        "# The dataset, column by column",
        "",
        "Generated from `transforms/schema.py` by `make docs`; do not edit.",
        "",
        f"Schema version {SCHEMA_VERSION}. All columns exist in every file. Within a major version columns are neither",
        "added, renamed nor retyped; a minor version adds keys to `extra` only. Times are UTC, in microseconds.",
        "Lists are never null. Offsets count Unicode code points from 0, the end is exclusive. Folders",
        "(`ingest_date=2026-11-30`) are columns for readers that know hive partitions; `ingest_date` is the UTC day on",
        "which the run began. Views over the tables are in `_meta/views.sql` of the dataset.",
        "",
        "Volatile columns (marked ~) may differ between two runs over the same input: names of runs, times of our own",
        "doing, places of files.",
    ]
    for table in TABLES:
        lines += ["", *_table_section(table)]
    return "\n".join(lines) + "\n"


def _table_section(table: str) -> Iterator[str]:
    folders = "/".join(f"{name}=..." for name in PARTITIONS[table])
    yield f"## {table}"
    yield ""
    yield TABLE_MEANING[table]
    yield ""
    yield f"Files: `{table}/{folders}/*.parquet`, sorted by {_SORTED_BY[table]}."
    yield ""
    yield "| column | type | null | meaning |"
    yield "|---|---|---|---|"
    volatile = volatile_columns(table)
    for field in TABLES[table]:
        name = f"{field.name}{' ~' if field.name in volatile else ''}"
        comment = (field.metadata or {}).get(b"comment", b"").decode().replace("<", "&lt;").replace("|", "&#124;")
        yield f"| {name} | {type_name(field.type)} | {'yes' if field.nullable else ''} | {comment} |"


def type_name(kind: pa.DataType) -> str:
    """Returns the type as people write it: ``list of {topic string, score double}``."""
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pa.types.is_struct(kind):
        return (
            "{" + ", ".join(f"{part.name}{'?' if part.nullable else ''} {type_name(part.type)}" for part in kind) + "}"
        )
    return str(kind)


def rejects_page() -> str:
    """Returns docs/rejects.md."""
    lines = [
        "# Why something was refused",
        "",
        "Generated from `transforms/rejects.py` by `make docs`; do not edit.",
        "",
        "What was announced or given and did not become an article is a row of `rejects`, with a stage and a reason",
        "of this list. A *final* refusal is not tried again; another may succeed with the same input next time.",
    ]
    for stage in STAGES:
        lines += ["", f"## {stage}", "", _STAGE_MEANING[stage], "", "| reason | final | meaning |", "|---|---|---|"]
        for reason in REASONS:
            if reason.stage == stage:
                lines.append(f"| `{reason.name}` | {'' if reason.retryable else 'yes'} | {reason.meaning} |")
    lines += [
        "",
        "## Outcomes of fetches",
        "",
        "What became of an HTTP exchange is `fetches.outcome`. A page that failed for now is tried again by itself.",
        "",
        "| outcome | meaning |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in FETCH_OUTCOMES.items()]
    return "\n".join(lines) + "\n"
