"""Connections that look at the IP address before they open, and at the certificate after.

A name is resolved once for each connection, each address is judged, and the socket goes to an address
that was judged: a name that changes its mind in between (DNS rebinding) changes nothing.
"""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection

from transforms.fetch import addresses
from transforms.fetch.deadline import Watch

ADDRESS_LIMIT = 4  # addresses of one name that are tried

Address = tuple[int, Any]  # family, and what socket.connect wants


class BlockedAddressError(Exception):
    """All addresses of the name are refused; no connection was tried."""


class UnknownHostError(Exception):
    """The name has no address, or the resolver did not answer in time."""


class _PlainConnection(HTTPConnection):
    def __init__(self, host: str, port: int, open_socket: Callable[[], socket.socket], timeout_s: float) -> None:
        super().__init__(host, port, timeout=timeout_s)
        self._open_socket = open_socket

    def _new_conn(self) -> socket.socket:
        return self._open_socket()


class _TlsConnection(HTTPSConnection):
    def __init__(
        self,
        host: str,
        port: int,
        open_socket: Callable[[], socket.socket],
        timeout_s: float,
        context: ssl.SSLContext,
    ) -> None:
        super().__init__(host, port, timeout=timeout_s, ssl_context=context)
        self._open_socket = open_socket

    def _new_conn(self) -> socket.socket:
        return self._open_socket()


def make_connection(
    scheme: str,
    host: str,
    port: int,
    open_socket: Callable[[], socket.socket],
    timeout_s: float,
    context: ssl.SSLContext,
) -> HTTPConnection:
    """Returns a connection, not yet open, that gets its socket from ``open_socket``.

    Args:
        scheme: ``https`` for TLS; the certificate is checked against ``host``, or the tunnel's host.
        host: Where it goes to: the server, or the proxy.
        port: Its port.
        open_socket: Called once, when the request is sent.
        timeout_s: Longest silence while reading, seconds.
        context: From ``tls_context``.
    """
    if scheme == "https":
        return _TlsConnection(host, port, open_socket, timeout_s, context)
    return _PlainConnection(host, port, open_socket, timeout_s)


def tls_context(ca_bundle: str | None) -> ssl.SSLContext:
    """Returns what TLS connections trust: the public roots of certifi, and those of ``ca_bundle``.

    Made by hand, because the ready-made contexts listen to the environment (SSL_CERT_FILE, SSLKEYLOGFILE).

    Raises:
        OSError: If the bundle cannot be read or holds no certificate (``ssl.SSLError`` is one).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(cafile=certifi.where())
    if ca_bundle is not None:
        context.load_verify_locations(cafile=ca_bundle)
    return context


def open_socket(
    host: str,
    port: int,
    watch: Watch,
    connect_timeout_s: float,
    read_timeout_s: float,
    refusal: Callable[[str], str | None] | None,
) -> socket.socket:
    """Resolves a name, judges its addresses and connects to the first that answers.

    Args:
        host: Name or IP address.
        port: Port.
        watch: Limit of the exchange; the socket is put under it.
        connect_timeout_s: Limit for resolving, and again for connecting to all addresses together.
        read_timeout_s: Silence that the socket bears once it is open.
        refusal: Judge of an IP address; ``None`` lets all pass (the proxy that the user named).

    Raises:
        BlockedAddressError: If no address may be connected to.
        UnknownHostError: If there is no address.
        OSError: If none answers; ``TimeoutError`` if the last one was silent.
    """
    found = resolve(host, port, min(connect_timeout_s, watch.seconds_left()))
    allowed = [address for address in found if refusal is None or refusal(address[1][0]) is None]
    if not allowed:
        whys = {refusal(address[1][0]) or "" for address in found} if refusal else set()
        raise BlockedAddressError(f"{host}: {', '.join(sorted(whys))}")
    connected = _connect_any(_alternate(allowed)[:ADDRESS_LIMIT], min(connect_timeout_s, watch.seconds_left()))
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.settimeout(read_timeout_s)
        watch.attach(connected)
    except OSError:
        connected.close()
        raise
    return connected


def resolve(host: str, port: int, timeout_s: float) -> list[Address]:
    """Asks the resolver of the system once, in a thread, since the call itself knows no time limit.

    Raises:
        UnknownHostError: If there is no address, or no answer in time.
    """
    if addresses.is_literal(host):
        answer = _look_up(host, port)
    else:
        answers: queue.SimpleQueue[list[Address] | OSError | UnicodeError] = queue.SimpleQueue()
        look_up = threading.Thread(target=lambda: answers.put(_look_up(host, port)), name="fetch-resolver", daemon=True)
        look_up.start()
        try:
            answer = answers.get(timeout=timeout_s)
        except queue.Empty:
            raise UnknownHostError(f"{host}: the resolver did not answer in {timeout_s:.1f} s") from None
    if isinstance(answer, list):
        return answer
    raise UnknownHostError(f"{host}: {getattr(answer, 'strerror', None) or answer}") from answer


def _look_up(host: str, port: int) -> list[Address] | OSError | UnicodeError:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return error
    families = (socket.AF_INET, socket.AF_INET6)
    unique = dict.fromkeys((int(family), place) for family, _, _, _, place in found if family in families)
    return list(unique) or OSError("no IP address")


def _alternate(found: Sequence[Address]) -> list[Address]:
    """Keeps the resolver's order but takes the families in turn, so that one dead family costs one try (RFC 8305)."""
    first = [address for address in found if address[0] == found[0][0]]
    other = [address for address in found if address[0] != found[0][0]]
    turns: list[Address] = []
    for position in range(max(len(first), len(other))):
        turns += first[position : position + 1] + other[position : position + 1]
    return turns


def _connect_any(found: Sequence[Address], timeout_s: float) -> socket.socket:
    """Connects to the first address that answers; each gets an equal share of the time that is left."""
    deadline = time.monotonic() + timeout_s
    failure: OSError = OSError("no address")
    for position, (family, place) in enumerate(found):
        share_s = max((deadline - time.monotonic()) / (len(found) - position), 0.001)
        try:
            return _connect(family, place, share_s)
        except OSError as error:
            failure = error
    raise failure


def _connect(family: int, place: Any, timeout_s: float) -> socket.socket:
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.settimeout(timeout_s)
        connected.connect(place)
    except OSError:
        connected.close()
        raise
    return connected
