"""How each feed is doing, judged by its own past. Pure over the feed rows of ``fetches``.

A feed has a rhythm: the usual time between two new entries. Silence counts as a fault only when it is
long for that feed. Everything that a person should look at is one of the ``PROBLEMS``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

from transforms.feeds.memory import PollMemory, from_json
from transforms.feeds.schedule import SILENT_AFTER, is_gone
from transforms.records import FeedSource, Fetch
from transforms.urls import url_key

PROBLEMS = {
    "gone": "The server has said for at least three days that the feed is gone (410).",
    "failing": "No poll has succeeded for a day or longer.",
    "never_worked": "Three polls or more, and none has ever succeeded.",
    "moved": "For a day the server has named a new address for good; change it in the list of feeds.",
    "silent": "The feed brings nothing new for longer than it ever did, though polls succeed.",
    "emptied": "The document has no entries any more.",
    "stale": "Nothing new for more than 31 days.",
    "gap": "A poll of the last day shared no entry with the one before: some may have been missed.",
}

SUCCESSES = frozenset({"ok", "not_modified"})
_FAILING_AFTER = timedelta(days=1)
_NEVER_WORKED = 3
_GAP_COUNTS_FOR = timedelta(days=1)
_SILENT_AT_LEAST = timedelta(days=1)
_RHYTHM_TIMES = 3
_LONGEST_TIMES = 1.5
_FEWEST_GAPS = 3


class FeedHealth(NamedTuple):
    """One line of the health table.

    Attributes:
        feed_url: Address as configured.
        outcome: Of the newest poll; ``None`` if there was none.
        last_attempt_at, last_success_at, last_news_at: Newest poll, success, new entry.
        rhythm: Usual (median) time between two new entries; ``None`` before enough were seen.
        next_due_at: When it is asked again.
        failures: Failed polls in a row.
        gaps: Polls that suggest missed entries, in the rows given.
        moved_to: New address that the server names for good.
        validators_unreliable: The server answers 304 though there is news; it is asked without validators.
        problems: Keys of ``PROBLEMS``.
        note: What was wrong with the newest poll, in words.
    """

    feed_url: str
    source_id: str | None
    outcome: str | None = None
    http_status: int | None = None
    last_attempt_at: datetime | None = None
    last_success_at: datetime | None = None
    last_news_at: datetime | None = None
    rhythm: timedelta | None = None
    next_due_at: datetime | None = None
    failures: int = 0
    gaps: int = 0
    moved_to: str | None = None
    validators_unreliable: bool = False
    problems: tuple[str, ...] = ()
    note: str | None = None

    @property
    def needs_person(self) -> bool:
        """Whether someone should look at the feed."""
        return bool(self.problems)


def fetch_of_row(row: Mapping[str, Any]) -> Fetch:
    """Returns the record of a row of the table ``fetches``, given as a dictionary by column."""
    return Fetch(**{name: row[name] for name in Fetch._fields if row.get(name) is not None})


def judge_feeds(sources: Iterable[FeedSource], rows: Iterable[Fetch], now: datetime) -> list[FeedHealth]:
    """Returns the health of each configured feed, in the order of the configuration.

    Args:
        sources: The feeds as configured.
        rows: Rows of ``fetches``, any kind and order; those of the last 60 days are enough.
        now: The present.
    """
    by_url: dict[str, list[Fetch]] = {}
    for row in rows:
        if row.kind == "feed":
            by_url.setdefault(row.url, []).append(row)
    return [judge(source.url, source.source_id, by_url.get(source.url, ()), now) for source in sources]


def judge(feed_url: str, source_id: str | None, rows: Sequence[Fetch], now: datetime) -> FeedHealth:
    """Returns the health of one feed from its rows of ``fetches``, in any order."""
    polls = sorted(rows, key=lambda row: row.started_at)
    if not polls:
        return FeedHealth(feed_url, source_id)
    newest = polls[-1]
    memory = from_json(newest.entry_json)
    news = [(poll.started_at, poll.entries_new or 0) for poll in polls if poll.entries_new]
    gaps_between = _gaps_between_entries(news)
    last_success_at = memory.succeeded_at or _last(polls, lambda poll: poll.outcome in SUCCESSES)
    health = FeedHealth(
        feed_url,
        source_id,
        outcome=newest.outcome,
        http_status=newest.http_status,
        last_attempt_at=newest.started_at,
        last_success_at=last_success_at,
        last_news_at=memory.news_at or (news[-1][0] if news else None),
        rhythm=_median(gaps_between) if len(gaps_between) >= _FEWEST_GAPS else None,
        next_due_at=newest.next_due_at,
        failures=newest.failures,
        gaps=sum(poll.gap_suspected for poll in polls),
        moved_to=newest.moved_to,
        validators_unreliable=memory.unreliable,
        note=memory.note,
    )
    return health._replace(problems=tuple(_problems(health, memory, polls, gaps_between, now)))


def _problems(
    health: FeedHealth, memory: PollMemory, polls: Sequence[Fetch], gaps_between: list[timedelta], now: datetime
) -> Iterable[str]:
    if is_gone(memory.gone_count, memory.gone_first_at, now):
        yield "gone"
    elif health.last_success_at is None and health.failures >= _NEVER_WORKED:
        yield "never_worked"
    elif health.failures and health.last_success_at and now - health.last_success_at >= _FAILING_AFTER:
        yield "failing"
    if health.moved_to and url_key(health.moved_to) != url_key(health.feed_url):  # the same by https is no trouble
        yield "moved"
    if not health.failures:
        yield from _silence(health, memory, polls, gaps_between, now)
    if any(poll.gap_suspected and now - poll.started_at <= _GAP_COUNTS_FOR for poll in polls):
        yield "gap"


def _silence(
    health: FeedHealth, memory: PollMemory, polls: Sequence[Fetch], gaps_between: list[timedelta], now: datetime
) -> Iterable[str]:
    """Yields at most one problem of a feed that answers but brings nothing."""
    counts = [poll.entries_seen for poll in polls if poll.entries_seen is not None]
    if counts and counts[-1] == 0 and any(counts):
        yield "emptied"
        return
    quiet_since = health.last_news_at or memory.first_at or polls[0].started_at
    quiet_for = now - quiet_since
    if quiet_for > SILENT_AFTER:
        yield "stale"
    elif health.rhythm is not None:
        usual = max(_SILENT_AT_LEAST, _RHYTHM_TIMES * health.rhythm, _LONGEST_TIMES * max(gaps_between))
        if quiet_for > usual:
            yield "silent"


def _gaps_between_entries(news: Sequence[tuple[datetime, int]]) -> list[timedelta]:
    """Returns the times between new entries; those of one poll share the time since the news before.

    The first poll shows what the feed held already, so it only starts the clock.
    """
    gaps: list[timedelta] = []
    for (before_at, _), (at, count) in itertools.pairwise(news):
        gaps += [(at - before_at) / count] * min(count, 1000)
    return gaps


def _median(gaps: Sequence[timedelta]) -> timedelta:
    return timedelta(seconds=median(gap.total_seconds() for gap in gaps))


def _last(polls: Sequence[Fetch], wanted: Callable[[Fetch], bool]) -> datetime | None:
    return next((poll.started_at for poll in reversed(polls) if wanted(poll)), None)
