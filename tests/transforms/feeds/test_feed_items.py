from __future__ import annotations

from datetime import datetime, timedelta, timezone

from transforms.feeds.model import TakenItems
from transforms.feeds.parse import parse_feed, to_entries
from transforms.records import FeedSource
from transforms.urls import url_key

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=timezone.utc)
FEED_URL = "https://gull.example/feed"
SOURCE = FeedSource(FEED_URL, "gull", "The Gull", language="en-GB")
DAY_S = 86400.0


def item(title: str, *, link: str | None = None, days_old: float | None = None, extra: str = "") -> str:
    date = NOW - timedelta(days=days_old) if days_old is not None else None
    parts = [f"<title>{title}</title>"]
    parts += [f"<link>{link}</link>"] if link else []
    parts += [f"<pubDate>{date.strftime('%a, %d %b %Y %H:%M:%S GMT')}</pubDate>"] if date else []
    return f"<item>{''.join(parts)}{extra}</item>"


def take(
    *items: str, max_age_s: float | None = 7 * DAY_S, max_items: int = 50, source: FeedSource = SOURCE
) -> TakenItems:
    body = f"<rss><channel><title>t</title><link>https://gull.example/</link>{''.join(items)}</channel></rss>"
    feed = parse_feed(body.encode(), url=FEED_URL, now=NOW)
    return to_entries(feed, source, FEED_URL, now=NOW, max_age_s=max_age_s, max_items=max_items)


def test_an_entry_carries_what_feed_and_user_say() -> None:
    taken = take(
        item("Terns return", link="/a/terns-return", days_old=1, extra="<guid>g1</guid><category>Birds</category>")
    )
    (entry,) = taken.entries
    assert (entry.url, entry.url_key) == (
        "https://gull.example/a/terns-return",
        url_key("https://gull.example/a/terns-return"),
    )
    assert (entry.source_id, entry.source_name, entry.feed_url) == ("gull", "The Gull", FEED_URL)
    assert (entry.entry_id, entry.title, entry.categories) == ("g1", "Terns return", ("Birds",))
    assert (entry.discovered_via, entry.language) == ("feed", "en-GB")
    assert entry.published_at == NOW - timedelta(days=1)
    assert (entry.published_precision, entry.published_zone_known) == ("second", True)
    assert taken.keys == (entry.url_key,)


def test_newest_come_first_and_the_rest_waits() -> None:
    old, new, middle = (item(f"Story {age}", link=f"/a/story-of-{age}", days_old=age) for age in (3, 1, 2))
    taken = take(old, new, middle, max_items=2)
    assert [entry.title for entry in taken.entries] == ["Story 1", "Story 2"]
    assert [entry.title for entry in taken.over_limit] == ["Story 3"]
    assert len(taken.keys) == 3


def test_an_entry_without_date_stands_where_it_stands_in_the_document() -> None:
    undated = item("Undated", link="/a/undated-story")
    taken = take(
        item("New", link="/a/the-new-story", days_old=1), undated, item("Old", link="/a/the-old-story", days_old=2)
    )
    assert [entry.title for entry in taken.entries] == ["New", "Undated", "Old"]


def test_old_entries_are_counted_and_not_refused() -> None:
    taken = take(item("Old", link="/a/the-old-story", days_old=9), item("New", link="/a/the-new-story", days_old=1))
    assert [entry.title for entry in taken.entries] == ["New"]
    assert (taken.too_old, taken.rejects) == (1, [])
    assert len(taken.keys) == 2


def test_no_age_limit_takes_all_and_no_date_is_young() -> None:
    assert take(item("Old", link="/a/the-old-story", days_old=900), max_age_s=None).too_old == 0
    assert take(item("Undated", link="/a/undated-story")).too_old == 0


def test_an_old_entry_that_was_updated_is_young() -> None:
    updated = f"<atom:updated xmlns:atom='http://www.w3.org/2005/Atom'>{NOW.isoformat()}</atom:updated>"
    assert take(item("Old", link="/a/the-old-story", days_old=30, extra=updated)).too_old == 0


def test_without_link_the_content_is_the_article() -> None:
    taken = take(
        item("Note", days_old=1, extra="<guid isPermaLink='false'>n1</guid><description>Short note.</description>")
    )
    (entry,) = taken.entries
    assert entry.url is None
    assert entry.content_html == "<p>Short note.</p>"
    assert len(entry.url_key) == 32
    again = take(
        item("Note, edited", days_old=1, extra="<guid isPermaLink='false'>n1</guid><description>Longer.</description>")
    )
    assert again.entries[0].url_key == entry.url_key
    assert again.entries[0].entry_version != entry.entry_version


def test_a_bad_link_with_content_is_an_entry_without_page() -> None:
    taken = take(item("Note", link="javascript:void(0)", extra="<description>Text.</description>"))
    assert [(entry.url, entry.title) for entry in taken.entries] == [(None, "Note")]


def test_nothing_to_read_is_refused_with_the_reason() -> None:
    taken = take(item("Mail", link="mailto:desk@gull.example"), item("Nothing"))
    assert [(r.stage, r.reason, r.url) for r in taken.rejects] == [
        ("poll", "bad_url", "mailto:desk@gull.example"),
        ("poll", "no_link", None),
    ]
    assert len({r.body_sha256 for r in taken.rejects}) == 2
    assert all(r.feed_url == FEED_URL and r.source_id == "gull" for r in taken.rejects)


def test_entries_that_share_one_page_are_articles_of_their_own_if_they_have_content() -> None:
    text = "<description>" + "It will be late. " * 60 + "</description>"
    items = [
        item(f"Ferry {n} late", link="/status", extra=f"<guid isPermaLink='false'>f{n}</guid>{text}") for n in range(3)
    ]
    taken = take(*items)
    assert [entry.url for entry in taken.entries] == [None] * 3
    assert len({entry.url_key for entry in taken.entries}) == 3


def test_a_shared_page_is_all_there_is_if_entries_have_no_content() -> None:
    taken = take(
        *(item(f"Ferry {n} late", link="/status", extra=f"<guid isPermaLink='false'>f{n}</guid>") for n in range(3))
    )
    assert {entry.url for entry in taken.entries} == {"https://gull.example/status"}
    assert len({entry.url_key for entry in taken.entries}) == 1


def test_a_front_page_is_no_address_of_a_story() -> None:
    text = "<description>" + "A long text of its own. " * 60 + "</description>"
    (entry,) = take(item("Note", link="https://gull.example/", extra=text)).entries
    assert entry.url is None
    assert entry.content_html is not None


def test_of_two_revisions_the_newer_is_taken() -> None:
    def revision(number: int, title: str) -> str:
        guid = f"<guid isPermaLink='false'>https://gull.example/n/vote#{number}</guid>"
        return item(title, link="/a/the-vote-story", days_old=1, extra=guid)

    taken = take(revision(1, "Vote delayed"), revision(2, "Vote delayed again"))
    assert [entry.title for entry in taken.entries] == ["Vote delayed again"]


def test_a_stamp_on_all_entries_is_no_edit() -> None:
    def at(moment: str) -> TakenItems:
        stamp = f"<atom:updated xmlns:atom='http://www.w3.org/2005/Atom'>{moment}</atom:updated>"
        return take(*(item(f"Story {n}", link=f"/a/story-number-{n}", days_old=1, extra=stamp) for n in range(5)))

    versions = [[entry.entry_version for entry in at(f"2026-03-10T0{n}:00:00Z").entries] for n in (1, 2)]
    assert versions[0] == versions[1]


def test_content_stands_in_for_a_missing_summary_in_the_version() -> None:
    def version(text: str) -> str | None:
        content = f"<content:encoded>&lt;p&gt;{text}&lt;/p&gt;</content:encoded>"
        return take(item("Same", link="/a/the-same-story", extra=content)).entries[0].entry_version

    assert version("The pier is shut.") != version("The pier is open.")


def test_a_link_to_the_feed_itself_is_none() -> None:
    told = "<description>The ferry sails again after the storm of last week.</description>"
    taken = take(
        item("Bare", link="#"), item("Told", link="//", extra=told), item("Own", link=f"{FEED_URL}?utm_source=x")
    )
    assert [(refused.stage, refused.reason) for refused in taken.rejects] == [("poll", "bad_url")] * 2
    (entry,) = taken.entries
    assert (entry.title, entry.url) == ("Told", None)
    assert entry.content_html is not None


def test_logins_of_links_and_ids_go() -> None:
    guid = "<guid>https://desk:hunter2@gull.example/?p=1</guid>"
    feed = (
        f"<rss><channel>{item('Terns', link='https://desk:hunter2@gull.example/a/terns', extra=guid)}</channel></rss>"
    )
    (found,) = parse_feed(feed.encode(), url=FEED_URL, now=NOW).items
    assert (found.url, found.id) == ("https://gull.example/a/terns", "https://gull.example/?p=1")
    assert "login_removed" in found.warnings
    taken = take(item("", link="https://desk:hunter2@kestrel[bay.example/"))
    assert [refused.reason for refused in taken.rejects] == ["bad_url"]
    assert "hunter2" not in repr(taken)
