from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from transforms.stories.compare import Copy
from transforms.stories.group import Grouping, group
from transforms.stories.read import Grouped

NOW = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
BEFORE = NOW - timedelta(hours=1)


def not_asked(story_id: str) -> datetime:
    pytest.fail(f"asked for {story_id}")


def rows_of(found: Grouping) -> dict[str, tuple[str, str | None, float]]:
    return {row["article_id"]: (row["story_id"], row["duplicate_of"], row["similarity"]) for row in found.rows}


def test_the_earliest_copy_leads_and_each_article_has_a_row() -> None:
    found = group(["a", "b", "c"], [Copy(0, 2, 0.9)], {}, not_asked, NOW)
    assert rows_of(found) == {"a": ("a", None, 1.0), "b": ("b", None, 1.0), "c": ("a", "a", 0.9)}
    assert found[1:] == (3, 3, 2, 1, 0)
    assert {row["as_of"] for row in found.rows} == {NOW}


def test_an_earlier_copy_that_comes_later_joins_and_changes_nothing() -> None:
    grouped = {"b": Grouped("b", BEFORE)}
    found = group(["a", "b"], [Copy(0, 1, 0.8)], grouped, not_asked, NOW)
    assert rows_of(found) == {"a": ("b", "b", 0.8)}


def test_the_same_articles_again_give_no_row() -> None:
    copies = [Copy(0, 1, 0.8), Copy(1, 2, 0.9)]
    first = group(["a", "b", "c", "d"], copies, {}, not_asked, NOW)
    grouped = {row["article_id"]: Grouped(row["story_id"], row["as_of"]) for row in first.rows}
    again = group(["a", "b", "c", "d"], copies, grouped, not_asked, NOW)
    assert again == Grouping([], 4, 0, 2, 2, 0)


def test_two_stories_that_prove_to_be_one_are_linked_to_the_earlier() -> None:
    grouped = {"a": Grouped("a", BEFORE), "b": Grouped("b", BEFORE)}
    led_at = {"a": BEFORE, "b": NOW}.__getitem__
    found = group(["a", "b", "c"], [Copy(0, 2, 0.7), Copy(1, 2, 0.8)], grouped, led_at, NOW)
    assert rows_of(found) == {"b": ("a", "c", 0.8), "c": ("a", "b", 0.8)}
    assert (found.new, found.stories, found.copies, found.linked) == (1, 1, 2, 1)


def test_a_leader_too_old_to_be_looked_at_tells_where_its_story_is_now() -> None:
    grouped = {"b": Grouped("old", BEFORE), "c": Grouped("older", BEFORE)}
    led_at = {"old": BEFORE, "older": BEFORE - timedelta(days=9)}.__getitem__
    found = group(["b", "c"], [Copy(0, 1, 0.9)], grouped, led_at, NOW)
    assert rows_of(found) == {"b": ("older", "c", 0.9), "old": ("older", "older", 0.0)}


def test_articles_of_one_story_stay_in_it_though_their_leader_is_gone() -> None:
    grouped = {"b": Grouped("old", BEFORE), "c": Grouped("old", BEFORE)}
    assert group(["b", "c"], [], grouped, not_asked, NOW).rows == []


def test_a_row_is_newer_than_all_before_it_whatever_the_clock_says() -> None:
    late = NOW + timedelta(days=1)
    found = group(["a", "b"], [], {"a": Grouped("a", late)}, not_asked, NOW)
    assert found.rows[0]["as_of"] > late
