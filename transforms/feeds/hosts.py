"""The walk through the feeds of one host: which are one and the same, which are due, and in what order.

No Beam and no threads here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from transforms.dedupe.state import FeedState
from transforms.feeds.ask import Asker
from transforms.feeds.memory import from_json
from transforms.feeds.poll import Known, PollLimits, PollResult, host_down, poll
from transforms.feeds.schedule import is_due
from transforms.fetch.pages import BREAKER_FAILURES, LIMITED_ANSWERS
from transforms.records import FeedSource, RunContext, Tally
from transforms.urls import host_of, url_key, without_logins

_HOST_FAILURES = frozenset({"timeout", "connect_error", "dns_error", "tls_error"})


class PollTools(NamedTuple):
    """What the walks of a process share.

    Attributes:
        feeds: State of each feed by its address.
        due_now: Poll whatever the schedule says; Retry-After and the host's gap still hold.
        host_time_budget_s: After this time no further feed of a host is asked; the rest stays due.
    """

    asker: Asker
    limits: PollLimits
    run: RunContext
    feeds: Mapping[str, FeedState]
    known: Known
    due_now: bool = False
    host_time_budget_s: float = 600.0


def state_of(source: FeedSource, feeds: Mapping[str, FeedState]) -> FeedState | None:
    """Returns what the dataset knows of a feed."""
    return feeds.get(without_logins(source.url))


def address_of(source: FeedSource, feeds: Mapping[str, FeedState]) -> str:
    """Returns where a feed's document came from last: behind redirects, if there were any."""
    state = state_of(source, feeds)
    if state is None or not state.entry_json or '"document_url"' not in state.entry_json:
        return source.url  # most feeds; reading the record costs more than all else here
    return from_json(state.entry_json).document_url or source.url


def host_of_feed(source: FeedSource, feeds: Mapping[str, FeedState]) -> str:
    """Returns the host that serves a feed; feeds of one host are asked one after the other."""
    return host_of(address_of(source, feeds))


def fold_feeds(
    sources: Iterable[FeedSource], feeds: Mapping[str, FeedState]
) -> tuple[list[FeedSource], list[FeedSource]]:
    """Splits feeds into one for each document, and the others that lead to the same.

    Spellings of one address are one, and so are addresses of which one is known to redirect to the other.
    The one that was polled before stays, else the one that may redirect (http before https).
    """
    ranked = sorted(sources, key=lambda source: (state_of(source, feeds) is None, source.url.strip(), source.source_id))
    kept: dict[str, FeedSource] = {}
    others = []
    for source in ranked:
        key = url_key(address_of(source, feeds))
        if kept.setdefault(key, source) is source:
            kept.setdefault(url_key(source.url), source)
        else:
            others.append(source)
    return list(dict.fromkeys(kept.values())), others


def may_poll(state: FeedState | None, now: datetime, due_now: bool) -> bool:
    """Tells whether a feed is to be asked now."""
    if state is None:
        return True
    if state.retry_after_until is not None and now < state.retry_after_until:
        return False
    return due_now or is_due(now, state.next_due_at, state.started_at)


def due_feeds(
    sources: Iterable[FeedSource], feeds: Mapping[str, FeedState], now: datetime, due_now: bool = False
) -> list[FeedSource]:
    """Returns the feeds that a run starting now would poll, each document once; quick if there are none."""
    listed = list(sources)
    if not any(may_poll(state_of(source, feeds), now, due_now) for source in listed):
        return []
    kept, _ = fold_feeds(listed, feeds)
    return [source for source in kept if may_poll(state_of(source, feeds), now, due_now)]


def held_hosts(feeds: Mapping[str, FeedState], now: datetime) -> dict[str, datetime]:
    """Returns the hosts that are to be left alone as a whole, and until when.

    A wish to wait is one of the address that it came from. It is taken for the host's if it was repeated, by
    the same feed or another one: one busy feed must not shut out all others of a large host.
    """
    until: dict[str, datetime] = {}
    refusals: dict[str, int] = {}
    for state in feeds.values():
        if state.retry_after_until is None or state.retry_after_until <= now:
            continue
        host = host_of(state.url)
        until[host] = max(state.retry_after_until, until.get(host, state.retry_after_until))
        refusals[host] = refusals.get(host, 0) + max(1, from_json(state.entry_json).refusals)
    return {host: at for host, at in until.items() if refusals[host] >= LIMITED_ANSWERS}


def poll_host(host: str, sources: Sequence[FeedSource], tools: PollTools) -> Iterator[PollResult | Tally]:
    """Polls the feeds of one host that are due, those that wait longest first.

    Yields:
        A result for each poll, and tallies of feeds that were not polled: ``not_due``, ``duplicate_feed``
        (listed twice), ``postponed`` (due, but the host is to be left alone or has had its time).
    """
    kept, others = fold_feeds(sources, tools.feeds)
    if others:
        yield Tally("poll", "duplicate_feed", len(others))
    now = tools.run.now()
    due = [source for source in kept if may_poll(state_of(source, tools.feeds), now, tools.due_now)]
    if len(due) < len(kept):
        yield Tally("poll", "not_due", len(kept) - len(due))
    due.sort(key=lambda source: _waits_since(source, tools.feeds))
    yield from _poll_in_turn(host, due, tools)


def _poll_in_turn(host: str, due: Sequence[FeedSource], tools: PollTools) -> Iterator[PollResult | Tally]:
    started_s, failures, refusals = time.monotonic(), 0, 0
    answered: set[str] = set()
    for position, source in enumerate(due):
        held_until = tools.asker.gate.held_until(host)
        is_held = held_until is not None and held_until > tools.run.now()
        if is_held or time.monotonic() - started_s > tools.host_time_budget_s:
            yield Tally("poll", "postponed", len(due) - position)
            return
        if url_key(source.url) in answered:
            yield Tally("poll", "duplicate_feed", 1)  # another feed of this run has just led there
            continue
        state = state_of(source, tools.feeds)
        if failures >= BREAKER_FAILURES:
            yield host_down(source, state, tools.run)
            continue
        result = poll(source, state, asker=tools.asker, limits=tools.limits, run=tools.run, known=tools.known)
        row = result.row
        failures = failures + 1 if row.outcome in _HOST_FAILURES and row.redirects == 0 else 0
        refusals += row.retry_after_until is not None
        if refusals >= LIMITED_ANSWERS and row.retry_after_until is not None:
            tools.asker.gate.hold(host, row.retry_after_until)
        if row.outcome == "ok" and row.final_url:
            answered.add(url_key(row.final_url))
        yield result


def _waits_since(source: FeedSource, feeds: Mapping[str, FeedState]) -> tuple[float, str]:
    state = state_of(source, feeds)
    due_at = state.next_due_at if state else None
    return (due_at.timestamp() if due_at else 0.0, source.url)
