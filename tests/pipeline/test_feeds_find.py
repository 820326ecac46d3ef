"""``newsbeam feeds discover`` and ``add``: from a site to a line in the feeds file; servers are real, on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.feeds.choice import clearly_best, name_of
from tests.feed_polls import rss
from tests.servers import Answer, NewsServer, watched_connections
from transforms.feeds.discover import FoundFeed

XML = {"Content-Type": "application/rss+xml"}


def page(*links):
    tags = "".join(
        f'<link rel="alternate" type="application/{kind}+xml" title="{title}" href="{href}">'
        for kind, title, href in links
    )
    return f"<!doctype html><html><head><title>Harbour</title>{tags}</head><body>News</body></html>"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWSBEAM_HOST_GAP", "0")


@pytest.fixture
def server():
    routes = {
        "/feed": Answer(body=rss(1, 2), headers=XML),
        "/old": Answer(301, headers={"Location": "/feed"}),
        "/": page(("rss", "Harbour Post » Feed", "/feed"), ("rss", "Harbour Post » Comments Feed", "/comments/feed")),
        "/both": page(("rss", "Harbour RSS", "/feed"), ("atom", "Harbour Atom", "/feed/atom")),
        "/many": page(("rss", "Sport", "/sport.rss"), ("rss", "Politics", "/politics.rss")),
        "/none": page(),
    }
    with NewsServer(routes) as running:
        yield running


def said(capsys, *words, code=0):
    assert main(["feeds", *words]) == code
    return capsys.readouterr()


def add(capsys, *words, code=0):
    return said(capsys, "add", *words, "--file", "f.yaml", "--allow-loopback", code=code)


def test_a_feed_is_asked_once_and_added(server, capsys):
    Path("f.yaml").write_text("# mine\nfeeds:\n  - https://lantern.example/feed  # first\n# end\n")
    shown = add(capsys, server.url("/feed"), "--tag", "local", "--tag", "port")
    assert shown.out == f"f.yaml:4: {server.url('/feed')}\n"
    assert shown.err == "added Harbour Post: rss, 2 entries, newest 2026-03-10\n"
    assert server.paths() == ["/robots.txt", "/feed"]
    assert Path("f.yaml").read_text() == (
        "# mine\nfeeds:\n  - https://lantern.example/feed  # first\n"
        f"  - name: Harbour Post\n    url: {server.url('/feed')}\n    tags: [local, port]\n# end\n"
    )


def test_a_file_that_is_not_there_is_made(server, capsys):
    add(capsys, server.url("/feed"), "--name", "Port: daily")
    assert Path("f.yaml").read_text() == (
        f"version: 1\n\nfeeds:\n  - name: 'Port: daily'\n    url: {server.url('/feed')}\n"
    )
    assert said(capsys, "list", "--feeds", "f.yaml", "--json").out.count("Port: daily") == 1


def test_a_site_leads_to_its_one_feed_of_stories(server, capsys):
    shown = add(capsys, server.url("/"))
    assert shown.out == f"f.yaml:4: {server.url('/feed')}\n"
    assert shown.err == "added Harbour Post: rss, announced by the page, one of 2; not asked yet\n"
    assert server.paths() == ["/robots.txt", "/"]


def test_the_same_feed_in_two_forms_is_one_choice(server, capsys):
    assert add(capsys, server.url("/both")).out == f"f.yaml:4: {server.url('/feed')}\n"


def test_if_several_feeds_could_be_meant_they_are_shown(server, capsys):
    shown = add(capsys, server.url("/many"), code=2)
    assert [line.split() for line in shown.out.splitlines()[2:]] == [
        ["rss", "Sport", server.url("/sport.rss")],
        ["rss", "Politics", server.url("/politics.rss")],
    ]
    assert "announces 2 feeds; name one of them" in shown.err
    assert not Path("f.yaml").exists()


@pytest.mark.parametrize(
    ("path", "says"),
    [("/none", "is a web page and announces no feed;"), ("/nix", "could not be had: not_found (status 404)")],
)
def test_what_leads_to_no_feed_is_not_added(server, capsys, path, says):
    assert says in add(capsys, server.url(path), code=1).err
    assert not Path("f.yaml").exists()


@pytest.mark.parametrize("spelling", ["{0}", "{0}/", "{0}?utm_source=x", "{0}#top"])
def test_a_feed_that_is_listed_in_another_spelling_is_refused_before_anything_is_asked(server, capsys, spelling):
    Path("f.yaml").write_text(f"- {server.url('/feed')}\n")
    shown = add(capsys, spelling.format(server.url("/feed")), code=2)
    assert "is listed already: f.yaml:1:3" in shown.err
    assert server.requests == []


def test_what_a_redirect_or_page_leads_to_may_be_listed_too(server, capsys):
    Path("f.yaml").write_text(f"- {server.url('/feed')}\n")
    for path in ("/old", "/"):
        assert f"{server.url('/feed')} is listed already: f.yaml:1:3" in add(capsys, server.url(path), code=2).err
    assert Path("f.yaml").read_text() == f"- {server.url('/feed')}\n"


def test_a_feed_that_has_moved_for_good_is_listed_where_it_is(server, capsys):
    shown = add(capsys, server.url("/old"))
    assert shown.out == f"f.yaml:4: {server.url('/feed')}\n"
    assert "the server moved it for good" in shown.err


def test_robots_txt_is_obeyed_and_a_known_feed_can_be_added_all_the_same(server, capsys):
    server.routes["/robots.txt"] = "User-agent: *\nDisallow: /\n"
    assert "robots.txt asks robots not to fetch" in add(capsys, server.url("/feed"), code=1).err
    assert server.paths() == ["/robots.txt"]
    assert add(capsys, server.url("/feed"), "--unchecked").out == f"f.yaml:4: {server.url('/feed')}\n"
    assert server.paths() == ["/robots.txt"]


def test_the_config_says_where_feeds_are_added(server, capsys):
    Path("newsbeam.yaml").write_text("feeds: [mine.yaml, https://ferry.example/rss]\nallow_loopback: true\n")
    Path("mine.yaml").write_text("- https://lantern.example/feed\n")
    assert said(capsys, "add", server.url("/feed")).out == f"mine.yaml:2: {server.url('/feed')}\n"
    assert "is listed already: newsbeam.yaml:1:" in said(capsys, "add", "ferry.example/rss", "--unchecked", code=2).err


def test_without_a_feeds_file_one_has_to_be_named(capsys):
    assert "name one with --file" in said(capsys, "add", "https://ferry.example/", "--unchecked", code=2).err
    Path("newsbeam.yaml").write_text("feeds: [a.yaml, b.yaml]\n")
    assert "name one of them with --file" in said(capsys, "add", "https://ferry.example/", "--unchecked", code=2).err


def test_other_peoples_servers_are_not_asked_without_a_contact(capsys):
    for words in (["add", "ferry.example", "--file", "f.yaml"], ["discover", "feed://ferry.example/"]):
        assert "contact: is needed, since ferry.example would be asked" in said(capsys, *words, code=2).err


def test_without_a_contact_no_redirect_leads_off_this_machine(server, capsys):
    server.routes["/out"] = Answer(302, headers={"Location": "https://ferry.example/"})
    with watched_connections() as tried:
        shown = said(capsys, "discover", server.url("/out"), "--allow-loopback", code=1)
    assert "could not be had: deferred (redirect to https://ferry.example/: no contact is set; without one" in shown.err
    assert {address[0] for address in tried} == {"127.0.0.1"}


def test_without_a_contact_no_robots_txt_leads_off_this_machine(server, capsys):
    server.routes["/robots.txt"] = Answer(302, headers={"Location": "https://ferry.example/robots.txt"})
    with watched_connections() as tried:
        shown = said(capsys, "discover", server.url("/out"), "--allow-loopback", code=1)
    assert "could not be had: deferred (robots.txt could not be read)" in shown.err
    assert {address[0] for address in tried} == {"127.0.0.1"}


def test_this_machine_is_not_asked_unless_allowed(server, capsys):
    assert "could not be had: blocked_address" in said(capsys, "discover", server.url("/"), code=1).err
    assert server.requests == []


@pytest.mark.parametrize("word", ["exec:~/feed.sh", "ht!tp://", "mailto:a@b.example", ""])
def test_what_is_no_address_is_a_usage_error(capsys, word):
    assert "write it as https://example.org/feed" in said(capsys, "discover", word, code=2).err


def test_names_are_cleaned_before_they_are_written(server, capsys):
    server.routes["/feed"] = rss(1).replace("Harbour Post", "Harbour \u202ePost\n ${HOME} $5")
    add(capsys, server.url("/feed"))
    (row,) = map(json.loads, said(capsys, "list", "--feeds", "f.yaml", "--json").out.splitlines())
    assert row["name"] == "Harbour Post ${HOME} $5"


def test_discover_shows_what_a_site_announces(server, capsys):
    server.routes["/"] = Answer(
        body=page(("rss", "Harbour", "/feed")),
        headers={"Link": '</all.atom>; rel="alternate"; type="application/atom+xml"'},
    )
    server.routes["/robots.txt"] = "Sitemap: /news-sitemap.xml\nSitemap: /sitemap.xml\n"
    shown = said(capsys, "discover", server.url("/"), "--allow-loopback", "--json")
    assert [json.loads(line) for line in shown.out.splitlines()] == [
        {"url": server.url("/all.atom"), "title": None, "kind": "atom"},
        {"url": server.url("/feed"), "title": "Harbour", "kind": "rss"},
        {"url": server.url("/news-sitemap.xml"), "title": None, "kind": "sitemap"},
    ]
    assert shown.err == ""
    assert server.paths() == ["/robots.txt", "/"]


def test_discover_says_when_there_is_nothing(server, capsys):
    shown = said(capsys, "discover", server.url("/none"), "--allow-loopback", code=1)
    assert (shown.out, shown.err) == (
        "",
        f"newsbeam: {server.url('/none')} is a web page and announces no feed; a feed that you know can be added by its own address\n",
    )


HOME = "https://harbour.example"


@pytest.mark.parametrize(
    ("found", "best"),
    [
        ([("/feed/", "Harbour » Feed"), ("/comments/feed/", "Harbour » Comments Feed")], "/feed/"),
        ([("/rss.xml", "Harbour (RSS)"), ("/atom.xml", "Harbour (Atom)"), ("/feed.json", "Harbour JSON")], "/rss.xml"),
        ([("/a/feed", "RSS"), ("/b/feed", "RSS")], None),
        ([("/a.rss", "Harbour"), ("/b.rss", "Harbour")], None),
        ([("/comments/feed/", "Comments")], "/comments/feed/"),
        ([("/x/comments/feed/", "Comments on x"), ("/y/comments/feed/", "Comments on y")], None),
    ],
)
def test_which_feed_is_clearly_meant(found, best):
    chosen = clearly_best([FoundFeed(HOME + path, title, "rss", i) for i, (path, title) in enumerate(found)])
    assert (chosen and chosen.url) == (best and HOME + best)


def test_a_sitemap_counts_only_where_there_is_no_feed():
    feed, sitemap = FoundFeed(HOME + "/feed", None, "rss"), FoundFeed(HOME + "/news.xml", None, "sitemap")
    assert clearly_best([feed, sitemap]) == feed
    assert clearly_best([sitemap]) == sitemap


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Harbour Post » Feed", "Harbour Post"),
        ("Harbour | RSS 2.0", "Harbour"),
        ("RSS", None),
        ("Feedback", "Feedback"),
    ],
)
def test_the_name_in_an_announced_title(title, name):
    assert name_of(title) == name
