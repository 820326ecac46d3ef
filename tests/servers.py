"""A real HTTP server on loopback for tests, and guards that keep tests on loopback.

    with NewsServer({"/feed.xml": FEED, "/slow": Answer(body=PAGE, delay_s=2)}, host="127.0.0.2") as server:
        ... server.url("/feed.xml") ...
        assert [request.path for request in server.requests] == ["/robots.txt", "/feed.xml"]

A route is bytes or text (a page with status 200), an int (only that status), an ``Answer``, a list of these
(one a request, the last one again and again) or a function that gets the ``Request`` and returns one of
them. Looked up are the path with its query, the path alone, then ``"*"``; else the answer is 404.
"""

from __future__ import annotations

import contextlib
import os
import socket
import socketserver
import ssl
import tempfile
import threading
import time
import unittest.mock
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from transforms.fetch.gate import shared_gate
from transforms.fetch.robots import shared_robots


@dataclass
class Request:
    """A request as it came. Times are of ``time.monotonic()``; ``ended_s`` is set when the answer is out."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port_of_client: int
    started_s: float
    ended_s: float = float("inf")


@dataclass
class Answer:
    """What a route answers.

    Attributes:
        status: HTTP status.
        body: Bytes, text (sent as UTF-8), or an iterable of bytes (sent chunked).
        headers: Sent besides Content-Type (text/html unless given), Content-Length and Date.
        delay_s: Pause before the first byte.
        drip_headers_s: Send the head byte by byte with this pause.
        drip_s: Send the body byte by byte with this pause.
        with_length: Without it the body ends with the connection.
        raw: Send these bytes instead of everything above, and close.
        hang: Take the request and never answer (after ``raw``).
        drop: Close the connection instead of answering.
    """

    status: int = 200
    body: bytes | str | Iterable[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_headers_s: float = 0.0
    drip_s: float = 0.0
    with_length: bool = True
    raw: bytes | None = None
    hang: bool = False
    drop: bool = False


Route = Any  # bytes | str | int | Answer | list[Route] | Callable[[Request], Route]


class NewsServer:
    """An HTTP/1.1 server in threads of this process, as a context manager.

    Args:
        routes: Path -> route; may be changed while the server runs.
        host: Any address of 127.0.0.0/8 or ``::1``: each is a host of its own.
        port: 0 takes a free one.
        tls: Serve https with a certificate of a throw-away authority; ``ca_bundle`` is its file.
        tls_names: Names in the certificate besides ``host``.

    Attributes:
        requests: All requests, in the order in which they came.
        most_at_once: Most requests that were under way at the same time.
        ca_bundle: PEM file that trusts the server; ``None`` without ``tls``.
    """

    def __init__(
        self,
        routes: Mapping[str, Route] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        tls_names: Iterable[str] = (),
    ) -> None:
        self.routes: dict[str, Route] = dict(routes or {})
        self.host = host
        self.requests: list[Request] = []
        self.most_at_once = 0
        self.ca_bundle: str | None = None
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._under_way = 0
        self._calls: dict[str, int] = {}
        self._server = _Server(self, host, port, self._tls_context([host, *tls_names]) if tls else None)
        self._thread = threading.Thread(
            target=lambda: self._server.serve_forever(0.02), name="news-server", daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.ca_bundle else 'http'}://{host}:{self.port}"

    def url(self, path: str) -> str:
        """The absolute address of a path."""
        return self.origin + path

    def paths(self) -> list[str]:
        """The paths asked for, in order."""
        return [request.path for request in self.requests]

    def __enter__(self) -> NewsServer:
        shared_gate().forget(self.host)
        shared_robots().forget(self.origin)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.close_all()
        self._thread.join(timeout=5)
        if self.ca_bundle:
            os.unlink(self.ca_bundle)

    def begin(self, request: Request) -> Answer:
        """Notes a request and chooses its answer."""
        with self._lock:
            self.requests.append(request)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        for path in (request.path, request.path.partition("?")[0], "*"):
            if path in self.routes:
                return self._answer(path, self.routes[path], request)
        return Answer(404, "no such page")

    def end(self, request: Request) -> None:
        """Notes that a request is answered; told twice, the first time counts."""
        with self._lock:
            if request.ended_s == float("inf"):
                request.ended_s = time.monotonic()
                self._under_way -= 1

    def _answer(self, path: str, route: Route, request: Request) -> Answer:
        if isinstance(route, list):
            with self._lock:
                call = self._calls[path] = self._calls.get(path, -1) + 1
            route = route[min(call, len(route) - 1)]
        if callable(route):
            route = route(request)
        if isinstance(route, Answer):
            return route
        if isinstance(route, int):
            return Answer(route)
        return Answer(body=route)

    def _tls_context(self, names: list[str]) -> ssl.SSLContext:
        import trustme  # only where it is needed: making keys takes a moment

        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*names).configure_cert(context)
        descriptor, self.ca_bundle = tempfile.mkstemp(suffix=".pem")
        os.close(descriptor)
        Path(self.ca_bundle).write_bytes(authority.cert_pem.bytes())
        return context


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: NewsServer, host: str, port: int, context: ssl.SSLContext | None) -> None:
        self.owner = owner
        self.context = context
        self._open: set[socket.socket] = set()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connected, address = super().get_request()
        if self.context is not None:
            connected = self.context.wrap_socket(connected, server_side=True, do_handshake_on_connect=False)
        self._open.add(connected)
        return connected, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are the subject of tests, not errors."""

    def close_all(self) -> None:
        self.server_close()
        for connected in list(self._open):
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body, port = self.rfile.read(length), self.client_address[1]
        request = Request(self.command, self.path, headers, body, port, time.monotonic())
        answer = self.server.owner.begin(request)
        try:
            self._send(answer, lambda: self.server.owner.end(request))
        finally:
            self.server.owner.end(request)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_CONNECT = do_GET  # noqa: N815

    def _send(self, answer: Answer, end: Callable[[], None]) -> None:
        """Sends an answer; ``end`` is called before what completes it: the client may be faster than this thread."""
        self._pause(answer.delay_s)
        if answer.raw is None and not answer.hang and not answer.drop:
            self._send_http(answer, end)
            return
        if not answer.hang:
            end()
        self.wfile.write(answer.raw or b"")
        if answer.hang:
            self._pause(float("inf"))
        self.close_connection = True

    def _send_http(self, answer: Answer, end: Callable[[], None]) -> None:
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        lines = [f"HTTP/1.1 {answer.status} {self.responses.get(answer.status, ('Odd',))[0]}"]
        lines += [f"Date: {self.date_time_string()}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        names = {name.lower() for name in answer.headers}
        if "content-type" not in names:
            lines.append("Content-Type: text/html; charset=utf-8")
        is_bare = self.command == "HEAD" or answer.status in (204, 304)
        is_chunked = answer.with_length and not isinstance(body, bytes) and not is_bare
        if is_chunked:
            lines.append("Transfer-Encoding: chunked")
        elif answer.with_length and isinstance(body, bytes) and "content-length" not in names and not is_bare:
            lines.append(f"Content-Length: {len(body)}")
        elif not answer.with_length:
            lines.append("Connection: close")
            self.close_connection = True
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        if is_bare or (isinstance(body, bytes) and not answer.drip_s and not answer.drip_headers_s):
            end()
        self._drip(head, answer.drip_headers_s)
        if is_bare:
            return
        for piece in [body] if isinstance(body, bytes) else body:
            self._drip(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece, answer.drip_s)
        if is_chunked:
            end()
            self.wfile.write(b"0\r\n\r\n")

    def _drip(self, data: bytes, pause_s: float) -> None:
        if not pause_s:
            self.wfile.write(data)
            return
        for octet in data:
            self.wfile.write(bytes([octet]))
            self._pause(pause_s)

    def _pause(self, seconds: float) -> None:
        if seconds and self.server.owner.stopping.wait(None if seconds == float("inf") else seconds):
            raise ConnectionAbortedError

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


@contextlib.contextmanager
def watched_connections() -> Iterator[list[Any]]:
    """Yields the list of all addresses that this process tries to connect to; none beyond loopback is let through."""
    tried: list[Any] = []
    plain = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        tried.append(address)
        if isinstance(address, tuple) and not (address[0].startswith("127.") or address[0] in ("::1", "localhost")):
            raise ConnectionRefusedError(f"tests do not leave loopback: {address}")
        plain(self, address)

    with unittest.mock.patch.object(socket.socket, "connect", connect):
        yield tried


@contextlib.contextmanager
def names(table: Mapping[str, list[str] | list[list[str]]]) -> Iterator[list[str]]:
    """Answers for the resolver, and yields the list of names that were looked up.

    Args:
        table: Name -> IP addresses, or a list of such answers, one a look-up, the last one again and again. IP
            addresses and ``localhost`` are resolved as ever; what else is not listed does not exist.
    """
    asked: list[str] = []
    plain: Callable[..., Any] = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in table:
            if name == "localhost" or ":" in name or name.rpartition(".")[2].isdecimal():
                return plain(host, port, *args, **options)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answers = table[name]
        found = answers[min(asked.count(name), len(answers) - 1)] if isinstance(answers[0], list) else answers
        asked.append(name)
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (ip, port, 0, 0))
            if ":" in ip
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))
            for ip in found
        ]

    with unittest.mock.patch.object(socket, "getaddrinfo", getaddrinfo):
        yield asked
