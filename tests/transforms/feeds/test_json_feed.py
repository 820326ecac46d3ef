from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from transforms.feeds.parse import ParsedFeed, parse_feed

NOW = datetime(2026, 11, 30, tzinfo=timezone.utc)
VERSION = "https://jsonfeed.org/version/1.1"


def parse(document: Any) -> ParsedFeed:
    return parse_feed(json.dumps(document).encode(), url="https://gull.example/feed.json", now=NOW)


def test_all_fields_of_version_1_1() -> None:
    feed = parse({
        "version": VERSION, "title": "The Gull", "home_page_url": "https://gull.example/", "language": "en",
        "authors": [{"name": "The Desk"}],
        "items": [{
            "id": 17, "url": "/a/17", "title": "Terns &amp; auks", "summary": "A <short> teaser", "tags": ["birds", 3],
            "date_published": "2026-03-02T08:30:00+01:00", "date_modified": "2026-03-03T07:30:00Z",
            "content_html": "<p>x</p>", "image": "/p.jpg", "authors": [{"name": "Mira Solberg"}, {"url": "https://x.example"}],
            "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 99}, {"url": None}, 7],
        }],
    })  # fmt: skip
    (item,) = feed.items
    assert (feed.kind, feed.title, feed.site_url, feed.language) == ("json", "The Gull", "https://gull.example/", "en")
    assert (item.id, item.key, item.url, item.title) == ("17", "17", "https://gull.example/a/17", "Terns & auks")
    assert (item.summary, item.content_html) == ("A <short> teaser", "<p>x</p>")
    assert item.published is not None
    assert item.updated is not None
    assert item.published.instant.isoformat() == "2026-03-02T07:30:00+00:00"
    assert (item.authors, item.categories) == (("Mira Solberg",), ("birds", "3"))
    assert (item.image_url, item.language) == ("https://gull.example/p.jpg", "en")
    assert [tuple(file) for file in item.enclosures] == [("https://gull.example/a.mp3", "audio/mpeg", 99)]


def test_version_1_0_has_one_author_and_text_content() -> None:
    feed = parse(
        {
            "version": "https://jsonfeed.org/version/1",
            "author": {"name": "The Desk"},
            "items": [{"id": "1", "content_text": "5 < 6\nso"}],
        }
    )
    assert feed.items[0].authors == ("The Desk",)
    assert feed.items[0].content_html == "5 &lt; 6<br>\nso"


def test_an_id_that_is_an_address_serves_as_link() -> None:
    assert (
        parse({"version": VERSION, "items": [{"id": "https://gull.example/a/1"}]}).items[0].url
        == "https://gull.example/a/1"
    )


def test_a_link_blog_links_to_its_own_page() -> None:
    item = {"id": "1", "url": "https://gull.example/a/1", "external_url": "https://other.example/"}
    assert parse({"version": VERSION, "items": [item]}).items[0].url == "https://gull.example/a/1"


def test_rss_written_as_json() -> None:
    item = {
        "title": "Terns",
        "link": "https://gull.example/1",
        "pubDate": "Mon, 02 Mar 2026 07:30:00 GMT",
        "guid": {"#value": "g1"},
    }
    feed = parse({"rss": {"channel": {"title": "The Gull", "ttl": "60", "item": item}}})
    assert (feed.kind, feed.items[0].id, feed.items[0].url) == ("json", "g1", "https://gull.example/1")
    assert (feed.hints.ttl_min, feed.warnings) == (60, ("rss_in_json",))


@pytest.mark.parametrize(
    "document",
    [[], {}, 7, None, {"items": [{"id": 1}]}, {"name": "site", "routes": {}}, {"rss": 1}, {"items": "x", "title": "y"}],
)
def test_other_json_is_no_feed(document: Any) -> None:
    assert parse([document] if not isinstance(document, (dict, list)) else document).kind == "unknown"


@pytest.mark.parametrize("value", [None, 7, True, [], {}, [[]], "", "x" * 3000])
def test_values_of_wrong_types_are_left_out(value: Any) -> None:
    names = ["id", "url", "title", "summary", "content_html", "content_text", "authors", "author", "tags", "image"]
    names += ["language", "attachments", "date_published", "date_modified"]
    feed = parse({"version": VERSION, "title": value, "items": [dict.fromkeys(names, value), value]})
    assert feed.kind == "json"


def test_cut_json_is_unknown() -> None:
    body = json.dumps({"version": VERSION, "items": [{"id": "1"}]}).encode()
    assert parse_feed(body[:-3], now=NOW).warnings == ("bad_json",)
