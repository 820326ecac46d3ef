"""Plays the HTTP and discovery cases of the pack of feed bugs and says which are answered right.

Run it from the project root: ``python tests/eval/eval_feeds_http.py``. Exit status 1 if any case is wrong.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.conversations import Conversation, play  # noqa: E402
from tests.feed_polls import CLIENT, Reader, make_asker, run_at, state_after  # noqa: E402
from tests.servers import NewsServer, names, watched_connections  # noqa: E402
from transforms.feeds.discover import discover_feeds  # noqa: E402
from transforms.feeds.hosts import PollTools, poll_host  # noqa: E402
from transforms.feeds.memory import from_json  # noqa: E402
from transforms.feeds.poll import Known, PollLimits, PollResult  # noqa: E402
from transforms.records import FeedSource  # noqa: E402

START = datetime(2026, 3, 10, 12, 0, tzinfo=timezone.utc)
Case = dict[str, Any]


def played(case: Case) -> tuple[Reader, list[str], Conversation]:
    """Plays a case from its first to its last step."""
    with Conversation(case) as conversation:
        reader, wrong = play(conversation, START)
        return reader, wrong, conversation


def generic(case: Case) -> list[str]:
    """The requests are those recorded; every 304 and every feed is a success."""
    reader, wrong, _ = played(case)
    wrong += [f"outcome {r.row.outcome}" for r in reader.results if r.row.http_status == 304 and r.row.failures]
    return wrong


def one_entry(case: Case) -> list[str]:
    """The one answer holds one entry, or fails cleanly."""
    reader, wrong, _ = played(case)
    row = reader.results[0].row
    ok = (row.outcome, row.entries_seen) == ("ok", 1) or row.outcome == "bad_coding"
    return wrong + ([] if ok else [f"{row.outcome}, {row.entries_seen} entries"])


def marked_unreliable(case: Case) -> list[str]:
    """News behind a frozen validator marks the feed."""
    reader, wrong, _ = played(case)
    marked = from_json(reader.results[-1].row.entry_json).unreliable
    return wrong + ([] if marked else ["not marked as unreliable"])


def keeps_being_tried(case: Case) -> list[str]:
    """Ten failures over ten days: the rest grows to a day and not beyond; a success ends it."""
    with Conversation(case) as conversation:
        reader = Reader(FeedSource(conversation.local(case["steps"][0]["request"]["url"]), "case"))
        rows = [reader.poll(START + timedelta(days=day)).row for day in range(10)]
        rests = [row.next_due_at - row.started_at for row in rows if row.next_due_at]
        conversation.steps[0]["response"] = {"status": 200, "body": "<rss version='2.0'><channel/></rss>"}
        last = reader.poll(START + timedelta(days=10)).row
    wrong = [] if rests == sorted(rests) and timedelta(hours=1) < rests[-1] <= timedelta(days=1) else [str(rests)]
    return wrong + ([] if (last.outcome, last.failures) == ("ok", 0) else [f"{last.outcome}, {last.failures}"])


def never_moves(case: Case) -> list[str]:
    """Four polls over three days: no move is reported, the address stays."""
    with Conversation(case) as conversation:
        reader = Reader(FeedSource(conversation.local(case["steps"][0]["request"]["url"]), "case"))
        rows = [reader.poll(START + timedelta(days=day)).row for day in range(4)]
        stays = {row.url for row in rows} == {reader.source.url}
    moves = [row.moved_to for row in rows if row.moved_to]
    return [f"moved to {moves[0]}"] if moves else [] if stays else ["the address was changed"]


def gone(case: Case) -> list[str]:
    """Not at the first 410; after three over three days the feed is left alone for longer than a day."""
    with Conversation(case) as conversation:
        reader = Reader(FeedSource(conversation.local(case["steps"][0]["request"]["url"]), "case"))
        rows = [reader.poll(START + timedelta(days=day)).row for day in range(5)]
    rests = [row.next_due_at - row.started_at for row in rows if row.next_due_at]
    early, late = rests[:3], rests[3:]
    day = timedelta(days=1)
    return [] if max(early) <= day < min(late) else [str(rests)]


def one_request_for_spellings(case: Case) -> list[str]:
    """Three spellings of one address, one request, now and in the next run."""
    url = case["steps"][0]["request"]["url"]
    body = case["steps"][0]["response"]["body"]
    with NewsServer({"*": body}, host="127.0.0.60") as server:
        local = server.url(url[url.index("/", 8) :])
        spellings = (local, local + " ", local.replace("http://", "HTTP://"))
        sources = [FeedSource(spelling, f"row-{n}") for n, spelling in enumerate(spellings)]
        feeds: dict[str, Any] = {}
        for moment in (START, START + timedelta(days=1)):
            run = run_at(moment)
            tools = PollTools(make_asker(run), PollLimits(1e9), run, feeds, Known())
            for result in poll_host("127.0.0.60", sources, tools):
                if isinstance(result, PollResult):
                    feeds[result.row.url] = state_after(result.row)
        return [] if len(server.requests) == 2 else [f"{len(server.requests)} requests in two runs"]


def one_after_the_other(case: Case) -> list[str]:
    """A hundred feeds of one host: one connection at a time and the gap between two."""
    gap_s = 0.01
    with NewsServer({"*": case["steps"][0]["response"]["body"]}, host="127.0.0.61") as server:
        run = run_at(START)
        tools = PollTools(make_asker(run, gap_s), PollLimits(1e9), run, {}, Known())
        sources = [FeedSource(server.url(f"/f{n}"), f"feed-{n}") for n in range(100)]
        started_s = time.monotonic()
        count = sum(isinstance(result, PollResult) for result in poll_host("127.0.0.61", sources, tools))
        took_s = time.monotonic() - started_s
        starts = [request.started_s for request in server.requests]
        close = [b - a for a, b in itertools.pairwise(starts) if b - a < gap_s]
        ok = count == 100 and server.most_at_once == 1 and not close and took_s >= 99 * gap_s
        return [] if ok else [f"{count} polls, {server.most_at_once} at once, {len(close)} too close"]


def rebinding(case: Case) -> list[str]:
    """A name that leads to a private address at the second look: nothing private is connected to."""
    url = case["steps"][0]["request"]["url"]
    host = url.split("/")[2]
    with watched_connections() as tried, names({host: [["203.0.113.7"], ["127.0.0.1"]]}) as asked:
        run = run_at(START)
        row = Reader(url).poll(START, make_asker(run, client=CLIENT._replace(allow_loopback=False))).row
    ok = not any(str(address[0]).startswith("127.") for address in tried) and len(asked) <= 1
    return [] if ok else [f"{row.outcome}: connected to {tried}, {len(asked)} look-ups"]


CHECKS: tuple[tuple[str, Callable[[Case], list[str]]], ...] = (
    ("last-modified-frozen", marked_unreliable),
    ("keeps-being-tried", keeps_being_tried),
    ("many-feeds-one-host", one_after_the_other),
    ("same-url-listed-twice", one_request_for_spellings),
    ("captive-portal", never_moves),
    ("is-temporary", never_moves),
    ("rebinding", rebinding),
    ("gzip", one_entry),
    ("encoding-lie", one_entry),
    ("gone", gone),
)


def check_http(path: Path) -> list[str]:
    """Returns what is wrong with our answer to an HTTP case."""
    case = json.loads(path.read_text())
    check = next((check for part, check in CHECKS if part in path.name), generic)
    return check(case)


def check_discovery(path: Path, fault: str, right: str) -> list[str]:
    """Returns what is wrong with the feeds that are found on a page."""
    page_url, headers, body = "https://courier.example/", {}, path.read_bytes()
    if path.suffix == ".json":
        step = json.loads(body)["steps"][0]
        page_url, body = step["request"]["url"], step["response"]["body"].encode()
        headers = {name.lower(): value for name, value in step["response"]["headers"].items()}
    named = re.search(r"Page is (https?://[^\s,]+)", fault)
    found = [feed.url for feed in discover_feeds(body, named[1] if named else page_url, headers)]
    best = re.search(r"https?://[^\s,)]+", right)
    ok = bool(found and best and found[0] == best[0]) and not ("one result" in right and len(found) > 1)
    return [] if ok else [f"found {found}"]


def main() -> int:
    """Plays all cases and prints a table."""
    shared = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
    pack = shared / "packs" / "feeds" / "bugs"
    if not pack.is_dir():
        print("feeds over HTTP: left out, there is no pack")
        return 0
    failed = total = 0
    with open(pack / "EXPECTED.tsv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] in ("http", "discovery")]
    for row in rows:
        path = pack / row["file"]
        if row["kind"] == "http":
            wrong = check_http(path)
        else:
            wrong = check_discovery(path, row["fault_own_words"], row["right_answer"])
        total, failed = total + 1, failed + bool(wrong)
        print(f"{'wrong' if wrong else 'right'}  {row['file']}  {'; '.join(wrong)}".rstrip())
    print(f"feeds over HTTP: {total - failed} of {total} right")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
