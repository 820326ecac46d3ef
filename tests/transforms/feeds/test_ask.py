from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from tests.feed_polls import DAY, HOUR, TUESDAY, Reader, conditions, feed, memory, rss, tallies
from tests.servers import Answer, NewsServer
from transforms.records import FeedSource


@pytest.fixture
def server() -> Iterator[NewsServer]:
    with NewsServer(host="127.0.0.31") as running:
        yield running


# Conditional requests


def test_validators_go_back_as_they_came_and_304_is_a_success(server: NewsServer) -> None:
    server.routes["/feed"] = [
        feed(1, ETag='W/"odd, one"', Last_Modified="Mon, 09 Mar 2026 08:00:00 GMT"),
        feed(status=304),
    ]
    reader = Reader(server.url("/feed"))
    reader.poll()
    result = reader.poll(TUESDAY + HOUR)
    assert conditions(server.requests[1]) == ('W/"odd, one"', "Mon, 09 Mar 2026 08:00:00 GMT")
    assert (result.row.outcome, result.row.failures, result.entries) == ("not_modified", 0, ())
    assert (result.row.etag, result.row.last_modified) == ('W/"odd, one"', "Mon, 09 Mar 2026 08:00:00 GMT")
    assert tallies(result) == {"polled": 1, "not_modified": 1}
    assert len(server.requests) == 2


def test_a_304_to_the_first_request_is_no_failure_and_no_reason_to_ask_again(server: NewsServer) -> None:
    server.routes["/feed"] = feed(status=304)
    result = Reader(server.url("/feed")).poll()
    assert (result.row.outcome, result.row.failures, len(server.requests)) == ("not_modified", 0, 1)


def test_a_304_may_bring_a_new_validator(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, ETag='"a"'), feed(status=304, ETag='"b"'), feed(status=304)]
    reader = Reader(server.url("/feed"))
    for hours in range(3):
        reader.poll(TUESDAY + hours * HOUR)
    assert [conditions(request)[0] for request in server.requests] == [None, '"a"', '"b"']


def test_an_equal_etag_does_not_keep_a_changed_document_from_being_read(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, ETag='"a"'), feed(2, 1, ETag='"a"')]
    reader = Reader(server.url("/feed"))
    reader.poll()
    assert len(reader.poll(TUESDAY + HOUR).entries) == 2


def test_validators_of_every_200_replace_the_old_ones_even_by_none(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(1, ETag='"a"', Last_Modified="x"), feed(1, ETag='"b"'), feed(1), feed(1)]
    reader = Reader(server.url("/feed"))
    for hours in range(4):
        reader.poll(TUESDAY + hours * HOUR)
    assert [conditions(request) for request in server.requests] == [
        (None, None), ('"a"', "x"), ('"b"', None), (None, None),
    ]  # fmt: skip


def test_a_last_modified_in_the_future_is_void(server: NewsServer) -> None:
    future = "Sun, 01 Mar 2099 08:00:00 GMT"
    server.routes["/feed"] = feed(1, ETag='"a"', Last_Modified=future)
    reader = Reader(server.url("/feed"))
    reader.poll()
    reader.poll(TUESDAY + HOUR)
    assert conditions(server.requests[1]) == ('"a"', None)


def test_failures_leave_the_validators_as_they_were(server: NewsServer) -> None:
    server.routes["/feed"] = [
        feed(1, ETag='"a"'),
        Answer(503, headers={"ETag": '"error"'}),
        Answer(body="<html>Log in</html>"),
        feed(status=304),
    ]
    reader = Reader(server.url("/feed"))
    for hours in range(4):
        reader.poll(TUESDAY + hours * HOUR)
    assert [conditions(request)[0] for request in server.requests] == [None, '"a"', '"a"', '"a"']


def test_a_user_can_switch_conditional_requests_off(server: NewsServer) -> None:
    server.routes["/feed"] = feed(1, ETag='"a"')
    reader = Reader(FeedSource(server.url("/feed"), "harbour", conditional="never"))
    reader.poll()
    reader.poll(TUESDAY + HOUR)
    assert conditions(server.requests[1]) == (None, None)


def test_after_seven_days_of_304_the_feed_is_asked_once_without_validators(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(20, ETag='"e"'), *[feed(status=304)] * 6, feed(20, ETag='"e"'), feed(status=304)]
    reader = Reader(server.url("/feed"))
    for day in range(9):
        reader.poll(TUESDAY + day * DAY)
    sent = [conditions(request)[0] for request in server.requests]
    assert sent == [None, *['"e"'] * 6, None, '"e"']
    assert not memory(reader.results[-1]).unreliable


def test_a_server_that_hid_news_behind_304_gets_no_validators_any_more(server: NewsServer) -> None:
    server.routes["/feed"] = [feed(20, ETag='"frozen"'), feed(status=304), feed(21, 20, ETag='"frozen"'), feed(20)]
    reader = Reader(server.url("/feed"))
    reader.poll()
    reader.poll(TUESDAY + 6 * DAY)
    result = reader.poll(TUESDAY + 7 * DAY)
    assert conditions(server.requests[2]) == (None, None)
    assert memory(result).unreliable
    assert result.row.entries_new == 1
    reader.poll(TUESDAY + 8 * DAY)
    assert conditions(server.requests[3]) == (None, None)


def test_a_server_whose_news_is_newer_than_its_last_304_has_not_lied(server: NewsServer) -> None:
    fresh = Answer(body=rss(1, day=TUESDAY + 7 * DAY), headers={"ETag": '"new"'})
    server.routes["/feed"] = [feed(20, ETag='"old"'), feed(status=304), fresh, feed(status=304)]
    reader = Reader(server.url("/feed"))
    reader.poll()
    reader.poll(TUESDAY + 6 * DAY)
    assert not memory(reader.poll(TUESDAY + 7 * DAY)).unreliable
    reader.poll(TUESDAY + 8 * DAY)
    assert conditions(server.requests[3])[0] == '"new"'


def test_a_304_of_another_address_is_void(server: NewsServer) -> None:
    server.routes["/feed"] = [
        feed(1, ETag='"a"'),
        Answer(302, headers={"Location": "/other"}),
        Answer(302, headers={"Location": "/other"}),
    ]
    server.routes["/other"] = [feed(status=304), feed(2)]
    reader = Reader(server.url("/feed"))
    reader.poll()
    result = reader.poll(TUESDAY + HOUR)
    assert [entry.title for entry in result.entries] == ["Ferry story 2"]
    assert conditions(server.requests[-1]) == (None, None)


def test_a_feed_behind_a_redirect_is_asked_conditionally_too(server: NewsServer) -> None:
    server.routes["/feed"] = Answer(302, headers={"Location": "/other"})
    server.routes["/other"] = [feed(1, ETag='"a"'), feed(status=304)]
    reader = Reader(server.url("/feed"))
    reader.poll()
    assert reader.poll(TUESDAY + HOUR).row.outcome == "not_modified"
    assert server.paths() == ["/feed", "/other"] * 2


# robots.txt


def test_robots_txt_is_asked_for_a_feed_only_if_the_user_wants_it(server: NewsServer) -> None:
    server.routes |= {"/robots.txt": "User-agent: *\nDisallow: /feed", "/feed": feed(1)}
    assert Reader(server.url("/feed")).poll().row.outcome == "ok"
    assert server.paths() == ["/feed"]
    result = Reader(FeedSource(server.url("/feed"), "harbour", robots=True)).poll()
    assert result.row.outcome == "robots"
    assert [row.kind for row in result.fetches] == ["robots"]
    assert server.paths() == ["/feed", "/robots.txt"]


def test_robots_that_cannot_be_asked_put_the_poll_off(server: NewsServer) -> None:
    server.routes |= {"/robots.txt": 503, "/feed": feed(1)}
    result = Reader(FeedSource(server.url("/feed"), "harbour", robots=True)).poll()
    assert (result.row.outcome, result.row.failures) == ("server_error", 1)


# News sitemaps


def sitemap(*names: str) -> str:
    urls = "".join(
        f"<url><loc>https://harbour.example/{name}</loc><news:news><news:publication_date>2026-03-10</news:publication_date>"
        f"<news:title>{name}</news:title></news:news></url>"
        for name in names
    )
    return (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        f' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">{urls}</urlset>'
    )


def index(server: NewsServer, *paths: str) -> str:
    maps = "".join(f"<sitemap><loc>{server.url(path)}</loc></sitemap>" for path in paths)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{maps}</sitemapindex>'


def test_an_index_of_sitemaps_is_read_as_one_document(server: NewsServer) -> None:
    server.routes |= {
        "/index.xml": Answer(body=index(server, "/a.xml", "/news-b.xml"), headers={"ETag": '"i"'}),
        "/a.xml": sitemap("storm", "bridge"),
        "/news-b.xml": sitemap("ferry"),
    }
    reader = Reader(server.url("/index.xml"))
    result = reader.poll()
    assert {entry.title for entry in result.entries} == {"storm", "bridge", "ferry"}
    assert result.row.entries_seen == 3
    assert [(row.kind, row.outcome, row.url) for row in result.fetches] == [
        ("sitemap", "ok", server.url("/news-b.xml")),
        ("sitemap", "ok", server.url("/a.xml")),
    ]
    reader.poll(TUESDAY + HOUR)
    assert all(conditions(request) == (None, None) for request in server.requests)


def test_at_most_five_sitemaps_of_an_index_are_asked_and_no_index_within_one(server: NewsServer) -> None:
    server.routes["/index.xml"] = index(server, *[f"/{n}.xml" for n in range(50)])
    server.routes["*"] = lambda request: index(server, "/more.xml") if request.path == "/0.xml" else sitemap("ferry")
    result = Reader(server.url("/index.xml")).poll()
    assert len(server.requests) == 6
    assert result.row.outcome == "ok"


def test_an_index_whose_sitemaps_fail_has_failed(server: NewsServer) -> None:
    server.routes["/index.xml"] = index(server, "/a.xml", "/b.xml")
    result = Reader(server.url("/index.xml")).poll()
    assert (result.row.outcome, result.row.failures) == ("not_found", 1)


def test_a_missing_sitemap_of_an_index_is_no_gap(server: NewsServer) -> None:
    server.routes |= {
        "/index.xml": index(server, "/a.xml", "/b.xml"), "/a.xml": [sitemap("one"), 500, sitemap("one")],
        "/b.xml": [sitemap("two"), sitemap("three"), sitemap("three")],
    }  # fmt: skip
    reader = Reader(server.url("/index.xml"))
    rows = [reader.poll(TUESDAY + hours * HOUR).row for hours in range(3)]
    assert [row.gap_suspected for row in rows] == [False, False, False]
    assert [row.entries_new for row in rows] == [2, 1, 0]


def test_a_gzip_file_without_a_header_is_unpacked(server: NewsServer) -> None:
    packed = gzip.compress(sitemap("ferry").encode())
    server.routes["/news.xml.gz"] = Answer(body=packed, headers={"Content-Type": "application/octet-stream"})
    assert [entry.title for entry in Reader(server.url("/news.xml.gz")).poll().entries] == ["ferry"]


def test_a_sitemap_of_a_whole_site_is_no_feed(server: NewsServer) -> None:
    server.routes["/sitemap.xml"] = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://harbour.example/about</loc>'
        "<lastmod>2026-03-10</lastmod></url></urlset>"
    )
    result = Reader(server.url("/sitemap.xml")).poll()
    assert (result.row.outcome, memory(result).note) == ("not_feed", "a sitemap without news")


def test_robots_txt_is_asked_for_the_target_of_a_redirect_too(server: NewsServer) -> None:
    server.routes |= {
        "/robots.txt": "User-agent: *\nDisallow: /private",
        "/feed": Answer(302, headers={"Location": "/private/feed"}),
        "/private/feed": feed(1),
    }
    result = Reader(FeedSource(server.url("/feed"), "harbour", robots=True)).poll()
    assert result.row.outcome == "robots"
    assert server.paths() == ["/robots.txt", "/feed"]
