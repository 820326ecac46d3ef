"""``newsbeam feeds list`` and ``check`` as a user meets them; the servers are real ones on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from tests.servers import Answer, NewsServer

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>The Ferry</title><link>http://ferry.example/</link>
<item><title>New boat</title><link>http://ferry.example/1</link><pubDate>Mon, 30 Nov 2026 10:00:00 GMT</pubDate></item>
<item><title>Old boat</title><link>http://ferry.example/2</link><pubDate>Sun, 29 Nov 2026 10:00:00 GMT</pubDate></item>
</channel></rss>"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWSBEAM_HOST_GAP", "0")


@pytest.fixture
def server():
    routes = {
        "/feed": Answer(body=RSS, headers={"Content-Type": "application/rss+xml"}),
        "/moved": Answer(301, headers={"Location": "/feed"}),
        "/page": "<!doctype html><html><title>Hello</title><p>No feed here.</html>",
    }
    with NewsServer(routes) as running:
        yield running


def checked(capsys, *words, code=0):
    assert main(["feeds", "check", "--allow-loopback", "--json", *words]) == code
    said = capsys.readouterr()
    return {row["id"]: row for row in map(json.loads, said.out.splitlines())}, said.err


def test_what_came_of_each_feed(server, capsys):
    Path("f.yaml").write_text(
        "feeds:\n"
        + "".join(f"  - {{id: {name}, url: '{server.url('/' + name)}'}}\n" for name in ("feed", "moved", "page", "nix"))
    )
    rows, err = checked(capsys, "--feeds", "f.yaml", code=3)  # a page, and an address that is gone
    assert rows["feed"] == {
        "id": "feed",
        "url": server.url("/feed"),
        "outcome": "ok",
        "http_status": 200,
        "kind": "rss",
        "entries": 2,
        "newest": "2026-11-30T10:00:00+00:00",
        "redirected_to": None,
        "note": None,
    }
    assert (rows["moved"]["outcome"], rows["moved"]["redirected_to"]) == ("ok", server.url("/feed"))
    assert (rows["page"]["outcome"], rows["page"]["note"]) == ("not_feed", "a web page")
    assert (rows["nix"]["outcome"], rows["nix"]["http_status"]) == ("not_found", 404)
    assert err == "2 of 4 feeds can be used\n"


def test_a_line_for_people(server, capsys):
    assert main(["feeds", "check", "--allow-loopback", "--feeds", server.url("/feed")]) == 0
    said = capsys.readouterr()
    assert said.out == f"ok             127.0.0.1  {server.url('/feed')}  rss, 2 entries, newest 2026-11-30\n"
    assert said.err == "1 of 1 feed can be used\n"


def test_if_no_feed_can_be_used_it_failed(server, capsys):
    rows, err = checked(capsys, "--feeds", server.url("/nix"), code=1)
    assert len(rows) == 1
    assert err == "0 of 1 feed can be used\n"


def test_other_peoples_servers_are_not_asked_without_a_contact(capsys):
    assert main(["feeds", "check", "--feeds", "https://lantern.example/feed"]) == 2
    assert "contact: is needed, since lantern.example would be asked; add --contact" in capsys.readouterr().err


def test_without_feeds_the_next_step_is_named(capsys):
    assert main(["feeds", "check"]) == 2
    assert capsys.readouterr().err.startswith("newsbeam: there are no feeds; name them with --feeds")


def test_the_list_of_feeds(capsys):
    Path("f.yaml").write_text("- {url: 'https://ann:pw@lantern.example/feed?token=abc', country: NO, interval: 90m}\n")
    assert main(["feeds", "list", "--feeds", "f.yaml"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[2].split() == ["lantern.example", "https://lantern.example/feed?token=***", "1h30m", "NO"]
    assert main(["feeds", "list", "--json", "--feeds", "f.yaml"]) == 0
    assert json.loads(capsys.readouterr().out)["country"] == "NO"


def test_mistakes_in_a_list_of_feeds_are_lines(capsys):
    Path("f.yaml").write_text("- {url: https://lantern.example/feed, intervall: 90m}\n- nix\n")
    assert main(["feeds", "list", "--feeds", "f.yaml"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        'f.yaml:1:39: feeds[0].intervall: unknown key; did you mean "interval"?',
        'f.yaml:2:3: feeds[1].url: "nix" is not an http:// or https:// address',
        "newsbeam: 2 mistakes; nothing was done",
    ]
