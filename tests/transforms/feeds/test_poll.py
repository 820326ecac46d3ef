from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.feed_polls import HOUR, TUESDAY, XML, Reader, feed, memory, rss, tallies
from tests.servers import Answer, NewsServer
from transforms.dedupe.state import DuePage
from transforms.feeds.poll import Known, PollLimits
from transforms.fetch.due import entry_from_json


@pytest.fixture
def server() -> Iterator[NewsServer]:
    with NewsServer(host="127.0.0.31") as running:
        yield running


# What a poll brings


def test_the_first_poll_brings_the_entries_and_one_row(server: NewsServer) -> None:
    server.routes["/feed"] = feed(1, 2, 3, ETag='"a"')
    result = Reader(server.url("/feed")).poll()
    assert [entry.title for entry in result.entries] == ["Ferry story 1", "Ferry story 2", "Ferry story 3"]
    assert {entry.feed_url for entry in result.entries} == {server.url("/feed")}
    row = result.row
    assert (row.kind, row.url, row.host, row.outcome, row.http_status) == (
        "feed", server.url("/feed"), "127.0.0.31", "ok", 200,
    )  # fmt: skip
    assert (row.entries_seen, row.entries_new, row.overlap_ratio, row.gap_suspected) == (3, 3, None, False)
    assert (row.failures, row.source_id, row.etag) == (0, "harbour", '"a"')
    assert row.started_at - TUESDAY < timedelta(minutes=1)
    assert tallies(result) == {"polled": 1, "ok": 1, "item": 3, "passed": 3}
    assert server.paths() == ["/feed"]
    assert "rss" in server.requests[0].headers["accept"]


def test_entries_over_the_limit_are_due_at_once_without_their_feed(server: NewsServer) -> None:
    server.routes["/feed"] = feed(1, 2, 3, 4, 5)
    committed, later, now = "/story/3", "/story/4", "/story/5"
    seen = Reader(server.url("/feed"), PollLimits(1e9, 2))
    result = seen.poll()
    assert [entry.title for entry in result.entries] == ["Ferry story 1", "Ferry story 2"]
    assert [(row.kind, row.outcome, row.url) for row in result.fetches] == [
        ("page", "deferred", f"https://harbour.example/story/{n}") for n in (3, 4, 5)
    ]
    assert tallies(result) == {"polled": 1, "ok": 1, "item": 5, "passed": 2, "deferred": 3}
    kept = entry_from_json(result.fetches[0].entry_json or "")
    assert (kept.title, kept.url_key) == ("Ferry story 3", result.fetches[0].url_key)

    due = {now: TUESDAY - HOUR, later: TUESDAY + HOUR}
    keys = {row.url_key: row.url.removeprefix("https://harbour.example") for row in result.fetches}
    known = Known(
        lambda entry: (entry.url or "").endswith(committed),
        lambda key: DuePage(kept, due[keys[key]]) if keys.get(key) in due else None,
    )
    again = Reader(server.url("/feed"), PollLimits(1e9, 2), known).poll()
    assert tallies(again) == {
        "polled": 1, "ok": 1, "item": 5, "passed": 2, "known": 1, "deferred": 1, "duplicate": 1,
    }  # fmt: skip
    assert again.fetches == ()


def test_old_entries_are_no_items(server: NewsServer) -> None:
    server.routes["/feed"] = rss(1, 2, 50_000)
    result = Reader(server.url("/feed"), PollLimits(7 * 86400, 50)).poll()
    assert tallies(result) == {"polled": 1, "ok": 1, "item": 2, "passed": 2, "too_old": 1}
    assert result.row.entries_seen == 3


def test_zero_is_no_limit(server: NewsServer) -> None:
    server.routes["/feed"] = rss(1, 2, 50_000)
    result = Reader(server.url("/feed"), PollLimits(0, 0)).poll()
    assert tallies(result) == {"polled": 1, "ok": 1, "item": 3, "passed": 3}


def test_an_entry_without_address_and_content_is_rejected(server: NewsServer) -> None:
    server.routes["/feed"] = rss(1).replace("</channel>", "<item><title>Only a title</title></item></channel>")
    result = Reader(server.url("/feed")).poll()
    assert [(reject.stage, reject.reason) for reject in result.rejects] == [("poll", "no_link")]
    assert tallies(result) == {"polled": 1, "ok": 1, "item": 2, "passed": 1, "rejected": 1}


# What is no feed


@pytest.mark.parametrize(
    ("answer", "outcome", "note"),
    [
        (Answer(body="<!doctype html><html><title>Log in</title></html>"), "not_feed", "a web page"),
        (Answer(body="<html><title>Log in</title></html>", headers=XML), "not_feed", "a web page"),
        (Answer(body=""), "not_feed", "an empty body"),
        (Answer(body="  \n"), "not_feed", "an empty body"),
        (Answer(204), "not_feed", "an empty body"),
        (Answer(body="hello"), "not_feed", "neither a feed nor a page"),
        (Answer(body="Just a moment", headers={"CF-Mitigated": "challenge"}), "not_feed", "a challenge page"),
        (Answer(403, "Just a moment", headers={"CF-Mitigated": "challenge"}), "not_feed", "a challenge page"),
        (Answer(403), "denied", "status 403"),
        (Answer(404), "not_found", "status 404"),
        (Answer(500), "server_error", "status 500"),
    ],
)
def test_what_is_no_feed_has_an_outcome_and_a_note(server: NewsServer, answer: Answer, outcome: str, note: str) -> None:
    server.routes["/feed"] = answer
    result = Reader(server.url("/feed")).poll()
    assert (result.row.outcome, memory(result).note) == (outcome, note)
    assert (result.row.failures, result.row.entries_seen) == (1, None)
    assert tallies(result) == {"polled": 1, "failed": 1}


def test_a_feed_without_entries_is_a_feed(server: NewsServer) -> None:
    server.routes["/feed"] = rss()
    result = Reader(server.url("/feed")).poll()
    assert (result.row.outcome, result.row.entries_seen, result.row.entries_new) == ("ok", 0, 0)


def test_a_success_ends_a_row_of_failures(server: NewsServer) -> None:
    server.routes["/feed"] = [Answer(503), Answer(503), feed(1)]
    reader = Reader(server.url("/feed"))
    rows = [reader.poll(TUESDAY + hours * HOUR).row for hours in range(3)]
    assert [row.failures for row in rows] == [1, 2, 0]
    rests = [(row.next_due_at - row.started_at).total_seconds() for row in rows if row.next_due_at]
    assert rests == [pytest.approx(900 * 2**0.5), 1800, 900]
    assert memory(reader.results[-1]).note is None


def test_addresses_with_a_password_are_refused_and_never_written(server: NewsServer) -> None:
    result = Reader(server.url("/feed").replace("//", "//reader:secret@")).poll()
    assert result.row.outcome == "bad_url"
    assert "secret" not in repr(result)
    assert server.requests == []


# Completeness


def test_polls_without_a_shared_entry_suggest_a_gap(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(3, 4, 5, 6), feed(1, 2, 3, 4), feed(11, 12), feed(status=304), feed(12, 11)]
    reader = Reader(server.url("/feed"))
    rows = [reader.poll(TUESDAY + hours * HOUR).row for hours in range(5)]
    assert [row.overlap_ratio for row in rows] == [None, 0.5, 0.0, None, 1.0]
    assert [row.gap_suspected for row in rows] == [False, False, True, False, False]
    assert [row.entries_new for row in rows] == [4, 2, 2, None, 0]


def test_entries_too_old_to_take_count_for_the_overlap(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(50_000), feed(1, 50_000)]
    reader = Reader(server.url("/feed"), PollLimits(7 * 86400, 50))
    reader.poll()
    assert not reader.poll(TUESDAY + HOUR).row.gap_suspected


def test_an_entry_that_was_edited_is_not_new(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1), Answer(body=rss(1).replace("Ferry story", "Ferry tale"))]
    reader = Reader(server.url("/feed"))
    reader.poll()
    result = reader.poll(TUESDAY + HOUR)
    assert (result.row.entries_new, result.row.overlap_ratio) == (0, 1.0)


def test_a_document_without_entries_is_asked_for_again_and_makes_no_gap(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, 2, ETag='"a"'), feed(ETag='"b"'), feed(1, 2, ETag='"c"')]
    reader = Reader(server.url("/feed"))
    rows = [reader.poll(TUESDAY + hours * HOUR).row for hours in range(3)]
    assert [request.headers.get("if-none-match") for request in server.requests] == [None, '"a"', None]
    assert [(row.entries_seen, row.entries_new, row.overlap_ratio) for row in rows] == [
        (2, 2, None), (0, 0, None), (2, 0, 1.0),
    ]  # fmt: skip
