from datetime import datetime, timedelta, timezone

import pytest

from transforms.extract.page import parse_tree, read_page
from transforms.extract.published import find_published

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=timezone.utc)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def published(
    head: str = "", node: dict | None = None, body: str = "<p>x</p>", url="https://a.example/x", now=NOW, feed=None
):
    page = read_page(parse_tree(f"<html><head>{head}</head><body>{body}</body></html>".encode()))
    return find_published(page, node, url, now, feed)


def test_structured_data_gives_the_instant_its_zone_and_how_it_was_written():
    found = published(node={"datePublished": "2026-03-03T23:40:00-05:00", "dateModified": "2026-03-04T06:00:00Z"})
    assert found.published_at == utc("2026-03-04T04:40:00")
    assert (found.published_raw, found.published_source) == ("2026-03-03T23:40:00-05:00", "json_ld")
    assert (found.published_precision, found.published_zone_known) == ("second", True)
    assert found.modified_at == utc("2026-03-04T06:00:00")


def test_structured_data_comes_before_meta_tags_and_modification():
    head = (
        '<meta property="article:modified_time" content="2026-03-04T08:00:00Z">'
        '<meta property="article:published_time" content="2026-03-02T08:00:00Z">'
    )
    assert published(head, {"datePublished": "2026-03-01T08:00:00Z"}).published_at == utc("2026-03-01T08:00:00")
    assert published(head).published_at == utc("2026-03-02T08:00:00")


def test_a_second_witness_adds_the_zone_or_the_time_of_day():
    head = '<meta property="article:published_time" content="2026-03-01T08:00:00+02:00">'
    assert published(head, {"datePublished": "2026-03-01T08:00:00"}).published_at == utc("2026-03-01T06:00:00")
    assert published(head, {"datePublished": "2026-03-01"}).published_at == utc("2026-03-01T06:00:00")


def test_a_time_without_zone_is_local_where_the_country_has_one_zone():
    found = published(node={"datePublished": "2026-03-01T08:00:00"}, url="https://zeitung.de/x")
    assert (found.published_at, found.published_zone_known) == (utc("2026-03-01T07:00:00"), False)
    day = published(node={"datePublished": "2026-03-01"}, url="https://zeitung.de/x")
    assert day.published_at == utc("2026-03-01T00:00:00")


def test_dates_after_the_page_came_are_not_believed():
    assert published(node={"datePublished": "2031-01-01T00:00:00Z"}).published_at is None


@pytest.mark.parametrize("zero", ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0", "", None, {}, [], True])
def test_zeros_and_nonsense_are_no_dates(zero):
    assert published(node={"datePublished": zero}).published_at is None


def test_the_year_of_the_copyright_is_no_date():
    assert published(body="<p>Boats sail again.</p><footer>&copy; 2019 Brackwater Post</footer>").published_at is None


def test_the_same_page_gives_the_same_date_a_year_later():
    body = "<p>Boats sail again.</p><p>Published on 2 March 2026</p>"
    assert published(body=body).published_at == published(body=body, now=NOW + timedelta(days=400)).published_at


def test_a_conflict_with_the_feed_is_flagged_and_a_searched_date_gives_way():
    node = {"datePublished": "2026-02-01T08:00:00Z"}
    trusted = published(node=node, feed=utc("2026-03-04T08:00:00"))
    assert trusted.date_conflict
    assert trusted.published_at == utc("2026-02-01T08:00:00")
    body = '<time class="published" datetime="2026-02-01T08:00:00Z">1 Feb</time>'
    searched = published(body=body, feed=utc("2026-03-04T08:00:00"))
    assert searched.date_conflict
    assert searched.published_at is None
    assert not published(node=node, feed=utc("2026-02-02T20:00:00")).date_conflict
