"""One poll of one feed: what it brought, and what must be remembered of it. No Beam.

The result of a poll is data: the entries and one row of ``fetches`` that holds all that the next poll must
know. Nothing is stored here, so a poll whose run is not committed is simply made again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from transforms.dedupe.state import DuePage, FeedState
from transforms.feeds import schedule
from transforms.feeds.ask import Answer, Asker, ask, not_asked, received_validators
from transforms.feeds.learn import SUCCESSES, Asked, News, confirmed_move, find_news, learn
from transforms.feeds.memory import PollMemory, to_json
from transforms.feeds.model import ITEM_LIMIT, TakenItems
from transforms.feeds.parse import to_entries
from transforms.fetch.client import Exchange
from transforms.fetch.due import entry_to_json
from transforms.records import Entry, FeedSource, Fetch, Reject, RunContext, Tally
from transforms.urls import host_of, url_key, without_logins


class PollLimits(NamedTuple):
    """What is taken of one document: entries up to an age, of those the newest up to a number; 0 is no limit."""

    max_age_s: float = 7 * 86400.0
    max_items: int = 50


class Known(NamedTuple):
    """What a poll asks the dataset: whether an entry is committed, and whether its page waits for a later try."""

    is_known: Callable[[Entry], bool] = lambda entry: False
    due_entry: Callable[[str], DuePage | None] = lambda url_key: None


class PollResult(NamedTuple):
    """What one poll brought.

    Attributes:
        row: The poll itself, with all that the next one must know.
        entries: Those to look at now, newest first.
        fetches: Rows of further requests, and of entries over the limit that are put off.
        rejects: Items that cannot be entries.
        tallies: Counts of stage ``poll``; ``item`` = passed + rejected + deferred + known.
    """

    row: Fetch
    entries: tuple[Entry, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    rejects: tuple[Reject, ...] = ()
    tallies: tuple[Tally, ...] = ()


def poll(
    source: FeedSource,
    previous: FeedState | None,
    *,
    asker: Asker,
    limits: PollLimits,
    run: RunContext,
    known: Known | None = None,
    at_hand: Exchange | None = None,
) -> PollResult:
    """Polls a feed once.

    Args:
        source: The feed as configured.
        previous: What the dataset knows of it; ``None`` at the first poll.
        asker: Client, gate and robots, shared by the process.
        limits: What is taken of the document.
        run: Gives the clock.
        known: Look-ups in the dataset.
        at_hand: The feed's answer, if discovery has it already; then nothing is asked.
    """
    known = known or Known()
    asked = Asked(source, previous, ask(source, previous, asker, run, at_hand))
    taken = _taken(asked, limits)
    news = find_news(asked, taken, known.is_known) if taken else News()
    memory = learn(asked, news)
    row = _row(asked, news, memory)
    if memory.refusals > 1 and row.retry_after_until is not None:
        asker.gate.hold(row.host, row.retry_after_until)
    return _result(asked, row, taken, known, run)


def host_down(source: FeedSource, previous: FeedState | None, run: RunContext) -> PollResult:
    """Returns the result for a feed that is not asked, since its host does not answer in this run."""
    answer = Answer(not_asked(source.url, "host_down", run.now()), "host_down", note="the host does not answer")
    asked = Asked(source, previous, answer)
    return _result(asked, _row(asked, News(), learn(asked, News())), None, Known(), run)


def _taken(asked: Asked, limits: PollLimits) -> TakenItems | None:
    if asked.answer.feed is None:
        return None
    return to_entries(
        asked.answer.feed,
        asked.source,
        without_logins(asked.source.url),
        now=asked.at,
        max_age_s=limits.max_age_s or None,
        max_items=limits.max_items or ITEM_LIMIT,
    )


def _row(asked: Asked, news: News, memory: PollMemory) -> Fetch:
    source, previous, answer = asked.source, asked.previous, asked.answer
    exchange, whole = answer.exchange, answer.feed is not None
    etag, last_modified = _validators_to_keep(asked, news)
    failures = 0 if asked.succeeded else (previous.failures if previous else 0) + 1
    until = exchange.retry_after_until if answer.outcome in ("rate_limited", "server_error") else None
    url = without_logins(source.url)
    return Fetch(
        kind="feed",
        url=url,
        host=host_of(url),
        started_at=asked.at,
        outcome=answer.outcome,
        elapsed_ms=exchange.elapsed_ms,
        url_key=url_key(url),
        final_url=exchange.final_url if exchange.final_url != url else None,
        http_status=exchange.http_status,
        etag=etag,
        last_modified=last_modified,
        body_sha256=hashlib.sha256(exchange.body).hexdigest() if whole else (previous and previous.body_sha256),
        bytes=len(exchange.body),
        entries_seen=len(news.keys) if whole else None,
        entries_new=news.new if whole else None,
        overlap_ratio=news.overlap_ratio,
        gap_suspected=news.overlap_ratio == 0.0 and not answer.partial,
        failures=failures,
        next_due_at=_next_due_at(asked, memory, failures, until),
        retry_after_until=until,
        entry_json=to_json(memory),
        moved_to=confirmed_move(source, memory, asked.at),
        redirects=len(exchange.redirects),
        source_id=source.source_id,
    )


def _validators_to_keep(asked: Asked, news: News) -> tuple[str | None, str | None]:
    """Returns ETag and Last-Modified for the next request.

    Those of a whole document replace all before; a 304 may name newer ones; a failure leaves them alone. A
    document without entries is not believed: it may be damaged, and a 304 would keep us from the next.
    """
    previous = asked.previous
    kept = (previous.etag, previous.last_modified) if previous else (None, None)
    if not asked.succeeded:
        return kept
    etag, last_modified = received_validators(asked.answer.exchange.headers, asked.at)
    if asked.answer.outcome == "not_modified":
        return etag or kept[0], last_modified or kept[1]
    return (etag, last_modified) if news.keys else (None, None)


def _next_due_at(asked: Asked, memory: PollMemory, failures: int, until: datetime | None) -> datetime:
    exchange = asked.answer.exchange
    crowded = exchange.http_status == 429 and until is None
    return schedule.next_due(
        asked.at,
        asked.source.interval_s,
        headers=exchange.headers if asked.succeeded else None,
        wishes=memory.wishes,
        adaptive_s=memory.adaptive_s if asked.succeeded else 0.0,
        weight=memory.weight,
        retry_after_until=until,
        jitter_s=schedule.jitter_s(asked.source.url, failures) if crowded else 0.0,
        gone=schedule.is_gone(memory.gone_count, memory.gone_first_at, asked.at),
    )


def _result(asked: Asked, row: Fetch, taken: TakenItems | None, known: Known, run: RunContext) -> PollResult:
    counts = Counter({"polled": 1, row.outcome if row.outcome in SUCCESSES else "failed": 1})
    if taken is None:
        return PollResult(row, fetches=asked.answer.side, tallies=_tallies(counts))
    put_off: list[Fetch] = []
    for entry in taken.over_limit:
        waiting = known.due_entry(entry.url_key)
        if known.is_known(entry):
            counts["known"] += 1
        elif waiting is None:
            counts["deferred"] += 1
            put_off.append(_put_off(entry, run.started_at))
        else:  # in this run or a later one its page is tried anyway
            counts["duplicate" if waiting.is_due(run.started_at) else "deferred"] += 1
    counts.update(
        item=len(taken.entries) + len(taken.rejects) + len(taken.over_limit),
        passed=len(taken.entries),
        rejected=len(taken.rejects),
        too_old=taken.too_old,
    )
    return PollResult(row, tuple(taken.entries), (*asked.answer.side, *put_off), tuple(taken.rejects), _tallies(counts))


def _tallies(counts: Counter[str]) -> tuple[Tally, ...]:
    return tuple(Tally("poll", outcome, count) for outcome, count in counts.items() if count)


def _put_off(entry: Entry, now: datetime) -> Fetch:
    """Returns the row of an entry over the limit: its page is due in the next run, without its feed."""
    url = entry.url or ""
    return Fetch(
        kind="page",
        url=url,
        host=host_of(url),
        started_at=now,
        outcome="deferred",
        url_key=entry.url_key,
        attempts=entry.attempts,
        next_due_at=now,
        entry_json=entry_to_json(entry),
        source_id=entry.source_id,
    )
