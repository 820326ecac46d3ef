"""A whole run behind a company's proxy: one HTTP client for everything, and nothing from the environment."""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.program import newsbeam, page, rss
from tests.rows import read_rows
from tests.servers import Answer, NewsServer

LOGIN = "desk:hunter2"
SITEMAP = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>http://courier.example/story/3</loc>'
    "<news:news><news:publication_date>2026-11-30T08:00:00Z</news:publication_date><news:title>Three</news:title>"
    "</news:news></url></urlset>"
)


class Proxy(socketserver.ThreadingTCPServer):
    """A forward proxy (RFC 9110 section 9.3.6, RFC 9112 section 3.2.2) with a table of names of its own."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, places: Mapping[str, int]) -> None:
        self.places = places
        self.lines: list[str] = []
        self.heads: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _ProxyHandler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _ProxyHandler(socketserver.BaseRequestHandler):
    server: Proxy

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head and (piece := self.request.recv(65536)):
            head += piece
        if not head:
            return
        method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        self.server.lines.append(f"{method} {target}")
        self.server.heads.append(head)
        authority = target if method == "CONNECT" else target.split("/")[2]
        port = self.server.places.get(authority.partition(":")[0])
        if port is None:
            self.request.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", port), timeout=10) as onward:
            if method == "CONNECT":
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                onward.sendall(head.replace(target.encode(), b"/" + target.split("/", 3)[3].encode(), 1))
            self._relay(onward)

    def _relay(self, onward: socket.socket) -> None:
        pairs = {self.request: onward, onward: self.request}
        with contextlib.suppress(OSError):
            while True:
                for ready in select.select(list(pairs), [], [], 10)[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    pairs[ready].sendall(data)


@contextlib.contextmanager
def proxy(places: Mapping[str, int]) -> Iterator[Proxy]:
    with Proxy(places) as running:
        threading.Thread(target=lambda: running.serve_forever(0.02), daemon=True).start()
        yield running
        running.shutdown()


@pytest.mark.slow
def test_every_request_of_a_run_passes_the_proxy_that_the_config_names_and_no_other(tmp_path: Path) -> None:
    plain = {f"/story/{number}": page(number) for number in range(1, 4)}
    plain |= {"/feed.xml": rss(["http://courier.example/story/1", "https://secure.example/story/2"])}
    plain |= {"/news.xml": Answer(body=SITEMAP, headers={"Content-Type": "text/xml"})}
    inner = {"/feed.xml": rss(["http://127.0.0.9/none"])}
    with (
        NewsServer(plain) as courier,
        NewsServer(plain, tls=True, tls_names=["secure.example"]) as secure,
        NewsServer(plain, tls=True, tls_names=["strange.example"]) as strange,
        NewsServer(inner, host="127.0.0.9") as intranet,
        proxy({"courier.example": courier.port, "secure.example": secure.port, "strange.example": strange.port}) as way,
        proxy({}) as trap,
    ):
        inner["/feed.xml"] = rss([intranet.url("/story/9")])
        intranet.routes |= inner | {"/story/9": page(9)}
        feeds = {
            "plain": "http://courier.example/feed.xml",
            "tunnel": "https://secure.example/feed.xml?2",
            "sitemap": "http://courier.example/news.xml",
            "inside": intranet.url("/feed.xml"),
            "distrusted": "https://strange.example/feed.xml",
            "unknown": "https://nowhere.example/feed.xml",
            "literal": "http://192.168.7.7/feed.xml",
            "literal-direct": "http://10.1.2.3/feed.xml",
            "metadata": "http://[::ffff:169.254.169.254]/feed.xml",
        }
        (tmp_path / "news.yaml").write_text(
            f"dataset: out\nproxy: http://{LOGIN}@127.0.0.1:{way.port}\nca_bundle: {secure.ca_bundle}\n"
            "no_proxy: [127.0.0.9, .local, 10.0.0.0/8]\nallow_loopback: true\nhost_gap: '0'\nrobots_for_feeds: true\n"
            "contact: desk@newsroom.example\nfeeds:\n"
            + "".join(f"  - {{id: {name}, url: '{url}'}}\n" for name, url in feeds.items())
        )
        there = f"http://{LOGIN}@127.0.0.1:{trap.port}"
        environment = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), there)
        done = newsbeam(
            "run",
            *("-c", tmp_path / "news.yaml", "-v", "--now", "2026-11-30T10:00:00Z"),
            env=environment | {"NO_PROXY": "*", "no_proxy": "courier.example", "SSL_CERT_FILE": str(strange.ca_bundle)},
        )

    assert trap.lines == []
    asked = {line for line in way.lines if "courier.example" in line}
    assert asked == {
        f"GET http://courier.example{path}"
        for path in ("/robots.txt", "/feed.xml", "/news.xml", "/story/1", "/story/3")
    }
    others = {"CONNECT secure.example:443", "CONNECT strange.example:443", "CONNECT nowhere.example:443"}
    assert set(way.lines) - asked == others
    assert all(b"proxy-authorization: basic " in head.lower() for head in way.heads)
    assert secure.paths().count("/story/2") == 1
    assert not any("proxy-authorization" in request.headers for request in secure.requests)
    assert {"/robots.txt", "/feed.xml", "/story/9"} == set(intranet.paths())
    assert strange.requests == []

    polls = {row["source_id"]: row for row in read_rows(tmp_path / "out", "fetches") if row["kind"] == "feed"}
    assert {name: row["outcome"] for name, row in polls.items()} == {
        **dict.fromkeys(("plain", "tunnel", "sitemap", "inside"), "ok"),
        "distrusted": "tls_error",
        "unknown": "connect_error",
        **dict.fromkeys(("literal", "literal-direct", "metadata"), "blocked_address"),
    }
    articles = {row["url"] for row in read_rows(tmp_path / "out", "articles")}
    assert len(articles) == 4
    for file in (path for path in (tmp_path / "out").rglob("*") if path.is_file()):
        assert b"hunter2" not in file.read_bytes(), file
    assert "hunter2" not in done.stdout + done.stderr
