"""robots.txt: what a host lets robots fetch, and how slowly (RFC 9309).

Protego reads the rules; here they are fetched, kept for a day, cut to a size and, where a host does not
answer, taken for a refusal for a while.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from protego import Protego

from transforms.fetch.addresses import Target
from transforms.fetch.client import Exchange
from transforms.records import Fetch

SIZE_LIMIT_BYTES = 500_000  # what RFC 9309 section 2.5 asks for at least is read; the rest is passed over
KEPT_FOR = timedelta(hours=24)
UNREACHABLE_FOR = timedelta(minutes=10)
CRAWL_DELAY_LIMIT_S = 60.0
ORIGIN_LIMIT = 20_000

# The robot is not let in, but nobody has said no: worth another try later.
_UNREACHABLE = frozenset(
    (
        *("rate_limited", "server_error", "timeout", "connect_error", "dns_error", "tls_error"),
        *("bad_coding", "not_modified", "deferred"),
    )
)
_AGENT = re.compile(r"user[- ]?agent\s*[:\s]\s*(.*)")
_SITE_WIDE = ("sitemap", "site-map", "host")
_RULES = ("disal", "dissal", "diasl", "allow", "crawl", "request", "visit")  # Protego bears a missing colon


class Getter(Protocol):
    """What fetches: ``HttpClient``."""

    def get(self, url: str, *, keep_first_bytes: int | None = None) -> Exchange:
        """Fetches one address."""


class Verdict(NamedTuple):
    """What robots.txt says of one address.

    Attributes:
        allowed: Whether it may be fetched.
        unreachable: Set if nobody could say: the outcome of the robots.txt request; then it is not allowed now.
        crawl_delay_s: Pause that the host wants, at most ``CRAWL_DELAY_LIMIT_S``.
        exchange: The request that was made for this verdict; ``None`` if the rules were at hand.
        basis: The request that the rules come from, whenever it was made.
    """

    allowed: bool
    unreachable: str | None = None
    crawl_delay_s: float | None = None
    exchange: Exchange | None = None
    basis: Exchange | None = None

    @property
    def refusal(self) -> str | None:
        """The outcome of a request that is not made because of this verdict; ``None`` if it may be made."""
        return None if self.allowed else self.unreachable or "robots"


class _Rules:
    """The robots.txt of one origin as last read; the lock keeps two threads from asking for it at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.fresh_from: datetime | None = None
        self.fresh_for = KEPT_FOR
        self.unreachable: str | None = None
        self.parsed: Protego | None = None  # None: everything is allowed
        self.is_read = False
        self.basis: Exchange | None = None

    def is_fresh(self, now: datetime) -> bool:
        return self.fresh_from is not None and self.fresh_from <= now < self.fresh_from + self.fresh_for


class RobotsCache:
    """The rules of the origins seen, safe to share between threads."""

    def __init__(self) -> None:
        self._rules: dict[str, _Rules] = {}
        self._lock = threading.Lock()

    def check(self, client: Getter, target: Target, user_agent: str, now: datetime) -> Verdict:
        """Judges an address; asks its origin for robots.txt if the rules are missing or a day old.

        Args:
            client: Used for that; it must wait for the host's turn by itself.
            target: The address.
            user_agent: As sent; rules are looked up by the name before its slash.
            now: The run's clock.
        """
        with self._lock:
            rules = self._rules.setdefault(target.origin, _Rules())
            if len(self._rules) > ORIGIN_LIMIT:
                self._rules.pop(next(iter(self._rules)))  # the one that was met first
        exchange = None
        token = _token(user_agent)
        with rules.lock:
            if not rules.is_fresh(now):
                exchange = client.get(f"{target.origin}/robots.txt", keep_first_bytes=SIZE_LIMIT_BYTES)
                _take(rules, exchange, token, now)
                rules.basis = exchange
            parsed, unreachable, basis = rules.parsed, rules.unreachable, rules.basis
        if unreachable:
            return Verdict(False, unreachable, None, exchange, basis)
        if parsed is None:
            return Verdict(True, None, None, exchange, basis)
        delay_s = parsed.crawl_delay(token)
        delay_s = None if delay_s is None else min(delay_s, CRAWL_DELAY_LIMIT_S)
        return Verdict(parsed.can_fetch(target.url, token), None, delay_s, exchange, basis)

    def forget(self, origin: str) -> None:
        """Forgets the rules of an origin: a new server stands there (in tests)."""
        with self._lock:
            self._rules.pop(origin, None)


def _take(rules: _Rules, exchange: Exchange, token: str, now: datetime) -> None:
    """Takes an answer over (RFC 9309 section 2.3.1): 4xx means no rules, silence and 5xx a refusal for a while.

    Rules that were read before stay in force while the host does not answer.
    """
    rules.fresh_from = now
    if exchange.outcome in _UNREACHABLE:
        rules.fresh_for = UNREACHABLE_FOR
        rules.unreachable = None if rules.is_read else exchange.outcome
        return
    rules.fresh_for, rules.unreachable, rules.is_read = KEPT_FOR, None, True
    rules.parsed = parse(exchange.body, token) if exchange.outcome == "ok" else None


def parse(body: bytes, token: str) -> Protego:
    """Reads a robots.txt: UTF-8, with or without BOM; damaged bytes are replaced.

    Groups that are for other robots only are left out before: their number times their rules is what a hostile
    file makes a parser pay, and what a kept one costs in memory.

    Args:
        body: The file.
        token: Our product token, lower case.
    """
    return Protego.parse("\n".join(_lines_for(token, body.decode("utf-8-sig", errors="replace"))))


def _lines_for(token: str, text: str) -> Iterator[str]:
    is_ours, names_robots = False, False
    for line in text.splitlines():
        rule = line.partition("#")[0].strip().lower()
        agent = _AGENT.match(rule)
        if agent:
            name = agent[1].partition("/")[0].strip()
            is_ours = name in ("*", token) or (is_ours and names_robots)
            names_robots = True
            if name in ("*", token):
                yield f"user-agent: {name}"
        elif rule.startswith(_SITE_WIDE):
            yield line
        elif ":" in rule or rule.startswith(_RULES):
            names_robots = False
            if is_ours:
                yield line


def _token(user_agent: str) -> str:
    """The product token, which is what robots.txt calls a robot (RFC 9309 section 2.2.1)."""
    return (user_agent.split("/")[0].split() or [""])[0].lower()


def fetch_row(exchange: Exchange, target: Target) -> Fetch:
    """Returns the row of a robots.txt request."""
    return Fetch(
        kind="robots",
        url=exchange.url,
        host=target.host,
        started_at=exchange.started_at,
        outcome=exchange.outcome,
        elapsed_ms=exchange.elapsed_ms,
        final_url=exchange.final_url if exchange.redirects else None,
        http_status=exchange.http_status,
        bytes=len(exchange.body),
        moved_to=exchange.moved_to,
        redirects=len(exchange.redirects),
        retry_after_until=exchange.retry_after_until,
    )


_shared = RobotsCache()


def shared_robots() -> RobotsCache:
    """Returns the cache of this process, the same for all stages and runs."""
    return _shared
