"""Asks a feed's server, as little as possible, and says what the answer is.

Validators (RFC 9110, section 13.1) are sent as they came, unless the user, the feed's past or their age
speaks against it. An answer counts as a feed by what it holds, never by its headers. A sitemap index is
followed to a few of its newest sitemaps. Every request is a row of ``fetches``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from transforms.dedupe.state import FeedState
from transforms.feeds.memory import PollMemory, from_json
from transforms.feeds.model import FeedItem, ParsedFeed
from transforms.feeds.parse import parse_feed
from transforms.feeds.schedule import UNCONDITIONAL_AFTER, parse_http_date
from transforms.fetch.addresses import Refused, Target, check_url
from transforms.fetch.client import ClientSettings, Exchange, HttpClient
from transforms.fetch.gate import HostGate
from transforms.fetch.robots import RobotsCache, Verdict, fetch_row
from transforms.records import FeedSource, Fetch, RunContext
from transforms.urls import host_of, url_key, without_logins

FEED_KINDS = frozenset({"rss", "atom", "rdf", "json", "sitemap"})
SITEMAP_INDEX = "sitemap_index"
MAX_SITEMAPS = 5
ACCEPT = (
    "application/rss+xml, application/atom+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
)
_MAX_VALIDATOR = 1024
_NOTES = {
    "html": "a web page",
    "empty": "an empty body",
    "unknown": "neither a feed nor a page",
}
_NOTES_OF_WARNINGS = {
    "opml": "a list of feeds",
    "broken_gzip": "a damaged gzip file",
    "bad_json": "JSON that is damaged or cut off",
    "too_complex": "more than is read of a feed",
    "unreadable_xml": "XML that is too damaged to be read",
}


class Answer(NamedTuple):
    """What came of asking.

    Attributes:
        exchange: The exchange that decided; of a sitemap index that of the index.
        outcome: One of ``rejects.FETCH_OUTCOMES``.
        feed: The document; of an index the sitemaps that were read, as one.
        note: What is wrong, in words; ``None`` if nothing.
        conditional: Whether validators were sent.
        partial: Whether some sitemaps of an index could not be had this time.
        side: Rows of further requests (robots.txt, sitemaps).
    """

    exchange: Exchange
    outcome: str
    feed: ParsedFeed | None = None
    note: str | None = None
    conditional: bool = False
    partial: bool = False
    side: tuple[Fetch, ...] = ()


class Asker:
    """Asks servers for all feeds of a process; safe to share between threads.

    Args:
        client: Waits for the turn of each host by itself.
        gate: The gate that the client waits at.
        robots: The rules of hosts.
        settings: Those of the client.
    """

    def __init__(self, client: HttpClient, gate: HostGate, robots: RobotsCache, settings: ClientSettings) -> None:
        self.gate = gate
        self._client = client
        self._robots = robots
        self._settings = settings

    def get(
        self, url: str, headers: Mapping[str, str], may_follow: Callable[[Target], str | None] | None = None
    ) -> Exchange:
        """Asks for a feed or sitemap; ``may_follow`` as in ``HttpClient.get``."""
        return self._client.get(url, {"Accept": ACCEPT, **headers}, may_follow=may_follow, unpack_gzip=True)

    def ask_robots(self, url: str, now: datetime) -> Verdict | None:
        """Asks robots.txt about an address; ``None`` for one that cannot be asked at all."""
        target = check_url(url, self._settings.allow_loopback)
        if isinstance(target, Refused):
            return None
        verdict = self._robots.check(self._client, target, self._settings.user_agent, now)
        if verdict.crawl_delay_s:
            self.gate.slow_down(target.host, verdict.crawl_delay_s)
        return verdict

    def refusal_of_robots(self, url: str, now: datetime, rows: list[Fetch]) -> str | None:
        """Returns why an address must not be asked now, one of ``rejects.FETCH_OUTCOMES``, or ``None``.

        Args:
            url: The address.
            now: The run's clock.
            rows: Gets the row of the request, if one was made to find out.
        """
        verdict = self.ask_robots(url, now)
        if verdict is None:
            return None  # the client says so in its own way
        if verdict.exchange is not None:
            target = check_url(url, self._settings.allow_loopback)
            assert isinstance(target, Target)
            rows.append(fetch_row(verdict.exchange, target))
        return verdict.refusal


def address_to_ask(source: FeedSource, previous: FeedState | None, memory: PollMemory) -> str:
    """Returns the address of the next request: the configured one, or where it moved before it was gone."""
    if previous is not None and previous.moved_to and memory.gone_count:
        return previous.moved_to
    return source.url


def validators(source: FeedSource, previous: FeedState | None, memory: PollMemory, now: datetime) -> dict[str, str]:
    """Returns the headers that make the next request conditional; none if it must not be.

    After seven days in which the server only said "not modified" it is asked once without them, since some
    servers never change their validators.
    """
    if previous is None or source.conditional == "never" or memory.unreliable or memory.kind == SITEMAP_INDEX:
        return {}
    if memory.whole_at is None or now - memory.whole_at >= UNCONDITIONAL_AFTER:
        return {}
    headers = {}
    if previous.etag:
        headers["If-None-Match"] = previous.etag
    if previous.last_modified:
        headers["If-Modified-Since"] = previous.last_modified
    return headers


def received_validators(headers: Mapping[str, str], now: datetime) -> tuple[str | None, str | None]:
    """Returns the ETag and Last-Modified of an answer, verbatim; ``None`` for what cannot be sent back.

    A Last-Modified in the future would hide all changes until then, so it is void.
    """
    etag = _sendable(headers.get("etag"))
    last_modified = _sendable(headers.get("last-modified"))
    changed_at = parse_http_date(last_modified)
    if changed_at is not None:
        present = max(now, parse_http_date(headers.get("date")) or now)
        if changed_at > present + timedelta(minutes=1):
            last_modified = None
    return etag, last_modified


def _sendable(value: str | None) -> str | None:
    if not value or len(value) > _MAX_VALIDATOR or not value.strip():
        return None
    if any(ord(character) < 32 or ord(character) > 255 or ord(character) == 127 for character in value):
        return None
    return value


def ask(
    source: FeedSource, previous: FeedState | None, asker: Asker, run: RunContext, at_hand: Exchange | None = None
) -> Answer:
    """Makes the requests of one poll and judges the answer; never raises on what a server does.

    Args:
        source: The feed as configured.
        previous: What the dataset knows of it.
        asker: Asks.
        run: Gives the clock.
        at_hand: An answer that is here already, without validators sent for it; nothing is asked then.
    """
    if at_hand is not None:
        return judge_answer(at_hand, source, run.now())
    memory = from_json(previous.entry_json if previous else None)
    url = address_to_ask(source, previous, memory)
    side: list[Fetch] = []

    def refusal_of(target: Target) -> str | None:
        return asker.refusal_of_robots(target.url, run.now(), side)

    if source.robots:
        refusal = asker.refusal_of_robots(url, run.now(), side)
        if refusal is not None:
            return Answer(not_asked(url, refusal, run.now()), refusal, side=tuple(side))
    headers = validators(source, previous, memory, run.now())
    exchange = asker.get(url, headers, refusal_of if source.robots else None)
    if headers and exchange.outcome == "not_modified" and not _is_same(exchange, source, memory):
        # The validators are another address's: "not modified" means nothing here.
        headers = {}
        exchange = asker.get(url, headers)
    answer = judge_answer(exchange, source, run.now())._replace(conditional=bool(headers), side=tuple(side))
    if answer.feed is not None and answer.feed.kind == SITEMAP_INDEX:
        return _with_sitemaps(answer, answer.feed, source, asker, run)
    return answer


def judge_answer(exchange: Exchange, source: FeedSource, now: datetime) -> Answer:
    """Says what an answer is, by its content."""
    if exchange.headers.get("cf-mitigated", "").lower() == "challenge":
        return Answer(exchange, "not_feed", note="a challenge page")
    if exchange.outcome != "ok":
        return Answer(exchange, exchange.outcome, note=exchange.detail or None)
    feed = parse_feed(
        exchange.body,
        content_type=exchange.headers.get("content-type"),
        url=exchange.final_url,
        now=now,
        default_zone=source.time_zone,
    )
    if "no_news_tags" in feed.warnings:
        return Answer(exchange, "not_feed", note="a sitemap without news")
    if "cut_off" in feed.warnings and not feed.items:
        return Answer(exchange, "not_feed", note="a feed that was cut off before its first entry")
    if feed.kind in FEED_KINDS or feed.kind == SITEMAP_INDEX:
        return Answer(exchange, "ok", feed)
    return Answer(exchange, "not_feed", note=note_of(feed))


def note_of(feed: ParsedFeed) -> str:
    """Returns what a document is that is no feed, in a few words."""
    damage = (note for code, note in _NOTES_OF_WARNINGS.items() if code in feed.warnings)
    return next(damage, _NOTES.get(feed.kind, feed.kind))


def _with_sitemaps(answer: Answer, index: ParsedFeed, source: FeedSource, asker: Asker, run: RunContext) -> Answer:
    """Reads the newest sitemaps of an index as one document; an index within an index is not followed.

    The index itself says nothing of changes inside its sitemaps, so all of them are asked each time. If none
    can be read, the failure of the first is that of the poll.
    """
    children = _newest_first(index.items)[:MAX_SITEMAPS]
    items: list[FeedItem] = []
    rows: list[Fetch] = []
    failed: list[Answer] = []
    for child in children:
        found = judge_answer(asker.get(child.url or "", {}), source, run.now())
        rows.append(_sitemap_row(found, source))
        if found.feed is not None and found.feed.kind != SITEMAP_INDEX:
            items += found.feed.items
        else:
            failed.append(found)
    side = (*answer.side, *rows)
    if children and len(failed) == len(children):
        note = failed[0].note or "an index of sitemaps within another"
        outcome = failed[0].outcome if failed[0].outcome != "ok" else "not_feed"
        return answer._replace(outcome=outcome, feed=None, note=note, side=side)
    partial = any(found.outcome not in ("ok", "not_feed") for found in failed)
    return answer._replace(feed=index._replace(items=tuple(items)), partial=partial, side=side)


def _newest_first(sitemaps: Sequence[FeedItem]) -> list[FeedItem]:
    """Puts sitemaps of news first, then those changed last; what has no date keeps its place at the end."""

    def rank(item: FeedItem) -> tuple[bool, float]:
        changed = item.updated or item.published
        return "news" in (item.url or "").lower(), changed.instant.timestamp() if changed else 0.0

    return sorted((item for item in sitemaps if item.url), key=rank, reverse=True)


def _sitemap_row(answer: Answer, source: FeedSource) -> Fetch:
    exchange = answer.exchange
    return Fetch(
        kind="sitemap",
        url=exchange.url,
        host=host_of(exchange.url),
        started_at=exchange.started_at,
        outcome=answer.outcome,
        elapsed_ms=exchange.elapsed_ms,
        url_key=url_key(exchange.url),
        final_url=exchange.final_url if exchange.redirects else None,
        http_status=exchange.http_status,
        bytes=len(exchange.body),
        entries_seen=len(answer.feed.items) if answer.feed else None,
        retry_after_until=exchange.retry_after_until,
        redirects=len(exchange.redirects),
        source_id=source.source_id,
    )


def _is_same(exchange: Exchange, source: FeedSource, memory: PollMemory) -> bool:
    return url_key(exchange.final_url) == url_key(memory.document_url or source.url)


def not_asked(url: str, outcome: str, now: datetime) -> Exchange:
    """Returns the exchange that stands for a request that was not made."""
    url = without_logins(url)
    return Exchange(url, url, None, {}, b"", outcome, "", now, 0)
