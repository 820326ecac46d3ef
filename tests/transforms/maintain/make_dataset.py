"""Datasets of invented papers for the tests of maintenance, and what must hold of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.rows import data_files
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.write.make_items import entry, fetch, reject, sha, tagged, tags
from transforms.fetch.due import entry_to_json
from transforms.maintain.contents import Contents, read_contents
from transforms.maintain.verify import Report, verify
from transforms.records import Tags
from transforms.schema import TABLES
from transforms.tag.tagger import Tagger
from transforms.tag.taxonomy import Taxonomy, load_taxonomy
from transforms.write.manifest import read_manifests
from transforms.write.storage import LocalStorage

DAY_1 = datetime(2026, 9, 1, 10, 0, 0, tzinfo=timezone.utc)
DAY_2 = DAY_1 + timedelta(days=1)
BOTH = tags(deportation="primary", immigration="relevant")
ONE = tags(immigration="relevant")
NONE = tags()
WET = "https://harrow-bay.example/wet"  # a page that is still due


def quiet(_: str) -> None:
    return


def two_days(root: Path) -> None:
    """Four small runs on one day, one on the next; revisions, an alias, refusals, a page that is due."""
    by_run: list[list[Any]] = [
        [_story(1, BOTH), _story(2, NONE), reject(), fetch(started_at=DAY_1, etag='"a"')],
        [_story(3, ONE), _story(4, BOTH), _due()],
        [_story(5, NONE), reject("https://harrow-bay.example/away", "gone")],
        [_story(6, ONE, "Story 1 as it was corrected.", url_of=1), _story(7, ONE), fetch(started_at=DAY_1 + _HOUR)],
    ]
    for number, records in enumerate(by_run):
        commit(root, f"20260901T1{number}0000Z-000{number}", *records, at=DAY_1 + number * _HOUR)
    commit(root, "20260902T100000Z-0009", _story(8, BOTH), fetch(started_at=DAY_2), at=DAY_2)


_HOUR = timedelta(hours=1)


def _story(number: int, topics: Tags, text: str = "", url_of: int = 0) -> Any:
    url = f"https://paper{number % 3 if not url_of else url_of % 3}.example/story/{url_of or number}"
    at = DAY_1 + timedelta(minutes=number)
    return tagged(url, text or f"Story {number}.", f"v{number}", topics, fetched_at=at)


def _due() -> Any:
    return fetch(WET, "page", "timeout", started_at=DAY_1, next_due_at=DAY_1, entry_json=entry_to_json(entry(WET)))


def contents_of(root: Path) -> Contents:
    return read_contents(str(root))


def report_of(root: Path) -> Report:
    return verify(LocalStorage(str(root)), quiet)


def findings_of(root: Path) -> list[str]:
    """What verify finds, a line each."""
    return [f"{finding.kind} {finding.path}" for finding in report_of(root).findings]


def hashes(root: Path, table: str = "") -> dict[str, str]:
    """The sha256 of each data file by its path."""
    tables = [table] if table else list(TABLES)
    files = [path for name in tables for path in data_files(root, name)]
    return {str(path.relative_to(root)): sha(path.read_bytes().decode("latin-1")) for path in files}


def kinds(root: Path) -> list[str]:
    """The kinds of the runs, in order."""
    return [manifest.kind for manifest in read_manifests(str(root))]


def order_of(path: Path, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of one file as they lie there."""
    rows = pq.ParquetFile(path).read(columns=list(columns)).to_pylist()
    return [tuple(row[column] for column in columns) for row in rows]


TOPICS = """
id: vale
version: "{version}"
default_language: en
topics:
  - id: harbor
    terms: [harbor, quay]
    thresholds: {{mention: 0.1, relevant: 1, primary: 6}}
{more}
"""
MARSH = """
  - id: marsh
    terms: [marsh, heron]
    thresholds: {mention: 0.1, relevant: 1, primary: 6}
"""


def taxonomy(folder: Path, version: str = "1", more: str = "") -> Taxonomy:
    path = folder / f"topics-{version}.yaml"
    path.write_text(TOPICS.format(version=version, more=more), encoding="utf-8")
    return load_taxonomy([path])


def tagged_story(url: str, title: str, text: str, by: Tagger, **changes: Any) -> Any:
    """An article with the tags that a taxonomy gives it."""
    words = len(text.split())
    plain = tagged(url, text, None, title=title, language="en", word_count=words, **changes)
    return plain._replace(tags=by.tag(plain.article))
