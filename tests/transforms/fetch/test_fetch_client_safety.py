"""Refused addresses: nothing is asked, and no connection is tried. A guard keeps all of it on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.servers import Answer, NewsServer, names, watched_connections
from transforms.fetch.client import HttpClient

MakeClient = Callable[..., HttpClient]

INNER = [
    "127.0.0.1",
    "10.0.0.5",
    "169.254.169.254",
    "::1",
    "fe80::1%lo",
    "::ffff:10.0.0.5",
    "64:ff9b::7f00:1",
    "fec0::1",
]


@pytest.fixture(name="tried")
def fixture_tried() -> Iterator[list[Any]]:
    with watched_connections() as tried:
        yield tried


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "①②⑦.⓪.⓪.①", "[::1]", "[::ffff:127.0.0.1]"),
        *(
            "[64:ff9b::7f00:1]",
            "localhost",
            "169.254.169.254",
            "[fd00:ec2::254]",
            "192.168.0.1",
            "metadata.google.internal",
        ),
    ],
)
def test_inner_hosts_are_blocked_in_all_spellings(make_client: MakeClient, tried: list[Any], host: str) -> None:
    with names({}) as asked:
        got = make_client(allow_loopback=False).get(f"http://{host}/secret")
    assert (got.outcome, got.http_status) == ("blocked_address", None)
    assert tried == []
    assert asked == []


@pytest.mark.parametrize("ip", INNER)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_names_that_lead_inside_are_blocked(make_client: MakeClient, tried: list[Any], scheme: str, ip: str) -> None:
    with names({"evil.example": [ip]}):
        got = make_client(allow_loopback=False).get(f"{scheme}://evil.example/")
    assert got.outcome == "blocked_address"
    assert "evil.example" in got.detail
    assert tried == []


@pytest.mark.parametrize("ip", [ip for ip in INNER if ip not in ("127.0.0.1", "::1")])
def test_open_loopback_opens_nothing_else(make_client: MakeClient, tried: list[Any], ip: str) -> None:
    with names({"evil.example": [ip]}):
        assert make_client().get("http://evil.example/").outcome == "blocked_address"
    assert tried == []


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/meta-data/", "http://evil.example/", "http://0xa9fea9fe/", "//10.0.0.1/"]
)
def test_a_redirect_inside_is_blocked(make_client: MakeClient, tried: list[Any], target: str) -> None:
    with NewsServer({"/a": Answer(302, headers={"Location": target})}) as server, names({"evil.example": ["10.0.0.5"]}):
        got = make_client().get(server.url("/a"))
    assert got.outcome == "blocked_address"
    assert (got.http_status, got.redirects[0][0]) in ((302, 302), (None, 302))
    assert tried == [("127.0.0.1", server.port)]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://news.example/", "gopher://news.example/", "http://me:pass@news.example/"]
)
def test_a_redirect_to_anything_but_http_is_a_bad_url(make_client: MakeClient, tried: list[Any], target: str) -> None:
    with NewsServer({"/a": Answer(301, headers={"Location": target})}) as server:
        got = make_client().get(server.url("/a"))
    assert got.outcome == "bad_url"
    assert "pass@" not in repr(got)
    assert len(tried) == 1


def test_a_name_that_changes_its_mind_is_connected_to_where_it_was_checked(
    make_client: MakeClient, tried: list[Any]
) -> None:
    """DNS rebinding: one look-up for each connection, judged, and connected to as judged."""
    with NewsServer({"/a": "<p>inner"}) as inner, names({"rebind.example": [["8.8.8.8"], ["127.0.0.1"]]}) as asked:
        client = make_client(allow_loopback=False, retries=0)
        first = client.get(f"http://rebind.example:{inner.port}/a")
        assert (first.outcome, asked) == ("connect_error", ["rebind.example"])  # the guard refuses what is not loopback
        assert client.get(f"http://rebind.example:{inner.port}/a").outcome == "blocked_address"
        assert asked == ["rebind.example"] * 2
    assert tried == [("8.8.8.8", inner.port)]
    assert inner.requests == []


def test_of_a_mixed_answer_only_the_public_address_is_tried(make_client: MakeClient, tried: list[Any]) -> None:
    with names({"mixed.example": ["127.0.0.1", "10.0.0.1", "8.8.4.4"]}):
        assert make_client(allow_loopback=False, retries=0).get("http://mixed.example/").outcome == "connect_error"
    assert tried == [("8.8.4.4", 80)]


def test_credentials_in_an_address_are_neither_sent_nor_told(make_client: MakeClient, tried: list[Any]) -> None:
    got = make_client().get("http://me:secret@news.example/feed")
    assert (got.outcome, got.url) == ("bad_url", "http://news.example/feed")
    assert "secret" not in repr(got)
    assert tried == []
