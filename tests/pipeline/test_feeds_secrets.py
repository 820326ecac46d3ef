"""Passwords in addresses, wherever they come from: no table, manifest, message or list holds them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from tests.program import newsbeam, page, rss
from tests.rows import read_rows
from tests.servers import Answer, NewsServer

SECRET = "hunter2"
LOGIN = f"desk:{SECRET}@"


@pytest.fixture
def server():
    routes = {f"/story/{number}": page(number) for number in range(8)}
    with NewsServer(routes, host="127.0.0.3") as running:
        yield running


def with_login(url: str) -> str:
    return url.replace("://", f"://{LOGIN}")


def inputs(folder: Path, server: NewsServer) -> list[str]:
    """All ways in which an address comes in, good and damaged ones."""
    text = "The council of Harrow Bay voted on the new shelter for asylum seekers on Monday night. " * 5
    records = [
        {
            "url": with_login(server.url("/seed/1")),
            "title": "Beds",
            "text": text,
            "id": with_login("https://a.example/1"),
        },
        {"url": with_login(server.url("/story/1")), "title": "Fetched"},
        {"url": f"https://desk:{SECRET}@bad host/", "title": "No host"},
        {"url": f"https://desk:{SECRET}/x@no-port.example/", "title": "Slash in the password"},
    ]
    lines = [*map(json.dumps, records), f'{{"url": "https:\\/\\/{LOGIN}a.example\\/", broken']
    (folder / "seeds.jsonl").write_text("\n".join(lines))
    (folder / "saved.xml").write_text(rss([with_login(server.url("/story/2")), f"ht!tp://{LOGIN}c.example/"]))
    listed = [with_login(server.url("/story/3")), f"https://{LOGIN}kestrel[bay.example/", f"ftp://{LOGIN}d.example/"]
    (folder / "urls.txt").write_text("\n".join(listed), encoding="utf-16")
    feed = rss([with_login(server.url("/story/4")), f"{LOGIN}:", with_login("https://odd host.example/")])
    server.routes["/feed.xml"] = feed.replace("item-0", with_login("https://a.example/0"))
    server.routes["/moved.xml"] = lambda request: _redirect(with_login(server.url("/feed.xml")))
    (folder / "feeds.yaml").write_text(
        f"feeds:\n  - {server.url('/feed.xml')}\n  - {server.url('/moved.xml')}\n"
        f"  - url: {with_login(server.url('/locked.xml'))}\n    id: locked\n  - {with_login(server.url('/too.xml'))}\n"
    )
    flags = ["--feeds", folder / "feeds.yaml", "--seeds", folder / "seeds.jsonl", folder / "saved.xml"]
    return [str(word) for word in [*flags, "--urls", folder / "urls.txt", "--allow-loopback"]]


def _redirect(target: str) -> Answer:
    return Answer(302, headers={"Location": target})


def test_a_run_keeps_no_password_of_an_address(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NEWSBEAM_HOST_GAP", "0")
    flags = [*inputs(tmp_path, server), "-d", tmp_path / "out"]
    done = newsbeam("run", *flags, "-vv", "--json", "--now", "2026-11-30T10:00:00Z")
    assert SECRET not in done.stdout + done.stderr

    for table in ("articles", "article_topics", "rejects", "fetches"):
        for row in read_rows(tmp_path / "out", table):
            assert SECRET not in repr(row), (table, row)
    for file in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        assert SECRET.encode() not in file.read_bytes(), file

    # Every address is asked, without the login; feeds of the user that have one are refused.
    assert {"/story/1", "/story/2", "/story/3", "/story/4"} <= set(server.paths())
    assert not any("authorization" in request.headers for request in server.requests)
    seed = next(row for row in read_rows(tmp_path / "out", "articles") if row["url"] == server.url("/seed/1"))
    assert "login_removed" in seed["warnings"]
    polls = {row["url"]: row["outcome"] for row in read_rows(tmp_path / "out", "fetches") if row["kind"] == "feed"}
    assert polls[server.url("/locked.xml")] == polls[server.url("/moved.xml")] == "bad_url"

    feeds = ["--feeds", str(tmp_path / "feeds.yaml")]
    for words in (["list"], ["list", "--json"], ["health", "-d", str(tmp_path / "out")], ["check", "--allow-loopback"]):
        main(["feeds", *words, *feeds])
    main(["feeds", "check", with_login(server.url("/feed.xml")), "--allow-loopback", "--json"])
    main(["feeds", "check", str(tmp_path / "saved.xml"), "--json"])
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
    assert server.url("/locked.xml") in said.out


@pytest.mark.parametrize(
    "words",
    [
        ["feeds", "add", f"ht!tp://{LOGIN}a.example/"],
        ["feeds", "add", f"https://desk:{SECRET}/x@a.example/", "--unchecked"],
        ["feeds", "discover", f"https://{LOGIN}a.example/"],
        ["feeds", "discover", f"http://{LOGIN}127.0.0.1:9/", "--allow-loopback"],
        ["feeds", "check", f"https://{LOGIN}[a.example/feed"],
        ["feeds", "check", "x.xml", "--base", f"ftp://{LOGIN}a.example/"],
        ["run", "--feeds", f"https://{LOGIN}a.example/feed", f"gopher://{LOGIN}a.example/", "--seeds", "none"],
        ["feeds", "list", "--feeds", f"https://{LOGIN}a[b.example/feed"],
    ],
)
def test_no_mistake_shows_a_password(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) in (1, 2)
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
    assert said.err


def test_lists_from_elsewhere_show_no_password(tmp_path, capsys):
    source, target = tmp_path / "list.csv", tmp_path / "mine.yaml"
    source.write_text(f"url,title\nhttps://{LOGIN}a.example/feed,A\nhttps://desk:{SECRET}/x@b.example/,B\n{LOGIN},C\n")
    main(["feeds", "import", str(source), "--file", str(target)])
    main(["feeds", "export", "-", "--feeds", str(target)])
    twice = f"feeds:\n  - https://{LOGIN}a.example/feed\n  - https://{LOGIN}a.example/feed/\n  - url: {LOGIN}x\n"
    target.write_text(twice)
    assert main(["check", "--feeds", str(target)]) == 2
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err
