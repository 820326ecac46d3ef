"""What becomes of one page: passed on, refused, or due again; against real servers."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import timedelta

import pytest

from tests.servers import Answer, NewsServer, names, watched_connections
from tests.transforms.fetch.walking import NOW, PAGE, QUARTER, Walk, entry, page_row, redirect, reject_of
from transforms import rejects
from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.due import entry_from_json
from transforms.fetch.gate import HostGate
from transforms.fetch.pages import FINAL_OUTCOMES, FetchSettings, HostWalk, Tools, fold_duplicates
from transforms.fetch.robots import RobotsCache
from transforms.records import Alias, Fetch, Reject


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


def test_a_refused_address_is_no_final_refusal(walk: Walk) -> None:
    (step,) = walk([entry("http://10.0.0.1/a")])
    assert reject_of(step).retryable


def test_a_page_that_redirects_to_a_refused_address_is_asked_once(walk: Walk) -> None:
    with NewsServer({"/a": redirect("http://10.0.0.1/")}) as server:
        (step,) = walk([entry(server.url("/a"))])
    assert (reject_of(step).reason, reject_of(step).retryable) == ("blocked_address", False)


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
    retryable = {outcome for outcome in FINAL_OUTCOMES if rejects.reason_of("fetch", outcome).retryable}
    assert retryable == {"blocked_address"}


def test_without_a_contact_other_peoples_pages_wait_and_the_feeds_text_stands_in() -> None:
    settings = ClientSettings("newsbeam/1.0", allow_loopback=True, loopback_only=True)
    client, gate = HttpClient(settings, lambda: NOW), HostGate(0.0)
    tools = Tools(FetchSettings(settings), client, RobotsCache(), gate, lambda: NOW)
    bare = entry("https://news.example/a", attempts=2, first_failed_at=NOW - timedelta(days=6))
    told = entry("https://news.example/b", content_html="<p>The ferry sails.</p>")
    with watched_connections() as tried:
        left, passed = HostWalk("news.example", tools).steps([bare, told])
    with NewsServer({"/a": redirect("https://news.example/a"), "/b": PAGE}) as server:
        (out,) = HostWalk("127.0.0.1", tools).steps([entry(server.url("/a"))])
        (here,) = HostWalk("127.0.0.1", tools).steps([entry(server.url("/b"))])
    client.close()

    assert tried == []
    assert (left.outcome, page_row(left).outcome, page_row(left).attempts) == ("deferred", "deferred", 2)
    assert page_row(left).next_due_at == NOW + QUARTER
    assert entry_from_json(page_row(left).entry_json or "") == bare
    assert passed.document is not None
    assert (passed.outcome, passed.document.warnings) == ("passed", ("page_failed:deferred",))
    assert (page_row(out).outcome, out.outcome) == ("deferred", "deferred")
    assert here.outcome == "passed"
