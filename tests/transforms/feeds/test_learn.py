from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from tests.feed_polls import DAY, HOUR, TUESDAY, Reader, feed, make_asker, run_at
from tests.servers import Answer, NewsServer, Request
from transforms.feeds.learn import confirmed_move
from transforms.feeds.memory import PollMemory
from transforms.feeds.poll import PollLimits
from transforms.records import FeedSource


@pytest.fixture
def server() -> Iterator[NewsServer]:
    with NewsServer(host="127.0.0.31") as running:
        yield running


# Addresses that move


def test_a_permanent_move_is_reported_when_it_was_named_for_a_day(server: NewsServer) -> None:
    server.routes |= {
        "/feed": Answer(301, headers={"Location": "/new"}),
        "/new": [feed(1, ETag='"a"'), feed(status=304)],
    }
    reader = Reader(server.url("/feed"))
    moved = [reader.poll(TUESDAY + hours * HOUR).row.moved_to for hours in (0, 12, 24)]
    assert moved == [None, None, server.url("/new")]
    assert {row.row.url for row in reader.results} == {server.url("/feed")}
    assert reader.results[-1].row.final_url == server.url("/new")


def test_a_move_to_something_that_is_no_feed_is_none(server: NewsServer) -> None:
    server.routes |= {"/feed": Answer(301, headers={"Location": "/login"}), "/login": "<html><title>Log in</title>"}
    reader = Reader(server.url("/feed"))
    rows = [reader.poll(TUESDAY + days * DAY).row for days in range(4)]
    assert {row.moved_to for row in rows} == {None}
    assert {row.outcome for row in rows} == {"not_feed"}


def test_a_permanent_hop_behind_a_temporary_one_is_no_move(server: NewsServer) -> None:
    server.routes |= {
        "/feed": Answer(302, headers={"Location": "/b"}), "/b": Answer(301, headers={"Location": "/c"}), "/c": feed(1),
    }  # fmt: skip
    reader = Reader(server.url("/feed"))
    assert {reader.poll(TUESDAY + days * DAY).row.moved_to for days in range(4)} == {None}


def test_the_same_address_by_https_is_a_move_at_once() -> None:
    plain = FeedSource("http://harbour.example/feed", "harbour")
    by_https = PollMemory(move_to="https://harbour.example/feed", move_first_at=TUESDAY)
    assert confirmed_move(plain, by_https, TUESDAY) == "https://harbour.example/feed"
    elsewhere = by_https._replace(move_to="https://wifi.example/feed")
    assert confirmed_move(plain, elsewhere, TUESDAY) is None
    assert confirmed_move(plain, elsewhere, TUESDAY + DAY) == "https://wifi.example/feed"


def test_a_feed_without_news_for_a_month_is_asked_once_a_day_in_the_end(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(50_000, ETag='"a"'), feed(status=304)]
    reader = Reader(server.url("/feed"), PollLimits(86400.0, 50))
    moment = TUESDAY
    for days in range(34, 60):
        row = reader.poll(moment).row
        moment = TUESDAY + days * DAY
    assert row.next_due_at == row.started_at + DAY


def test_a_move_that_is_taken_back_is_forgotten(server: NewsServer) -> None:
    there = Answer(308, headers={"Location": "/new"})
    server.routes |= {"/feed": [there, feed(1), there, there], "/new": feed(1)}
    reader = Reader(server.url("/feed"))
    assert [reader.poll(TUESDAY + days * DAY).row.moved_to is not None for days in range(4)] == [
        False,
        False,
        False,
        True,
    ]


def test_gone_is_counted_and_the_feed_asked_weekly_in_the_end(server: NewsServer) -> None:
    server.routes["/feed"] = Answer(410)
    reader = Reader(server.url("/feed"))
    rows = [reader.poll(TUESDAY + days * DAY).row for days in range(4)]
    rests = [(row.next_due_at - row.started_at) for row in rows if row.next_due_at]
    assert all(rest <= DAY for rest in rests[:3])
    assert rests[3] == 7 * DAY
    assert {row.outcome for row in rows} == {"gone"}


def test_a_feed_that_moved_before_it_was_gone_is_followed(server: NewsServer) -> None:
    server.routes |= {
        "/feed": [Answer(301, headers={"Location": "/new"}), Answer(301, headers={"Location": "/new"}), Answer(410)],
        "/new": feed(1, 2),
    }
    reader = Reader(server.url("/feed"))
    for days in range(4):
        reader.poll(TUESDAY + days * DAY)
    assert [result.row.outcome for result in reader.results] == ["ok", "ok", "gone", "ok"]
    assert server.paths()[-2:] == ["/feed", "/new"]
    assert reader.results[-1].row.moved_to == server.url("/new")


# Patience


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_kept_for_the_address_and_for_the_host_if_repeated(
    server: NewsServer, status: int, form: str
) -> None:
    def answer(_: Request) -> Answer:
        until = datetime.now(timezone.utc) + timedelta(seconds=7200)
        return Answer(
            status, headers={"Retry-After": "7200" if form == "seconds" else format_datetime(until, usegmt=True)}
        )

    server.routes["/feed"] = answer
    moment = datetime.now(timezone.utc)
    asker = make_asker(run_at(moment))
    reader = Reader(server.url("/feed"))
    row = reader.poll(moment, asker).row
    assert row.outcome == "rate_limited"
    assert row.retry_after_until is not None
    assert abs((row.retry_after_until - row.started_at).total_seconds() - 7200) < 5
    assert row.next_due_at is not None
    assert row.next_due_at >= row.retry_after_until
    assert asker.gate.held_until("127.0.0.31") is None
    reader.poll(moment, asker)
    assert asker.gate.held_until("127.0.0.31") is not None


def test_a_429_without_retry_after_waits_longer_and_not_in_step_with_others(server: NewsServer) -> None:
    server.routes["*"] = Answer(429)
    rows = [Reader(server.url(f"/feed/{n}")).poll().row for n in range(4)]
    rests = {(row.next_due_at - row.started_at).total_seconds() for row in rows if row.next_due_at}
    assert len(rests) == 4
    assert all(1272 < rest < 1273 + 3600 for rest in rests)


# Schedule


def test_wishes_of_the_document_hold_while_it_is_not_modified(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, extra="<ttl>180</ttl>", ETag='"a"'), feed(status=304)]
    reader = Reader(server.url("/feed"))
    rests = []
    for hours in (0, 3):
        row = reader.poll(TUESDAY + hours * HOUR).row
        assert row.next_due_at is not None
        rests.append(row.next_due_at - row.started_at)
    assert rests == [3 * HOUR, 3 * HOUR]


def test_freshness_counts_on_a_304_too(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, ETag='"a"'), feed(status=304, Cache_Control="max-age=5400")]
    reader = Reader(server.url("/feed"))
    reader.poll()
    row = reader.poll(TUESDAY + HOUR).row
    assert row.next_due_at == row.started_at + timedelta(minutes=90)


def test_a_feed_that_tells_nothing_new_is_asked_less_often(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, 2, ETag='"a"'), feed(status=304)]
    reader = Reader(server.url("/feed"))
    moment, rests = TUESDAY, []
    for _ in range(7):
        row = reader.poll(moment).row
        assert row.next_due_at is not None
        rests.append(round((row.next_due_at - row.started_at).total_seconds()))
        moment = row.next_due_at
    assert rests == [900, 1500, 2100, 2700, 3300, 3600, 3600]
