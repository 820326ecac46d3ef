"""The pages after public bug reports: each has one or more checks with the right answer."""

from __future__ import annotations

import csv
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from transforms.extract.article import Extraction, extract
from transforms.records import Document, Entry

_NOW = datetime(2025, 6, 1, tzinfo=timezone.utc)


class Check(NamedTuple):
    """One check of a page and what was found."""

    file: str
    field: str
    check: str
    expected: str
    found: str

    @property
    def is_right(self) -> bool:
        """Tells whether the found value passes."""
        found, expected = self.found, self.expected
        return {
            "contains": expected in found,
            "not_contains": expected not in found,
            "count1": found.count(expected) == 1,
            "equals": found == expected,
            "not_equals": found != expected,
            "names": found == expected,
            "empty": not found,
            "empty_or_before": not found or found < expected,
        }[self.check]


def run_checks(folder: Path) -> list[Check]:
    """Extracts every page and returns its checks."""
    with (folder / "EXPECTED.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    values = {name: _values((folder / name).read_bytes(), name) for name in {row["file"] for row in rows}}
    return [
        Check(row["file"], row["field"], row["check"], row["expected"] or "", values[row["file"]][row["field"]])
        for row in rows
    ]


def _values(body: bytes, name: str) -> dict[str, str]:
    entry = Entry(f"https://eastwick.example/news/{name}", "key", None, "eval", "urls")
    result = extract(Document(entry, "page", body, "0" * 64, _NOW))
    if not isinstance(result, Extraction):
        return dict.fromkeys(("text", "title", "author", "date", "timestamp", "paywall"), "")
    return {
        "text": result.text,
        "title": result.title or "",
        "author": ";".join(result.authors),
        "date": _local_day(result),
        "timestamp": result.published_at.isoformat() if result.published_at else "",
        "paywall": str(result.access == "paywalled").lower(),
    }


def _local_day(result: Extraction) -> str:
    """The day as the page counts it; the column holds the instant, and beside it the date as written."""
    if result.published_at is None:
        return ""
    try:
        written = datetime.fromisoformat((result.published_raw or "").replace("Z", "+00:00"))
    except ValueError:
        return result.published_at.date().isoformat()
    return written.date().isoformat()
