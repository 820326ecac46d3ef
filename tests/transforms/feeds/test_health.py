from __future__ import annotations

from datetime import datetime, timedelta, timezone

from transforms.feeds.health import PROBLEMS, FeedHealth, fetch_of_row, judge, judge_feeds
from transforms.feeds.memory import PollMemory, to_json
from transforms.records import FeedSource, Fetch

NOW = datetime(2026, 3, 31, 12, 0, tzinfo=timezone.utc)
URL = "https://harbour.example/feed"


def row(hours_ago: float, outcome: str = "ok", memory: PollMemory | None = None, **fields: object) -> Fetch:
    at = NOW - timedelta(hours=hours_ago)
    return Fetch("feed", URL, "harbour.example", at, outcome, entry_json=to_json(memory or PollMemory()), **fields)  # type: ignore[arg-type]


def every(hours: float, until_hours_ago: float, since_hours_ago: float, new: int = 1) -> list[Fetch]:
    """Polls that each brought something new, at even distances."""
    count = int((since_hours_ago - until_hours_ago) / hours) + 1
    return [row(since_hours_ago - n * hours, entries_seen=10, entries_new=new) for n in range(count)]


def problems(rows: list[Fetch]) -> tuple[str, ...]:
    return judge(URL, "harbour", rows, NOW).problems


def test_a_feed_that_was_never_polled_needs_nobody() -> None:
    assert judge(URL, "harbour", [], NOW) == FeedHealth(URL, "harbour")
    assert not judge(URL, "harbour", [], NOW).needs_person


def test_a_feed_in_its_rhythm_is_well() -> None:
    health = judge(URL, "harbour", every(2, 1, 101), NOW)
    assert health.problems == ()
    assert health.rhythm == timedelta(hours=2)
    assert health.last_news_at == NOW - timedelta(hours=1)
    assert health.last_success_at == NOW - timedelta(hours=1)


def test_several_new_entries_of_one_poll_share_the_time_between() -> None:
    assert judge(URL, None, every(3, 0, 90, new=6), NOW).rhythm == timedelta(minutes=30)


def test_what_the_first_poll_found_is_no_rhythm() -> None:
    first = row(50, entries_seen=300, entries_new=300)
    assert judge(URL, None, [first, row(1, "not_modified")], NOW).rhythm is None


def test_silence_is_a_problem_only_against_the_feed_s_own_rhythm() -> None:
    hourly = [*every(1, 60, 200), row(1, "not_modified")]
    assert problems(hourly) == ("silent",)
    daily = [*every(24, 60, 600), row(1, "not_modified")]
    assert problems(daily) == ()


def test_a_pause_that_the_feed_has_made_before_is_no_silence() -> None:
    weekend = [*every(1, 300, 350), *every(1, 70, 230), row(1, "not_modified")]
    assert problems(weekend) == ()


def test_a_short_silence_of_a_busy_feed_is_none() -> None:
    assert problems([*every(0.25, 10, 60), row(1, "not_modified")]) == ()


def test_nothing_new_for_a_month_is_stale() -> None:
    assert problems([row(800, entries_seen=10, entries_new=10), row(1, "not_modified")]) == ("stale",)


def test_a_feed_that_never_brought_anything_new_is_stale_after_a_month() -> None:
    memory = PollMemory(first_at=NOW - timedelta(days=40))
    assert problems([row(1, "not_modified", memory)]) == ("stale",)


def test_a_document_that_had_entries_and_has_none_is_reported_at_once() -> None:
    assert problems([*every(24, 30, 300), row(1, entries_seen=0, entries_new=0)]) == ("emptied",)
    assert problems([row(30, entries_seen=0, entries_new=0), row(1, entries_seen=0, entries_new=0)]) == ()


def test_failures_need_a_person_after_a_day_without_success() -> None:
    good = every(1, 10, 40)
    memory = PollMemory(succeeded_at=NOW - timedelta(hours=10), note="status 503")
    health = judge(URL, None, [*good, row(1, "server_error", memory, failures=3)], NOW)
    assert health.problems == ()
    assert (health.failures, health.note) == (3, "status 503")
    memory = memory._replace(succeeded_at=NOW - timedelta(hours=25))
    assert problems([row(1, "server_error", memory, failures=9)]) == ("failing",)


def test_a_feed_that_never_worked_is_reported_after_three_polls() -> None:
    assert problems([row(2, "not_found", failures=1), row(1, "not_found", failures=2)]) == ()
    assert problems([row(1, "not_found", failures=3)]) == ("never_worked",)


def test_a_feed_that_is_gone_for_days_is_reported_as_gone() -> None:
    memory = PollMemory(gone_count=3, gone_first_at=NOW - timedelta(days=4), succeeded_at=NOW - timedelta(days=5))
    assert problems([row(1, "gone", memory, failures=9)]) == ("gone",)
    fresh = memory._replace(gone_first_at=NOW - timedelta(days=1), succeeded_at=NOW - timedelta(hours=20))
    assert problems([row(1, "gone", fresh, failures=3)]) == ()


def test_a_permanent_move_is_reported_with_its_target() -> None:
    health = judge(URL, None, [row(1, entries_seen=3, moved_to="https://new.example/feed")], NOW)
    assert health.problems == ("moved",)
    assert health.moved_to == "https://new.example/feed"


def test_the_same_address_by_https_needs_nobody() -> None:
    plain = URL.replace("https", "http")
    rows = [row(1, entries_seen=3, moved_to=URL)._replace(url=plain)]
    health = judge(plain, None, rows, NOW)
    assert (health.moved_to, health.problems) == (URL, ())


def test_a_gap_of_the_last_day_is_reported_and_older_ones_are_counted() -> None:
    recent = [row(30, entries_seen=9), row(3, entries_seen=9, gap_suspected=True), row(1, entries_seen=9)]
    assert problems(recent) == ("gap",)
    old = judge(URL, None, [row(40, entries_seen=9, gap_suspected=True), row(1, entries_seen=9)], NOW)
    assert (old.problems, old.gaps) == ((), 1)


def test_a_server_that_lied_about_changes_is_named() -> None:
    assert judge(URL, None, [row(1, memory=PollMemory(unreliable=True))], NOW).validators_unreliable


def test_all_feeds_of_the_configuration_are_judged_in_its_order() -> None:
    sources = [FeedSource("https://b.example/f", "b"), FeedSource(URL, "harbour")]
    rows = [row(1, "not_found", failures=3), row(1)._replace(kind="page"), row(1)._replace(url="https://x.example/")]
    healths = judge_feeds(sources, rows, NOW)
    assert [(health.source_id, health.problems) for health in healths] == [("b", ()), ("harbour", ("never_worked",))]


def test_every_problem_has_words_for_people() -> None:
    assert all(words.endswith(".") for words in PROBLEMS.values())


def test_rows_of_the_table_become_records() -> None:
    record = row(1, "not_modified", failures=0, next_due_at=NOW)
    columns = record._asdict() | {"run_id": "20260331T110000Z-0001", "etag": None}
    assert fetch_of_row(columns) == record
