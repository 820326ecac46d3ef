from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.write.make_items import START, run_at, tagged
from transforms.schema import ARTICLES, FETCHES, REJECTS
from transforms.write.rows import article_row
from transforms.write.validate import MAX_TEXT, fit_row, mend_row, problems_of

GOOD = article_row(tagged(), run_at())


def changed(**values: Any) -> list[str]:
    return problems_of(GOOD | values, ARTICLES)


def test_a_good_row_has_no_problem() -> None:
    assert changed() == []


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("title", "Harrow \ud83d Bay", "title: a lone surrogate at 7"),
        ("title", 7, "title: a int instead of text"),
        ("text", "x" * (MAX_TEXT + 1), "text: 10,000,001 characters, more than 10,000,000"),
        ("url", None, "url: null is not allowed"),
        ("fetched_at", datetime(2026, 11, 30), "fetched_at: a time without zone"),  # noqa: DTZ001
        ("published_at", datetime(1492, 1, 1, tzinfo=timezone.utc), "published_at: the year 1492 is out of range"),
        ("published_at", datetime.max.replace(tzinfo=timezone.utc), "published_at: the year 9999 is out of range"),
        (
            "published_at",
            datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
            "published_at: a time out of range",
        ),
        ("word_count", 2**31, "word_count: 2147483648 has more than 32 bits"),
        ("word_count", True, "word_count: a bool instead of an integer"),
        ("word_count", 1.5, "word_count: a float instead of an integer"),
        ("extraction_confidence", float("nan"), "extraction_confidence: nan is no number"),
        ("extraction_confidence", 10**400, "extraction_confidence: a number out of range"),
        ("is_truncated", 1, "is_truncated: a int instead of true or false"),
        ("topics", "deportation", "topics: a str instead of a list"),
        ("topics", ["a", None], "topics: null is not allowed"),
        ("boilerplate", [{"start": 0, "end": 1}], "boilerplate: kind: null is not allowed"),
        ("boilerplate", ["promo"], "boilerplate: a str instead of an object"),
        ("mood", "good", "mood: no such column"),
    ],
)
def test_what_does_not_fit_is_told(column: str, value: Any, problem: str) -> None:
    assert changed(**{column: value}) == [problem]


def test_what_loses_nothing_is_brought_into_the_type() -> None:
    east = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=2)))
    row, problems = fit_row(GOOD | {"fetched_at": east, "extraction_confidence": 1, "word_count": 3.0}, ARTICLES)
    assert problems == []
    assert row["fetched_at"] == datetime(2026, 11, 30, 10, tzinfo=timezone.utc)
    assert row["fetched_at"].tzinfo is timezone.utc
    assert (type(row["extraction_confidence"]), type(row["word_count"])) == (float, int)
    assert list(row) == ARTICLES.names


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters()),
    st.binary(max_size=9),
    st.datetimes(),
    st.datetimes(timezones=st.just(timezone.utc)),
    st.lists(st.text(max_size=3), max_size=2),
)


@given(st.dictionaries(st.sampled_from(ARTICLES.names), ANYTHING, max_size=5))
def test_a_row_without_problems_always_becomes_arrow(values: dict[str, Any]) -> None:
    row, problems = fit_row(GOOD | values, ARTICLES)
    if not problems:
        table = pa.Table.from_pylist([row], schema=ARTICLES)
        table.validate(full=True)
        assert table.to_pylist() == [row]


@given(st.dictionaries(st.sampled_from(REJECTS.names), ANYTHING, max_size=9))
def test_a_mended_reject_always_fits(values: dict[str, Any]) -> None:
    assert problems_of(mend_row(values, REJECTS), REJECTS) == []


@given(st.dictionaries(st.sampled_from(FETCHES.names), ANYTHING, max_size=9))
def test_a_mended_fetch_always_fits(values: dict[str, Any]) -> None:
    assert problems_of(mend_row(values, FETCHES), FETCHES) == []


def test_mending_keeps_what_can_be_kept() -> None:
    mended = mend_row({"detail": "caf\udce9", "attempts": "two", "failed_at": START}, REJECTS)
    assert (mended["detail"], mended["attempts"], mended["failed_at"]) == ("caf?", 0, START)
