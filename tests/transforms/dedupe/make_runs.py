"""Committed runs of invented papers, for the tests of what is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.transforms.write.make_items import START, run_at
from transforms.dedupe.history import newest_state
from transforms.dedupe.state import KnownState
from transforms.records import Alias, Fetch, Reject, TaggedArticle
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.manifest import Manifest
from transforms.write.rows import checked_article_row, fetch_row, ingest_date, reject_row
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, settle
from transforms.write.storage import LocalStorage

Record = TaggedArticle | Reject | Fetch | Alias


def items_of(records: Sequence[Record], run_id: str) -> list[Item]:
    run = run_at(run_id)
    items: list[Item] = []
    for record in records:
        if isinstance(record, TaggedArticle):
            row, refused = checked_article_row(record, run)
            assert row is not None, refused
            items.append(ArticleItem(row, len(record.article.text), record.tags.snippets))
        elif isinstance(record, Reject):
            items.append(RejectItem(reject_row(record, run)))
        elif isinstance(record, Fetch):
            items.append(FetchItem(fetch_row(record, run)))
    return items


def commit(root: Path, run_id: str, *records: Record, at: datetime = START, keep_snapshot: bool = True) -> Manifest:
    """Commits a run that writes these records, without Beam."""
    storage = LocalStorage(str(root))
    known = KnownState(newest_state(storage))
    settled = settle(items_of(records, run_id), known, ingest_date(at), f"{run_id}.00000")
    files = [stage_file(storage, run_id, file) for file in settled.files]
    aliases = [*settled.aliases, *(record for record in records if isinstance(record, Alias))]
    parts = RunParts(files, aliases, settled.tallies, [settled.summary])
    return commit_run(storage, parts, known, run_id, at, at, {}, keep_snapshot)


# What a pipeline on the in-process runner yields; here, since the functions of a test module are copied.
collected: dict[str, list[Any]] = {}


def collect(element: Any, name: str) -> None:
    collected.setdefault(name, []).append(element)
