"""The client against real servers on loopback: answers, redirects, retries, codings, TLS."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import brotli
import pytest

from tests.servers import Answer, NewsServer, names, watched_connections
from tests.transforms.fetch.walking import NOW, redirect
from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.coding import zstd

PAGE = b"<!doctype html><title>Ferry</title><p>The ferry to Brenn sails again.</p>" * 50

MakeClient = Callable[..., HttpClient]


def test_a_page_comes_with_all_that_is_known_of_it(make_client: MakeClient) -> None:
    headers = {"ETag": '"v1"', "Vary": "Accept", "X-Twice": "a"}
    with NewsServer({"/a?b=1": Answer(body=PAGE, headers=headers)}) as server:
        got = make_client().get(server.url("/a?b=1"), {"If-None-Match": '"v0"', "accept": "text/html"})
    assert (got.outcome, got.http_status, got.body, got.detail) == ("ok", 200, PAGE, "")
    assert (got.url, got.final_url, got.redirects, got.moved_to) == (
        server.url("/a?b=1"),
        server.url("/a?b=1"),
        (),
        None,
    )
    assert (got.started_at, got.retry_after_until) == (NOW, None)
    assert got.headers["etag"] == '"v1"'
    sent = server.requests[0].headers
    assert sent["user-agent"] == "newsbeam/1.0 (+desk@newsroom.example)"
    assert sent["if-none-match"] == '"v0"'
    assert (sent["accept"], sent["accept-encoding"]) == ("text/html", "gzip, deflate, br, zstd")
    assert sent["host"] == f"127.0.0.1:{server.port}"
    assert not {"cookie", "authorization"} & set(sent)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *[(304, "not_modified"), (404, "not_found"), (410, "gone"), (403, "denied"), (999, "denied")],
        *[(429, "rate_limited"), (300, "bad_url")],
    ],
)
def test_other_statuses_are_outcomes_without_a_body_and_asked_once(
    make_client: MakeClient, status: int, outcome: str
) -> None:
    with NewsServer({"/a": Answer(status, "sorry")}) as server:
        got = make_client().get(server.url("/a"))
    assert (got.outcome, got.http_status, got.body) == (outcome, status, b"")
    assert len(server.requests) == 1


def test_nothing_of_the_environment_is_used(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.9:9")
    monkeypatch.setenv("NETRC", "/nowhere")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere")
    with NewsServer({"/a": PAGE}) as server:
        assert make_client().get(server.url("/a")).outcome == "ok"


def test_redirects_are_followed_without_cookies(make_client: MakeClient) -> None:
    first = Answer(302, headers={"Location": "/b", "Set-Cookie": "seen=1"})
    with NewsServer({"/a": first, "/b": redirect("/c", 307), "/c": PAGE}) as server:
        got = make_client().get(server.url("/a"), {"X-Kept": "yes"})
    assert (got.outcome, got.body, got.final_url, got.moved_to) == ("ok", PAGE, server.url("/c"), None)
    assert got.redirects == ((302, server.url("/b")), (307, server.url("/c")))
    assert [request.headers.get("cookie") for request in server.requests] == [None] * 3
    assert {request.headers["x-kept"] for request in server.requests} == {"yes"}


def test_a_move_is_only_an_unbroken_run_of_permanent_redirects(make_client: MakeClient) -> None:
    routes = {
        "/moved": redirect("/moved2", 301),
        "/moved2": redirect("/temporary", 308),
        "/temporary": redirect("/new", 302),
        "/new": PAGE,
        "/first-temporary": redirect("/moved2", 302),
    }
    with NewsServer(routes) as server:
        assert make_client().get(server.url("/moved")).moved_to == server.url("/temporary")
        assert make_client().get(server.url("/first-temporary")).moved_to is None


def test_redirects_end_after_the_fifth(make_client: MakeClient) -> None:
    routes: dict[str, Any] = {f"/{hop}": redirect(f"/{hop + 1}") for hop in range(6)} | {"/6": PAGE}
    with NewsServer(routes) as server:
        assert make_client().get(server.url("/1")).outcome == "ok"
        got = make_client().get(server.url("/0"))
        assert (got.outcome, got.http_status) == ("too_many_redirects", 302)
    assert server.paths()[6:] == [f"/{hop}" for hop in range(6)]


def test_a_circle_of_redirects_ends_when_it_closes(make_client: MakeClient) -> None:
    with NewsServer({"/a": redirect("/b"), "/b": redirect("/a")}) as server:
        assert make_client().get(server.url("/a")).outcome == "too_many_redirects"
    assert server.paths() == ["/a", "/b"]


def test_a_redirect_in_raw_utf8_is_followed(make_client: MakeClient) -> None:
    raw = "HTTP/1.1 302 Found\r\nLocation: /köln\r\nContent-Length: 0\r\n\r\n".encode()
    with NewsServer({"/a": Answer(raw=raw), "/k%C3%B6ln": PAGE}) as server:
        assert make_client().get(server.url("/a")).outcome == "ok"


def test_who_asks_may_forbid_a_redirect(make_client: MakeClient) -> None:
    with NewsServer({"/a": redirect("/b"), "/b": PAGE}) as server:
        got = make_client().get(server.url("/a"), may_follow=lambda target: "robots" if "/b" in target.path else None)
    assert (got.outcome, got.final_url) == ("robots", server.url("/b"))
    assert server.paths() == ["/a"]


@pytest.mark.parametrize(
    "first",
    [
        Answer(500),
        Answer(503),
        Answer(drop=True),
        Answer(body=PAGE, headers={"Content-Length": "99999"}, with_length=False),
        Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
        Answer(raw=b"SSH-2.0-OpenSSH_9.6\r\n"),
        Answer(raw=b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"),
    ],
)
def test_broken_connections_and_5xx_are_tried_once_more(make_client: MakeClient, first: Answer) -> None:
    with NewsServer({"/a": [first, PAGE]}) as server:
        got = make_client().get(server.url("/a"))
    assert (got.outcome, got.body, len(server.requests)) == ("ok", PAGE, 2)


def test_tries_are_bounded(make_client: MakeClient) -> None:
    with NewsServer(
        {"/drop": Answer(drop=True), "/500": 500, "/503": Answer(503, headers={"Retry-After": "9"})}
    ) as server:
        client = make_client()
        assert client.get(server.url("/drop")).outcome == "connect_error"
        assert client.get(server.url("/500")).outcome == "server_error"
        asked_to_wait = client.get(server.url("/503"))
        assert client.get("http://127.0.0.77:9009/").outcome == "connect_error"
    assert server.paths() == ["/drop", "/drop", "/500", "/500", "/503"]
    assert (asked_to_wait.outcome, asked_to_wait.retry_after_until) == ("rate_limited", NOW + timedelta(seconds=9))


def test_retry_after_may_be_a_date(make_client: MakeClient) -> None:
    with NewsServer({"/a": Answer(429, headers={"Retry-After": "Mon, 30 Nov 2026 12:30:00 GMT"})}) as server:
        got = make_client().get(server.url("/a"))
    assert (got.outcome, got.retry_after_until) == ("rate_limited", NOW + timedelta(minutes=30))


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstd.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        ("gzip", PAGE),  # the header lies
    ],
)
def test_codings_are_undone_asked_for_or_not(make_client: MakeClient, coding: str, body: bytes) -> None:
    with NewsServer({"/a": Answer(body=body, headers={"Content-Encoding": coding})}) as server:
        got = make_client().get(server.url("/a"), {"Accept-Encoding": "identity"})
    assert (got.outcome, got.body) == ("ok", PAGE)
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_broken_coding_is_an_outcome(make_client: MakeClient) -> None:
    with NewsServer({"/a": Answer(body=gzip.compress(PAGE)[:-9], headers={"Content-Encoding": "gzip"})}) as server:
        got = make_client().get(server.url("/a"))
    assert (got.outcome, got.http_status, got.body) == ("bad_coding", 200, b"")


def test_gz_files_are_unpacked_only_if_asked_for(make_client: MakeClient) -> None:
    packed = gzip.compress(PAGE)
    with NewsServer({"/sitemap.xml.gz": packed}) as server:
        client = make_client()
        assert client.get(server.url("/sitemap.xml.gz")).body == packed
        assert client.get(server.url("/sitemap.xml.gz"), unpack_gzip=True).body == PAGE


def endless() -> Iterator[bytes]:
    while True:
        yield b"x" * 65536


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"x" * 1001),
        Answer(body=b"x" * 1001, with_length=False),
        Answer(body=endless()),
        Answer(body=gzip.compress(b"x" * 1001), headers={"Content-Encoding": "gzip"}),
    ],
)
def test_a_body_over_the_limit_is_too_big(make_client: MakeClient, answer: Answer) -> None:
    with NewsServer({"/a": answer}) as server:
        got = make_client(max_body_bytes=1000).get(server.url("/a"))
    assert (got.outcome, got.http_status, got.body) == ("too_big", 200, b"")


def test_a_body_at_the_limit_is_whole(make_client: MakeClient) -> None:
    with NewsServer({"/a": b"x" * 1000}) as server:
        assert make_client(max_body_bytes=1000).get(server.url("/a")).outcome == "ok"


def test_who_wants_only_the_beginning_gets_it(make_client: MakeClient) -> None:
    packed = Answer(body=gzip.compress(b"y" * 5000), headers={"Content-Encoding": "gzip"})
    with NewsServer({"/a": Answer(body=endless()), "/b": packed}) as server:
        client = make_client()
        assert client.get(server.url("/a"), keep_first_bytes=1000).body == b"x" * 1000
        assert client.get(server.url("/b"), keep_first_bytes=1000).body == b"y" * 1000


def test_dead_addresses_of_a_name_cost_a_try_each(make_client: MakeClient) -> None:
    with (
        NewsServer({"/a": PAGE}, host="127.0.0.4") as server,
        names({"news.example": ["::1", "127.0.0.44", "127.0.0.4"]}),
    ):
        got = make_client().get(f"http://news.example:{server.port}/a")
    assert (got.outcome, len(server.requests)) == ("ok", 1)
    assert server.requests[0].headers["host"] == f"news.example:{server.port}"


def test_families_are_tried_in_turn_and_four_addresses_at_most(make_client: MakeClient) -> None:
    dead = [f"127.0.1.{number}" for number in range(1, 9)]
    with names({"news.example": [*dead, "::1"]}), watched_connections() as tried:
        got = make_client(retries=0).get("http://news.example:9009/")
    assert got.outcome == "connect_error"
    assert [address[0] for address in tried] == ["127.0.1.1", "::1", "127.0.1.2", "127.0.1.3"]


def test_ipv6_hosts_are_asked(make_client: MakeClient) -> None:
    with NewsServer({"/a": PAGE}, host="::1") as server:
        assert make_client().get(server.url("/a")).outcome == "ok"
    assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


def test_names_that_do_not_exist_are_dns_errors(make_client: MakeClient) -> None:
    with names({}), watched_connections() as tried:
        assert make_client().get("http://nowhere.example/").outcome == "dns_error"
        assert make_client().get(f"http://{'a' * 63}.example/").outcome == "dns_error"
    assert tried == []


def test_tls_is_checked_against_the_host(make_client: MakeClient) -> None:
    table = {"news.example": ["127.0.0.3"], "other.example": ["127.0.0.3"]}
    with NewsServer({"/a": PAGE}, host="127.0.0.3", tls=True, tls_names=["news.example"]) as server, names(table):
        trusting, plain = make_client(ca_bundle=server.ca_bundle), make_client()
        assert trusting.get(server.url("/a")).outcome == "ok"
        assert trusting.get(f"https://news.example:{server.port}/a").body == PAGE
        assert trusting.get(f"https://other.example:{server.port}/a").outcome == "tls_error"
        assert plain.get(server.url("/a")).outcome == "tls_error"
    assert server.paths() == ["/a", "/a"]


def test_http_behind_an_https_address_is_a_tls_error(make_client: MakeClient) -> None:
    with NewsServer({"/a": PAGE}) as server:
        got = make_client().get(server.url("/a").replace("http:", "https:"))
    assert got.outcome == "tls_error"


def test_a_ca_bundle_that_is_none_is_an_error_at_once() -> None:
    with pytest.raises(OSError, match="No such file"):
        HttpClient(ClientSettings("newsbeam/1.0", ca_bundle="/nowhere.pem"), lambda: NOW)


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (Answer(drop=True), "connect_error", "the server closed the connection without an answer"),
        (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), "connect_error", "the answer broke off"),
        (Answer(raw=b"hello\r\n\r\n"), "connect_error", "the answer is no proper HTTP"),
        (Answer(raw=b"HTTP/1.1 2x0 OK\r\n\r\n"), "connect_error", "the answer is no proper HTTP"),
        (Answer(raw=b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000), "connect_error", "the answer is no proper HTTP"),
        (Answer(body=b"\x1f\x8b\x08\0abcdefg", headers={"Content-Encoding": "gzip"}), "bad_coding", "damaged"),
        (Answer(body=b"\x00\xff\xfe" * 300, headers={"Content-Encoding": "br"}), "bad_coding", "damaged"),
        (
            Answer(body=b"\x28\xb5\x2f\xfd" + b"\xff" * 99, headers={"Content-Encoding": "zstd"}),
            "bad_coding",
            "damaged",
        ),
    ],
)
def test_failures_are_told_without_words_of_python(
    make_client: MakeClient, answer: Answer, outcome: str, words: str
) -> None:
    with NewsServer({"/a": answer}) as server:
        got = make_client(retries=0).get(server.url("/a"))
    assert got.outcome == outcome
    assert words in got.detail
    assert not re.search(r"Error|Errno|\(\'|_ssl|decompressing", got.detail)


def test_failures_of_tls_name_their_cause(make_client: MakeClient) -> None:
    with NewsServer({}, host="127.0.0.3", tls=True) as server, NewsServer({}, host="127.0.0.4") as plain:
        got = make_client().get(server.url("/a"))
        assert got.detail == "the certificate is not trusted: unable to get local issuer certificate"
        with names({"other.example": ["127.0.0.3"]}):
            got = make_client(ca_bundle=server.ca_bundle).get(f"https://other.example:{server.port}/a")
        assert got.detail.startswith("the certificate is not trusted: Hostname mismatch")
        got = make_client().get(plain.url("/a").replace("http:", "https:"))
        assert (got.outcome, got.detail) == ("tls_error", "no TLS connection: wrong version number")
    assert make_client(retries=0).get(plain.url("/a")).detail == "connection refused"
