"""Host names: one spelling (A-labels) and the registrable domain.

The suffix list is the public one that the ``tld`` package carries (publicsuffix.org), read from its
file once; nothing is asked over the network.
"""

from __future__ import annotations

import functools
import ipaddress
import urllib.parse
from typing import NamedTuple

_HOST_LENGTH_LIMIT = 1000  # RFC 1035 allows 253 octets; what is far longer is not worth encoding


@functools.lru_cache(maxsize=4096)
def ascii_host(host: str) -> str:
    """Returns a host in lower case with A-labels (IDNA 2008 after the UTS 46 mapping, non-transitional).

    A label that cannot be encoded or decoded stays as it is, in lower case. A trailing dot goes. Never raises.
    """
    host = host.strip().lower().removesuffix(".")
    if host.startswith("["):
        return _one_form_of_ipv6(host)
    if "%" in host:
        host = urllib.parse.unquote(host, errors="replace").lower()
    if host.isascii() or len(host) > _HOST_LENGTH_LIMIT:
        return host
    import idna  # only few hosts need its tables

    try:
        host = idna.uts46_remap(host, std3_rules=False, transitional=False).removesuffix(".")
    except (idna.IDNAError, ValueError):
        return host
    return ".".join(_ascii_label(label) for label in host.split("."))


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    import idna

    try:
        return idna.alabel(label).decode("ascii")
    except (idna.IDNAError, ValueError):
        return _symbol_label(label)


def _symbol_label(label: str) -> str:
    """Encodes what UTS 46 lets pass and IDNA 2008 does not, such as emoji, as browsers do."""
    if any(character.isspace() or not character.isprintable() for character in label) or len(label) > 59:
        return label
    try:
        encoded = "xn--" + label.encode("punycode").decode("ascii")
    except UnicodeError:
        return label
    return encoded if len(encoded) <= 63 else label


def readable_host(host: str) -> str:
    """Returns the host with its A-labels decoded for people; a label that cannot be decoded stays."""
    return ".".join(_readable_label(label) for label in host.split("."))


def _readable_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    import idna

    try:
        return idna.ulabel(label)
    except (idna.IDNAError, ValueError):
        return label


def _one_form_of_ipv6(host: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(host.strip('[]')).compressed}]"
    except ValueError:
        return host


def is_ip(host: str) -> bool:
    """Tells whether a host is a literal IPv4 or IPv6 address (the latter with or without brackets)."""
    if ":" not in host and not host[-1:].isdigit():
        return False  # most hosts; an exception would take ten times as long
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


class _Suffixes(NamedTuple):
    plain: frozenset[str]
    wildcards: frozenset[str]
    exceptions: frozenset[str]


@functools.cache
def _suffixes() -> _Suffixes:
    """The public suffix list, sections ICANN and private, as A-labels."""
    import importlib.resources

    path = importlib.resources.files("tld") / "res" / "effective_tld_names.dat.txt"
    plain, wildcards, exceptions = set(), set(), set()
    for line in path.read_text(encoding="utf-8").splitlines():
        rule = line.strip()
        if not rule or rule.startswith("//"):
            continue
        if rule.startswith("*."):
            wildcards.add(ascii_host(rule[2:]))
        elif rule.startswith("!"):
            exceptions.add(ascii_host(rule[1:]))
        else:
            plain.add(rule if rule.isascii() else ascii_host(rule))
    return _Suffixes(frozenset(plain), frozenset(wildcards), frozenset(exceptions))


@functools.lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str | None:
    """Returns the public suffix of an ``ascii_host`` and one label more.

    Algorithm: https://github.com/publicsuffix/list/wiki/Format; a suffix that is not listed counts as one label.

    Returns:
        ``None`` for IP addresses, single labels (``localhost``) and hosts that are a public suffix themselves.
    """
    labels = host.split(".")
    if len(labels) < 2 or not all(labels) or is_ip(host):
        return None
    rules = _suffixes()
    suffix_length = 1
    for start in range(len(labels)):
        name = ".".join(labels[start:])
        if name in rules.exceptions:
            suffix_length = len(labels) - start - 1
            break
        if name in rules.plain or ".".join(labels[start + 1 :]) in rules.wildcards:
            suffix_length = len(labels) - start
            break
    if suffix_length >= len(labels):
        return None
    return ".".join(labels[-suffix_length - 1 :])
