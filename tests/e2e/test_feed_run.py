"""The whole program over loopback HTTP: a feed whose pages are good, missing, empty, no page, huge or doubled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.program import items_of, page, rss, run_json, story
from tests.rows import assert_same_rows, assert_sound, read_rows
from tests.servers import Answer, NewsServer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)
HUGE = 50 << 20


def _huge() -> Answer:
    return Answer(body=(b"<p>word</p>" * 95_326 for _ in range(50)))


@pytest.fixture
def server():
    routes = {f"/story/{number}": page(number) for number in range(34)}
    routes |= {"/empty": b"", "/picture": Answer(body=PNG, headers={"Content-Type": "image/png"})}
    routes |= {"/huge": lambda request: _huge(), "/robots.txt": "User-agent: *\nDisallow: /private\n"}
    with NewsServer(routes, host="127.0.0.2") as running:
        links = [f"/story/{number}" for number in range(34)]
        links += ["/story/7", "/gone/1", "/gone/2", "/empty", "/picture", "/huge"]
        running.routes["/feed.xml"] = rss([running.url(link) for link in links])
        yield running


def _flags(server: NewsServer, dataset: Path) -> list[object]:
    feed = server.url("/feed.xml")
    return ["--feeds", feed, "-d", dataset, "--allow-loopback", "--host-gap", "0", "--now", "2026-11-30T10:00:00Z"]


def test_every_item_of_a_feed_ends_as_the_row_it_should(server, tmp_path):
    summary = run_json(*_flags(server, tmp_path / "out"))

    assert items_of(summary) == {"in": 40, "new": 34, "duplicates": 1, "rejected": 5}
    assert summary["adds_up"] is True
    articles = read_rows(tmp_path / "out", "articles")
    assert sorted(row["url"] for row in articles) == sorted(server.url(f"/story/{number}") for number in range(34))
    by_url = {row["url"]: row for row in articles}
    for number in range(34):
        title, paragraphs = story(number)
        row = by_url[server.url(f"/story/{number}")]
        assert row["title"] == title
        assert row["text"].split("\n") == paragraphs
        assert row["published_at"].isoformat() == f"2026-11-{number % 27 + 1:02d}T13:15:00+00:00"
        assert (row["revision"], row["language"], row["discovered_via"], row["text_source"]) == (
            1,
            "en",
            "feed",
            "page",
        )
    rejects = read_rows(tmp_path / "out", "rejects")
    assert {(row["stage"], row["reason"], row["url"]) for row in rejects} == {
        ("fetch", "not_found", server.url("/gone/1")),
        ("fetch", "not_found", server.url("/gone/2")),
        ("extract", "empty", server.url("/empty")),
        ("fetch", "not_html", server.url("/picture")),
        ("fetch", "too_big", server.url("/huge")),
    }
    fetches = Counter((row["kind"], row["outcome"]) for row in read_rows(tmp_path / "out", "fetches"))
    assert fetches == {
        ("feed", "ok"): 1,
        ("robots", "ok"): 1,
        ("page", "ok"): 35,
        ("page", "not_found"): 2,
        ("page", "not_html"): 1,
        ("page", "too_big"): 1,
    }
    assert_sound(tmp_path / "out")


def test_the_second_run_writes_no_article_and_asks_for_no_page(server, tmp_path):
    flags = [*_flags(server, tmp_path / "out"), "--due-now"]
    run_json(*flags)
    before = len(server.requests)

    summary = run_json(*flags)

    assert items_of(summary) == {"in": 40, "known": 40}
    assert {request.path for request in server.requests[before:]} <= {"/feed.xml", "/robots.txt"}
    assert len(read_rows(tmp_path / "out", "articles")) == 34
    assert len(read_rows(tmp_path / "out", "rejects")) == 5


def test_repeated_bundles_give_the_same_rows(server, tmp_path):
    run_json(*_flags(server, tmp_path / "once"))
    run_json(*_flags(server, tmp_path / "twice"), "--direct_runner_bundle_repeat=1")

    assert_same_rows(tmp_path / "once", tmp_path / "twice")
