from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.feed_polls import HOUR, TUESDAY, Reader, feed, make_asker, rss, run_at, state_after
from tests.servers import Answer, NewsServer
from transforms.dedupe.state import FeedState
from transforms.feeds.hosts import PollTools, due_feeds, fold_feeds, held_hosts, host_of_feed, may_poll, poll_host
from transforms.feeds.memory import PollMemory, to_json
from transforms.feeds.poll import Known, PollLimits, PollResult
from transforms.records import FeedSource, Tally

HOST = "127.0.0.33"


@pytest.fixture
def server() -> Iterator[NewsServer]:
    with NewsServer(host=HOST) as running:
        yield running


def source(url: str, source_id: str = "harbour") -> FeedSource:
    return FeedSource(url, source_id)


def state(url: str, memory: PollMemory | None = None, **fields: object) -> FeedState:
    return FeedState(url, TUESDAY, "ok", entry_json=to_json(memory or PollMemory()), **fields)  # type: ignore[arg-type]


class Walk:
    """Walks a host's feeds and keeps what comes out."""

    def __init__(self, sources: list[FeedSource], feeds: dict[str, FeedState] | None = None, **how: object) -> None:
        run = run_at(TUESDAY)
        self.asker = make_asker(run, float(how.pop("gap_s", 0.0)))  # type: ignore[arg-type]
        tools = PollTools(self.asker, PollLimits(1e9), run, feeds or {}, Known(), **how)  # type: ignore[arg-type]
        found = list(poll_host(HOST, sources, tools))
        self.rows = [result.row for result in found if isinstance(result, PollResult)]
        self.tallies = {tally.outcome: tally.items for tally in found if isinstance(tally, Tally)}


# Which feeds are one


def test_spellings_of_one_address_are_one_feed() -> None:
    same = [source(url) for url in ("https://a.example/f", "https://a.example/f ", "http://A.example:80/f#top")]
    kept, others = fold_feeds([*same, source("https://a.example/g")], {})
    assert len(kept) == 2
    assert len(others) == 2


def test_a_feed_that_is_known_to_redirect_to_another_is_the_same() -> None:
    old, new = source("https://a.example/old"), source("https://a.example/new")
    feeds = {old.url: state(old.url, PollMemory(document_url=new.url))}
    assert fold_feeds([new, old], feeds) == ([old], [new])


def test_the_spelling_that_was_polled_before_stays() -> None:
    plain, tls = source("http://a.example/f"), source("https://a.example/f")
    assert fold_feeds([tls, plain], {}) == ([plain], [tls])
    assert fold_feeds([plain, tls], {tls.url: state(tls.url)}) == ([tls], [plain])


def test_a_feed_belongs_to_the_host_that_serves_it() -> None:
    moved = source("https://a.example/f")
    feeds = {moved.url: state(moved.url, PollMemory(document_url="https://cdn.example/f"))}
    assert host_of_feed(moved, {}) == "a.example"
    assert host_of_feed(moved, feeds) == "cdn.example"


def test_a_document_listed_twice_is_asked_once(server: NewsServer) -> None:
    server.routes["/feed"] = rss(1)
    walk = Walk([source(server.url("/feed"), "one"), source(server.url("/feed ").strip() + "#x", "two")])
    assert server.paths() == ["/feed"]
    assert walk.tallies == {"duplicate_feed": 1}


def test_a_feed_that_another_one_has_just_led_to_is_not_asked_again(server: NewsServer) -> None:
    server.routes |= {"/a-old": Answer(301, headers={"Location": "/new"}), "/new": rss(1)}
    walk = Walk([source(server.url("/new"), "two"), source(server.url("/a-old"), "one")])
    assert server.paths() == ["/a-old", "/new"]
    assert walk.tallies == {"duplicate_feed": 1}


# Which feeds are due


def test_only_feeds_that_are_due_are_asked(server: NewsServer) -> None:
    server.routes["*"] = rss(1)
    due, not_due, new = (server.url(path) for path in ("/due", "/not-due", "/new"))
    feeds = {
        due: state(due, next_due_at=TUESDAY - HOUR),
        not_due: state(not_due, next_due_at=TUESDAY + HOUR),
    }
    sources = [source(due), source(not_due), source(new)]
    walk = Walk(sources, feeds)
    assert server.paths() == ["/new", "/due"]
    assert walk.tallies == {"not_due": 1}
    assert [feed.url for feed in due_feeds(sources, feeds, TUESDAY)] == [due, new]


def test_due_now_overrides_the_schedule_but_not_retry_after() -> None:
    later = state("https://a.example/f", next_due_at=TUESDAY + HOUR)
    assert not may_poll(later, TUESDAY, due_now=False)
    assert may_poll(later, TUESDAY, due_now=True)
    patient = later._replace(retry_after_until=TUESDAY + HOUR)
    assert not may_poll(patient, TUESDAY, due_now=True)
    assert may_poll(patient, TUESDAY + HOUR, due_now=True)
    assert may_poll(None, TUESDAY, due_now=False)


def test_feeds_that_wait_longest_come_first_and_time_spent_ends_the_walk(server: NewsServer) -> None:
    server.routes["*"] = Answer(body=rss(1), delay_s=0.15)
    urls = [server.url(f"/{n}") for n in range(4)]
    feeds = {url: state(url, next_due_at=TUESDAY - n * HOUR) for n, url in enumerate(urls)}
    walk = Walk([source(url) for url in urls], feeds, host_time_budget_s=0.2)
    assert server.paths() == ["/3", "/2"]
    assert walk.tallies == {"postponed": 2}


# What the host is spared


def test_feeds_of_a_host_come_one_after_the_other_with_a_gap(server: NewsServer) -> None:
    server.routes["*"] = rss(1)
    Walk([source(server.url(f"/{n}")) for n in range(4)], gap_s=0.1)
    starts = [request.started_s for request in server.requests]
    assert server.most_at_once == 1
    assert all(b - a >= 0.1 for a, b in itertools.pairwise(starts))


def test_a_host_that_does_not_answer_is_left_alone_after_three_feeds(server: NewsServer) -> None:
    server.routes["*"] = Answer(drop=True)
    walk = Walk([source(server.url(f"/{n}")) for n in range(6)])
    assert len(server.requests) == 3
    assert [row.outcome for row in walk.rows] == ["connect_error"] * 3 + ["host_down"] * 3
    assert all(row.failures == 1 and row.next_due_at and row.next_due_at > TUESDAY for row in walk.rows)


def test_failures_of_single_feeds_are_not_the_host_s(server: NewsServer) -> None:
    server.routes["*"] = 500
    Walk([source(server.url(f"/{n}")) for n in range(6)])
    assert len(server.requests) == 6


def test_one_wish_to_wait_is_the_feed_s_and_a_second_the_host_s(server: NewsServer) -> None:
    server.routes |= {"/0": Answer(429, headers={"Retry-After": "3600"}), "*": rss(1)}
    sources = [source(server.url(f"/{n}")) for n in range(5)]
    assert [row.outcome for row in Walk(sources).rows] == ["rate_limited", "ok", "ok", "ok", "ok"]
    server.routes["/1"] = server.routes["/0"]
    walk = Walk(sources)
    assert [row.outcome for row in walk.rows] == ["rate_limited", "rate_limited"]
    assert walk.tallies == {"postponed": 3}
    held_until = walk.asker.gate.held_until(HOST)
    assert held_until is not None
    assert held_until - TUESDAY > timedelta(minutes=59)


def test_wishes_to_wait_of_earlier_runs_hold_for_the_host_if_repeated() -> None:
    until = TUESDAY + HOUR
    one = {"https://a.example/1": state("https://a.example/1", PollMemory(refusals=1), retry_after_until=until)}
    assert held_hosts(one, TUESDAY) == {}
    other = {
        "https://a.example/2": state("https://a.example/2", PollMemory(refusals=1), retry_after_until=until + HOUR)
    }
    assert held_hosts(one | other, TUESDAY) == {"a.example": until + HOUR}
    twice = {"https://a.example/1": state("https://a.example/1", PollMemory(refusals=2), retry_after_until=until)}
    assert held_hosts(twice, TUESDAY) == {"a.example": until}
    assert held_hosts(twice, until) == {}


def test_a_second_run_asks_conditionally_only(server: NewsServer) -> None:
    server.routes["*"] = [feed(1, ETag='"a"'), feed(status=304)]
    sources = [source(server.url("/0")), source(server.url("/1"))]
    server.routes["/0"], server.routes["/1"] = list(server.routes["*"]), list(server.routes["*"])
    first = Walk(sources)
    states = {row.url: state_after(row) for row in first.rows}
    second = Walk(sources, states, due_now=True)
    assert [row.outcome for row in second.rows] == ["not_modified"] * 2
    assert [request.headers.get("if-none-match") for request in server.requests] == [None, None, '"a"', '"a"']


def test_a_reader_and_a_walk_leave_the_same_state(server: NewsServer) -> None:
    server.routes["/feed"] = feed(1, ETag='"a"')
    walked = Walk([source(server.url("/feed"))]).rows[0]
    polled = Reader(server.url("/feed")).poll().row
    times = {"started_at": TUESDAY, "next_due_at": TUESDAY, "elapsed_ms": 0, "entry_json": ""}
    assert walked._replace(**times) == polled._replace(**times)


def test_a_list_of_feeds_none_of_which_is_due_gives_none() -> None:
    urls = [f"https://a.example/{n}" for n in range(3)]
    feeds = {url: state(url, next_due_at=TUESDAY + HOUR) for url in urls}
    assert due_feeds(map(source, urls), feeds, TUESDAY) == []
    assert len(due_feeds(map(source, urls), feeds, TUESDAY, due_now=True)) == 3
