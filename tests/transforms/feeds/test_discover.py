from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.feed_polls import TUESDAY, feed, make_asker, run_at
from tests.servers import NewsServer
from transforms.feeds.discover import discover_feeds, discover_site, news_sitemaps
from transforms.feeds.poll import PollLimits, poll
from transforms.records import FeedSource

HOME = "https://harbour.example/"


def page(*links: str, head: str = "") -> bytes:
    return f"<!doctype html><html><head><meta charset=utf-8>{head}{''.join(links)}</head><body></body></html>".encode()


def link(href: str, kind: str = "application/rss+xml", title: str = "", rel: str = "alternate") -> str:
    return f'<link rel="{rel}" type="{kind}" title="{title}" href="{href}">'


def urls(body: bytes, page_url: str = HOME, headers: dict[str, str] | None = None) -> list[str]:
    return [feed.url for feed in discover_feeds(body, page_url, headers)]


def test_finds_every_kind_of_feed_in_the_order_of_the_page() -> None:
    body = page(
        link("/a.rss"),
        link("/b.atom", "application/atom+xml"),
        link("/c.rdf", "application/rdf+xml"),
        link("/d.json", "application/feed+json"),
    )
    found = discover_feeds(body, HOME)
    assert [(feed.url, feed.kind, feed.rank) for feed in found] == [
        ("https://harbour.example/a.rss", "rss", 0),
        ("https://harbour.example/b.atom", "atom", 1),
        ("https://harbour.example/c.rdf", "rdf", 2),
        ("https://harbour.example/d.json", "json", 3),
    ]


def test_comment_feeds_come_last() -> None:
    body = page(
        link("/comments/feed/", title="Harbour Post &raquo; Comments Feed"), link("/feed/", title="Harbour Post")
    )
    assert urls(body) == ["https://harbour.example/feed/", "https://harbour.example/comments/feed/"]


def test_letter_case_type_parameters_and_several_relations_do_not_matter() -> None:
    body = page('<LINK REL="Home Alternate" TYPE="Application/RSS+XML; charset=UTF-8" HREF="/News.rss">')
    assert urls(body) == ["https://harbour.example/News.rss"]


def test_relative_addresses_are_resolved_against_the_page_or_its_base() -> None:
    assert urls(page(link("./de.atom")), "https://status.example/de") == ["https://status.example/de.atom"]
    with_base = page(link("feed.xml"), head='<base target="_top"><base href="/blog/"><base href="/other/">')
    assert urls(with_base) == ["https://harbour.example/blog/feed.xml"]
    protocol = page(link("//feeds.harbour.example/all"))
    assert urls(protocol) == ["https://feeds.harbour.example/all"]


def test_one_address_is_offered_once() -> None:
    body = page(link("/rss.php", "application/rdf+xml"), link("/rss.php"), link("/rss.php#top"))
    assert urls(body) == ["https://harbour.example/rss.php"]


def test_what_is_no_feed_is_not_offered() -> None:
    body = page(
        link("/wp-json/wp/v2/pages/7", "application/json"),
        link("/wp-json/oembed/1.0/embed?url=x", "application/json+oembed"),
        link("/embed?url=x", "text/xml+oembed"),
        link("/oembed.xml", "text/xml", title="RSS"),
        link("/de/", "text/html"),
        link("/app", ""),
        link("/feed.css", "application/rss+xml", rel="alternate stylesheet"),
        link("/feed.rss", "application/rss+xml", rel="canonical"),
        link("", "application/rss+xml"),
        link("javascript:alert(1)"),
        link("ftp://harbour.example/feed"),
        link("http://[broken/feed"),
    )
    assert urls(body) == []


def test_types_that_say_little_count_if_the_address_or_title_names_a_feed() -> None:
    body = page(
        link("/feed.json", "application/json"),
        link("/data.json", "application/json"),
        link("/rss.xml", "text/xml"),
        link("/latest", "application/xml", title="Latest news RSS"),
        link("/opensearch.xml", "application/xml", title="Search"),
    )
    assert urls(body) == [f"https://harbour.example/{name}" for name in ("feed.json", "rss.xml", "latest")]


def test_feed_scheme_is_read_as_https() -> None:
    body = page(link("feed://harbour.example/a"), link("feed:http://harbour.example/b"))
    assert urls(body) == ["https://harbour.example/a", "http://harbour.example/b"]


def test_link_header_is_read_against_the_page_address_not_the_base() -> None:
    header = (
        '</x>; rel=preload; as=style, </feed.atom>; title="News, local \\"and\\" far"; REL="alternate nofollow";'
        ' type="application/atom+xml", <other>; rel=alternate; type=application/rss+xml'
    )
    found = discover_feeds(page(head='<base href="/blog/">'), HOME, {"link": header})
    assert [(feed.url, feed.title) for feed in found] == [
        ("https://harbour.example/feed.atom", 'News, local "and" far'),
        ("https://harbour.example/other", None),
    ]


def test_links_in_comments_and_scripts_are_no_links() -> None:
    commented = b"<html><head><!-- " + link("/old.rss").encode() + b" --><script>var x = '" + link("/x").encode()
    assert urls(commented + b"'</script></head></html>") == []


def test_the_charset_of_the_header_is_used_for_titles() -> None:
    body = b'<html><head><link rel=alternate type="application/rss+xml" href=/f title="Nouvelles de l\xe9t\xe9"></head>'
    assert discover_feeds(body, HOME, {"content-type": "text/html; charset=iso-8859-1"})[0].title == "Nouvelles de lété"


def test_an_unknown_charset_and_empty_or_binary_bodies_are_no_trouble() -> None:
    assert urls(page(link("/f")), headers={"content-type": "text/html; charset=x-none"}) == [HOME + "f"]
    for body in (b"", b" ", b"\x00" * 50, b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"<!-- -->"):
        assert urls(body) == []


def test_at_most_a_hundred_feeds_are_offered() -> None:
    assert len(urls(page(*[link(f"/feed/{n}") for n in range(500)]))) == 100


def test_news_sitemaps_are_found_in_robots_txt() -> None:
    robots = (
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /search\nSITEMAP: https://harbour.example/sitemap-news.xml\r\n"
        b"Sitemap: https://harbour.example/sitemap.xml\n sitemap:/google-news.xml.gz # daily\n"
        b"Sitemap: ftp://harbour.example/news.xml\n"
    )
    found = news_sitemaps(robots, "https://harbour.example/robots.txt")
    assert [(feed.url, feed.kind) for feed in found] == [
        ("https://harbour.example/sitemap-news.xml", "sitemap"),
        ("https://harbour.example/google-news.xml.gz", "sitemap"),
    ]


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.text(max_size=100), st.text(max_size=100))
def test_never_raises_whatever_the_answer_holds(body: bytes, header: str, content_type: str) -> None:
    discover_feeds(page(link("/f")) + body, HOME, {"link": header, "content-type": content_type})
    discover_feeds(body, HOME, {"link": f"<{header}>; rel=alternate; type=application/rss+xml"})
    news_sitemaps(body, HOME)


ROBOTS = "User-agent: *\nDisallow: /private\nSitemap: {origin}/news-sitemap.xml\n"


def test_a_site_is_looked_at_with_one_request_and_robots_txt() -> None:
    with NewsServer({"/": page(link("/feed")).decode()}, host="127.0.0.38") as server:
        server.routes["/robots.txt"] = ROBOTS.format(origin=server.origin)
        run = run_at(TUESDAY)
        found = discover_site(server.url("/"), make_asker(run), run)
        assert [feed.url for feed in found.feeds] == [server.url("/feed"), server.url("/news-sitemap.xml")]
        assert (found.is_feed, found.refusal) == (False, None)
        assert server.paths() == ["/robots.txt", "/"]


def test_a_page_that_is_a_feed_is_found_and_its_answer_is_the_first_poll() -> None:
    with NewsServer({"/feed": feed(1, 2, ETag='"a"')}, host="127.0.0.38") as server:
        run = run_at(TUESDAY)
        asker = make_asker(run)
        found = discover_site(server.url("/feed"), asker, run)
        assert found.is_feed
        assert [(feed.url, feed.title, feed.kind) for feed in found.feeds] == [
            (server.url("/feed"), "Harbour Post", "rss")
        ]
        source = FeedSource(server.url("/feed"), "harbour")
        result = poll(source, None, asker=asker, limits=PollLimits(1e9), run=run, at_hand=found.exchange)
        assert (len(result.entries), result.row.etag) == (2, '"a"')
        assert server.paths() == ["/robots.txt", "/feed"]


def test_a_site_that_asks_robots_not_to_look_is_left_alone() -> None:
    with NewsServer({"/robots.txt": ROBOTS, "/private/": page(link("/feed"))}, host="127.0.0.38") as server:
        run = run_at(TUESDAY)
        found = discover_site(server.url("/private/"), make_asker(run), run)
        assert (found.exchange, found.feeds, found.refusal) == (None, (), "robots")
        assert server.paths() == ["/robots.txt"]


def test_a_site_that_cannot_be_had_says_why() -> None:
    with NewsServer({}, host="127.0.0.38") as server:
        run = run_at(TUESDAY)
        assert discover_site(server.url("/"), make_asker(run), run).refusal == "not_found"
        refused = discover_site("ftp://harbour.example/", make_asker(run), run)
        assert (refused.refusal, refused.feeds) == ("bad_url", ())
