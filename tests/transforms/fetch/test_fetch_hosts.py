"""What a walk does for its host: pace, budgets, breaker, Retry-After, robots.txt, redirects elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta

from tests.servers import Answer, NewsServer
from tests.transforms.fetch.walking import NOW, PAGE, QUARTER, Walk, entry, page_row, redirect, reject_of
from transforms.fetch.due import entry_from_json
from transforms.fetch.gate import HostGate
from transforms.records import Fetch


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


def test_the_opt_outs_in_headers_go_with_the_page(walk: Walk) -> None:
    headers = {"X-Robots-Tag": "noai", "TDM-Reservation": "1"}
    with NewsServer({"/robots.txt": 404, "*": Answer(body=PAGE, headers=headers)}) as server:
        [step] = walk([entry(server.url("/a"))])
    assert step.document is not None
    assert (step.document.x_robots_tag, step.document.tdm_reservation) == ("noai", "1")


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
