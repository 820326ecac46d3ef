from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.feeds import schedule
from transforms.feeds.schedule import FeedWishes, next_due, wishes_of

TUESDAY_NOON = datetime(2026, 3, 10, 12, 0, tzinfo=timezone.utc)
QUARTER = 900


def rest_s(**how: object) -> float:
    return (next_due(TUESDAY_NOON, QUARTER, **how) - TUESDAY_NOON).total_seconds()  # type: ignore[arg-type]


def test_rests_for_the_configured_interval_if_nobody_asks_for_more() -> None:
    assert rest_s() == 900


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"cache-control": "max-age=3600"}, 3600),
        ({"cache-control": "public, Max-Age=3600, must-revalidate"}, 3600),
        ({"cache-control": 'max-age="3600"'}, 3600),
        ({"cache-control": "max-age=3600", "age": "600"}, 3000),
        ({"cache-control": "max-age=60"}, 900),
        ({"cache-control": "s-maxage=7200"}, 900),
        ({"cache-control": "no-store, max-age=0"}, 900),
        ({"cache-control": "max-age=604800"}, 86400),
        ({"cache-control": "max-age=-5"}, 900),
        ({"cache-control": "max-age=soon"}, 900),
        ({"expires": "Tue, 10 Mar 2026 13:00:00 GMT"}, 3600),
        ({"expires": "Tue, 10 Mar 2026 15:00:00 GMT", "date": "Tue, 10 Mar 2026 13:00:00 GMT"}, 7200),
        ({"expires": "Wed, 11 Jan 1984 05:00:00 GMT"}, 900),
        ({"expires": "0"}, 900),
        ({"expires": "-1"}, 900),
        ({"expires": "Tue, 10 Mar 2026 13:00:00 GMT", "cache-control": "max-age=7200"}, 7200),
    ],
)
def test_waits_as_long_as_the_answer_is_fresh_but_not_over_a_day(headers: dict[str, str], expected_s: float) -> None:
    assert rest_s(headers=headers) == expected_s


def test_an_interval_of_the_user_may_be_longer_than_a_day() -> None:
    due = next_due(TUESDAY_NOON, 7 * 86400, headers={"cache-control": "max-age=60"})
    assert due == TUESDAY_NOON + timedelta(days=7)


@pytest.mark.parametrize(
    ("ttl_min", "period_min", "expected_s"),
    [(180, None, 10800), (180, 30, 10800), (None, 60, 3600), (None, None, 900), (0, 0, 900), (20160, None, 86400)],
)
def test_waits_as_long_as_the_feed_asks_for(ttl_min: float | None, period_min: float | None, expected_s: float) -> None:
    assert rest_s(wishes=wishes_of(ttl_min, period_min)) == expected_s


@pytest.mark.parametrize("nonsense", [float("nan"), float("inf"), -5.0])
def test_a_ttl_that_is_no_time_is_not_obeyed(nonsense: float) -> None:
    assert wishes_of(nonsense, None) == FeedWishes()


def test_hour_24_is_hour_0_and_days_are_known_by_name() -> None:
    wishes = wishes_of(None, None, ["0", 1, "24", "25", "x", -1], ["Sunday", " saturday ", "Sun", "Noday", ""])
    assert wishes.skip_hours == (0, 1)
    assert wishes.skip_days == (5, 6)


def test_moves_out_of_skipped_hours_and_days_in_gmt() -> None:
    saturday_night = datetime(2026, 3, 7, 23, 50, tzinfo=timezone.utc)
    wishes = FeedWishes(skip_hours=(0, 1), skip_days=(6,))
    # Sunday is skipped, and so are the first two hours of Monday.
    assert next_due(saturday_night, QUARTER, wishes=wishes) == datetime(2026, 3, 9, 2, 0, tzinfo=timezone.utc)


def test_a_feed_that_skips_every_hour_is_polled_all_the_same() -> None:
    assert rest_s(wishes=FeedWishes(skip_hours=tuple(range(24)))) == 900
    assert rest_s(wishes=FeedWishes(skip_days=tuple(range(7)))) == 900
    nearly = FeedWishes(skip_hours=tuple(range(23)), skip_days=tuple(range(6)))
    assert next_due(TUESDAY_NOON, QUARTER, wishes=nearly) == datetime(2026, 3, 15, 23, 0, tzinfo=timezone.utc)


def test_hard_failures_double_the_rest_up_to_a_day_and_never_beyond() -> None:
    rests, weight = [], 0.0
    for _ in range(60):
        weight = schedule.add_weight(weight, "bad_url")
        rests.append(rest_s(weight=weight))
    assert rests[:4] == [1800, 3600, 7200, 14400]
    assert rests[-1] == 86400
    assert rests == sorted(rests)


def test_soft_failures_weigh_half_and_temporary_ones_a_quarter() -> None:
    assert schedule.failure_weight("server_error") == 0.5
    assert schedule.failure_weight("not_found") == 0.5
    assert schedule.failure_weight("dns_error") == 0.25
    assert schedule.failure_weight("blocked_address") == 1.0
    two_soft = schedule.add_weight(schedule.add_weight(0.0, "timeout"), "not_feed")
    assert rest_s(weight=two_soft) == 1800


def test_retry_after_is_obeyed_for_a_day_at_most() -> None:
    assert rest_s(retry_after_until=TUESDAY_NOON + timedelta(hours=2)) == 7200
    assert rest_s(retry_after_until=TUESDAY_NOON + timedelta(hours=88)) == 86400
    assert rest_s(retry_after_until=TUESDAY_NOON - timedelta(hours=2)) == 900


def test_a_feed_that_is_gone_is_asked_once_a_week() -> None:
    assert rest_s(gone=True, weight=9.0) == 7 * 86400


def test_gone_is_believed_after_three_answers_over_three_days() -> None:
    three_days_ago = TUESDAY_NOON - timedelta(days=3)
    assert schedule.is_gone(3, three_days_ago, TUESDAY_NOON)
    assert not schedule.is_gone(2, three_days_ago, TUESDAY_NOON)
    assert not schedule.is_gone(30, TUESDAY_NOON - timedelta(days=2), TUESDAY_NOON)
    assert not schedule.is_gone(0, None, TUESDAY_NOON)


def adapted(current_s: float, seen_share: float | None, **how: object) -> float:
    settings: dict[str, object] = {"successes": 2, "off_schedule_s": 0.0, "silent_for": timedelta(hours=1)} | how
    return schedule.adapted_interval_s(current_s, QUARTER, seen_share=seen_share, **settings)  # type: ignore[arg-type]


def test_polls_less_often_if_most_entries_are_known_and_more_often_if_few_are() -> None:
    assert adapted(900, 0.9) == 1500
    assert adapted(1500, 0.5) == 1500
    assert adapted(3600, 0.1) == 900
    assert adapted(0, None) == 900


def test_a_feed_that_brings_news_is_never_left_alone_for_long() -> None:
    rest = 900.0
    for _ in range(50):
        rest = adapted(rest, 1.0)
    assert rest == 3600


def test_a_feed_silent_for_a_month_is_asked_once_a_day_in_the_end() -> None:
    rest = 900.0
    for _ in range(50):
        rest = adapted(rest, 1.0, silent_for=timedelta(days=32))
    assert rest == 86400


def test_one_success_alone_a_late_and_an_early_poll_change_nothing() -> None:
    assert adapted(900, 1.0, successes=1) == 900
    assert adapted(3600, 0.0, off_schedule_s=1800.0) == 3600
    assert adapted(900, 1.0, off_schedule_s=-1800.0) == 900


def test_a_few_seconds_early_is_due_and_a_minute_early_is_not() -> None:
    due = TUESDAY_NOON + timedelta(seconds=QUARTER)
    assert schedule.is_due(due, due, TUESDAY_NOON)
    assert schedule.is_due(due - timedelta(seconds=20), due, TUESDAY_NOON)
    assert not schedule.is_due(due - timedelta(seconds=60), due, TUESDAY_NOON)
    assert schedule.is_due(TUESDAY_NOON, None, TUESDAY_NOON)


@pytest.mark.parametrize(
    "text", [None, "", "yesterday", "Tue, 99 Mar 2026 25:61:00 GMT", "Tue, 10 Mar 99999 00:00:00 GMT"]
)
def test_what_is_no_http_date_is_none(text: str | None) -> None:
    assert schedule.parse_http_date(text) is None


def test_http_dates_come_in_three_forms() -> None:
    expected = datetime(1994, 11, 6, 8, 49, 37, tzinfo=timezone.utc)  # RFC 9110, section 5.6.7
    for text in ("Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"):
        assert schedule.parse_http_date(text) == expected


def test_jitter_spreads_feeds_and_stays_in_its_range() -> None:
    values = [schedule.jitter_s(f"https://paper{n}.example/feed", 1) for n in range(200)]
    assert len(set(values)) == 200
    assert 0 <= min(values) < 600
    assert 3000 < max(values) < 3600


@given(
    st.floats(1, 86400 * 30),
    st.floats(0, 1e9),
    st.dictionaries(st.sampled_from(["cache-control", "expires", "age", "date"]), st.text(max_size=40)),
    st.builds(
        wishes_of,
        st.one_of(st.none(), st.floats()),
        st.one_of(st.none(), st.floats()),
        st.lists(st.one_of(st.integers(), st.text(max_size=4))),
        st.lists(st.one_of(st.integers(), st.text(max_size=9))),
    ),
    st.floats(0, 100),
)
def test_a_feed_is_never_due_before_its_interval_and_never_given_up(
    interval_s: float, adaptive_s: float, headers: dict[str, str], wishes: FeedWishes, weight: float
) -> None:
    due = next_due(TUESDAY_NOON, interval_s, headers=headers, wishes=wishes, adaptive_s=adaptive_s, weight=weight)
    rest = (due - TUESDAY_NOON).total_seconds()
    assert rest >= interval_s - 1e-3
    assert rest <= max(interval_s, 86400) + 8 * 86400
