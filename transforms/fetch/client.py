"""The one HTTP client: every request of this project for feeds, robots.txt, sitemaps and pages goes through it.

It is made for servers that lie, hang, explode or lead astray: addresses are judged at every hop and again
when connecting, all is limited in size and time, and what happens comes back as an ``Exchange``, never as
an exception. It sends no cookies and no credentials and reads nothing from the environment. Each exchange
has a connection of its own that is closed after it: with a pause of seconds between two requests to a host,
an idle connection would only hold a place at the server.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
import urllib.parse
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

import urllib3.exceptions
from urllib3.connection import HTTPConnection
from urllib3.response import HTTPResponse

from transforms.fetch import addresses, answers, coding, connection
from transforms.fetch.addresses import Refused, Target
from transforms.fetch.deadline import Watch, Watchdog
from transforms.fetch.failures import FAILURES, judge_failure
from transforms.fetch.gate import HostGate
from transforms.urls import without_logins

_READ_BYTES = 1 << 16
_DETAIL_LENGTH = 300
_RETRIED_OUTCOMES = ("connect_error", "server_error")


class ClientSettings(NamedTuple):
    """How requests are made.

    Attributes:
        user_agent: With a contact, so that an annoyed webmaster can write instead of blocking.
        allow_loopback: For tests and local mirrors only: opens 127.0.0.0/8 and ::1.
        loopback_only: Nothing else is asked, wherever redirects lead (``deferred``): nobody has said who asks.
        connect_timeout_s: For resolving, and for connecting to all addresses of a name together.
        read_timeout_s: Longest silence.
        total_timeout_s: For all tries and redirects of one ``get``; the wait for a host's turn is not counted.
        max_body_bytes: Limit of the body as it comes, and again after decoding.
        proxy: ``http://[user:password@]host:port``; it resolves the names itself.
        no_proxy: Hosts, domains and networks that are asked directly, as in ``addresses.goes_past_proxy``.
        ca_bundle: PEM file of roots that are trusted besides the public ones.
        retries: Further tries after a connection that failed and after a 5xx; nothing else is tried again.
        retry_pause_s: Before such a try; the gap of the host comes on top.
    """

    user_agent: str
    allow_loopback: bool = False
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 30.0
    total_timeout_s: float = 60.0
    max_body_bytes: int = 15 << 20
    max_redirects: int = 5
    proxy: str | None = None
    ca_bundle: str | None = None
    no_proxy: tuple[str, ...] = ()
    retries: int = 1
    retry_pause_s: float = 1.0
    loopback_only: bool = False


class Exchange(NamedTuple):
    """What came of asking for one address, redirects included.

    Attributes:
        url: As it was asked for, without user name and password.
        final_url: Of the last hop, even if it was refused.
        http_status: Of the last answer; ``None`` if there was none.
        headers: Of the last answer; lower-case names, values of equal names joined by ", ".
        body: Decoded; empty unless ``outcome`` is ``ok``.
        outcome: One of ``rejects.FETCH_OUTCOMES``.
        detail: For people; empty if all went well.
        redirects: Status and target of each hop that was followed or refused.
        moved_to: End of an unbroken leading run of 301 and 308.
        retry_after_until: When the server allows the next request; at most 24 hours ahead.
    """

    url: str
    final_url: str
    http_status: int | None
    headers: dict[str, str]
    body: bytes
    outcome: str
    detail: str
    started_at: datetime
    elapsed_ms: int
    redirects: tuple[tuple[int, str], ...] = ()
    moved_to: str | None = None
    retry_after_until: datetime | None = None


class _Answer(NamedTuple):
    """Of one hop. ``location`` is set if it redirects."""

    outcome: str
    detail: str = ""
    status: int | None = None
    headers: dict[str, str] = {}  # noqa: RUF012 (never changed)
    body: bytes = b""
    location: str | None = None


class _Order(NamedTuple):
    """What ``get`` was asked for, the same for all hops."""

    headers: dict[str, str]
    limit_bytes: int
    cut: bool
    unpack: bool


class HttpClient:
    """Fetches addresses; safe to share between threads.

    Args:
        settings: Limits and identity.
        now: The run's clock, for ``started_at`` and ``Retry-After``.
        gate: If given, every request, retries and redirects too, waits for the turn of its host. Without it the
            caller paces.

    Raises:
        ValueError: If ``settings.proxy`` is no http address.
        OSError: If ``settings.ca_bundle`` cannot be read.
    """

    def __init__(self, settings: ClientSettings, now: Callable[[], datetime], gate: HostGate | None = None) -> None:
        self._settings = settings
        self._now = now
        self._gate = gate
        self._watchdog = Watchdog()
        logging.getLogger("urllib3").setLevel(logging.ERROR)  # it warns of every odd header; odd is normal here
        self._context = connection.tls_context(settings.ca_bundle)
        self._refusal = functools.partial(addresses.refusal_of_address, allow_loopback=settings.allow_loopback)
        self._proxy = urllib.parse.urlsplit(settings.proxy) if settings.proxy else None
        if self._proxy and (self._proxy.scheme != "http" or not self._proxy.hostname):
            raise ValueError("the proxy must be written as http://host:port")

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        may_follow: Callable[[Target], str | None] | None = None,
        keep_first_bytes: int | None = None,
        unpack_gzip: bool = False,
    ) -> Exchange:
        """Fetches one address; never raises because of what servers or networks do.

        Args:
            url: Absolute address.
            headers: Sent on every hop besides our own; no credentials.
            may_follow: Asked before each redirect; returns the outcome to end with instead of following.
            keep_first_bytes: Cut a longer body to this size instead of refusing it.
            unpack_gzip: Also unpack a body that is a .gz file though no header says so.
        """
        started_at, started_s = self._now(), time.monotonic()
        order = _Order(
            self._all_headers(headers),
            min(keep_first_bytes or self._settings.max_body_bytes, self._settings.max_body_bytes),
            keep_first_bytes is not None,
            unpack_gzip,
        )
        target = self._judge(url)
        seconds_left = self._settings.total_timeout_s
        hops: list[tuple[int, str]] = []
        seen: set[str] = set()
        final_url = asked = without_logins(url)
        while True:
            if isinstance(target, Refused):
                answer = _Answer(target.outcome, target.detail, hops[-1][0] if hops else None)
                break
            final_url = target.url
            seen.add(final_url)
            answer, seconds_left = self._ask_patiently(target, order, seconds_left)
            if answer.location is None:
                break
            assert answer.status is not None
            place = answers.redirect_target(target.url, answer.location)
            hops.append((answer.status, without_logins(place)))
            target = self._next_target(place, hops, seen, may_follow)
            final_url = target.url if isinstance(target, Target) else hops[-1][1]
        until = answers.retry_after_until(answer.headers.get("retry-after"), self._now())
        return Exchange(
            url=asked,
            final_url=final_url if hops else asked,
            http_status=answer.status,
            headers=answer.headers,
            body=answer.body,
            outcome=answer.outcome,
            detail=answer.detail[:_DETAIL_LENGTH],
            started_at=started_at,
            elapsed_ms=round((time.monotonic() - started_s) * 1000),
            redirects=tuple(hops),
            moved_to=answers.moved_to(tuple(hops)),
            retry_after_until=until if (answer.status or 0) >= 400 else None,
        )

    def close(self) -> None:
        """Ends the client's thread; exchanges under way lose their time limit."""
        self._watchdog.close()

    def _all_headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        own = {"User-Agent": self._settings.user_agent, "Accept": "*/*", "Accept-Encoding": coding.ACCEPT_ENCODING}
        return own | {name.title(): value for name, value in (headers or {}).items()} | {"Connection": "close"}

    def _judge(self, url: str) -> Target | Refused:
        target = addresses.check_url(url, self._settings.allow_loopback)
        if self._settings.loopback_only and isinstance(target, Target) and not addresses.is_loopback_host(target.host):
            return Refused("deferred", "no contact is set; without one only this machine is asked")
        return target

    def _next_target(
        self,
        place: str,
        hops: list[tuple[int, str]],
        seen: set[str],
        may_follow: Callable[[Target], str | None] | None,
    ) -> Target | Refused:
        """Judges a redirect, cheapest question first."""
        if len(hops) > self._settings.max_redirects:
            return Refused("too_many_redirects", f"more than {self._settings.max_redirects} redirects")
        target = self._judge(place)
        if isinstance(target, Refused):
            return target._replace(detail=f"redirect to {hops[-1][1]}: {target.detail}")
        if target.url in seen:
            return Refused("too_many_redirects", f"redirects in a circle: {target.url}")
        outcome = may_follow(target) if may_follow else None
        return Refused(outcome, f"redirect to {target.url}") if outcome else target

    def _ask_patiently(self, target: Target, order: _Order, seconds_left: float) -> tuple[_Answer, float]:
        """Asks one hop, again where that may help; returns the time that is left for further hops too."""
        for tries_left in range(self._settings.retries, -1, -1):
            with self._gate.turn(target.host) if self._gate else contextlib.nullcontext():
                started_s = time.monotonic()
                answer = self._ask(target, order, seconds_left)
                seconds_left -= time.monotonic() - started_s
            if answer.outcome not in _RETRIED_OUTCOMES or not tries_left or seconds_left <= 0:
                break
            time.sleep(self._settings.retry_pause_s)
        return answer, seconds_left

    def _ask(self, target: Target, order: _Order, seconds: float) -> _Answer:
        if seconds <= 0:
            return _Answer("timeout", f"took longer than {self._settings.total_timeout_s:g} s in all")
        with self._watchdog.watch(seconds) as watch:
            link, request_target, headers = self._prepare(target, order, watch)
            try:
                link.request("GET", request_target, headers=headers, preload_content=False, decode_content=False)
                with contextlib.closing(link.getresponse()) as response:
                    if response.status == 407 and self._proxy:  # not the host's word: the page may be there
                        answer = _Answer("connect_error", "the proxy wants another user name or password")
                    else:
                        answer = _read(response, order)
            except FAILURES as error:
                answer = _Answer(*judge_failure(error))
            finally:
                link.close()
            if watch.fired:  # whatever was read: it may be cut
                answer = _Answer("timeout", f"took longer than {self._settings.total_timeout_s:g} s in all")
        return answer

    def _prepare(self, target: Target, order: _Order, watch: Watch) -> tuple[HTTPConnection, str, dict[str, str]]:
        """Returns the connection, what stands in the request line, and the headers: direct or by the proxy."""
        settings, headers = self._settings, {"Host": target.authority} | order.headers
        proxy = self._proxy
        if proxy is None or addresses.goes_past_proxy(target.host, settings.no_proxy):
            proxy, host, port = None, target.host, target.port
        else:
            host, port = proxy.hostname or "", proxy.port or 80
        opener = functools.partial(
            connection.open_socket,
            host,
            port,
            watch,
            settings.connect_timeout_s,
            settings.read_timeout_s,
            None if proxy else self._refusal,
        )
        link = connection.make_connection(target.scheme, host, port, opener, settings.read_timeout_s, self._context)
        if proxy is None:
            return link, target.path, headers
        login = _proxy_login(proxy)
        if target.scheme == "https":
            link.set_tunnel(target.host, target.port, headers=login, scheme="http")
            return link, target.path, headers
        return link, target.url, headers | login


def _proxy_login(proxy: urllib.parse.SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    name, password = urllib.parse.unquote(proxy.username), urllib.parse.unquote(proxy.password or "")
    return urllib3.util.make_headers(proxy_basic_auth=f"{name}:{password}")


def _read(response: HTTPResponse, order: _Order) -> _Answer:
    """Reads an answer as far as it is of use: bodies of errors and redirects stay unread."""
    headers = {name.lower(): value for name, value in response.headers.itermerged()}
    status = response.status
    if status in answers.REDIRECTS and headers.get("location"):
        return _Answer("ok", "", status, headers, b"", headers["location"])
    outcome = answers.outcome_of_status(status, headers)
    if outcome != "ok":
        return _Answer(outcome, f"status {status}", status, headers)
    try:
        body = _read_wire(response, order)
        body = coding.decode_body(body, headers.get("content-encoding", ""), order.limit_bytes, order.cut)
        if order.unpack:
            body = coding.unpack_gzip(body, order.limit_bytes)
    except (coding.TooBigError, coding.BadCodingError) as error:
        return _Answer(*judge_failure(error), status, headers)
    return _Answer("ok", "", status, headers, body)


def _read_wire(response: HTTPResponse, order: _Order) -> bytes:
    """Reads the body as it comes, in the pieces in which it comes: ``read(n)`` would wait for n bytes."""
    if (response.length_remaining or 0) > order.limit_bytes and not order.cut:
        raise coding.TooBigError(f"more than {order.limit_bytes} bytes announced")
    wire = bytearray()
    while len(wire) <= order.limit_bytes:
        piece = response.read1(_READ_BYTES, decode_content=False)
        if not piece:
            return bytes(wire)
        wire += piece
    if order.cut:
        return bytes(wire[: order.limit_bytes])
    raise coding.TooBigError(f"more than {order.limit_bytes} bytes")
