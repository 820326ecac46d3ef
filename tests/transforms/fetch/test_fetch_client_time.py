"""Time limits against servers that are slow on purpose, in the clear and over TLS."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest

from tests.servers import Answer, NewsServer, names
from transforms.fetch.client import HttpClient

MakeClient = Callable[..., HttpClient]

LONG = "x" * 10_000


@contextmanager
def deaf_listener(drip: bytes = b"") -> Iterator[int]:
    """Accepts connections and says nothing, or the same byte again and again; yields its port."""
    stop = threading.Event()

    def serve(listener: socket.socket) -> None:
        with ExitStack() as stack:
            clients = []
            while not stop.is_set():
                with suppress(TimeoutError):
                    clients.append(stack.enter_context(listener.accept()[0]))
                for client in clients:
                    with suppress(OSError):
                        client.sendall(drip)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield listener.getsockname()[1]
        stop.set()
        thread.join()


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=LONG, drip_s=0.05),
        Answer(body=LONG, drip_s=0.05, with_length=False),
        Answer(body=LONG, drip_headers_s=0.05),
        Answer(body=LONG, headers={"X": "y" * 5000}, drip_headers_s=0.02),
        Answer(raw=b"HTTP/1.1 100 Continue\r\n\r\n" * 3, hang=True),
    ],
)
def test_a_server_that_drips_is_cut_off_at_the_total_limit(make_client: MakeClient, answer: Answer, tls: bool) -> None:
    with NewsServer({"/a": answer}, tls=tls) as server:
        client = make_client(total_timeout_s=0.6, read_timeout_s=60.0, ca_bundle=server.ca_bundle)
        started_s = time.monotonic()
        got = client.get(server.url("/a"))
        spent_s = time.monotonic() - started_s
    assert (got.outcome, got.body) == ("timeout", b"")
    assert 0.5 < spent_s < 20  # the answers take longer than a minute
    assert len(server.requests) == 1


@pytest.mark.parametrize("tls", [False, True])
def test_silence_ends_at_the_read_limit(make_client: MakeClient, tls: bool) -> None:
    with NewsServer({"/a": Answer(hang=True)}, tls=tls) as server:
        got = make_client(read_timeout_s=0.3, ca_bundle=server.ca_bundle).get(server.url("/a"))
    assert got.outcome == "timeout"
    assert 250 < got.elapsed_ms < 10_000


@pytest.mark.parametrize(("scheme", "drip"), [("http", b""), ("https", b""), ("http", b"H"), ("https", b"\x16")])
def test_a_listener_that_never_answers_is_cut_off(make_client: MakeClient, scheme: str, drip: bytes) -> None:
    with deaf_listener(drip) as port:
        got = make_client(read_timeout_s=0.5, total_timeout_s=0.5).get(f"{scheme}://127.0.0.1:{port}/")
    assert got.outcome in (("timeout", "tls_error") if drip and scheme == "https" else ("timeout",))
    assert got.elapsed_ms < 10_000


def test_tries_and_redirects_share_one_limit(make_client: MakeClient) -> None:
    routes = {
        **{f"/{hop}": Answer(302, headers={"Location": f"/{hop + 1}"}, delay_s=0.25) for hop in range(5)},
        "/500": Answer(500, delay_s=0.4),
    }
    with NewsServer(routes) as server:
        client = make_client(total_timeout_s=0.6)
        got = client.get(server.url("/0"))
        assert got.outcome == "timeout"
        assert client.get(server.url("/500")).outcome == "timeout"


def test_a_resolver_that_hangs_costs_the_connect_limit(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: free.wait(60) and [])
    got = make_client(connect_timeout_s=0.2).get("http://slow.example/")
    free.set()
    assert got.outcome == "dns_error"
    assert got.elapsed_ms < 20_000


def test_a_full_backlog_ends_at_the_connect_limit(make_client: MakeClient) -> None:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.5", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = []
        for _ in range(4):  # the kernel takes one or two, the others stay without an answer
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(("127.0.0.5", port))
        with NewsServer({"/a": "<p>here"}, host="127.0.0.6", port=port) as server:
            client = make_client(connect_timeout_s=2.0)
            dead = client.get(f"http://127.0.0.5:{port}/a")
            with names({"news.example": ["127.0.0.5", "127.0.0.6"]}):
                alive = client.get(f"http://news.example:{port}/a")
        for client_socket in waiting:
            client_socket.close()
    assert (dead.outcome, alive.outcome) == ("timeout", "ok")
    assert dead.elapsed_ms < 20_000
    assert alive.elapsed_ms < 2000  # the dead address got its share of the time only
    assert len(server.requests) == 1
