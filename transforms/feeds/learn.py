"""What a poll teaches about a feed: news, gaps, moves, lies, and the pace that suits it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from transforms.dedupe.state import FeedState
from transforms.feeds import schedule
from transforms.feeds.ask import Answer, address_to_ask, received_validators
from transforms.feeds.memory import PollMemory, from_json, merged, overlap, sketch, was_seen
from transforms.feeds.model import TakenItems
from transforms.records import Entry, FeedSource
from transforms.urls import url_key

SUCCESSES = frozenset({"ok", "not_modified"})


class Asked(NamedTuple):
    """A poll whose answer is here: the feed, its state before, and the answer."""

    source: FeedSource
    previous: FeedState | None
    answer: Answer

    @property
    def at(self) -> datetime:
        """When it was asked."""
        return self.answer.exchange.started_at

    @property
    def succeeded(self) -> bool:
        """Whether the feed answered as a feed."""
        return self.answer.outcome in SUCCESSES

    @property
    def memory(self) -> PollMemory:
        """What was remembered before."""
        return from_json(self.previous.entry_json if self.previous else None)


class News(NamedTuple):
    """How a document differs from the one before.

    Attributes:
        keys: Of all its entries.
        new: How many entries were not there before and are not known from elsewhere.
        overlap_ratio: Share of the entries that the document before had; ``None`` if there was none.
        has_old: Whether some of the new ones are dated before the last poll, or have no date.
    """

    keys: tuple[str, ...] = ()
    new: int = 0
    overlap_ratio: float | None = None
    has_old: bool = False


def find_news(asked: Asked, taken: TakenItems, is_known: Callable[[Entry], bool]) -> News:
    """Compares a document with the one before."""
    seen = asked.memory.seen
    new = [
        entry
        for entry in (*taken.entries, *taken.over_limit)
        if not was_seen(seen, entry.url_key) and not is_known(entry)
    ]
    before_at = asked.previous.started_at if asked.previous else None
    return News(
        keys=taken.keys,
        new=len(new),
        overlap_ratio=overlap(seen, taken.keys),
        has_old=before_at is not None
        and any(entry.published_at is None or entry.published_at < before_at for entry in new),
    )


def learn(asked: Asked, news: News) -> PollMemory:
    """Returns what is to be remembered after the poll."""
    memory = asked.memory._replace(note=asked.answer.note)
    if not asked.succeeded:
        return _after_failure(asked, memory)
    first_at = memory.first_at or asked.at
    memory = memory._replace(
        first_at=first_at, succeeded_at=asked.at, successes=memory.successes + 1, weight=0.0, refusals=0
    )
    if _asked_as_configured(asked):
        memory = _with_move(asked, memory)._replace(gone_count=0, gone_first_at=None)
    if asked.answer.feed is not None:
        memory = _after_document(asked, memory, news)
    due_at = asked.previous.next_due_at if asked.previous else None
    adaptive_s = schedule.adapted_interval_s(
        memory.adaptive_s,
        asked.source.interval_s,
        seen_share=1.0 if asked.answer.outcome == "not_modified" else news.overlap_ratio,
        successes=memory.successes,
        off_schedule_s=(asked.at - due_at).total_seconds() if due_at else 0.0,
        silent_for=asked.at - (memory.news_at or first_at),
    )
    return memory._replace(adaptive_s=adaptive_s)


def confirmed_move(source: FeedSource, memory: PollMemory, now: datetime) -> str | None:
    """Returns the new address of a feed: one that was named for a day, or the same one by https.

    A captive portal answers "moved for good" to everything, so one such answer proves nothing.
    """
    if memory.move_to is None or memory.move_first_at is None:
        return None
    by_https = source.url.startswith("http://") and memory.move_to == "https://" + source.url[len("http://") :]
    return memory.move_to if by_https or now - memory.move_first_at >= schedule.MOVE_CONFIRMED_AFTER else None


def _after_failure(asked: Asked, memory: PollMemory) -> PollMemory:
    outcome = asked.answer.outcome
    memory = memory._replace(
        successes=0,
        weight=schedule.add_weight(memory.weight, outcome),
        refusals=memory.refusals + 1 if outcome == "rate_limited" else 0,
    )
    if not _asked_as_configured(asked):
        # The new address works no better than the old one, which is asked again next time.
        return memory._replace(gone_count=0, gone_first_at=None)
    if asked.answer.exchange.http_status == 410:
        return memory._replace(gone_count=memory.gone_count + 1, gone_first_at=memory.gone_first_at or asked.at)
    return memory


def _asked_as_configured(asked: Asked) -> bool:
    """Tells whether the configured address was asked, not the one that it moved to before it was gone."""
    return address_to_ask(asked.source, asked.previous, asked.memory) == asked.source.url


def _with_move(asked: Asked, memory: PollMemory) -> PollMemory:
    """Notes a permanent redirect; only answers that are feeds come here."""
    target = asked.answer.exchange.moved_to
    if target is not None and target == memory.move_to:
        return memory
    return memory._replace(move_to=target, move_first_at=asked.at if target else None)


def _after_document(asked: Asked, memory: PollMemory, news: News) -> PollMemory:
    feed, final_url = asked.answer.feed, asked.answer.exchange.final_url
    assert feed is not None
    seen = sketch(news.keys)
    if asked.answer.partial or not seen:  # a document that lost all its entries says nothing of the next one
        seen = merged(memory.seen, seen)
    return memory._replace(
        seen=seen,
        kind=feed.kind,
        whole_at=asked.at,
        news_at=asked.at if news.new else memory.news_at,
        wishes=schedule.wishes_of(*feed.hints),
        document_url=final_url if url_key(final_url) != url_key(asked.source.url) else None,
        unreliable=memory.unreliable or _has_lied(asked, news),
    )


def _has_lied(asked: Asked, news: News) -> bool:
    """Tells whether the server said "not modified" although there was news.

    That shows when it was asked without validators after a week of 304 and brings news: entries from before
    its last 304, or still the validators that it had then.
    """
    previous = asked.previous
    if previous is None or previous.outcome != "not_modified" or not news.new:
        return False
    if asked.answer.conditional or asked.source.conditional == "never" or asked.memory.whole_at is None:
        return False
    before = (previous.etag, previous.last_modified)
    etag, last_modified = received_validators(asked.answer.exchange.headers, asked.at)
    return any(before) and (news.has_old or (etag or before[0], last_modified or before[1]) == before)
