"""Cases from the field about addresses, languages and seed files: prints which are right, exits 1 if one is not."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from transforms.language import detect  # noqa: E402
from transforms.records import Document, Reject  # noqa: E402
from transforms.seeds.formats import read_seed_file  # noqa: E402
from transforms.seeds.urls_file import read_urls  # noqa: E402
from transforms.urls import article_id_of_url, to_fetchable  # noqa: E402

NOW = datetime(2026, 3, 12, tzinfo=timezone.utc)
SHARED = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
INPUTS = SHARED / "packs" / "cases" / "inputs"


def _rows(name: str) -> list[dict[str, str]]:
    with (INPUTS / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if None not in row.values()]


def identity_by_query() -> bool:
    """Five addresses are four articles."""
    lines = (INPUTS / "01-url-query-identity.txt").read_text().split()
    return len(lines) == 5 and len({article_id_of_url(line) for line in lines}) == 4


def equivalent_forms() -> bool:
    """Pairs marked 1 give one id; the address as written can be fetched. The www pair is one by our rules."""
    return all(
        article_id_of_url(row["a"]) == article_id_of_url(row["b"]) and to_fetchable(row["a"])
        for row in _rows("03-url-equivalent-forms.tsv")
    )


def idn_hosts() -> bool:
    """Spellings of one host are one, and nothing raises."""
    return all(
        (article_id_of_url(row["a"]) == article_id_of_url(row["b"])) is row["same"].startswith("1")
        for row in _rows("05-idn-hosts.tsv")
    )


def short_languages() -> bool:
    """Too little evidence is und."""
    return all(detect(row["text"]) in row["allowed"].split("|") for row in _rows("11-lang-short.tsv"))


def future_dates() -> bool:
    """Impossible dates are null, as written, with a warning."""
    found = _read("22-future-dates.jsonl")
    documents = [item for item in found if isinstance(item, Document)]
    dates = [(item.entry.published_at, item.entry.published_raw, bool(item.warnings)) for item in documents]
    return len(documents) == 7 and all(not at and raw and warned for at, raw, warned in dates[:5]) and bool(dates[6][0])


def quiet_feed() -> bool:
    """A feed without items is no error."""
    return _read("27-no-items.xml") == []


def address_lists() -> bool:
    """Three, two, two and two addresses."""
    wanted = {"56-urls-utf16.txt": 3, "56-urls-utf8-bom.txt": 2, "56-urls-cp1252.txt": 2, "56-urls-cr-only.txt": 2}
    for name, count in wanted.items():
        found = list(read_urls(name, (INPUTS / name).read_bytes(), now=NOW))
        if len(found) != count or any(isinstance(item, Reject) for item in found):
            return False
    return True


def messy_lines() -> bool:
    """Rows of lines 1, 3, 13 and of repaired ones; 12 items in all."""
    found = _read("57-messy.jsonl")
    rows = {int((item.raw_uri or "").rpartition("L")[2]) for item in found if isinstance(item, Document)}
    refused = {int((item.input_uri or "").rpartition("L")[2]) for item in found if isinstance(item, Reject)}
    return {1, 3, 13} <= rows and {7, 9, 12, 14} <= refused and len(found) == len(rows) + len(refused) == 12


def _read(name: str) -> list[object]:
    return list(read_seed_file(name, (INPUTS / name).read_bytes(), now=NOW))


CASES: dict[str, Callable[[], bool]] = {
    "01": identity_by_query,
    "03": equivalent_forms,
    "05": idn_hosts,
    "11": short_languages,
    "22": future_dates,
    "27": quiet_feed,
    "56": address_lists,
    "57": messy_lines,
}


def main() -> int:
    """Prints the table.

    Returns:
        1 if a case is wrong.
    """
    if not INPUTS.is_dir():
        print(f"eval seeds: left out, no cases at {INPUTS}")
        return 0
    wrong = 0
    for number, case in CASES.items():
        right = case()
        wrong += not right
        print(f"{number}  {'right' if right else 'WRONG'}  {(case.__doc__ or '').strip()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
