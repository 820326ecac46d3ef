"""``newsbeam watch`` over a feed that goes on publishing, and what deferral and 304 must not lose."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.program import ROOT, items_of, page, rss, run_json
from tests.rows import assert_sound, read_rows
from tests.servers import Answer, NewsServer, Request

FLAGS = ["--allow-loopback", "--host-gap", "0"]


def _wait_for(condition, seconds=60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)


def _watch(server: NewsServer, folder: Path, *words: str) -> subprocess.Popen[str]:
    feeds = folder / "feeds.yaml"
    feeds.write_text(f"defaults: {{interval: 1s}}\nfeeds: [{server.url('/feed.xml')}]\n")
    command = [sys.executable, "-m", "pipeline", "watch", "--feeds", str(feeds), "-d", str(folder / "out"), *FLAGS]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [*command, "--every", "1s", *words], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )


def test_watch_takes_in_what_is_published_meanwhile_and_stops_cleanly(tmp_path):
    with NewsServer({f"/story/{n}": page(n) for n in range(3)}, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = rss([server.url("/story/0"), server.url("/story/1")])
        with _watch(server, tmp_path) as watching:
            try:
                _wait_for(lambda: _new_items(tmp_path / "out") == 2)
                server.routes["/feed.xml"] = rss([server.url(f"/story/{n}") for n in range(3)])
                _wait_for(lambda: _new_items(tmp_path / "out") == 3)
            finally:
                watching.send_signal(signal.SIGTERM)
                said = watching.communicate(timeout=30)[1]
        assert watching.returncode in (0, 128 + signal.SIGTERM)
        assert "new 2" in said
        assert "Traceback" not in said
        # A run that the signal cut short is completed or removed by the next one.
        run_json("--feeds", server.url("/feed.xml"), "-d", tmp_path / "out", *FLAGS)
    assert len(read_rows(tmp_path / "out", "articles")) == 3
    assert_sound(tmp_path / "out")


def _new_items(root: Path) -> int:
    return sum(json.loads(path.read_bytes())["items"].get("new", 0) for path in root.glob("_runs/*.json"))


def test_watch_ends_at_the_given_time(tmp_path):
    with NewsServer({"/story/0": page(0)}, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = rss([server.url("/story/0")])
        with _watch(server, tmp_path, "--until", "1s") as watching:
            watching.communicate(timeout=60)
        assert watching.returncode == 0
        assert len(read_rows(tmp_path / "out", "articles")) == 1


def test_watch_groups_stories_and_merges_the_small_files_of_days_that_are_over(tmp_path):
    out = tmp_path / "out"
    with NewsServer({f"/story/{n}": page(n) for n in range(2)}, host="127.0.0.2") as server:
        server.routes["/copy"] = page(0)
        for number in range(2):
            (tmp_path / "urls.txt").write_text(server.url(f"/story/{number}"))
            run_json("--urls", tmp_path / "urls.txt", "-d", out, *FLAGS, "--now", "2026-11-20T10:00:00Z")
        assert len(list(out.glob("articles/ingest_date=2026-11-20/*.parquet"))) == 2
        server.routes["/feed.xml"] = rss([server.url("/copy")])
        with _watch(server, tmp_path, "--until", "1s") as watching:
            said = watching.communicate(timeout=120)[1]
    assert watching.returncode == 0, said
    assert len(list(out.glob("articles/ingest_date=2026-11-20/*.parquet"))) == 1
    assert len(read_rows(out, "articles")) == 3
    stories = {row["article_id"] for row in read_rows(out, "stories")}
    assert stories == {row["article_id"] for row in read_rows(out, "articles") if row["url"].endswith("/copy")}


def _validated(body: str, etag: str) -> object:
    def answer(request: Request) -> Answer:
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body=body, headers={"ETag": etag, "Content-Type": "application/rss+xml"})

    return answer


def test_a_page_that_fails_today_comes_tomorrow_though_its_feed_answers_304(tmp_path):
    with NewsServer({"/story/0": [Answer(status=503), Answer(status=503), page(0)]}, host="127.0.0.2") as server:
        feed = rss([server.url("/story/0")])
        server.routes["/feed.xml"] = _validated(feed, '"one"')
        words = ["--feeds", server.url("/feed.xml"), "-d", tmp_path / "out", *FLAGS]

        first = run_json(*words, "--now", "2026-11-29T10:00:00Z")
        second = run_json(*words, "--now", "2026-11-30T10:00:00Z")

    assert items_of(first) == {"in": 1, "deferred": 1}
    assert items_of(second) == {"in": 1, "new": 1}
    outcomes = [row["outcome"] for row in read_rows(tmp_path / "out", "fetches") if row["kind"] == "feed"]
    assert sorted(outcomes) == ["not_modified", "ok"]


def test_pages_over_the_budget_of_a_host_come_in_later_runs(tmp_path):
    with NewsServer({f"/story/{n}": page(n) for n in range(5)}, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = _validated(rss([server.url(f"/story/{n}") for n in range(5)]), '"one"')
        words = ["--feeds", server.url("/feed.xml"), "-d", tmp_path / "out", *FLAGS, "--max-pages-per-host", "2"]

        runs = [run_json(*words, "--now", f"2026-11-30T{hour}:00:00Z") for hour in (10, 11, 12)]

    assert [items_of(run) for run in runs] == [
        {"in": 5, "new": 2, "deferred": 3},
        {"in": 3, "new": 2, "deferred": 1},
        {"in": 1, "new": 1},
    ]
    assert len(read_rows(tmp_path / "out", "articles")) == 5


def test_an_entry_that_is_edited_becomes_a_revision_and_an_unchanged_one_never(tmp_path):
    with NewsServer({"/story/0": page(0), "/story/1": page(1)}, host="127.0.0.2") as server:
        links = [server.url("/story/0"), server.url("/story/1")]
        server.routes["/feed.xml"] = rss(links)
        words = ["--feeds", server.url("/feed.xml"), "-d", tmp_path / "out", *FLAGS]
        run_json(*words, "--now", "2026-11-30T10:00:00Z")
        server.routes["/feed.xml"] = rss(links).replace("Item 0", "Item 0, corrected")
        server.routes["/story/0"] = page(0).replace("Nobody could say", "The mayor could say")

        second = run_json(*words, "--now", "2026-11-30T11:00:00Z")
        third = run_json(*words, "--now", "2026-11-30T12:00:00Z")

    assert items_of(second) == {"in": 2, "revised": 1, "known": 1}
    assert items_of(third) == {"in": 2, "known": 2}
    rows = read_rows(tmp_path / "out", "articles")
    assert sorted((row["url"], row["revision"]) for row in rows) == [(links[0], 1), (links[0], 2), (links[1], 1)]
    assert len({row["first_seen_at"] for row in rows if row["url"] == links[0]}) == 1


def test_recheck_fetches_a_page_again_at_its_ages_and_sees_the_correction(tmp_path):
    corrected = page(0).replace("Nobody could say", "The mayor could say")
    (tmp_path / "news.yaml").write_text("recheck: [1h, 24h]\nseeds: []\n")
    with NewsServer({"/story/0": [page(0), page(0), corrected]}, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = rss([server.url("/story/0")])
        words = ["-c", tmp_path / "news.yaml", "--feeds", server.url("/feed.xml"), "-d", tmp_path / "out", *FLAGS]
        times = ("29T10:00", "29T10:30", "29T11:01", "30T10:02", "30T23:00")
        runs = [run_json(*words, "--due-now", "--now", f"2026-11-{time}:00Z") for time in times]

    # At half an hour nothing is due, at one hour the page is as before, at a day corrected; then it is left alone.
    assert [items_of(run) for run in runs] == [
        {"in": 1, "new": 1},
        {"in": 1, "known": 1},
        {"in": 2, "known": 2},
        {"in": 2, "revised": 1, "known": 1},
        {"in": 1, "known": 1},
    ]
    assert sum(request.path == "/story/0" for request in server.requests) == 3
