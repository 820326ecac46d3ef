"""robots.txt against RFC 9309, asked of real servers."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from tests.servers import Answer, NewsServer, names, watched_connections
from transforms.fetch.addresses import Target, check_url
from transforms.fetch.client import HttpClient
from transforms.fetch.robots import RobotsCache, Verdict, fetch_row, parse

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)
AGENT = "newsbeam/1.0 (+desk@newsroom.example)"

MakeClient = Callable[..., HttpClient]


def target_of(url: str) -> Target:
    target = check_url(url, allow_loopback=True)
    assert isinstance(target, Target)
    return target


def judge(client: HttpClient, server: NewsServer, path: str, cache: RobotsCache | None = None) -> Verdict:
    return (cache or RobotsCache()).check(client, target_of(server.url(path)), AGENT, NOW)


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("User-agent: *\nDisallow: /private", "/private/a", False),
        ("User-agent: *\nDisallow: /private", "/public", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("\ufeffUser-agent: *\nDisallow: /", "/a", False),  # BOM
        ("User-agent: *\r\nDisallow: /a\r\nAllow: /a/b", "/a/b/c", True),  # the longer match wins
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),  # of equal ones the kinder
        ("User-agent: *\nDisallow: /*.php$", "/x.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/x.php?a=1", True),
        ("User-agent: newsbeam\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a", False),
        ("User-agent: NewsBeam/2.0\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: newsbeam\nDisallow: /only", "/a", True),
        ("User-agent: news\nDisallow: /", "/a", True),  # another robot
        ("User-agent: newsbeam-extra\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: newsbeam\nDisallow: /", "/a", False),  # one group for two
        ("User-agent: newsbeam\nUser-agent: other\nDisallow: /", "/a", False),
        ("User-agent: other\nDisallow: /\nUser-agent: *\nDisallow: /x", "/a", True),
        ("User-agent: *\nDisallow: /x\nUser-agent: other\nDisallow: /", "/a", True),
        ("User-agent: *\nSitemap: https://a.example/s.xml\nDisallow: /", "/a", False),
        ("user-agent : *\ndisallow : /a", "/a", False),
        ("User-agent: *  # all\nDisallow: /a # no", "/a", False),
        ("Disallow: /", "/a", True),  # before any group
        ("User-agent: *\nDisallow: /caf%C3%A9", "/café", False),
        ("<!doctype html><p>Not found</p>", "/a", True),
        ("", "/a", True),
    ],
)
def test_rules_are_those_of_rfc_9309(make_client: MakeClient, text: str, path: str, allowed: bool) -> None:
    with NewsServer({"/robots.txt": Answer(body=text, headers={"Content-Type": "text/plain"})}) as server:
        assert judge(make_client(), server, path).allowed is allowed


@pytest.mark.parametrize(
    ("answer", "allowed", "unreachable"),
    [
        (404, True, None),
        (403, True, None),
        (410, True, None),
        (401, True, None),
        (429, False, "rate_limited"),
        (500, False, "server_error"),
        (503, False, "server_error"),
        (Answer(drop=True), False, "connect_error"),
        (Answer(hang=True), False, "timeout"),
        (Answer(302, headers={"Location": "/robots.txt"}), True, None),  # redirects without end: no rules
    ],
)
def test_no_file_allows_and_no_answer_forbids_for_now(
    make_client: MakeClient, answer: Any, allowed: bool, unreachable: str | None
) -> None:
    with NewsServer({"/robots.txt": answer}) as server:
        verdict = judge(make_client(read_timeout_s=0.2), server, "/a")
    assert (verdict.allowed, verdict.unreachable) == (allowed, unreachable)


def test_redirected_rules_count_for_the_host_that_redirects(make_client: MakeClient) -> None:
    with NewsServer({"/robots.txt": "User-agent: *\nDisallow: /a"}, host="127.0.0.2") as other:
        moved = Answer(301, headers={"Location": other.url("/robots.txt")})
        with NewsServer({"/robots.txt": moved}) as server:
            assert not judge(make_client(), server, "/a").allowed


@pytest.mark.parametrize(
    ("place", "outcome"),
    [
        ("http://169.254.169.254/robots.txt", "blocked_address"),
        ("http://[::ffff:169.254.169.254]/robots.txt", "blocked_address"),
        ("https://rebound.example/robots.txt", "blocked_address"),  # the name leads inside
        ("ftp://news.example/robots.txt", "bad_url"),
        ("http://me:hunter2@news.example/robots.txt", "bad_url"),
    ],
)
def test_redirected_rules_are_asked_no_further_than_pages(make_client: MakeClient, place: str, outcome: str) -> None:
    with (
        NewsServer({"/robots.txt": Answer(302, headers={"Location": place})}) as server,
        names({"rebound.example": ["10.0.0.5"]}),
        watched_connections() as tried,
    ):
        verdict = judge(make_client(), server, "/a")
    assert [address[0] for address in tried] == ["127.0.0.1"]
    assert verdict.exchange is not None
    assert verdict.exchange.outcome == outcome
    row = fetch_row(verdict.exchange, target_of(server.url("/a")))
    assert (row.kind, row.outcome, row.redirects) == ("robots", outcome, 1)
    assert "hunter2" not in repr((row, verdict.exchange.detail))


def test_rules_are_kept_for_a_day_and_silence_for_ten_minutes(make_client: MakeClient) -> None:
    rules = "User-agent: *\nDisallow: /a"
    with NewsServer({"/robots.txt": [500, 500, rules, 500, 500, "User-agent: *\nDisallow:"]}) as server:
        client, cache = make_client(), RobotsCache()

        def asks(after: timedelta) -> tuple[bool, str | None, int]:
            verdict = cache.check(client, target_of(server.url("/a")), AGENT, NOW + after)
            return verdict.allowed, verdict.unreachable, len(server.requests)

        assert asks(timedelta()) == (False, "server_error", 2)  # the client tries 5xx twice
        assert asks(timedelta(minutes=9)) == (False, "server_error", 2)
        assert asks(timedelta(minutes=10)) == (False, None, 3)
        assert asks(timedelta(hours=24)) == (False, None, 3)
        assert asks(timedelta(hours=25)) == (False, None, 5)  # 500: the old rules stay in force
        assert asks(timedelta(hours=25, minutes=9)) == (False, None, 5)
        assert asks(timedelta(hours=26)) == (True, None, 6)


def test_each_origin_has_rules_of_its_own(make_client: MakeClient) -> None:
    cache = RobotsCache()
    with (
        NewsServer({"/robots.txt": "User-agent: *\nDisallow: /"}) as closed,
        NewsServer({"/robots.txt": "User-agent: *\nAllow: /"}) as opened,
    ):
        assert not judge(make_client(), closed, "/a", cache).allowed
        assert judge(make_client(), opened, "/a", cache).allowed
    assert (closed.paths(), opened.paths()) == (["/robots.txt"], ["/robots.txt"])


@pytest.mark.parametrize(
    ("line", "delay_s"),
    [("Crawl-delay: 7", 7.0), ("crawl-delay: 0.5", 0.5), ("Crawl-delay: 3600", 60.0), ("Crawl-delay: soon", None)],
)
def test_the_crawl_delay_is_told_up_to_a_minute(make_client: MakeClient, line: str, delay_s: float | None) -> None:
    with NewsServer({"/robots.txt": f"User-agent: *\n{line}"}) as server:
        assert judge(make_client(), server, "/a").crawl_delay_s == delay_s


def test_a_long_file_is_read_to_half_a_megabyte(make_client: MakeClient) -> None:
    head = "User-agent: *\nDisallow: /first\n"
    text = head + "#" + "x" * 600_000 + "\nDisallow: /last\n"
    with NewsServer({"/robots.txt": text}) as server:
        cache, client = RobotsCache(), make_client()
        assert not judge(client, server, "/first", cache).allowed
        assert judge(client, server, "/last", cache).allowed


def test_a_hostile_file_is_parsed_in_a_moment() -> None:
    robots = "\n".join(f"User-agent: robot{number}" for number in range(12_000))
    rules = "\n".join(f"Disallow: /*a*b*{number}" for number in range(12_000))
    started_s = time.process_time()
    parsed = parse(f"{robots}\n{rules}\nUser-agent: *\nDisallow: /x".encode(), "newsbeam")
    assert not parsed.can_fetch("http://news.example/x" + "ab" * 900, "newsbeam")
    assert parsed.can_fetch("http://news.example/y" + "ab" * 900, "newsbeam")
    assert time.process_time() - started_s < 5


def test_a_request_is_a_row(make_client: MakeClient) -> None:
    with NewsServer({"/robots.txt": "User-agent: *\nDisallow: /"}) as server:
        verdict = judge(make_client(), server, "/a")
        assert verdict.exchange is not None
        row = fetch_row(verdict.exchange, target_of(server.url("/a")))
    assert (row.kind, row.url, row.host) == ("robots", server.url("/robots.txt"), "127.0.0.1")
    assert (row.outcome, row.http_status, row.bytes) == ("ok", 200, len("User-agent: *\nDisallow: /"))
