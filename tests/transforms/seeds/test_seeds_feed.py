from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from transforms.records import Document, Entry, Reject
from transforms.seeds.formats import read_seed_file
from transforms.urls import url_key

NOW = datetime(2026, 3, 12, 8, 0, tzinfo=timezone.utc)

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>Harrow Bay Ledger</title><link>https://ledger.example/</link><language>en</language>
<item><title>Board pays for beds</title><link>https://ledger.example/n/1</link><guid>n-1</guid>
<pubDate>Tue, 10 Mar 2026 08:00:00 +0100</pubDate>
<content:encoded><![CDATA[<p>The board voted to pay for forty more beds.</p>]]></content:encoded></item>
<item><title>Pilots end strike</title><link>https://ledger.example/n/2</link>
<description>The pilots &amp;amp; the port shook hands.</description></item>
<item><title>Only a link</title><link>https://ledger.example/n/3</link></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Tidewater Courier</title><id>tag:t.example,2026:f</id>
<updated>2026-03-10T08:00:00Z</updated>
<entry><title>Home again</title><id>tag:t.example,2026:1</id><link href="https://t.example/1"/>
<updated>2026-03-10T08:00:00Z</updated>
<content type="html">&lt;p&gt;The welder came home.&lt;/p&gt;</content></entry></feed>"""

JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Kestrel Post",
        "items": [{"id": "1", "url": "https://kestrel.example/1", "content_html": "<p>Paper again.</p>"}],
    }
)


def read(path: str, data: bytes) -> list[Document | Entry | Reject]:
    return list(read_seed_file(path, data, now=NOW))


def test_items_with_text_are_documents_and_others_are_to_be_fetched():
    full, teaser, bare = read("ledger.xml", RSS.encode())
    assert isinstance(full, Document)
    assert isinstance(teaser, Document)
    assert isinstance(bare, Entry)
    assert (full.kind, full.raw_uri) == ("feed_content", "ledger.xml#1")
    assert b"<p>The board voted to pay for forty more beds.</p>" in full.body
    assert full.entry.url_key == url_key("https://ledger.example/n/1")
    assert full.entry.published_at == datetime(2026, 3, 10, 7, 0, tzinfo=timezone.utc)
    assert (full.entry.discovered_via, full.entry.entry_id, full.entry.language) == ("seed_feed", "n-1", "en")
    assert (full.entry.source_id, full.entry.source_name) == ("ledger.example", "Harrow Bay Ledger")
    assert teaser.body == b"<p>The pilots &amp; the port shook hands.</p>"
    assert bare.url == "https://ledger.example/n/3"


@pytest.mark.parametrize(
    ("path", "data"),
    [("t.atom", ATOM), ("t.xml", ATOM), ("t.rss", ATOM), ("t.txt", ATOM), ("k.json", JSON_FEED)],
)
def test_a_saved_feed_is_known_by_what_it_holds(path: str, data: str):
    (found,) = read(path, data.encode())
    assert isinstance(found, Document)
    assert found.kind == "feed_content"


def test_an_unchanged_item_is_known_whatever_its_neighbours():
    first = read("a.xml", RSS.encode())[0]
    again = read("b.xml", RSS.replace("Pilots", "Harbor pilots").encode())[0]
    changed = read("a.xml", RSS.replace("forty", "fourteen").encode())[0]
    assert isinstance(first, Document)
    assert isinstance(again, Document)
    assert isinstance(changed, Document)
    assert first.entry.entry_version == again.entry.entry_version
    assert first.entry.entry_version != changed.entry.entry_version


def test_a_feed_without_items_is_empty_work():
    assert read("quiet.xml", b'<rss version="2.0"><channel><title>Quiet</title></channel></rss>') == []


@pytest.mark.parametrize(
    "data",
    [b"<html><body>Log in</body></html>", b"no feed at all", b"<opml><body/></opml>", b"{}"],
)
def test_what_is_no_feed_is_refused(data: bytes):
    (found,) = read("a.xml", data)
    assert isinstance(found, Reject)
    assert found.reason == "bad_feed"


def test_the_rest_of_an_endless_feed_is_told():
    items = "".join(
        f"<item><title>T{number}</title><link>https://ledger.example/{number}</link></item>" for number in range(2001)
    )
    found = read("a.xml", f"<rss version='2.0'><channel><title>L</title>{items}</channel></rss>".encode())
    assert sum(isinstance(item, Entry) for item in found) == 2000
    (rest,) = [item for item in found if isinstance(item, Reject)]
    assert rest.reason == "too_big"
    assert "2,000" in rest.detail


def test_a_feed_that_was_cut_off_is_told_and_gives_its_whole_items():
    found = read("a.xml", RSS[: RSS.index("pilots &amp")].encode())
    assert [type(item) for item in found] == [Document, Reject]
    assert isinstance(found[1], Reject)
    assert found[1].reason == "truncated"
    found = read("a.xml", RSS[: RSS.index("<item><title>Only")].encode())
    assert [type(item) for item in found] == [Document, Document, Reject]
