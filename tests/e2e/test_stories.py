"""The command ``newsbeam dataset stories`` on datasets that ``run`` made."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from tests.program import ROOT, newsbeam, run_json
from tests.rows import assert_sound, data_files, read_rows
from tests.transforms.stories.make_stories import report

WIRE = report(3) + " A deportation of a ferry cook was put off by the county court of Harrow Bay."


def seeds(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def stories(root: Path, *flags: str) -> dict[str, Any]:
    found = json.loads(newsbeam("dataset", "stories", "-d", root, "--json", *flags).stdout)
    assert isinstance(found, dict)
    return found


def query(root: Path, sql: str) -> list[dict[str, Any]]:
    lines = newsbeam("query", "-d", root, "--json", sql).stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stories")
    file = seeds(
        folder / "wire.jsonl",
        *(
            {
                "url": f"https://{paper}.example/1",
                "title": title,
                "text": text,
                "published": f"2026-11-30T0{hour}:00:00Z",
            }
            for hour, (paper, title, text) in enumerate(
                (
                    ("courier", "Board pays", f"HARROW BAY (NW) — {WIRE}"),
                    ("harbour-post", "County to pay", f"By Newswire staff\n\nHARROW BAY — {WIRE} Copyright Newswire."),
                    ("valley-times", "Board pays more", f"{WIRE} Our reporter added: ten rooms are free."),
                )
            )
        ),
        *(
            {"url": f"https://courier.example/brief/{day}", "title": "Morning briefing", "text": report(day, 2)}
            for day in (20, 21, 22)
        ),
    )
    root = folder / "out"
    run_json("--seeds", file, "-d", root)
    return root, stories(root)


def test_wire_copies_are_one_story_and_a_column_of_one_title_is_not(grouped):
    root, found = grouped

    assert {name: found[name] for name in ("articles", "stories", "copies", "new", "linked")} == {
        "articles": 6, "stories": 4, "copies": 2, "new": 6, "linked": 0
    }  # fmt: skip
    rows = query(
        root, "SELECT domain, story_id, duplicate_of FROM stories WHERE title <> 'Morning briefing' ORDER BY 1"
    )
    leader = query(root, "SELECT article_id FROM articles WHERE title = 'Board pays'")[0]["article_id"]
    assert {row["story_id"] for row in rows} == {leader}
    assert rows[0] == {"domain": "courier.example", "story_id": leader, "duplicate_of": None}
    assert_sound(root)


def test_a_second_time_writes_nothing(grouped):
    root, _ = grouped
    before = data_files(root, "stories")

    done = newsbeam("dataset", "stories", "-d", root)

    assert "6 articles, 4 stories, 2 are copies of another\nnothing new since the last time\n" in done.stdout
    assert data_files(root, "stories") == before


def test_later_arrivals_join_and_the_views_count_stories(grouped, tmp_path):
    root, _ = grouped
    late = {"url": "https://late.example/9", "text": WIRE, "published": "2026-11-29T00:00:00Z"}
    run_json("--seeds", seeds(tmp_path / "late.jsonl", late), "-d", root)

    found = stories(root)

    assert (found["new"], found["stories"], found["copies"]) == (1, 4, 3)
    counts = "SELECT count(*) AS articles, count(DISTINCT story_id) AS stories, count(DISTINCT domain) AS domains"
    assert query(root, f"{counts} FROM stories") == [{"articles": 7, "stories": 4, "domains": 4}]
    assert all(row["stories"] <= row["articles"] for row in query(root, "FROM topic_daily"))
    assert len(read_rows(root, "stories")) == 7
    assert_sound(root)


def test_copies_are_found_where_no_text_is_stored(tmp_path):
    (tmp_path / "newsbeam.yaml").write_text(
        f"version: 1\nstore_text: none\ntopics: {ROOT / 'configs/topics.yaml'}\ndataset: out\nseeds: ['*.jsonl']\n"
    )
    records = ({"url": f"https://{paper}.example/1", "text": WIRE} for paper in ("a", "b"))
    seeds(tmp_path / "two.jsonl", *records)
    run_json("-c", tmp_path / "newsbeam.yaml")

    found = json.loads(newsbeam("dataset", "stories", "-c", tmp_path / "newsbeam.yaml", "--json").stdout)

    assert (found["articles"], found["stories"]) == (2, 1)


def test_no_dataset_and_a_busy_one_have_their_exit_codes(grouped, tmp_path):
    root, _ = grouped
    assert newsbeam("dataset", "stories", "-d", tmp_path / "none", check=False).returncode == 2
    with open(root / "_lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = newsbeam("dataset", "stories", "-d", root, check=False)
    assert done.returncode == 4
    assert "busy" in done.stderr
