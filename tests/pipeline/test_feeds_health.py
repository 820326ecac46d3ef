"""``newsbeam feeds health``: the table from the polls of a dataset, read from its Parquet files."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.feeds.health import read_polls
from tests.feed_polls import DAY, HOUR, TUESDAY, feed
from tests.servers import NewsServer
from transforms.feeds.health import FeedHealth, judge_feeds
from transforms.feeds.memory import PollMemory, to_json
from transforms.records import FeedSource, Fetch
from transforms.schema import FETCHES

NOW = TUESDAY
LANTERN, FERRY = "https://lantern.example/feed", "https://ferry.example/rss"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWSBEAM_HOST_GAP", "0")
    Path("f.yaml").write_text(f"- {{url: {LANTERN}, id: lantern}}\n- {{url: {FERRY}, id: ferry}}\n")


def row(url, at, outcome="ok", new=0, seen=10, memory=None, **fields):
    whole = outcome == "ok"
    return Fetch(
        "feed",
        url,
        url.split("/")[2],
        at,
        outcome,
        entries_seen=seen if whole else None,
        entries_new=new if whole else None,
        entry_json=to_json(memory or PollMemory(succeeded_at=at if whole else None)),
        **fields,
    )


def write(rows, root="out", name="a"):
    by_day = {}
    for item in rows:
        by_day.setdefault(f"{item.started_at:%Y-%m-%d}", []).append(item)
    for day, items in by_day.items():
        folder = Path(root, "fetches", f"ingest_date={day}")
        folder.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pylist([item._asdict() | {"run_id": "r"} for item in items], schema=FETCHES)
        pq.write_table(table, folder / f"{name}.parquet")


def said(capsys, *words, code=0):
    assert main(["feeds", "health", "--now", "2026-03-10T12:00:00Z", "-d", "out", *words]) == code
    return capsys.readouterr()


def test_feeds_that_are_well(capsys):
    hours = [NOW - hour * HOUR for hour in (5, 4, 3, 2, 1)]
    write([row(LANTERN, at, new=2, next_due_at=at + HOUR) for at in hours])
    shown = said(capsys, "--feeds", "f.yaml")
    lines = [re.split(r"\s{2,}", line) for line in shown.out.splitlines()]
    assert lines[0] == [
        "state",
        "id",
        "url",
        "last success",
        "rhythm",
        "next due",
        "failures",
        "gaps",
        "moved to",
        "note",
    ]
    assert lines[2] == ["ok", "lantern", LANTERN, "1h ago", "30m", "now", "0", "0"]
    assert lines[3] == ["not polled", "ferry", FERRY, "0", "0"]
    assert shown.err == "0 of 2 feeds want a person to look, 1 not polled\n"


def test_what_wants_a_person_comes_first_and_is_explained(capsys):
    moved = PollMemory(succeeded_at=NOW - HOUR)
    write(
        [
            row(LANTERN, NOW - HOUR, new=1),
            row(
                FERRY,
                NOW - HOUR,
                memory=moved,
                moved_to="https://new.example/rss",
                gap_suspected=True,
                next_due_at=NOW + timedelta(minutes=90),
            ),
        ]
    )
    shown = said(capsys, "--feeds", "f.yaml", code=3)
    assert re.split(r"\s{2,}", shown.out.splitlines()[2]) == (
        ["moved, gap", "ferry", FERRY, "1h ago", "in 1h 30m", "0", "1", "https://new.example/rss"]
    )
    assert "moved (1): For a day the server has named a new address for good" in shown.err
    assert "gap (1): " in shown.err
    assert shown.err.endswith("1 of 2 feeds want a person to look\n")


def test_json_has_a_line_a_feed(capsys):
    failing = PollMemory(succeeded_at=NOW - 3 * DAY, news_at=NOW - 4 * DAY, note="a web page")
    write([row(FERRY, NOW - HOUR, "not_feed", memory=failing, failures=9, http_status=200, next_due_at=NOW + DAY)])
    shown = said(capsys, "--json", "--feeds", FERRY, code=3)
    assert json.loads(shown.out) == {
        "id": "ferry.example",
        "url": FERRY,
        "problems": ["failing"],
        "outcome": "not_feed",
        "http_status": 200,
        "last_attempt_at": "2026-03-10T11:00:00Z",
        "last_success_at": "2026-03-07T12:00:00Z",
        "last_news_at": "2026-03-06T12:00:00Z",
        "rhythm_s": None,
        "next_due_at": "2026-03-11T12:00:00Z",
        "failures": 9,
        "gaps": 0,
        "moved_to": None,
        "validators_unreliable": False,
        "note": "a web page",
    }


def test_without_configured_feeds_all_that_were_polled_are_judged(capsys):
    write([row(LANTERN, NOW - HOUR, source_id="lamp"), row(FERRY, NOW - 2 * HOUR)])
    ids = [json.loads(line)["id"] for line in said(capsys, "--json").out.splitlines()]
    assert ids == ["ferry.example", "lamp"]


def test_a_dataset_without_polls_is_said_clearly(capsys):
    assert said(capsys).err == "out has no polls of the last 60 days; newsbeam run --feeds ... makes some\n"
    write([row(LANTERN, NOW - 90 * DAY), row(FERRY, NOW + DAY)])
    assert said(capsys).err.startswith("out has no polls of the last 60 days")


def test_a_damaged_file_is_named(capsys):
    write([row(LANTERN, NOW - HOUR)])
    (path,) = Path("out").rglob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    shown = said(capsys, code=1)
    assert shown.err.startswith(f"newsbeam: cannot read {path.absolute()}: ")
    assert len(shown.err.splitlines()) == 1


def test_secrets_of_addresses_are_not_shown_and_logins_do_not_hide_a_feed(capsys):
    write([row("https://lantern.example/feed?token=abc", NOW - HOUR)])
    shown = said(capsys, "--json", "--feeds", "https://ann:pw@lantern.example/feed?token=abc")
    assert json.loads(shown.out)["outcome"] == "ok"
    assert json.loads(shown.out)["url"] == "https://lantern.example/feed?token=***"


def test_rows_that_are_left_aside_change_no_judgement():
    rows = [
        row(LANTERN, NOW - hour * HOUR, "not_modified" if hour % 3 else "ok", new=hour % 2) for hour in range(1, 200)
    ]
    rows += [row(FERRY, NOW - hour * HOUR, seen=0 if hour < 5 else 7, gap_suspected=hour == 9) for hour in range(1, 50)]
    rows += [row("https://gone.example/", NOW - hour * HOUR, "timeout", failures=99 - hour) for hour in range(1, 99)]
    rows.append(row(FERRY, NOW - 100 * HOUR)._replace(kind="page"))
    write(rows[::2], name="b")
    write(rows[1::2], name="a")
    sources = [FeedSource(url, "x") for url in (LANTERN, FERRY, "https://gone.example/")]
    found = read_polls("out", NOW)
    assert len(found) < 120
    judged = judge_feeds(sources, found, NOW)
    assert judged == judge_feeds(sources, rows, NOW)
    assert judged[1].problems == ("emptied", "gap")
    assert judged[2].problems == ("never_worked",)
    assert isinstance(judged[0], FeedHealth)


def test_the_polls_of_a_real_run(capsys):
    with NewsServer({"/feed": feed(1, 2), "/nix": 404}) as server:
        Path("f.yaml").write_text(f"- {server.url('/feed')}\n- {{url: {server.url('/nix')}, id: nix}}\n")
        assert main(["run", "--feeds", "f.yaml", "-d", "out", "--allow-loopback", "--quiet", "--max-age", "1s"]) == 0
        assert main(["feeds", "health", "--feeds", "f.yaml", "-d", "out", "--json"]) == 0
    rows = {row["id"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (rows["127.0.0.1"]["outcome"], rows["127.0.0.1"]["problems"]) == ("ok", [])
    assert (rows["nix"]["outcome"], rows["nix"]["failures"]) == ("not_found", 1)
    assert datetime.fromisoformat(rows["nix"]["next_due_at"].replace("Z", "+00:00")) > datetime.now(timezone.utc)
