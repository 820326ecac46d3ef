"""``newsbeam feeds check FILE_OR_URL``: what a document is and its entries as parsed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipeline.cli import main
from tests.feed_polls import rss
from tests.servers import Answer, NewsServer

FEED = """<?xml version="1.0"?><rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
<channel><title>The Ferry</title><ttl>90</ttl><skipDays><day>Sunday</day></skipDays>
<item><title>New boat</title><link>/1</link><guid isPermaLink="false">b1</guid><author>Ines Varga</author>
<pubDate>Mon, 30 Nov 2026 10:00:00 -0500</pubDate><category>Port</category><description>It floats.</description>
<enclosure url="https://ferry.example/1.mp3" type="audio/mpeg" length="12"/></item>
<item><title>Old boat</title><link>/2</link><pubDate>2026-11-29 08:30</pubDate></item>
</channel></rss>"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWSBEAM_HOST_GAP", "0")
    Path("feed.xml").write_text(FEED)
    Path("page.html").write_text("<!doctype html><title>Hello</title>")


def said(capsys, *words, code=0):
    assert main(["feeds", "check", *words]) == code
    return capsys.readouterr()


def report(capsys, *words, code=0):
    return [json.loads(line) for line in said(capsys, *words, "--json", code=code).out.splitlines()]


def test_the_report_of_a_file(capsys):
    (shown,) = report(capsys, "feed.xml", "--base", "https://ferry.example/feed")
    assert list(shown) == ["kind", "title", "warnings", "next_due_rules", "entries"]
    assert (shown["kind"], shown["title"], shown["warnings"]) == ("rss", "The Ferry", [])
    assert shown["next_due_rules"]["ttl_min"] == 90
    assert shown["next_due_rules"]["skip_days"] == ["Sunday"]
    first, second = shown["entries"]
    assert first == {
        "key": first["key"],
        "id": "b1",
        "title": "New boat",
        "url": "https://ferry.example/1",
        "published": "2026-11-30T15:00:00Z",
        "published_raw": "Mon, 30 Nov 2026 10:00:00 -0500",
        "zone_assumed": False,
        "updated": None,
        "summary": "It floats.",
        "content": None,
        "authors": ["Ines Varga"],
        "categories": ["Port"],
        "enclosures": [{"url": "https://ferry.example/1.mp3", "type": "audio/mpeg", "length": 12}],
    }
    assert (second["published"], second["zone_assumed"]) == ("2026-11-29T08:30:00Z", True)


def test_the_table_of_a_file(capsys):
    lines = said(capsys, "feed.xml", "--base", "https://ferry.example/feed").out.splitlines()
    assert lines[0] == "feed.xml: rss, The Ferry, 2 entries"
    assert lines[1] == "  asks not to be polled more often than every 90 min, nor on Sunday (GMT)"
    assert lines[4].split() == ["2026-11-30T15:00:00Z", "New", "boat", "https://ferry.example/1"]
    assert lines[5].split() == ["2026-11-29T08:30:00Z", "assumed", "Old", "boat", "https://ferry.example/2"]


def test_the_content_type_decides_what_the_bytes_mean(capsys):
    Path("feed.xml").write_bytes(
        rss(1).replace("Harbour Post", "Señal").replace(' encoding="UTF-8"', "").encode("latin-1")
    )
    (shown,) = report(capsys, "feed.xml", "--content-type", "application/xml; charset=iso-8859-1")
    assert shown["title"] == "Señal"


def test_a_compressed_file_is_read(capsys):
    Path("feed.xml.gz").write_bytes(gzip.compress(FEED.encode()))
    assert report(capsys, "feed.xml.gz")[0]["title"] == "The Ferry"


def test_what_is_no_feed_is_shown_for_what_it_is(capsys):
    shown = said(capsys, "page.html", "--json", code=1)
    assert json.loads(shown.out)["kind"] == "html"
    assert shown.err.startswith("page.html: a web page, not a feed; newsbeam feeds discover")
    Path("empty.xml").write_text("")
    Path("subs.opml").write_text('<opml version="2.0"><body/></opml>')
    assert [row["kind"] for row in report(capsys, "empty.xml", "subs.opml", code=1)] == ["empty", "unknown"]
    Path("f.yaml").write_text("- https://ferry.example/rss\n")
    assert "a list of feeds; newsbeam feeds check --feeds FILE" in said(capsys, "f.yaml", code=1).out


def test_several_documents_have_a_line_each_whatever_they_are(capsys):
    shown = said(capsys, "nix.xml", "feed.xml", "page.html", "--json", code=3)
    assert [json.loads(line)["kind"] for line in shown.out.splitlines()] == [None, "rss", "html"]
    assert "nix.xml: No such file or directory" in shown.err
    assert "1 of 3 documents are feeds" in shown.err


def test_an_address_is_asked_once(capsys):
    with NewsServer({"/feed": Answer(body=FEED, headers={"Content-Type": "text/html"}), "/nix": 503}) as server:
        (shown,) = report(capsys, server.url("/feed"), "--allow-loopback")
        assert server.paths() == ["/feed"]
        assert shown["entries"][0]["url"] == server.url("/1")
        (shown,) = report(capsys, server.url("/feed"), "--allow-loopback", "--base", "https://ferry.example/")
        assert shown["entries"][0]["url"] == "https://ferry.example/1"
        # A server that is busy is no case for a person.
        shown = report(capsys, server.url("/feed"), server.url("/nix"), "--allow-loopback")
        assert [row["kind"] for row in shown] == ["rss", None]


def test_an_index_of_sitemaps_is_read_as_one(capsys):
    sitemap = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>https://ferry.example/9</loc>'
        "<news:news><news:publication_date>2026-11-30</news:publication_date><news:title>Gull</news:title></news:news>"
        "</url></urlset>"
    )
    with NewsServer({"/news.xml": sitemap}) as server:
        server.routes["/index.xml"] = (
            '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<sitemap><loc>{server.url('/news.xml')}</loc></sitemap></sitemapindex>"
        )
        (shown,) = report(capsys, server.url("/index.xml"), "--allow-loopback")
    assert [entry["title"] for entry in shown["entries"]] == ["Gull"]


def test_files_are_read_whatever_the_config_says(capsys):
    Path("newsbeam.yaml").write_text("kep: all\n")
    assert report(capsys, "feed.xml")[0]["kind"] == "rss"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["https://ferry.example/feed"], "contact: is needed, since ferry.example would be asked"),
        (["feed.xml", "--feeds", "f.yaml"], "name either documents or --feeds"),
        (["feed.xml", "--base", "ferry"], '"ferry" is not an http:// or https:// address'),
        (["--base", "https://ferry.example/"], "--base and --content-type are for a document"),
        (["exec:~/x.sh://"], "write it as https://example.org/feed"),
    ],
)
def test_words_that_do_not_fit_are_a_usage_error(capsys, words, says):
    assert says in said(capsys, *words, code=2).err


def test_hostile_text_does_not_steer_the_terminal(capsys):
    Path("feed.xml").write_text(FEED.replace("The Ferry", "A\u202eB").replace("New boat", "X\u009b31mY"))
    shown = said(capsys, "feed.xml").out
    assert "\u202e" not in shown
    assert "\u009b" not in shown


@pytest.mark.parametrize("order", [lambda feeds, url: [*feeds, url], lambda feeds, url: [url, *feeds]])
def test_an_address_beside_a_list_is_asked_too_in_either_order(capsys, order):
    with NewsServer({"/a.xml": FEED, "/b.xml": FEED}) as server:
        Path("list.txt").write_text(server.url("/a.xml"))
        words = order(["--feeds", "list.txt"], server.url("/b.xml"))
        shown = said(capsys, *words, "--allow-loopback")
    assert "2 of 2 feeds can be used" in shown.err


def test_an_entry_without_title_shows_the_start_of_its_text(capsys):
    items = "<item><link>/1</link><description>Ice on the canal.</description></item><item><link>/2</link></item>"
    Path("bare.xml").write_text(f"<rss version='2.0'><channel><title>Lake</title>{items}</channel></rss>")
    shown = said(capsys, "bare.xml", "--base", "https://lake.example/").out
    assert "[Ice on the canal.]" in shown
    assert "(untitled)" in shown
