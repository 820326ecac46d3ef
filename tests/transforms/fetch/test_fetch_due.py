"""Pages that are due again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.fetch.due import after_failure, entry_from_json, entry_to_json, is_given_up, next_try_at
from transforms.records import Entry

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)
BARE = Entry("https://news.example/a", "key", None, "news", "urls")

TIMES = st.none() | st.datetimes(timezones=st.just(timezone.utc))
TEXTS = st.none() | st.text()
ENTRIES = st.builds(
    Entry,
    url=TEXTS,
    url_key=st.text(),
    entry_version=TEXTS,
    source_id=st.text(),
    discovered_via=st.sampled_from(["feed", "urls", "seed_jsonl"]),
    content_html=TEXTS,
    authors=st.lists(st.text()).map(tuple),
    categories=st.lists(st.text()).map(tuple),
    published_at=TIMES,
    updated_at=TIMES,
    first_failed_at=TIMES,
    published_zone_known=st.booleans(),
    attempts=st.integers(0, 9),
)


@given(ENTRIES)
def test_an_entry_comes_back_from_json_as_it_was(entry: Entry) -> None:
    text = entry_to_json(entry)
    assert text.isascii()
    assert entry_from_json(text) == entry


def test_json_holds_only_what_is_set() -> None:
    assert entry_to_json(BARE) == (
        '{"url": "https://news.example/a", "url_key": "key", "entry_version": null, "source_id": "news",'
        ' "discovered_via": "urls"}'
    )


def test_fields_of_later_versions_are_passed_over() -> None:
    text = entry_to_json(BARE).replace('{"url"', '{"mood": "calm", "url"')
    assert entry_from_json(text) == BARE


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": "x"}', "null", '{"url": 1, "published_at": "soon"}'])
def test_what_is_no_entry_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not an entry"):
        entry_from_json(text)


@pytest.mark.parametrize(("failures", "minutes"), [(0, 15), (1, 30), (2, 60), (3, 120), (4, 240), (5, 480)])
def test_the_pause_doubles(failures: int, minutes: int) -> None:
    assert next_try_at(failures, NOW) == NOW + timedelta(minutes=minutes)


def test_retry_after_is_the_least_pause() -> None:
    assert next_try_at(0, NOW, NOW + timedelta(hours=3)) == NOW + timedelta(hours=3)
    assert next_try_at(3, NOW, NOW + timedelta(minutes=5)) == NOW + timedelta(minutes=120)


def test_failures_are_counted_from_the_first() -> None:
    once = after_failure(BARE, NOW)
    twice = after_failure(once, NOW + timedelta(hours=1))
    assert (once.attempts, once.first_failed_at) == (1, NOW)
    assert (twice.attempts, twice.first_failed_at) == (2, NOW)


@pytest.mark.parametrize(
    ("attempts", "age", "given_up"),
    [
        (1, timedelta(), False),
        (5, timedelta(days=6, hours=23), False),
        (6, timedelta(hours=8), True),
        (1, timedelta(days=7), True),
    ],
)
def test_a_page_is_given_up_after_six_attempts_or_seven_days(attempts: int, age: timedelta, given_up: bool) -> None:
    entry = BARE._replace(attempts=attempts, first_failed_at=NOW - age)
    assert is_given_up(entry, NOW) is given_up


def test_a_page_that_never_failed_is_not_given_up() -> None:
    assert not is_given_up(BARE, NOW)
