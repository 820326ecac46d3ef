from __future__ import annotations

import json
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.feeds.model import ITEM_LIMIT
from transforms.feeds.parse import ParsedFeed, feed_report, parse_feed, to_entries
from transforms.records import FeedSource
from transforms.urls import is_http_url

NOW = datetime(2026, 11, 30, tzinfo=timezone.utc)
SOURCE = FeedSource("https://gull.example/feed", "gull")
CASES = [path.read_bytes() for path in sorted((Path(__file__).parent / "cases").glob("*.xml"))]
KINDS = {"rss", "atom", "rdf", "json", "sitemap", "sitemap_index", "html", "empty", "unknown"}

MARKUP = (
    "<rss>|</rss>|<channel>|<item>|</item>|<title>|</title>|<link>|<link href='x'/>|<feed|"
    " xmlns='http://www.w3.org/2005/Atom'>|<entry>|</entry>|<content type='xhtml'>|<![CDATA[|]]>|<!--|"
    "-->|&|&amp;|&eacute;|"
    "&#x0;|&#55357;|<|>|'|\"|xml:base='//['|"
    "<guid>|<pubDate>|2026-03-02|http://[|https://a.example/1|<?xml version='1.0' encoding='koi8-r'?>|{|\"items\":[|"
    "<!DOCTYPE x [<!ENTITY a 'b'>]>|<urlset><url><loc>|<media:content url=x>|\n| |text"
)
PIECES = [*(piece.encode() for piece in MARKUP.split("|")), b"\x00", b"\xff", b"\xc3"]


def check(feed: ParsedFeed) -> None:
    """What holds for every document."""
    assert feed.kind in KINDS
    assert len(feed.items) <= ITEM_LIMIT
    for item in feed.items:
        assert item.key
        assert item.url is None or is_http_url(item.url)
        for date in (item.published, item.updated):
            assert date is None or datetime(1970, 1, 1, tzinfo=timezone.utc) < date.instant <= NOW + timedelta(hours=48)
        for text in (item.title, item.summary):
            assert text is None or text == " ".join(text.split()) != ""
    json.dumps(feed_report(feed)).encode("utf-8")
    taken = to_entries(feed, SOURCE, SOURCE.url, now=NOW, max_age_s=None, max_items=10)
    assert len(taken.entries) <= 10
    assert len(taken.entries) + len(taken.over_limit) + len(taken.rejects) <= len(feed.items)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.sampled_from([None, "text/xml; charset=utf-16", "x"]),
)
def test_any_pieces_of_feeds_are_read(body: bytes, content_type: str | None) -> None:
    check(parse_feed(body, content_type=content_type, url="https://gull.example/feed", now=NOW))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read(body: bytes) -> None:
    check(parse_feed(body, now=NOW))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CASES), st.integers(0, 2**32))
def test_damaged_cases_are_read(body: bytes, seed: int) -> None:
    chance = random.Random(seed)
    damaged = bytearray(body)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(damaged) or 1)
        length = chance.choice((0, 1, 1, 5, 40))
        damaged[at : at + length] = chance.choice(
            (b"", bytes([chance.randrange(256)]), chance.choice(PIECES), bytes(damaged[:at][-30:]))
        )
    check(parse_feed(bytes(damaged), url="https://gull.example/feed", now=NOW))
