"""The client through a proxy that the configuration names: plain and in a tunnel."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from tests.servers import NewsServer, Request, names
from tests.transforms.fetch.walking import NOW, redirect
from transforms.fetch.client import ClientSettings, HttpClient

PAGE = b"<!doctype html><title>Ferry</title><p>The ferry to Brenn sails again.</p>" * 50

MakeClient = Callable[..., HttpClient]


@contextmanager
def tunnel_proxy(target_port: int) -> Iterator[tuple[int, list[bytes]]]:
    """A proxy that answers one CONNECT with a tunnel to a local port; yields its own port and the requests' heads."""
    heads: list[bytes] = []

    def relay(source: socket.socket, sink: socket.socket) -> None:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

    def serve(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with closing(client):
            heads.append(client.recv(65536))
            with closing(socket.create_connection(("127.0.0.1", target_port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=relay, args=(server, client))
                back.start()
                relay(client, server)
                back.join()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield listener.getsockname()[1], heads
        thread.join(timeout=10)


def test_an_explicit_proxy_gets_every_request_and_resolves_the_names(make_client: MakeClient) -> None:
    def answer(request: Request) -> Any:
        return {"http://news.example/": PAGE, "http://news.example/a": redirect("http://other.example/b")}.get(
            request.path, b"<p>other"
        )

    with NewsServer({"*": answer}) as proxy, names({}) as asked:
        client = make_client(proxy=f"http://me:p%40ss@127.0.0.1:{proxy.port}", no_proxy=("intranet.example",))
        assert client.get("http://news.example/").body == PAGE
        assert client.get("http://news.example/a").body == b"<p>other"
        assert client.get("http://intranet.example/").outcome == "dns_error"
    assert proxy.paths() == ["http://news.example/", "http://news.example/a", "http://other.example/b"]
    assert {request.headers["proxy-authorization"] for request in proxy.requests} == {"Basic bWU6cEBzcw=="}
    assert {request.headers["host"] for request in proxy.requests} == {"news.example", "other.example"}
    assert asked == []


def test_https_goes_through_the_proxy_in_a_tunnel_that_ends_at_the_host(make_client: MakeClient) -> None:
    with (
        NewsServer({"/a": PAGE}, tls=True, tls_names=["news.example"]) as server,
        tunnel_proxy(server.port) as (port, heads),
    ):
        client = make_client(proxy=f"http://me:pass@127.0.0.1:{port}", ca_bundle=server.ca_bundle)
        got = client.get("https://news.example/a")
    assert (got.outcome, got.body) == ("ok", PAGE)
    assert heads[0].startswith(b"CONNECT news.example:443 HTTP/1.")
    assert b"proxy-authorization: basic bwu6cgfzcw==" in heads[0].lower()
    assert "proxy-authorization" not in server.requests[0].headers


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://0x7f.1/", "http://localhost/", "http://db.internal/"])
def test_inner_hosts_are_refused_before_the_proxy_is_asked(make_client: MakeClient, url: str) -> None:
    with NewsServer({"*": PAGE}) as proxy:
        client = make_client(proxy=f"http://127.0.0.1:{proxy.port}", allow_loopback=False)
        assert client.get(url).outcome == "blocked_address"
    assert proxy.requests == []


def test_a_proxy_that_refuses_is_a_connect_error_without_its_password(make_client: MakeClient) -> None:
    with NewsServer({"*": 407}) as proxy:
        got = make_client(proxy=f"http://me:secret@127.0.0.1:{proxy.port}").get("https://news.example/a")
    assert got.outcome == "connect_error"
    assert "407" in got.detail
    assert "secret" not in repr(got)


def test_a_login_that_the_proxy_wants_is_no_answer_of_the_host(make_client: MakeClient) -> None:
    with NewsServer({"*": 407}) as proxy:
        got = make_client(proxy=f"http://me:secret@127.0.0.1:{proxy.port}").get("http://news.example/a")
    assert (got.outcome, got.http_status) == ("connect_error", None)
    assert "proxy" in got.detail
    assert "secret" not in got.detail


@pytest.mark.parametrize("proxy", ["https://127.0.0.1:1", "socks5://127.0.0.1:1", "127.0.0.1:3128", "http://"])
def test_a_proxy_of_another_kind_is_an_error_at_once(proxy: str) -> None:
    with pytest.raises(ValueError, match="http://host:port"):
        HttpClient(ClientSettings("newsbeam/1.0", proxy=proxy), lambda: NOW)
