"""Statuses and headers; expected values from RFC 9110 and RFC 6585."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.fetch.answers import moved_to, outcome_of_status, redirect_target, retry_after_until
from transforms.rejects import FETCH_OUTCOMES

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *[(200, "ok"), (203, "ok"), (204, "ok"), (304, "not_modified"), (300, "bad_url"), (305, "bad_url")],
        *[(400, "denied"), (401, "denied"), (402, "denied"), (403, "denied"), (404, "not_found"), (405, "denied")],
        *[(406, "denied"), (408, "timeout"), (410, "gone"), (429, "rate_limited"), (451, "gone"), (499, "denied")],
        *[(500, "server_error"), (502, "server_error"), (503, "server_error"), (504, "server_error")],
        *[(520, "server_error"), (530, "server_error"), (599, "server_error"), (999, "denied"), (103, "server_error")],
    ],
)
def test_a_status_stands_for_an_outcome(status: int, outcome: str) -> None:
    assert outcome_of_status(status, {}) == outcome


def test_503_with_retry_after_is_a_request_to_slow_down() -> None:
    assert outcome_of_status(503, {"retry-after": "5"}) == "rate_limited"
    assert outcome_of_status(500, {"retry-after": "5"}) == "server_error"


def test_a_challenge_is_a_refusal_whatever_its_status() -> None:
    assert {outcome_of_status(status, {"cf-mitigated": "challenge"}) for status in (200, 403, 503)} == {"denied"}


@given(st.integers(0, 999))
def test_every_status_has_a_listed_outcome(status: int) -> None:
    assert outcome_of_status(status, {}) in FETCH_OUTCOMES


@pytest.mark.parametrize(
    ("value", "until"),
    [
        ("120", NOW + timedelta(seconds=120)),
        (" 120 ", NOW + timedelta(seconds=120)),
        ("0", NOW),
        ("316800", NOW + timedelta(hours=24)),  # 88 hours, seen in the wild
        ("99999999999999999999", NOW + timedelta(hours=24)),
        ("Mon, 30 Nov 2026 12:10:00 GMT", NOW + timedelta(minutes=10)),
        ("Monday, 30-Nov-26 12:10:00 GMT", NOW + timedelta(minutes=10)),
        ("Mon, 30 Nov 2026 14:10:00 +0200", NOW + timedelta(minutes=10)),
        ("Mon, 30 Nov 2026 12:10:00 -0000", NOW + timedelta(minutes=10)),
        ("Mon, 30 Nov 2026 11:00:00 GMT", NOW),
        ("Fri, 31 Dec 2027 00:00:00 GMT", NOW + timedelta(hours=24)),
        ("", None),
        (None, None),
        ("-5", None),
        ("soon", None),
        ("1.5", None),
        ("١٢٠", None),
        ("Mon, 99 Nov 2026 12:10:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_capped(value: str | None, until: datetime | None) -> None:
    assert retry_after_until(value, NOW) == until


@given(st.text(max_size=60))
def test_no_retry_after_fails_or_leaves_the_day(value: str) -> None:
    until = retry_after_until(value, NOW)
    assert until is None or NOW <= until <= NOW + timedelta(hours=24)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "https://news.example/b"),
        ("b?x=1", "https://news.example/a/b?x=1"),
        ("//other.example/b", "https://other.example/b"),
        (" http://other.example/ ", "http://other.example/"),
        ("/k\u00c3\u00b6ln", "https://news.example/köln"),  # UTF-8 sent raw, read as Latin-1 by http.client
        ("/k\u00f6ln", "https://news.example/köln"),  # Latin-1 sent raw
        ("http://[bad", "http://[bad"),
    ],
)
def test_a_location_is_joined_to_the_address_that_gave_it(location: str, target: str) -> None:
    assert redirect_target("https://news.example/a/c", location) == target


@pytest.mark.parametrize(
    ("statuses", "moved"),
    [
        ([], None),
        ([301], "1"),
        ([308, 301], "2"),
        ([301, 302], "1"),
        ([301, 302, 301], "1"),
        ([302, 301], None),
        ([307], None),
        ([303, 308], None),
    ],
)
def test_only_an_unbroken_leading_run_of_permanent_redirects_is_a_move(statuses: list[int], moved: str | None) -> None:
    assert moved_to(tuple((status, str(hop)) for hop, status in enumerate(statuses, 1))) == moved
