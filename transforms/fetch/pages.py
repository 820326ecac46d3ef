"""The walk through the pages of one host: what is asked, what comes of it, and what is left for later.

Each entry leaves as exactly one ``Step``: passed on (its page is here, or the feed's own text stands in for
it), deferred, rejected, or a duplicate of another one. No Beam and no threads here.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from transforms import urls
from transforms.fetch import addresses, due, robots, sniff
from transforms.fetch.addresses import Refused, Target
from transforms.fetch.client import ClientSettings, Exchange, HttpClient
from transforms.fetch.gate import HostGate
from transforms.records import Alias, Document, Entry, Fetch, Reject, Side
from transforms.rejects import reason_of

BREAKER_FAILURES = 3  # silent or broken exchanges in a row, after which a host is left alone
LIMITED_ANSWERS = 2  # answers "too many requests", after which the whole host is held, not the one page

HOST_DOWN_PAUSE_LIMIT = timedelta(hours=12)

PAGE_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"}

# Refused: each is also a reason in ``rejects``. All other outcomes but "ok" are failures for now.
FINAL_OUTCOMES = frozenset(
    (
        *("not_found", "gone", "denied", "robots", "blocked_address", "bad_url", "too_many_redirects"),
        *("too_big", "bad_coding", "not_html"),
    )
)
_HOST_FAILURES = frozenset(("timeout", "connect_error", "dns_error", "tls_error"))
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)
_PAYLOAD_BYTES = 512
_LOG = logging.getLogger("newsbeam.fetch")


class FetchSettings(NamedTuple):
    """How pages are fetched.

    Attributes:
        client: Identity and limits of each request.
        host_gap_s: Pause between two requests to a host.
        max_pages_per_host: Pages of a host in a run; 0 for no limit. The rest is deferred.
        threads: Hosts that are walked at the same time.
        queue_bytes: Size of the pages that wait for the next stage; one page always fits.
        queue_items: Their number.
        recheck_s: Ages at which a page is fetched once more, to see corrections; seconds, increasing.
        host_time_budget_s: After this time no further page of a host is begun; the rest is deferred.
    """

    client: ClientSettings
    host_gap_s: float = 5.0
    max_pages_per_host: int = 60
    threads: int = 48
    queue_bytes: int = 64 << 20
    queue_items: int = 64
    host_time_budget_s: float = 600.0
    recheck_s: tuple[float, ...] = ()


class Step(NamedTuple):
    """How one entry leaves the stage.

    Attributes:
        outcome: ``passed``, ``deferred``, ``rejected`` or ``duplicate``.
        document: Set if it is ``passed``.
        side: Rows for the dataset.
    """

    outcome: str
    document: Document | None
    side: tuple[Side, ...]


class Tools(NamedTuple):
    """What a walk works with, shared by all walks of a process."""

    settings: FetchSettings
    client: HttpClient
    robots: robots.RobotsCache
    gate: HostGate
    now: Callable[[], datetime]
    run_started_at: datetime = datetime.min.replace(tzinfo=timezone.utc)


def fold_duplicates(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Splits entries into one for each ``url_key``, newest first, and the others.

    The one kept has the most failed attempts behind it, then the smallest ``entry_version``.
    """
    ranked = sorted(entries, key=lambda entry: (-entry.attempts, entry.entry_version or "", entry.source_id))
    kept: dict[str, Entry] = {}
    others = [entry for entry in ranked if kept.setdefault(entry.url_key, entry) is not entry]
    newest_first = sorted(kept.values(), key=lambda entry: entry.url or "")
    newest_first.sort(key=lambda entry: entry.published_at or entry.updated_at or _LONG_AGO, reverse=True)
    return newest_first, others


class HostWalk:
    """One host's pages, one after the other.

    Args:
        host: As in ``addresses.Target``; empty for entries without a usable address.
        tools: Shared by all walks.
    """

    def __init__(self, host: str, tools: Tools) -> None:
        self._host = host
        self._tools = tools
        self._started_s = time.monotonic()
        self._pages_asked = 0
        self._failures_in_a_row = 0
        self._limited_answers = 0
        self._robots_rows: deque[Fetch] = deque()
        self._robots_told: set[tuple[str, datetime]] = set()

    def steps(self, entries: Iterable[Entry]) -> Iterator[Step]:
        """Yields one step for each entry; waits for the host's turns as it goes."""
        kept, others = fold_duplicates(entries)
        for entry in others:
            yield Step("duplicate", None, (Alias(entry.url_key, entry.entry_version, "", "duplicate"),))
        if self._tools.settings.client.loopback_only and self._host and not addresses.is_loopback_host(self._host):
            _say_no_contact()
            yield from map(self._leave_to_contact, kept)
            return
        for position, entry in enumerate(kept):
            why = self._why_not_now()
            if why:
                yield from self._leave(kept[position:], why)
                return
            yield self._with_robots_rows(self._visit(entry))

    def _why_not_now(self) -> str | None:
        """Returns ``deferred`` or ``host_down`` if no further page of the host is to be asked in this run."""
        tools = self._tools
        if self._failures_in_a_row >= BREAKER_FAILURES:
            return "host_down"
        held_until = tools.gate.held_until(self._host)
        if held_until is not None and held_until > tools.now():
            return "deferred"
        if 0 < tools.settings.max_pages_per_host <= self._pages_asked:
            return "deferred"
        spent_s = time.monotonic() - self._started_s
        pause_s = tools.gate.gap_s_of(self._host) if self._pages_asked else 0.0
        return "deferred" if spent_s + pause_s > tools.settings.host_time_budget_s else None

    def _leave(self, rest: Sequence[Entry], outcome: str) -> Iterator[Step]:
        """Leaves the rest for later runs."""
        now = self._tools.now()
        if outcome == "host_down":
            yield from (self._leave_to_recover(entry, now) for entry in rest)
            return
        held_until = self._tools.gate.held_until(self._host)
        held_until = held_until if held_until is not None and held_until > now else None
        # As many are due in each later run as this one could do: no row is made anew for what must wait anyway.
        a_run = self._pages_asked if self._pages_asked and not held_until else self._tools.settings.max_pages_per_host
        for position, entry in enumerate(rest):
            row = self._row(entry, _no_exchange(entry, outcome, "", now))._replace(
                attempts=entry.attempts,
                next_due_at=(held_until or now) + due.RETRY_BASE * (position // (a_run or len(rest))),
                retry_after_until=held_until,
                entry_json=due.entry_to_json(entry),
            )
            yield Step("deferred", None, (row,))

    def _leave_to_recover(self, entry: Entry, now: datetime) -> Step:
        """The host is down: that costs the page no attempt, but the longer it lasts the later it is tried again."""
        entry = entry._replace(first_failed_at=entry.first_failed_at or now)
        assert entry.first_failed_at is not None
        pause = min(max(now - entry.first_failed_at, due.RETRY_BASE), HOST_DOWN_PAUSE_LIMIT)
        exchange = _no_exchange(entry, "host_down", "the host failed several times in this run", now)
        return self._for_now(entry, exchange, now + pause)

    def _leave_to_contact(self, entry: Entry) -> Step:
        """Nobody has said who asks: the page waits for the run that does, however long that takes."""
        now = self._tools.now()
        exchange = _no_exchange(entry, "deferred", "no contact is set", now)
        return self._for_now(entry, exchange, now + due.RETRY_BASE)

    def _visit(self, entry: Entry) -> Step:
        tools = self._tools
        target = addresses.check_url(entry.url or "", tools.settings.client.allow_loopback)
        if isinstance(target, Refused):
            return self._final(entry, _no_exchange(entry, target.outcome, target.detail, tools.now()))
        outcome = self._outcome_of_robots(target)
        if outcome is None:
            self._pages_asked += 1
            exchange = tools.client.get(
                entry.url or "", PAGE_HEADERS, may_follow=self._outcome_before_redirect, unpack_gzip=True
            )
        else:
            exchange = _no_exchange(entry, outcome, "robots.txt", tools.now())
        self._count(exchange)
        if exchange.outcome == "ok":
            if sniff.is_page(exchange.headers.get("content-type"), exchange.body):
                return self._page(entry, exchange)
            exchange = exchange._replace(outcome="not_html", detail=exchange.headers.get("content-type", "no type"))
        if exchange.outcome in FINAL_OUTCOMES:
            return self._final(entry, exchange)
        due_at = due.next_try_at(entry.attempts, tools.now(), exchange.retry_after_until)
        return self._for_now(due.after_failure(entry, tools.now()), exchange, due_at)

    def _outcome_of_robots(self, target: Target) -> str | None:
        """Returns the outcome of a page that robots.txt keeps us from, ``None`` if it may be asked."""
        tools = self._tools
        verdict = tools.robots.check(tools.client, target, tools.settings.client.user_agent, tools.now())
        self._tell_robots(verdict, target)
        if verdict.exchange is not None and verdict.exchange.retry_after_until is not None:
            tools.gate.hold(target.host, verdict.exchange.retry_after_until)
        if verdict.crawl_delay_s is not None:
            tools.gate.slow_down(target.host, verdict.crawl_delay_s)
        return verdict.refusal

    def _tell_robots(self, verdict: robots.Verdict, target: Target) -> None:
        """Makes the row of the request behind a verdict, if it is of this run, once a walk.

        A walk that is repeated finds the rules at hand and must tell of the request all the same; the writer
        keeps one of equal rows.
        """
        basis = verdict.basis
        if basis is None or basis.started_at < self._tools.run_started_at:
            return
        if (basis.url, basis.started_at) not in self._robots_told:
            self._robots_told.add((basis.url, basis.started_at))
            self._robots_rows.append(robots.fetch_row(basis, target))

    def _outcome_before_redirect(self, target: Target) -> str | None:
        held_until = self._tools.gate.held_until(target.host)
        if held_until is not None and held_until > self._tools.now():
            return "rate_limited"
        return self._outcome_of_robots(target)

    def _count(self, exchange: Exchange) -> None:
        """Draws conclusions for the host: a silent one is left alone, an overloaded one held.

        What another host did, to which a page redirects, says nothing of this one.
        """
        if exchange.redirects and addresses.host_of(exchange.final_url) != self._host:
            return
        failed = exchange.outcome in _HOST_FAILURES and exchange.http_status is None
        self._failures_in_a_row = self._failures_in_a_row + 1 if failed else 0
        if exchange.outcome == "rate_limited":
            self._limited_answers += 1
            if self._limited_answers >= LIMITED_ANSWERS:
                until = exchange.retry_after_until or self._tools.now() + due.RETRY_BASE
                self._tools.gate.hold(self._host, until)

    def _page(self, entry: Entry, exchange: Exchange) -> Step:
        digest = hashlib.sha256(exchange.body).hexdigest()
        document = Document(
            entry=entry,
            kind="page",
            body=exchange.body,
            body_sha256=digest,
            fetched_at=exchange.started_at + timedelta(milliseconds=exchange.elapsed_ms),
            content_type=exchange.headers.get("content-type"),
            http_status=exchange.http_status,
            final_url=exchange.final_url if exchange.redirects else None,
            x_robots_tag=exchange.headers.get("x-robots-tag", ""),
            tdm_reservation=exchange.headers.get("tdm-reservation", ""),
        )
        row = self._row(entry, exchange)._replace(body_sha256=digest)
        ages = (0.0, *self._tools.settings.recheck_s)
        if entry.rechecks + 1 < len(ages):
            pause = timedelta(seconds=ages[entry.rechecks + 1] - ages[entry.rechecks])
            again = entry._replace(attempts=0, first_failed_at=None, rechecks=entry.rechecks + 1)
            row = row._replace(next_due_at=exchange.started_at + pause, entry_json=due.entry_to_json(again))
        return Step("passed", document, (row,))

    def _final(self, entry: Entry, exchange: Exchange) -> Step:
        """The page is refused: a reject, or the feed's own text in its place."""
        row = self._row(entry, exchange)
        if entry.content_html:
            return Step("passed", self._feed_content(entry, exchange), (row,))
        return Step("rejected", None, (row, self._reject(entry, exchange, exchange.outcome)))

    def _for_now(self, entry: Entry, exchange: Exchange, due_at: datetime) -> Step:
        """The page is due again, unless it is given up; the feed's own text stands in for it meanwhile.

        Args:
            entry: As it is kept.
            exchange: What failed.
            due_at: When it is due.
        """
        row = self._row(entry, exchange)._replace(attempts=entry.attempts)
        given_up = due.is_given_up(entry, self._tools.now())
        if not given_up:
            row = row._replace(next_due_at=due_at, entry_json=due.entry_to_json(entry))
        if entry.content_html:
            return Step("passed", self._feed_content(entry, exchange), (row,))
        if given_up:
            return Step("rejected", None, (row, self._reject(entry, exchange, "gave_up")))
        return Step("deferred", None, (row,))

    def _feed_content(self, entry: Entry, exchange: Exchange) -> Document:
        body = (entry.content_html or "").encode("utf-8", errors="replace")
        return Document(
            entry=entry,
            kind="feed_content",
            body=body,
            body_sha256=hashlib.sha256(body).hexdigest(),
            fetched_at=self._tools.now(),
            content_type="text/html; charset=utf-8",
            http_status=exchange.http_status,
            warnings=(f"page_failed:{exchange.outcome}",),
        )

    def _reject(self, entry: Entry, exchange: Exchange, reason: str) -> Reject:
        return Reject(
            stage="fetch",
            reason=reason,
            detail=exchange.detail if reason == exchange.outcome else f"{exchange.outcome}: {exchange.detail}",
            failed_at=self._tools.now(),
            # A page that redirects to a refused address was asked for, and is not asked for again and again.
            retryable=reason_of("fetch", reason).retryable and not exchange.redirects,
            attempts=max(entry.attempts, 1) if reason == "gave_up" else entry.attempts + 1,
            source_id=entry.source_id,
            feed_url=entry.feed_url,
            url=exchange.url,
            http_status=exchange.http_status,
            body_sha256=hashlib.sha256(exchange.body).hexdigest() if exchange.body else None,
            payload=exchange.body[:_PAYLOAD_BYTES] or None,
        )

    def _row(self, entry: Entry, exchange: Exchange) -> Fetch:
        return Fetch(
            kind="page",
            url=exchange.url,
            host=self._host or urls.host_of(exchange.url),
            started_at=exchange.started_at,
            outcome=exchange.outcome,
            elapsed_ms=exchange.elapsed_ms,
            url_key=entry.url_key,
            final_url=exchange.final_url if exchange.redirects else None,
            http_status=exchange.http_status,
            etag=exchange.headers.get("etag"),
            last_modified=exchange.headers.get("last-modified"),
            bytes=len(exchange.body),
            attempts=entry.attempts + 1,
            retry_after_until=exchange.retry_after_until,
            moved_to=exchange.moved_to,
            redirects=len(exchange.redirects),
            source_id=entry.source_id,
        )

    def _with_robots_rows(self, step: Step) -> Step:
        rows = tuple(self._robots_rows)
        self._robots_rows.clear()
        return step._replace(side=rows + step.side)


@functools.cache
def _say_no_contact() -> None:
    """Says once, not for each host, why pages are left."""
    _LOG.warning("pages on other hosts than this machine wait: contact is not set; add --contact you@example.org")


def _no_exchange(entry: Entry, outcome: str, detail: str, now: datetime) -> Exchange:
    """An exchange that was not made."""
    url = urls.without_logins(entry.url or "")
    return Exchange(url, url, None, {}, b"", outcome, detail, now, 0)
