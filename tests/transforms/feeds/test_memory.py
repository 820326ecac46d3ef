from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.feeds.memory import SKETCH_SIZE, PollMemory, from_json, merged, overlap, sketch, to_json, was_seen
from transforms.feeds.schedule import FeedWishes

NOON = datetime(2026, 3, 10, 12, 0, 0, 250_000, tzinfo=timezone.utc)


def test_comes_back_from_json_as_it_was() -> None:
    memory = PollMemory(
        seen=sketch(["a", "b", "c"]),
        kind="rss",
        note="a web page",
        first_at=NOON,
        succeeded_at=NOON,
        whole_at=NOON,
        news_at=NOON,
        successes=3,
        weight=1.75,
        adaptive_s=1500.0,
        wishes=FeedWishes(180.0, (0, 1), (6,)),
        unreliable=True,
        refusals=1,
        document_url="https://mirror.example/feed",
        move_to="https://new.example/feed",
        move_first_at=NOON,
        gone_count=2,
        gone_first_at=NOON,
    )
    assert from_json(to_json(memory)) == memory


def test_an_empty_memory_is_an_empty_object() -> None:
    assert to_json(PollMemory()) == "{}"
    assert from_json("{}") == PollMemory()


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        "",
        "[]",
        "null",
        "{",
        "[" * 10_000,
        '{"seen": 7, "kind": [], "weight": "x", "successes": -1, "whole_at": "soon", "wishes": 3}',
        '{"weight": NaN, "adaptive_s": Infinity, "successes": true, "unreliable": 1, "gone_first_at": "2026-03-10"}',
    ],
)
def test_damaged_memory_counts_as_none(damaged: str | None) -> None:
    assert from_json(damaged) == PollMemory()


@settings(deadline=None)
@given(st.text(max_size=200))
def test_never_raises_on_any_text(text: str) -> None:
    from_json(text)


def test_overlap_is_the_share_of_entries_that_the_document_before_had() -> None:
    before = sketch(["a", "b", "c", "d"])
    assert overlap(before, ["c", "d", "e", "f"]) == 0.5
    assert overlap(before, ["a", "b"]) == 1.0
    assert overlap(before, ["x", "y"]) == 0.0


def test_overlap_with_nothing_cannot_be_said() -> None:
    assert overlap((), ["a"]) is None
    assert overlap(sketch(["a"]), []) is None


def test_overlap_of_large_documents_is_judged_by_a_fair_sample() -> None:
    before = sketch(f"story-{n}" for n in range(1000))
    assert len(before) == SKETCH_SIZE
    assert overlap(before, [f"story-{n}" for n in range(1000)]) == 1.0
    assert overlap(before, [f"story-{n}" for n in range(1000, 2000)]) == 0.0
    half = overlap(before, [f"story-{n}" for n in range(500, 1500)])
    assert half is not None
    assert 0.35 < half < 0.65


def test_whether_an_entry_was_seen_is_unknown_outside_the_sample() -> None:
    small = sketch(["a", "b"])
    assert was_seen(small, "a") is True
    assert was_seen(small, "z") is False
    large = sketch(f"story-{n}" for n in range(1000))
    answers = [was_seen(large, f"story-{n}") for n in range(1000)]
    assert answers.count(True) == SKETCH_SIZE
    assert answers.count(None) == 1000 - SKETCH_SIZE


@settings(deadline=None, max_examples=50)
@given(st.sets(st.text(max_size=5), max_size=300), st.sets(st.text(max_size=5), max_size=300))
def test_the_sketch_of_two_documents_is_that_of_both_together(first: set[str], second: set[str]) -> None:
    assert merged(sketch(first), sketch(second)) == sketch(first | second)
