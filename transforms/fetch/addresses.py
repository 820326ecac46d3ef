"""Which addresses may be asked at all: the shape of a URL, and the IP addresses behind a name.

Two checks stand between a feed that anybody can write and the network that this machine sits in:
``check_url`` judges what is written, ``refusal_of_address`` judges each IP address at the moment of
connecting. The second one decides; names are never trusted to keep their address.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import urllib.parse
from collections.abc import Iterable
from typing import NamedTuple

from transforms import urls

URL_SIZE_LIMIT_BYTES = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

# Services that may read an HTTP request as commands (from the "bad ports" of the Fetch Standard), and data stores.
_REFUSED_HIGH_PORTS = frozenset(
    (2049, 3306, 4190, 5060, 5061, 5432, 6000, 6379, 6665, 6666, 6667, 6668, 6669, 6697, 10080, 11211, 27017)
)

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # as the last label, it makes the host an IPv4 address (URL Standard)
# RFC 6761, 6762, 8375 and what routers and clouds use inside; a name without a dot is looked up in the local domain.
_LOCAL_SUFFIXES = (".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa", ".localdomain")

_LOOPBACK_FLAG = "--allow-loopback opens it"
_V4_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
# IANA special-purpose registry, without what it calls globally reachable.
_V4_REFUSED = {
    ipaddress.IPv4Network(network): meaning
    for network, meaning in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier's shared space"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local, cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved, broadcast"),
    )
}
_V6_LOOPBACK = ipaddress.IPv6Address("::1")
_V6_EMBEDDING = (ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96"))  # mapped, NAT64
_V6_GLOBAL = ipaddress.IPv6Network("2000::/3")  # the only space that IANA has given out for global unicast
_V6_REFUSED = {
    ipaddress.IPv6Network(network): meaning
    for network, meaning in (
        ("2001::/23", "protocol assignments, Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
    )
}


class Target(NamedTuple):
    """An address that may be asked, taken apart.

    Attributes:
        url: As it is sent: ASCII, without fragment.
        host: Lower case, A-labels; an IP address in its usual form, without brackets.
        path: What stands in the request line: path and query.
    """

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """``host``, with ``:port`` if it is not the scheme's own: the value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as ``https://news.example:8443``: what one robots.txt is for."""
        return f"{self.scheme}://{self.authority}"


class Refused(NamedTuple):
    """Why an address is not asked: ``bad_url`` or ``blocked_address``, and words for people."""

    outcome: str
    detail: str


def check_url(url: str, allow_loopback: bool = False) -> Target | Refused:
    """Judges an address by what is written in it; asks nobody.

    Args:
        url: Absolute address; non-ASCII characters are sent as UTF-8, percent-encoded, hosts as A-labels.
        allow_loopback: Whether 127.0.0.0/8, ::1 and ``localhost`` are open.
    """
    fetchable = urls.to_fetchable(url)
    if fetchable is None:
        return Refused("bad_url", "not an http or https address with a usable host")
    try:
        parts = urllib.parse.urlsplit(fetchable)
        port = DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError as error:
        return Refused("bad_url", str(error))
    if urls.has_login(url):
        return Refused("bad_url", "carries a user name or password; those are never sent")
    host = _one_form_of_host(parts.hostname or "")
    if host is None:
        return Refused("bad_url", "the host looks like a number but is no IPv4 address")
    if port in _REFUSED_HIGH_PORTS or (port < 1024 and port not in DEFAULT_PORTS.values()):
        return Refused("bad_url", f"port {port} belongs to another service")
    target = Target(
        "", parts.scheme, host, port, _without_dots(parts.path) + (f"?{parts.query}" if parts.query else "")
    )
    target = target._replace(url=target.origin + target.path)
    if len(target.url) > URL_SIZE_LIMIT_BYTES:
        return Refused("bad_url", f"longer than {URL_SIZE_LIMIT_BYTES} bytes")
    why = _refusal_of_host(host, allow_loopback)
    return Refused("blocked_address", why) if why else target


def _without_dots(path: str) -> str:
    """Resolves ``.`` and ``..`` (RFC 3986 section 5.2.4), so that robots.txt judges the path that is meant."""
    if "/." not in path or path.startswith("//"):
        return path or "/"
    return urllib.parse.urlsplit(urllib.parse.urljoin("http://host/", path)).path or "/"


def _one_form_of_host(host: str) -> str | None:
    """Writes odd spellings of IPv4 (``0x7f.1``, ``2130706433``) in the usual form; ``None`` if it is none."""
    if ":" in host or not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return None


def host_of(url: str) -> str:
    """Returns the host of an address as in ``Target``, under which turns are kept; empty if it cannot be asked."""
    target = check_url(url, allow_loopback=True)
    return target.host if isinstance(target, Target) else ""


def is_loopback_host(host: str) -> bool:
    """Tells whether a host is written as this machine itself: ``localhost``, 127.0.0.0/8 or ::1."""
    host = host.strip("[]").lower().removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return is_literal(host) and not is_allowed_address(host) and is_allowed_address(host, allow_loopback=True)


def is_literal(host: str) -> bool:
    """Tells whether the host of a ``Target`` is an IP address and no name."""
    return ":" in host or host.rpartition(".")[2].isdecimal()


def _refusal_of_host(host: str, allow_loopback: bool) -> str | None:
    if is_literal(host):
        return refusal_of_address(host, allow_loopback)
    if host == "localhost" or host.endswith(".localhost"):
        return None if allow_loopback else f"{host} is this machine; {_LOOPBACK_FLAG}"
    if "." not in host or host.endswith(_LOCAL_SUFFIXES):
        return f"{host} is a local name"
    return None


def refusal_of_address(ip_text: str, allow_loopback: bool = False) -> str | None:
    """Returns why an IP address must not be connected to; ``None`` if it is public.

    An IPv4 address inside an IPv6 one (mapped, NAT64) is judged as what it is; ``ipaddress.is_global`` is not
    enough, since it calls NAT64 and 6to4 forms of loopback global.

    Args:
        ip_text: As the resolver gives it; what is no plain IP address (zone ids, odd numerals) is refused.
        allow_loopback: Opens 127.0.0.0/8 and ::1, and nothing else.
    """
    try:
        address = ipaddress.ip_address(ip_text)
    except ValueError:
        return f"{ip_text} is no plain IP address"
    if isinstance(address, ipaddress.IPv4Address):
        if address in _V4_LOOPBACK:
            return None if allow_loopback else f"{address} is refused: loopback; {_LOOPBACK_FLAG}"
        return _refusal_of_v4(address)
    if address.scope_id is not None:
        return f"{ip_text} names an interface of this machine"
    if address == _V6_LOOPBACK:
        return None if allow_loopback else f"{ip_text} is refused: loopback; {_LOOPBACK_FLAG}"
    if any(address in network for network in _V6_EMBEDDING):
        return _refusal_of_v4(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    if address not in _V6_GLOBAL:
        return f"{ip_text} is refused: not global unicast"
    meaning = _meaning_of(address, _V6_REFUSED.items())
    return f"{ip_text} is refused: {meaning}" if meaning else None


def _refusal_of_v4(address: ipaddress.IPv4Address) -> str | None:
    meaning = _meaning_of(address, _V4_REFUSED.items())
    return f"{address} is refused: {meaning}" if meaning else None


def _meaning_of(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
    networks: Iterable[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str]],
) -> str | None:
    return next((meaning for network, meaning in networks if address in network), None)


def is_allowed_address(ip_text: str, allow_loopback: bool = False) -> bool:
    """Tells whether an IP address may be connected to; see ``refusal_of_address``."""
    return refusal_of_address(ip_text, allow_loopback) is None


def goes_past_proxy(host: str, no_proxy: Iterable[str]) -> bool:
    """Tells whether a host is asked directly although a proxy is set.

    Args:
        host: As in ``Target``.
        no_proxy: Hosts, which stand for their sub-domains too (a dot in front changes nothing), networks
            such as ``10.0.0.0/8`` for hosts that are written as IP addresses, or ``*`` for all.
    """
    for rule in no_proxy:
        name = rule.strip().lower().removeprefix("*.").strip(".")
        if rule.strip() == "*" or (name and (host == name or host.endswith("." + name))):
            return True
        try:
            if ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            continue
    return False
