"""Feed parsing against the packs of real feeds and of bugs, beside feedparser and fastfeedparser on the same files.

Run it from the project root: ``python tests/eval/eval_feeds.py``. Every file is right, none (a value that it
has was not found, or the reader failed) or wrong (a value that it has not was given). Exit status 1 if a
floor of ``tests/eval_floors.json`` is missed. What is a conversation or a page belongs to ``eval_feeds_http.py``.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import feedparser  # noqa: E402

from transforms.feeds.opml import FeedList, read_opml  # noqa: E402
from transforms.feeds.parse import feed_report, parse_feed  # noqa: E402

try:
    import fastfeedparser
except ImportError:
    fastfeedparser = None

NOW = datetime(2026, 11, 30, 18, 0, tzinfo=timezone.utc)
SHARED = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
BUGS, DATA = SHARED / "packs" / "feeds" / "bugs", SHARED / "packs" / "feeds" / "data"
READER_EXPORT = SHARED / "packs" / "cases" / "inputs" / "45-reader-export.opml"
FLOORS = ROOT / "tests" / "eval_floors.json"
BASE = "https://courier.example/feed"
CPU_LIMIT_S = 0.5

Values = dict[str, Any]
STORY = "https://courier.example/a/1"

# By number of the case: what its column right_answer says, by hand.
EXPECTED: dict[str, Values] = {
    "01": {"count": 2, "title": "Żółta łódź"},
    "03": {"title": "Sınır dışı kararı"},
    "04": {"title": "Québec et l’immigration"},
    "06": {"count": 1, "title": "Über alles Neue"},
    "07": {"title": "Café owners’ appeal"},
    "09": {"count": 2, "title": "Backspace inside"},
    "10": {"title": "D:\\data\\new"},
    "12": {"count": 1, "fast": True},
    "13": {"url": STORY, "published": "2026-03-10T09:00:00Z"},
    "15": {"count": 1, "title": "Story", "published": "2026-03-10T08:00:00Z"},
    "16": {"published": "2022-07-27T19:35:05Z"},
    "18": {"content": "<p>Full story text.</p>", "summary": "Teaser", "caption": "Photo caption"},
    "19": {"summary": "Lead paragraph of the story."},
    "21": {"description": "Test feed"},
    "22": {"image_title": "Logo"},
    "24": {"title": "Governor’s border order"},
    "25": {"title": "How <table> and <script> tags are used"},
    "27": {"title": "Court blocks order"},
    "28": {"url": "https://courier.example/ongoing/When/2026/03/10/Court-Ruling"},
    "30": {"url": STORY},
    "31": {"url": STORY},
    "33": {"count": 3, "distinct_keys": 3},
    "34": {"count": 2, "distinct_keys": 2},
    "36": {"keys_over_time": 1, "last_title": "Minister resigns after vote"},
    "37": {"count": 2, "keys": ["https://courier.example/a/1", "https://courier.example/a/2"]},
    "39": {"published": "2016-06-29T15:07:41Z", "zone_assumed": True},
    "40": {"published": "2015-09-02T22:01:01Z"},
    "42": {"published": "2018-01-22T23:00:00Z"},
    "43": {"published": "2018-06-25T11:41:36Z", "zone_assumed": True},
    "45": {"published": "2021-09-05T08:45:06Z"},
    "46": {"published": "2023-10-28T20:28:28Z", "zone_assumed": True},
    "48": {"published": "2009-09-06T21:18:00Z"},
    "49": {"published": "2019-03-22T08:24:31Z"},
    "51": {"published": "2019-12-09T18:11:00Z", "zone_assumed": True},
    "52": {"published": "2021-03-13T13:47:51Z"},
    "54": {"published": None, "updated": "2026-03-10T09:00:00Z"},
    "55": {"min_interval_min": 180, "skip_hours": [0, 1], "skip_days": ["Sunday"]},
    "85": {"feeds": [("https://courier.example/feed", "Courier", ("All",))]},
    "87": {"feeds": [("https://courier.example/feed", "Courier", ("Art", "Zone"))]},
    "88": {"feeds": [("https://courier.example/feed", "Courier", ()), ("https://other.example/feed", None, ())]},
    "90": {"url": STORY, "updated": "2026-03-10T00:00:00Z", "zone_assumed": True},
    "91": {"url": STORY, "updated": None, "warned": True},
}
OUR_OWN_IDEAS = frozenset({"zone_assumed", "caption", "warned", "distinct_keys", "keys", "keys_over_time"})
"""Values that the other readers have no name for; not held against them, except keys, for which guid or link stand."""

# What the manifest says of these two does not fit the files: each has one entry to refuse and one plain feed.
OPML_CORRECTED = {"newsboat-piped.opml": (1, 1), "newsboat-filtered.opml": (1, 1)}


def by_newsbeam(body: bytes, header: str | None) -> Values:
    """Our reading."""
    report = feed_report(parse_feed(body, content_type=header, url=BASE, now=NOW))
    entries, rules = report["entries"], report["next_due_rules"]
    first = entries[0] if entries else {}
    return {
        **{name: first.get(name) for name in ("title", "url", "published", "updated", "summary", "content")},
        "zone_assumed": first.get("zone_assumed"),
        "caption": (first.get("image") or {}).get("caption"),
        "warned": bool(first.get("warnings")),
        "count": len(entries),
        "keys": [entry["key"] for entry in entries],
        "titles": [entry["title"] for entry in entries],
        "description": report["description"],
        "image_title": report["image_title"],
        "min_interval_min": rules["min_interval_min"],
        "skip_hours": rules["skip_hours_gmt"],
        "skip_days": rules["skip_days"],
    }


def by_feedparser(body: bytes, header: str | None) -> Values:
    """The reading of feedparser, given all that helps it."""
    headers = {"content-location": BASE} | ({"content-type": header} if header else {})
    parsed = feedparser.parse(BytesIO(body), response_headers=headers, sanitize_html=False)
    entries, feed = parsed.get("entries", []), parsed.get("feed", {})
    first = entries[0] if entries else {}
    content = dict.get(first, "content") or []
    return {
        "title": dict.get(first, "title"),
        "url": dict.get(first, "link"),
        "published": _stamp(dict.get(first, "published_parsed")),
        "updated": _stamp(dict.get(first, "updated_parsed")),
        "summary": dict.get(first, "summary"),
        "content": content[0].get("value") if content else None,
        "count": len(entries),
        "keys": [dict.get(entry, "id") or dict.get(entry, "link") for entry in entries],
        "titles": [dict.get(entry, "title") for entry in entries],
        "description": dict.get(feed, "subtitle"),
        "image_title": dict.get(dict.get(feed, "image") or {}, "title"),
        "min_interval_min": int(dict.get(feed, "ttl") or 0) or None,
        "skip_hours": None,
        "skip_days": None,
    }


def _stamp(parsed: time.struct_time | None) -> str | None:
    return (
        None
        if parsed is None
        else f"{parsed[0]:04}-{parsed[1]:02}-{parsed[2]:02}T{parsed[3]:02}:{parsed[4]:02}:{parsed[5]:02}Z"
    )


def by_fastfeedparser(body: bytes, header: str | None) -> Values:
    """The reading of fastfeedparser."""
    assert fastfeedparser is not None
    parsed = fastfeedparser.parse(body)
    entries, feed = parsed.entries, parsed.feed
    first = entries[0] if entries else {}
    content = first.get("content") or []
    return {
        "title": first.get("title"),
        "url": first.get("link"),
        "published": _utc(first.get("published")),
        "updated": _utc(first.get("updated")),
        "summary": first.get("description"),
        "content": content[0].get("value") if content else None,
        "count": len(entries),
        "keys": [entry.get("id") or entry.get("link") for entry in entries],
        "titles": [entry.get("title") for entry in entries],
        "description": feed.get("subtitle"),
        "image_title": (feed.get("image") or {}).get("title"),
        "min_interval_min": None,
        "skip_hours": None,
        "skip_days": None,
    }


def _utc(text: str | None) -> str | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return moment.astimezone(timezone.utc).replace(microsecond=0).isoformat().replace("+00:00", "Z")


Reader = Callable[[bytes, "str | None"], Values]
READERS: dict[str, Reader] = {"newsbeam": by_newsbeam, "feedparser": by_feedparser}
if fastfeedparser is not None:
    READERS["fastfeedparser"] = by_fastfeedparser


def verdict(found: Values, expected: Values) -> tuple[str, str]:
    """Returns right, none or wrong, and the first value that is not right."""
    worst, note = "right", ""
    for name, value in expected.items():
        got = found.get(name)
        if _same(got, value):
            continue
        kind = "none" if got in (None, "", [], 0) else "wrong"
        if worst != "wrong":
            worst, note = kind, note or f"{name}: {got!r} for {value!r}"
    return worst, note


def _same(got: object, value: object) -> bool:
    if isinstance(got, str) and isinstance(value, str):
        # Other readers give titles as HTML: markup around the right words is right too.
        forms = (got, re.sub(r"</?(?:div|em)\b[^>]*>", "", got))
        return any(" ".join(form.split()) == " ".join(value.split()) for form in forms)
    return got == value


def _read(reader: Reader, body: bytes, header: str | None) -> Values:
    started_s = time.process_time()
    try:
        found = reader(body, header)
    except Exception as error:  # a reader that fails answers nothing
        return {"error": repr(error)[:80]}
    return found | {"fast": time.process_time() - started_s < CPU_LIMIT_S, "distinct_keys": len(set(found["keys"]))}


def judge_bug(reader_name: str, row: dict[str, str]) -> tuple[str, str]:
    """Returns the verdict on one case of the pack of bugs; ``n/a`` for what no parser does."""
    number = row["file"][:2]
    expected = EXPECTED.get(number)
    if expected is None or (row["kind"] == "opml" and reader_name != "newsbeam"):
        return "n/a", ""
    path = BUGS / row["file"]
    if row["kind"] == "opml":
        feeds = read_opml(path.read_bytes()).feeds
        return verdict({"feeds": [(feed.url, feed.title, feed.folders) for feed in feeds]}, expected)
    reader = READERS[reader_name]
    header = json.loads(row["headers"]).get("content-type") if row["headers"] else None
    if number == "36":
        snapshots = [_read(reader, text.encode(), header) for text in json.loads(path.read_text()).values()]
        keys = {key for found in snapshots for key in found.get("keys", [])}
        found = {"keys_over_time": len(keys), "last_title": (snapshots[-1].get("titles") or [None])[-1]}
        return verdict(found, expected)
    if reader_name != "newsbeam":
        expected = {name: value for name, value in expected.items() if name not in OUR_OWN_IDEAS or "keys" in name}
    return verdict(_read(reader, path.read_bytes(), header), expected)


def judge_data(reader_name: str, row: dict[str, str]) -> tuple[str, str]:
    """Returns the verdict on one real feed: number of entries, and the first one's title, link and date."""
    path = DATA / row["file"]
    if row["kind"] == "opml":
        return _judge_opml(row, read_opml(path.read_bytes())) if reader_name == "newsbeam" else ("n/a", "")
    if row["kind"] == "html":
        kind = parse_feed(path.read_bytes(), now=NOW).kind
        return verdict({"kind": kind}, {"kind": "html"}) if reader_name == "newsbeam" else ("n/a", "")
    found = _read(READERS[reader_name], path.read_bytes(), None)
    found["title"] = (found.get("title") or "")[:150].strip()
    date = found.get("published") or found.get("updated")
    found["date"] = date[:19] if date else None
    expected: Values = {"count": int(row["expected_entries"])}
    if row["first_title"]:
        expected["title"] = row["first_title"][:150].strip()
    if row["first_link"]:
        expected["url"] = row["first_link"]
    if row["first_date"]:
        expected["date"] = _expected_date(row["first_date"])
    return verdict(found, expected)


def _expected_date(text: str) -> str:
    if not text[0].isdigit():
        return parsedate_to_datetime(text).astimezone(timezone.utc).isoformat()[:19]
    if len(text) == 10:
        return f"{text}T00:00:00"
    whole, _, fraction = text.partition(".")
    return (_utc(whole + ("Z" if fraction else "")) or "")[:19]


def _judge_opml(row: dict[str, str], found: FeedList) -> tuple[str, str]:
    feeds, refused = OPML_CORRECTED.get(row["file"], (int(row["expected_entries"]), 0))
    return verdict(
        {"feeds": len(found.feeds) + found.repeated, "refused": len(found.problems)},
        {"feeds": feeds, "refused": refused},
    )


def reader_export() -> tuple[str, str]:
    """Case 45 of the field: a reader's export with doubles, odd schemes and broken lines."""
    found = read_opml(READER_EXPORT.read_bytes())
    folders = {feed.title: feed.folders for feed in found.feeds}
    values = {
        "feeds": len(found.feeds),
        "courier": folders.get("Courier"),
        "pod": [feed.url for feed in found.feeds if "/pod" in feed.url],
        "problems": [(problem.line, problem.reason) for problem in found.problems],
    }
    return verdict(values, {
        "feeds": 5,
        "courier": ("News", "Border"),
        "pod": ["https://valley-times.example/pod"],
        "problems": [(4, "not an http(s) address"), (4, "no address")],
    })  # fmt: skip


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _table(
    title: str, rows: list[dict[str, str]], judge: Callable[[str, dict[str, str]], tuple[str, str]]
) -> dict[str, Counter[str]]:
    totals: dict[str, Counter[str]] = {name: Counter() for name in READERS}
    spent: Counter[str] = Counter()
    print(f"\n{title}\n{'file':48} " + " ".join(f"{name:15}" for name in READERS))
    for row in rows:
        cells, notes = [], []
        for name in READERS:
            started_s = time.process_time()
            result, note = judge(name, row)
            spent[name] += time.process_time() - started_s
            totals[name][result] += 1
            cells.append(f"{result:15}")
            notes += [note] if note and name == "newsbeam" else []
        print(f"{row['file'][:47]:48} " + " ".join(cells) + " ".join(notes))
    for kind in ("right", "none", "wrong", "n/a"):
        print(f"{kind:48} " + " ".join(f"{totals[name][kind]:<15}" for name in READERS))
    print(f"{'CPU seconds':48} " + " ".join(f"{spent[name]:<15.2f}" for name in READERS))
    return totals


def _dates_read() -> float:
    """The share of the dates that the real feeds carry which we can read."""
    written = read = 0
    for path in sorted(DATA.iterdir()):
        if path.suffix in (".html", ".opml", ".tsv"):
            continue
        for item in parse_feed(path.read_bytes(), now=NOW).items:
            for raw, date in ((item.published_raw, item.published), (item.updated_raw, item.updated)):
                written += raw is not None
                read += date is not None
    print(f"\ndates of all entries of the real feeds: {read} of {written} read")
    return read / max(1, written)


def main() -> int:
    """Prints the tables.

    Returns:
        1 if a floor is missed.
    """
    if not BUGS.is_dir() or not DATA.is_dir():
        print(f"eval feeds: left out, no packs at {SHARED}")
        return 0
    bugs = _table("Bugs", _rows(BUGS / "EXPECTED.tsv"), judge_bug)["newsbeam"]
    data = _table("Real feeds", _rows(DATA / "MANIFEST.tsv"), judge_data)["newsbeam"]
    export, note = reader_export()
    print(f"\nexport of a reader (case 45): {export} {note}")
    figures = {
        "bugs_right": bugs["right"],
        "bugs_not_wrong": -bugs["wrong"],
        "data_right": data["right"],
        "data_not_wrong": -data["wrong"],
        "reader_export": int(export == "right"),
        "dates_read": round(_dates_read(), 4),
    }
    floors = json.loads(FLOORS.read_text()).get("feeds", {}) if FLOORS.exists() else {}
    missed = [f"{name} {figures[name]} < {floor}" for name, floor in floors.items() if figures[name] < floor]
    print("floors:", "missed: " + ", ".join(missed) if missed else f"held: {figures}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
