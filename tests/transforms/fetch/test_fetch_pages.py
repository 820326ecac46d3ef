"""The walk through one host's pages, against real servers: what leaves as what, and when it is due again."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from tests.servers import Answer, NewsServer, names
from transforms import rejects
from transforms.fetch.addresses import host_of
from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.due import entry_from_json
from transforms.fetch.gate import HostGate
from transforms.fetch.pages import FINAL_OUTCOMES, FetchSettings, HostWalk, Step, Tools, fold_duplicates
from transforms.fetch.robots import RobotsCache
from transforms.records import Alias, Entry, Fetch, Reject

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)
PAGE = b"<!doctype html><title>Ferry</title><p>The ferry to Brenn sails again.</p>"
QUARTER = timedelta(minutes=15)

MakeClient = Callable[..., HttpClient]
Walk = Callable[..., list[Step]]


def entry(url: str, **fields: Any) -> Entry:
    return Entry(
        **{"url": url, "url_key": url, "entry_version": "v1", "source_id": "news", "discovered_via": "feed"} | fields
    )


def redirect(target: str) -> Answer:
    return Answer(302, headers={"Location": target})


@pytest.fixture(name="walk")
def fixture_walk(make_client: MakeClient) -> Walk:
    """Walks entries of one host; keyword arguments are settings of the stage or of the client."""

    def walk(
        entries: list[Entry], gate: HostGate | None = None, robots: RobotsCache | None = None, **options: Any
    ) -> list[Step]:
        own = {name: options.pop(name) for name in list(options) if name in FetchSettings._fields}
        gate = gate or HostGate(0.0)
        client = make_client(gate, **options)
        settings = FetchSettings(ClientSettings("newsbeam/1.0", allow_loopback=True), **own)
        tools = Tools(settings, client, robots or RobotsCache(), gate, lambda: NOW)
        return list(HostWalk(host_of(entries[0].url or ""), tools).steps(entries))

    return walk


def pages_of(step: Step) -> list[Fetch]:
    return [row for row in step.side if isinstance(row, Fetch) and row.kind == "page"]


def page_row(step: Step) -> Fetch:
    (row,) = pages_of(step)
    return row


def reject_of(step: Step) -> Reject:
    (row,) = (row for row in step.side if isinstance(row, Reject))
    return row


def test_a_page_becomes_a_document_and_a_row(walk: Walk) -> None:
    headers = {
        "ETag": '"e"',
        "Last-Modified": "Mon, 30 Nov 2026 10:00:00 GMT",
        "Content-Type": "text/html; charset=utf-8",
    }
    with NewsServer({"/a": Answer(body=PAGE, headers=headers)}) as server:
        announced = entry(server.url("/a"), attempts=2, first_failed_at=NOW - QUARTER)
        (step,) = walk([announced])
    assert step.outcome == "passed"
    assert step.document is not None
    assert (step.document.kind, step.document.body, step.document.entry) == ("page", PAGE, announced)
    assert step.document.body_sha256 == hashlib.sha256(PAGE).hexdigest()
    assert (step.document.http_status, step.document.final_url, step.document.warnings) == (200, None, ())
    assert step.document.content_type == "text/html; charset=utf-8"
    assert NOW <= step.document.fetched_at < NOW + timedelta(minutes=1)
    row = page_row(step)
    assert (row.kind, row.url, row.url_key, row.host) == ("page", announced.url, announced.url_key, "127.0.0.1")
    assert (row.outcome, row.http_status, row.bytes, row.attempts) == ("ok", 200, len(PAGE), 3)
    assert (row.etag, row.last_modified) == ('"e"', "Mon, 30 Nov 2026 10:00:00 GMT")
    assert (row.next_due_at, row.entry_json, row.source_id) == (None, None, "news")
    assert row.body_sha256 == step.document.body_sha256


def test_robots_is_asked_once_and_is_a_row(walk: Walk) -> None:
    with NewsServer({"/robots.txt": "User-agent: *\nDisallow: /b", "/a": PAGE, "/b": PAGE, "/c": PAGE}) as server:
        steps = walk([entry(server.url(path)) for path in ("/a", "/b", "/c")])
    assert server.paths() == ["/robots.txt", "/a", "/c"]
    assert [step.outcome for step in steps] == ["passed", "rejected", "passed"]
    robots_rows = [row for step in steps for row in step.side if isinstance(row, Fetch) and row.kind == "robots"]
    assert [(row.url, row.outcome) for row in robots_rows] == [(server.url("/robots.txt"), "ok")]
    assert (page_row(steps[1]).outcome, reject_of(steps[1]).reason) == ("robots", "robots")


FINAL_CASES = {
    "/404": (404, "not_found", 404),
    "/410": (410, "gone", 410),
    "/451": (451, "gone", 451),
    "/403": (403, "denied", 403),
    "/402": (402, "denied", 402),
    "/circle": (redirect("/circle"), "too_many_redirects", 302),
    "/inside": (redirect("http://169.254.169.254/"), "blocked_address", 302),
    "/mail": (redirect("mailto:desk@news.example"), "bad_url", 302),
    "/big": (b"<p>" + b"x" * 9999, "too_big", 200),
    "/gzip": (Answer(body=b"\x1f\x8b\x08broken", headers={"Content-Encoding": "gzip"}), "bad_coding", 200),
    "/pdf": (b"%PDF-1.7", "not_html", 200),
    "/text": (Answer(body="plain words", headers={"Content-Type": "text/plain"}), "not_html", 200),
}


@pytest.mark.parametrize("path", FINAL_CASES)
def test_final_refusals_are_rows_and_rejects(walk: Walk, path: str) -> None:
    answer, outcome, status = FINAL_CASES[path]
    with NewsServer({path: answer}) as server:
        (step,) = walk([entry(server.url(path), feed_url="http://news.example/feed")], max_body_bytes=5000)
    row, reject = page_row(step), reject_of(step)
    assert (step.outcome, step.document) == ("rejected", None)
    assert (row.outcome, row.http_status, row.next_due_at, row.entry_json) == (outcome, status, None, None)
    assert (reject.stage, reject.reason, reject.url, reject.retryable) == ("fetch", outcome, server.url(path), False)
    assert (reject.http_status, reject.attempts, reject.failed_at) == (status, 1, NOW)
    assert (reject.source_id, reject.feed_url) == ("news", "http://news.example/feed")


@pytest.mark.parametrize("path", FINAL_CASES)
def test_the_text_of_the_feed_stands_in_for_a_refused_page(walk: Walk, path: str) -> None:
    answer, outcome, _ = FINAL_CASES[path]
    with NewsServer({path: answer}) as server:
        (step,) = walk([entry(server.url(path), content_html="<p>Ferries réopen.")], max_body_bytes=5000)
    assert step.outcome == "passed"
    assert step.document is not None
    assert (step.document.kind, step.document.body) == ("feed_content", "<p>Ferries réopen.".encode())
    assert (step.document.warnings, step.document.content_type) == (
        (f"page_failed:{outcome}",),
        "text/html; charset=utf-8",
    )
    assert step.document.body_sha256 == hashlib.sha256(step.document.body).hexdigest()
    assert page_row(step).outcome == outcome
    assert not [row for row in step.side if isinstance(row, Reject)]


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://10.0.0.1/a", "blocked_address"),
        ("http://user:secret@news.example/a", "bad_url"),
        ("http://news.example:25/", "bad_url"),
        ("", "bad_url"),
    ],
)
def test_unusable_addresses_are_refused_unasked(walk: Walk, url: str, outcome: str) -> None:
    with names({}) as asked:
        (step,) = walk([entry(url, url_key="key")])
    assert (step.outcome, page_row(step).outcome, reject_of(step).reason) == ("rejected", outcome, outcome)
    assert asked == []
    assert "secret" not in repr((page_row(step), reject_of(step)))


def test_a_seed_without_address_is_refused(walk: Walk) -> None:
    (step,) = walk([entry("x")._replace(url=None)])
    assert (step.outcome, reject_of(step).reason) == ("rejected", "bad_url")


FOR_NOW_CASES = {
    "/500": (500, "server_error", 500, timedelta()),
    "/503": (503, "server_error", 503, timedelta()),
    "/408": (408, "timeout", 408, timedelta()),
    "/304": (304, "not_modified", 304, timedelta()),
    "/hang": (Answer(hang=True), "timeout", None, timedelta()),
    "/drop": (Answer(drop=True), "connect_error", None, timedelta()),
    "/429": (429, "rate_limited", 429, timedelta()),
    "/wait": (Answer(429, headers={"Retry-After": "7200"}), "rate_limited", 429, timedelta(hours=2)),
    "/date": (
        Answer(503, headers={"Retry-After": "Mon, 30 Nov 2026 15:00:00 GMT"}),
        "rate_limited",
        503,
        timedelta(hours=3),
    ),
}


@pytest.mark.parametrize("path", FOR_NOW_CASES)
@pytest.mark.parametrize("attempts", [0, 2])
def test_failures_for_now_are_due_again(walk: Walk, path: str, attempts: int) -> None:
    answer, outcome, status, asked_pause = FOR_NOW_CASES[path]
    first_failed_at = NOW - timedelta(hours=1) if attempts else None
    with NewsServer({path: answer}) as server:
        announced = entry(server.url(path), attempts=attempts, first_failed_at=first_failed_at)
        (step,) = walk([announced], read_timeout_s=0.2)
    row = page_row(step)
    assert (step.outcome, step.document) == ("deferred", None)
    assert (row.outcome, row.http_status, row.attempts) == (outcome, status, attempts + 1)
    assert row.next_due_at == NOW + max(QUARTER * 2**attempts, asked_pause)
    assert row.retry_after_until == (NOW + asked_pause if asked_pause else None)
    kept = entry_from_json(row.entry_json or "")
    assert kept == announced._replace(attempts=attempts + 1, first_failed_at=first_failed_at or NOW)


def test_the_text_of_the_feed_stands_in_while_the_page_is_due(walk: Walk) -> None:
    with NewsServer({"/a": 500}) as server:
        (step,) = walk([entry(server.url("/a"), content_html="<p>Ferries reopen.")])
    assert step.outcome == "passed"
    assert step.document is not None
    assert (step.document.kind, step.document.warnings) == ("feed_content", ("page_failed:server_error",))
    row = page_row(step)
    assert row.next_due_at == NOW + QUARTER
    assert entry_from_json(row.entry_json or "").content_html == "<p>Ferries reopen."


@pytest.mark.parametrize(("attempts", "age"), [(5, timedelta(hours=8)), (1, timedelta(days=7)), (9, timedelta(days=9))])
def test_a_page_is_given_up_in_the_end(walk: Walk, attempts: int, age: timedelta) -> None:
    with NewsServer({"/a": 500}) as server:
        announced = entry(server.url("/a"), attempts=attempts, first_failed_at=NOW - age)
        (step,) = walk([announced])
        (with_text,) = walk([announced._replace(content_html="<p>Ferries reopen.")])
    row, reject = page_row(step), reject_of(step)
    assert (step.outcome, reject.reason, reject.attempts) == ("rejected", "gave_up", attempts + 1)
    assert "server_error" in reject.detail
    assert (row.outcome, row.next_due_at, row.entry_json, row.attempts) == ("server_error", None, None, attempts + 1)
    assert with_text.outcome == "passed"
    assert page_row(with_text).next_due_at is None
    assert not [row for row in with_text.side if isinstance(row, Reject)]


def test_unreachable_robots_makes_pages_due_again_unasked(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 500, "/a": PAGE, "/b": PAGE}) as server:
        steps = walk([entry(server.url("/a")), entry(server.url("/b"))])
    assert set(server.paths()) == {"/robots.txt"}
    assert [(step.outcome, page_row(step).outcome, page_row(step).attempts) for step in steps] == [
        ("deferred", "server_error", 1)
    ] * 2
    assert page_row(steps[0]).http_status is None


def test_a_host_that_fails_three_times_is_left_alone(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 404, "*": Answer(hang=True)}) as server:
        entries = [entry(server.url(f"/{number}")) for number in range(6)]
        entries.append(entry(server.url("/7"), content_html="<p>Ferries reopen."))
        entries.append(entry(server.url("/8"), first_failed_at=NOW - timedelta(hours=2)))
        entries.append(entry(server.url("/9"), first_failed_at=NOW - timedelta(days=8)))
        steps = walk(entries, read_timeout_s=0.1)
    assert len(server.requests) == 1 + 3
    assert [page_row(step).outcome for step in steps] == ["timeout"] * 3 + ["host_down"] * 6
    assert [step.outcome for step in steps] == ["deferred"] * 6 + ["passed", "deferred", "rejected"]
    left = page_row(steps[3])
    assert (left.attempts, left.next_due_at) == (0, NOW + QUARTER)
    assert entry_from_json(left.entry_json or "") == entries[3]._replace(first_failed_at=NOW)
    assert steps[6].document is not None
    assert steps[6].document.warnings == ("page_failed:host_down",)
    assert page_row(steps[7]).next_due_at == NOW + timedelta(hours=2)  # the longer it lasts, the later
    assert reject_of(steps[8]).reason == "gave_up"


def test_a_success_closes_the_breaker_again(walk: Walk) -> None:
    with NewsServer({"*": [404, *[Answer(drop=True)] * 4, PAGE, *[Answer(drop=True)] * 4, PAGE]}) as server:
        steps = walk([entry(server.url(f"/{number}")) for number in range(6)], retries=0)
    assert Counter(page_row(step).outcome for step in steps) == {"connect_error": 3, "host_down": 3}
    with NewsServer({"*": [404, *[Answer(drop=True)] * 2, PAGE, *[Answer(drop=True)] * 2, PAGE]}) as server:
        steps = walk([entry(server.url(f"/{number}")) for number in range(6)], retries=0)
    assert Counter(page_row(step).outcome for step in steps) == {"connect_error": 4, "ok": 2}


def test_the_first_429_is_the_pages_the_second_is_the_hosts(walk: Walk) -> None:
    limited = Answer(429, headers={"Retry-After": "3600"})
    with NewsServer({"/robots.txt": 404, "/0": limited, "/2": limited, "*": PAGE}) as server:
        gate = HostGate(0.0)
        steps = walk([entry(server.url(f"/{number}")) for number in range(6)], gate=gate)
    assert server.paths() == ["/robots.txt", "/0", "/1", "/2"]
    assert [page_row(step).outcome for step in steps] == ["rate_limited", "ok", "rate_limited", *["deferred"] * 3]
    assert gate.held_until("127.0.0.1") == NOW + timedelta(hours=1)
    for step in steps[3:]:
        row = page_row(step)
        assert (row.next_due_at, row.retry_after_until) == (NOW + timedelta(hours=1), NOW + timedelta(hours=1))
        assert (row.attempts, entry_from_json(row.entry_json or "").attempts) == (0, 0)


def test_a_429_without_a_time_holds_the_host_for_a_quarter_of_an_hour(walk: Walk) -> None:
    gate = HostGate(0.0)
    with NewsServer({"/robots.txt": 404, "*": 429}) as server:
        walk([entry(server.url(f"/{number}")) for number in range(4)], gate=gate)
    assert server.paths() == ["/robots.txt", "/0", "/1"]
    assert gate.held_until("127.0.0.1") == NOW + QUARTER


def test_a_robots_txt_that_asks_to_wait_holds_the_host(walk: Walk) -> None:
    gate = HostGate(0.0)
    with NewsServer({"/robots.txt": Answer(503, headers={"Retry-After": "600"}), "*": PAGE}) as server:
        steps = walk([entry(server.url("/a")), entry(server.url("/b"))], gate=gate)
    assert server.paths() == ["/robots.txt"]
    assert [page_row(step).outcome for step in steps] == ["rate_limited", "deferred"]
    assert page_row(steps[1]).next_due_at == NOW + timedelta(minutes=10)


def test_a_held_host_is_not_asked_and_its_pages_spread_over_later_runs(walk: Walk) -> None:
    gate = HostGate(0.0)
    gate.hold("127.0.0.1", NOW + timedelta(hours=1))
    with NewsServer({"*": PAGE}) as server:
        steps = walk([entry(server.url(f"/{number}")) for number in range(5)], gate=gate, max_pages_per_host=2)
    assert server.requests == []
    minutes = [((page_row(step).next_due_at or NOW) - NOW) // timedelta(minutes=1) for step in steps]
    assert minutes == [60, 60, 75, 75, 90]


def test_a_hold_in_the_past_holds_nothing(walk: Walk) -> None:
    gate = HostGate(0.0)
    gate.hold("127.0.0.1", NOW)
    with NewsServer({"*": PAGE}) as server:
        assert walk([entry(server.url("/a"))], gate=gate)[0].outcome == "passed"


def test_what_is_over_the_budget_is_deferred_to_the_next_runs(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 404, "*": PAGE}) as server:
        entries = [
            entry(server.url(f"/{hour}"), published_at=NOW - timedelta(hours=hour), content_html="<p>x")
            for hour in (7, 3, 5, 1, 2, 4, 6)
        ]
        steps = walk(entries, max_pages_per_host=2)
    assert server.paths() == ["/robots.txt", "/1", "/2"]  # newest first
    assert [step.outcome for step in steps] == ["passed"] * 2 + ["deferred"] * 5
    rows = [page_row(step) for step in steps[2:]]
    assert {row.outcome for row in rows} == {"deferred"}
    assert [row.next_due_at for row in rows] == [NOW, NOW, NOW + QUARTER, NOW + QUARTER, NOW + 2 * QUARTER]
    assert [entry_from_json(row.entry_json or "").url for row in rows] == [
        server.url(f"/{hour}") for hour in (3, 4, 5, 6, 7)
    ]


def test_pages_that_robots_forbids_are_not_in_the_budget(walk: Walk) -> None:
    with NewsServer({"/robots.txt": "User-agent: *\nDisallow: /no", "*": PAGE}) as server:
        steps = walk([entry(server.url(path)) for path in ("/no1", "/no2", "/yes1", "/yes2")], max_pages_per_host=2)
    assert Counter(step.outcome for step in steps) == {"rejected": 2, "passed": 2}


def test_a_host_has_a_time_budget_too(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 404, "*": Answer(body=PAGE, delay_s=0.15)}) as server:
        entries = [entry(server.url(f"/{number}")) for number in range(8)]
        steps = walk(entries, host_time_budget_s=0.4, max_pages_per_host=0)
    outcomes = [step.outcome for step in steps]
    assert 2 <= outcomes.count("passed") <= 3
    assert outcomes == ["passed"] * outcomes.count("passed") + ["deferred"] * outcomes.count("deferred")


def test_the_gap_is_kept_between_all_requests_to_a_host(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 404, "/a": redirect("/b"), "/c": [500, PAGE], "*": PAGE}) as server:
        walk([entry(server.url("/a")), entry(server.url("/c"))], gate=HostGate(0.1))
    assert server.paths() == ["/robots.txt", "/a", "/b", "/c", "/c"]
    for earlier, later in zip(server.requests, server.requests[1:], strict=False):
        assert later.started_s - earlier.ended_s > 0.09
    assert server.most_at_once == 1


def test_the_crawl_delay_is_a_floor_of_the_gap(walk: Walk) -> None:
    with NewsServer({"/robots.txt": "User-agent: *\nCrawl-delay: 0.3", "*": PAGE}) as server:
        started_s = time.monotonic()
        walk([entry(server.url("/a")), entry(server.url("/b"))])
    assert time.monotonic() - started_s > 0.6


def test_a_redirect_to_another_host_keeps_that_hosts_rules(walk: Walk) -> None:
    rules = "User-agent: *\nDisallow: /private"
    with NewsServer({"/robots.txt": rules, "/open": PAGE, "/private": PAGE}, host="127.0.0.2") as other:
        routes = {"/a": redirect(other.url("/open")), "/b": redirect(other.url("/private"))}
        with NewsServer(routes) as server:
            steps = walk([entry(server.url("/a")), entry(server.url("/b"))])
    assert other.paths() == ["/robots.txt", "/open"]
    assert [step.outcome for step in steps] == ["passed", "rejected"]
    assert steps[0].document is not None
    assert steps[0].document.final_url == other.url("/open")
    assert (page_row(steps[0]).redirects, page_row(steps[0]).final_url) == (1, other.url("/open"))
    assert reject_of(steps[1]).reason == "robots"
    hosts = [row.host for row in steps[0].side if isinstance(row, Fetch) and row.kind == "robots"]
    assert hosts == ["127.0.0.1", "127.0.0.2"]


def test_what_a_redirects_target_does_is_not_held_against_the_host(walk: Walk) -> None:
    with NewsServer({"/robots.txt": 404, "*": Answer(drop=True)}, host="127.0.0.2") as other:
        routes = {f"/{number}": redirect(other.url(f"/{number}")) for number in range(5)} | {"/5": PAGE}
        with NewsServer(routes) as server:
            steps = walk([entry(server.url(f"/{number}")) for number in range(6)], retries=0)
    assert [page_row(step).outcome for step in steps] == ["connect_error"] * 5 + ["ok"]


def test_a_redirect_to_a_held_host_waits(walk: Walk) -> None:
    gate = HostGate(0.0)
    gate.hold("127.0.0.2", NOW + timedelta(hours=1))
    with NewsServer({"*": PAGE}, host="127.0.0.2") as other, NewsServer({"/a": redirect(other.url("/a"))}) as server:
        (step,) = walk([entry(server.url("/a"))], gate=gate)
    assert (step.outcome, page_row(step).outcome) == ("deferred", "rate_limited")
    assert other.requests == []


def test_duplicates_are_fetched_once_and_known_later(walk: Walk) -> None:
    with NewsServer({"*": PAGE}) as server:
        url = server.url("/a")
        entries = [
            entry(url, url_key="k", entry_version="v3"),
            entry(url + "#top", url_key="k", entry_version="v2"),
            entry(url + "?utm_source=x", url_key="k", entry_version="v9", attempts=1),
            entry(server.url("/b"), url_key="other"),
        ]
        steps = walk(entries)
    assert server.paths() == ["/robots.txt", "/a?utm_source=x", "/b"]
    assert Counter(step.outcome for step in steps) == {"duplicate": 2, "passed": 2}
    aliases = {row for step in steps for row in step.side if isinstance(row, Alias)}
    assert aliases == {Alias("k", "v2", "", "duplicate"), Alias("k", "v3", "", "duplicate")}


def test_of_equal_entries_the_one_kept_does_not_depend_on_their_order() -> None:
    entries = [
        entry("http://a.example/", entry_version=version, url_key="k", source_id=source)
        for version, source in [(None, "a"), ("b", "b"), ("a", "c"), ("a", "d")]
    ]
    kept, others = fold_duplicates(entries)
    assert fold_duplicates(reversed(entries)) == (kept, others)
    assert kept == [entries[0]]


def test_every_outcome_of_a_page_is_final_or_for_now_and_listed() -> None:
    assert set(rejects.FETCH_OUTCOMES) >= FINAL_OUTCOMES
    assert all(rejects.reason_of("fetch", outcome).retryable is False for outcome in FINAL_OUTCOMES)
