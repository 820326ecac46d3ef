"""Finds the feeds that a web page or a robots.txt announces.

Only what a site says itself is offered: link elements (HTML, section "link type alternate"), the Link
header (RFC 8288) and the Sitemap lines of robots.txt. Paths are never guessed. A page that is a feed
itself is found as that feed, so that its one answer can be used as the first poll.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urljoin

from lxml import etree, html

from transforms.feeds.ask import Asker, judge_answer
from transforms.fetch.client import Exchange
from transforms.records import FeedSource, RunContext
from transforms.urls import host_of, to_fetchable, without_logins

MAX_PAGE_BYTES = 2 * 1024 * 1024
MAX_FOUND = 100
_MAX_URL = 2048

_KINDS = {
    "application/rss+xml": "rss",
    "application/x-rss+xml": "rss",
    "text/rss+xml": "rss",
    "application/atom+xml": "atom",
    "text/atom+xml": "atom",
    "application/rdf+xml": "rdf",
    "application/feed+json": "json",
}
# Types that say little: taken only if the address or title names a feed.
_LOOSE_KINDS = {"application/json": "json", "application/xml": "rss", "text/xml": "rss"}
_NAMES_A_FEED = re.compile(r"\b(?:rss|atom|feeds?|rdf)\b|(?:rss|feed)\.(?:xml|json|php)", re.IGNORECASE)
_NO_FEED = re.compile(r"/wp-json(?:/|$)|[/?&]rest_route=|oembed", re.IGNORECASE)
_COMMENTS = re.compile(r"comment|kommentar|comentario|commentaire|/replies(?:/|$)", re.IGNORECASE)
_LINK_VALUE = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:\"(?:[^\"\\]|\\.)*\"|[^\s;,\"]*))?)*)")
_LINK_PARAMETER = re.compile(r";\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]*))")
_SITEMAP_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)


class FoundFeed(NamedTuple):
    """A feed that a site announces.

    Attributes:
        url: Its absolute address.
        title: As announced.
        kind: ``rss``, ``atom``, ``rdf``, ``json`` or ``sitemap``, as announced.
        rank: Place in the order of preference, 0 is best; comment feeds come last.
    """

    url: str
    title: str | None
    kind: str
    rank: int = 0


class Discovery(NamedTuple):
    """What one look at a site found.

    Attributes:
        exchange: The answer for the address that was given; ``None`` if robots.txt asks not to look.
        is_feed: Whether that answer is a feed itself; ``poll`` takes it as ``at_hand``, so that nothing is asked twice.
        feeds: Best first.
        refusal: Why nothing could be looked at, one of ``rejects.FETCH_OUTCOMES``; ``None`` if all went well.
    """

    exchange: Exchange | None
    is_feed: bool
    feeds: tuple[FoundFeed, ...]
    refusal: str | None = None


def discover_site(url: str, asker: Asker, run: RunContext) -> Discovery:
    """Looks for the feeds of a site: asks robots.txt and the one page, nothing else.

    Args:
        url: A page of the site, or a feed.
        asker: Asks.
        run: Gives the clock.
    """
    verdict = asker.ask_robots(url, run.now())
    sitemaps: list[FoundFeed] = []
    if verdict is not None:
        if verdict.refusal:
            return Discovery(None, False, (), verdict.refusal)
        if verdict.exchange is not None and verdict.exchange.outcome == "ok":
            sitemaps = news_sitemaps(verdict.exchange.body, verdict.exchange.final_url)
    exchange = asker.get(url, {})
    if exchange.outcome != "ok":
        return Discovery(exchange, False, tuple(sitemaps), exchange.outcome)
    answer = judge_answer(exchange, FeedSource(url, host_of(url)), run.now())
    if answer.feed is not None:
        return Discovery(exchange, True, (FoundFeed(exchange.url, answer.feed.title, answer.feed.kind),))
    announced = discover_feeds(exchange.body, exchange.final_url, exchange.headers)
    return Discovery(exchange, False, tuple(_ranked([*announced, *sitemaps])))


def discover_feeds(page_body: bytes, page_url: str, headers: Mapping[str, str] | None = None) -> list[FoundFeed]:
    """Returns the feeds that a page announces, best first.

    Args:
        page_body: The page after content decoding; only the first 2 MiB are read.
        page_url: Its address after redirects.
        headers: Of the answer, lower-case names; ``link`` and ``content-type`` count.
    """
    headers = headers or {}
    found = [*_from_header(headers.get("link", ""), page_url)]
    found += _from_page(page_body[:MAX_PAGE_BYTES], page_url, headers.get("content-type", ""))
    return _ranked(found)


def news_sitemaps(robots_body: bytes, robots_url: str) -> list[FoundFeed]:
    """Returns the news sitemaps that a robots.txt names (sitemaps.org, "submitting"), best first.

    A sitemap counts as one of news if its address says so; whether it is shows only when it is read.
    """
    text = robots_body[: 512 * 1024].decode("utf-8-sig", "replace")
    urls = [_absolute(robots_url, value) for value in _SITEMAP_LINE.findall(text)]
    named = [url for url in urls if url and re.search(r"news|noticias|nachrichten|actualite", url, re.IGNORECASE)]
    return _ranked([FoundFeed(url, None, "sitemap") for url in named])


def _from_header(value: str, page_url: str) -> Iterator[FoundFeed]:
    for target, parameters in _LINK_VALUE.findall(value[:16384]):
        attributes = {
            name.lower(): (re.sub(r"\\(.)", r"\1", quoted) or plain)
            for name, quoted, plain in _LINK_PARAMETER.findall(parameters)
        }
        yield from _judged(attributes, target, page_url)


def _from_page(body: bytes, page_url: str, content_type: str) -> Iterator[FoundFeed]:
    root = _parsed(body, content_type)
    if root is None:
        return
    base_url = page_url
    for base in root.iter("base"):
        if base.get("href"):
            base_url = _absolute(page_url, base.get("href")) or page_url
            break
    for link in root.iter("link"):
        attributes = {str(name).lower(): str(value) for name, value in link.attrib.items()}
        yield from _judged(attributes, attributes.get("href", ""), base_url)


def _parsed(body: bytes, content_type: str) -> html.HtmlElement | None:
    """Parses a page; ``None`` if there is nothing to parse."""
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.IGNORECASE)
    encoding = charset.group(1) if charset else None
    if encoding is None and not re.search(rb"charset\s*=", body[:4096], re.IGNORECASE):
        encoding = "utf-8"
    try:
        parser = html.HTMLParser(encoding=encoding, recover=True, no_network=True, remove_comments=True)
    except LookupError:
        parser = html.HTMLParser(recover=True, no_network=True, remove_comments=True)
    try:
        return html.document_fromstring(body, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def _judged(attributes: Mapping[str, str], target: str, base_url: str) -> Iterator[FoundFeed]:
    """Yields the feed that a link announces, if it announces one."""
    relations = attributes.get("rel", "").lower().split()
    if not {"alternate", "feed"}.intersection(relations) or "stylesheet" in relations or not target.strip():
        return
    media_type = attributes.get("type", "").split(";")[0].strip().lower()
    title = " ".join(attributes.get("title", "").split()) or None
    kind = _KINDS.get(media_type)
    if kind is None and media_type in _LOOSE_KINDS and _NAMES_A_FEED.search(f"{target} {title or ''}"):
        kind = _LOOSE_KINDS[media_type]
    if kind is None and not media_type and "feed" in relations:
        kind = "rss"
    url = _absolute(base_url, target)
    if kind is not None and url is not None and not _NO_FEED.search(url):
        yield FoundFeed(url, title, kind)


def _absolute(base_url: str, target: str) -> str | None:
    """Returns an absolute http(s) address, or ``None``; ``feed:`` addresses are read as what they mean."""
    target = target.strip()
    if target[:5].lower() == "feed:":
        rest = target[5:]
        target = rest if rest[:4].lower() == "http" else f"https:{rest}"
    try:
        url = urljoin(base_url, target).split("#")[0]
    except ValueError:
        return None
    return without_logins(url) if len(url) <= _MAX_URL and to_fetchable(url) is not None else None


def _ranked(found: Iterable[FoundFeed]) -> list[FoundFeed]:
    """Puts comment feeds last, keeps the first of each address and numbers the rest."""
    best: dict[str, FoundFeed] = {}
    for feed in found:
        best.setdefault(feed.url, feed)
    ordered = sorted(best.values(), key=lambda feed: bool(_COMMENTS.search(f"{feed.url} {feed.title or ''}")))
    return [feed._replace(rank=rank) for rank, feed in enumerate(ordered[:MAX_FOUND])]
