"""Addresses: whether one can be fetched, and the normal form under which it is known.

The normal form is a key and nothing else: it is never fetched, shown or stored as ``url``. Its rules may
only join spellings of one page; where that is not sure, two addresses stay two. They follow RFC 3986
section 6.2 and the URL Standard (url.spec.whatwg.org), and add what publishers do: AMP and mobile hosts,
tracking parameters. The rules are version 1, the ``1-`` in an article id: a change makes a version 2.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
import urllib.parse
from typing import NamedTuple

from transforms import hosts, url_parameters

URL_LENGTH_LIMIT = 4096

_SPLIT = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)  # RFC 3986, B
_BLANKS = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u200b\u2028\u2029\u2060\u3000\ufeff"
_BREAKS = re.compile(r"[\t\r\n]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# A-labels: letters, digits, hyphens, and the underscore that some hosts have (RFC 1035: at most 63 of 253 octets).
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_IPV6_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# User name and password of an address inside a text. People write passwords unescaped too: for what is only shown,
# "/", "?" and "#" count as part of one where no port can be meant.
_ADDRESS_START = r"(https?:[/\\]*|:(?:\\?[/\\]){2,})"
_LOGIN = re.compile(_ADDRESS_START + r"[^\s\"'<>/\\?#]*@", re.IGNORECASE)
_ODD_LOGIN = re.compile(_ADDRESS_START + r"[^\s\"'<>/\\?#:\[]*:(?![0-9]*(?:[/\\?#]|\Z))[^\s\"'<>]*@", re.IGNORECASE)
_BARE_LOGIN = re.compile(r"(?<![\w/?&=#%.+~-])(?!mailto:|https?:)[^\s:/@\"'<>]{1,64}:[^\s/@\"'<>]{1,128}@", re.I)
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_PLAIN = _UNRESERVED | frozenset(b"!$'()*,:@")  # servers take these for the same, written out or not
_QUERY_PLAIN = _PATH_PLAIN | frozenset(b"/?")
_NON_ASCII_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_SIMPLE = re.compile(r"[A-Za-z0-9._~/-]*")  # what every part takes as it is
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_SUB_HOSTS = ("www.", "m.", "mobile.", "amp.")
_AMP_CACHE = re.compile(r"/(?:[a-z]/)?(?:s/)?([A-Za-z0-9.-]+\.[A-Za-z0-9-]+/.*)", re.DOTALL)
_AMP_ENDING = re.compile(r"(?:\.amp)+(\.html?)?$", re.IGNORECASE)
_YES = ("", "1", "true", "yes", "amp")


class _Address(NamedTuple):
    """The parts of an http(s) address; ``query`` and ``fragment`` without their sign."""

    scheme: str
    user: str
    host: str
    port: str
    path: str
    query: str
    fragment: str


def _parse(url: str) -> _Address | None:
    """Splits an http(s) address, forgiving what browsers forgive; ``None`` if it is none. Never raises."""
    text = _SURROGATES.sub("\ufffd", _BREAKS.sub("", url.strip(_BLANKS)))
    match = _SPLIT.fullmatch(text)
    if match is None or (match[1] or "").lower() not in ("http", "https"):
        return None
    if match[2] is None and "\\" in text:
        match = _SPLIT.fullmatch(text.replace("\\", "/"))
        assert match is not None
    user, _, place = (match[2] or "").replace("\\", "/").partition("/")[0].rpartition("@")
    host, port = _split_port(place)
    if not host.strip("."):
        return None
    rest = (match[2] or "").replace("\\", "/").partition("/")[1:]
    path = "".join(rest) + match[3].replace("\\", "/")
    return _Address(match[1].lower(), user, host, port, path, match[4] or "", match[5] or "")


def _split_port(place: str) -> tuple[str, str]:
    host, colon, port = place.rpartition(":")
    if colon and not port.strip("0123456789") and "]" not in port:
        return host, (port.lstrip("0") or "0") if port else ""
    return place, ""


def is_http_url(text: str) -> bool:
    """Tells whether a text is an absolute http(s) address with a usable host."""
    return to_fetchable(text) is not None


def to_fetchable(url: str) -> str | None:
    """Returns an address as it can be sent: an IRI becomes a URI (RFC 3987 section 3.1).

    Blanks around it go, a user name and password too, the host becomes A-labels, other non-ASCII is
    percent-encoded as UTF-8. Escapes that are there stay as they are written.

    Returns:
        ``None`` if it is no http(s) address with a usable host and port, has control characters inside, or is
        longer than ``URL_LENGTH_LIMIT``.
    """
    if len(url) > URL_LENGTH_LIMIT:
        return None
    parts = _parse(url)
    if parts is None or any(map(_CONTROLS.search, parts)):
        return None
    host = hosts.ascii_host(parts.host)
    if not (_HOST.fullmatch(host) or (_IPV6_HOST.fullmatch(parts.host) and hosts.is_ip(host))):
        return None
    if parts.port and not 0 < int(parts.port) <= 65535:
        return None
    port = f":{parts.port}" if parts.port else ""
    out = f"{parts.scheme}://{host}{port}{_quote_rest(parts.path) or '/'}"
    out += f"?{_quote_rest(parts.query)}" if parts.query else ""
    out += f"#{_quote_rest(parts.fragment)}" if parts.fragment else ""
    return out if len(out) <= 3 * URL_LENGTH_LIMIT else None


def has_login(url: str) -> bool:
    """Tells whether an http(s) address carries a user name or password."""
    parts = _parse(url)
    return parts is not None and bool(parts.user)


def without_logins(text: str) -> str:
    """Returns an address, or a text with some, without their user names and passwords (RFC 3986 section 3.2.1)."""
    return _LOGIN.sub(r"\1", text) if "@" in text else text


def safe_to_show(text: str) -> str:
    """Returns a text for messages: as ``without_logins``, and without what may be a login of a damaged address."""
    return _BARE_LOGIN.sub("***@", _ODD_LOGIN.sub(r"\1***@", without_logins(text))) if "@" in text else text


def _quote_rest(part: str) -> str:
    """Percent-encodes what may not stand in a URI, and leaves all that may."""
    return urllib.parse.quote(part.encode("utf-8"), safe="!#$%&'()*+,-./:;=?@[]_~")


def host_of(url: str) -> str:
    """Returns the host of an http(s) address as A-labels in lower case, without port; else an empty string."""
    parts = _parse(url)
    return hosts.ascii_host(parts.host) if parts else ""


def domain_of(url: str) -> str:
    """Returns the registrable domain of an http(s) address (``bbc.co.uk``); hosts that have none as they are."""
    host = host_of(url)
    return hosts.registrable_domain(host) or host


def normal_form(url: str) -> str:
    """Returns the one form of all spellings of an address. A key: never to be fetched or shown as the address.

    What is no http(s) address, or absurdly long, comes back as it is, without blanks around it. Idempotent;
    never raises.
    """
    return explain_normal_form(url)[0]


def explain_normal_form(url: str) -> tuple[str, tuple[str, ...]]:
    """Returns the normal form and the rules that changed something, in the order in which they acted."""
    rules: list[str] = []
    parts = _parse(url) if len(url) <= 4 * URL_LENGTH_LIMIT else None
    if parts is None:
        return url.strip(_BLANKS), ()
    while (inner := _behind_amp_cache(parts)) is not None:
        rules.append("amp_cache")
        parts = inner
    host = _plain_host(parts, rules)
    domain = hosts.registrable_domain(host) or host
    path = _plain_path(parts.path, rules)
    query = _plain_query(parts.query, domain, rules)
    fragment = _plain_fragment(parts.fragment, rules)
    return f"https://{host}{path}{query}{fragment}", tuple(rules)


def _behind_amp_cache(parts: _Address) -> _Address | None:
    """The publisher's address inside one of an AMP cache or of Google's AMP viewer."""
    host, path = hosts.ascii_host(parts.host), parts.path
    if host in ("www.google.com", "google.com") and path.startswith("/amp/"):
        path = path[4:]
    elif not host.endswith(".cdn.ampproject.org"):
        return None
    match = _AMP_CACHE.fullmatch(path)
    return _parse(f"https://{match[1]}?{parts.query}") if match else None


def _plain_host(parts: _Address, rules: list[str]) -> str:
    if parts.scheme == "http":
        rules.append("scheme")
    if parts.user:
        rules.append("user_info")
    host = hosts.ascii_host(parts.host)
    if host != parts.host:
        rules.append("host_spelling")
    shorter = _without_sub_host(host)
    if shorter != host:
        rules.append("sub_host:" + host[: -len(shorter) - 1])
    if parts.port in ("80", "443"):
        rules.append("default_port")
    return shorter if parts.port in ("", "80", "443") else f"{shorter}:{parts.port}"


@functools.lru_cache(maxsize=4096)
def _without_sub_host(host: str) -> str:
    """Strips ``www.``, ``m.``, ``amp.`` as long as a site of its own remains (not for ``amp.co.uk``)."""
    while host.startswith(_SUB_HOSTS):
        rest = host.partition(".")[2]
        if hosts.registrable_domain(rest) is None:
            break
        host = rest
    return host


def _plain_path(path: str, rules: list[str]) -> str:
    def step(name: str, changed: str) -> None:
        nonlocal path
        if changed != path:
            rules.append(name)
            path = changed

    step("percent_encoding", _one_spelling(path, _PATH_PLAIN, keep=b"/;=&+"))
    if ";" in path:
        step("session_id", re.sub(r";(?:jsessionid|phpsessid)=[^/;]*", "", path, flags=re.IGNORECASE))
    step("dot_segments", _without_dots(path))
    if "//" in path:
        step("double_slash", re.sub(r"(?<!:)/{2,}", "/", path))
    if "amp" in path.lower():
        step("amp", _without_amp(path))
    step("trailing_slash", path.rstrip("/") or "/")
    return path


def _one_spelling(text: str, plain: frozenset[int], keep: bytes) -> str:
    """Brings percent-encoding into one form (RFC 3986 section 6.2.2): ASCII out, never raises.

    Args:
        text: A part of an address.
        plain: Octets that are written out, whether they came encoded or not.
        keep: Octets that stay as they came: written out and encoded they mean different things.
    """
    if _SIMPLE.fullmatch(text):
        return text
    written_out = _NON_ASCII_ESCAPES.sub(_read_utf8, text)
    data = unicodedata.normalize("NFC", written_out).encode("utf-8")
    out = bytearray()
    position = 0
    while position < len(data):
        escape = _PERCENT.match(data, position)
        octet = int(escape[1], 16) if escape else data[position]
        position += 3 if escape else 1
        if octet in plain or (octet in keep and not escape):
            out.append(octet)
        else:
            out += b"%%%02X" % octet
    return out.decode("ascii")


def _read_utf8(escapes: re.Match[str]) -> str:
    try:
        return urllib.parse.unquote_to_bytes(escapes[0]).decode("utf-8")
    except UnicodeDecodeError:
        return escapes[0]


def _without_dots(path: str) -> str:
    """Removes ``.`` and ``..`` segments (RFC 3986 section 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _without_amp(path: str) -> str:
    """Turns the AMP forms of a story's path into its own; only if what remains still names a story."""
    segments = [segment for segment in path.split("/")[1:] if segment.lower() != "amp"]
    while segments and not segments[-1]:
        segments.pop()
    if not segments:
        return path
    segments[-1] = _AMP_ENDING.sub(lambda ending: ending[1] or "", segments[-1])
    plain = "/" + "/".join(segments)
    return plain if names_story(segments[-1]) and plain != path.rstrip("/") else path


def names_story(segment: str) -> bool:
    """Tells whether a path segment looks like the name of one story rather than of a section or a script.

    So do three words and more, an id of three digits and more that is no year, and long encoded words.
    """
    stem = re.sub(r"\.\w{1,5}$", "", segment)
    if len(re.findall(r"[^-_+]+", stem)) >= 3 or len(stem) >= 30:
        return True
    return any(len(digits) >= 3 and not re.fullmatch(r"(?:19|20)\d\d", digits) for digits in re.findall(r"\d+", stem))


def _plain_query(query: str, domain: str, rules: list[str]) -> str:
    dropped: dict[str, list[str]] = {}
    kept: list[tuple[str, str]] = []
    spelled = False
    for piece in query.split("&"):
        raw = re.sub(r"^(?:amp;)+", "", piece)
        if not raw.strip("="):
            continue
        name, _, value = raw.partition("=")
        name = _one_spelling(name.replace("+", " "), _QUERY_PLAIN, keep=b";")
        value = _one_spelling(value.replace("+", " "), _QUERY_PLAIN, keep=b";=")
        rule = _rule_that_drops(name.lower(), value.lower(), domain)
        if rule:
            dropped.setdefault(rule, []).append(name)
            continue
        kept.append((name, f"{name}={value}" if value else name))
        spelled = spelled or kept[-1][1] != piece
    rules += [f"{rule}:{','.join(names)}" for rule, names in dropped.items()]
    if spelled:
        rules.append("percent_encoding")
    # By name only: the order of values under one name may matter.
    ordered = sorted(kept, key=lambda pair: pair[0])
    if ordered != kept:
        rules.append("query_order")
    return "?" + "&".join(text for _, text in ordered) if ordered else ""


def _rule_that_drops(name: str, value: str, domain: str) -> str:
    if name in url_parameters.SESSION_NAMES:
        return "session_id"
    if (name in url_parameters.AMP_FLAGS and value in _YES) or (name, value) in url_parameters.AMP_VALUES:
        return "amp"
    return "tracking" if url_parameters.is_tracking(name, domain) else ""


def _plain_fragment(fragment: str, rules: list[str]) -> str:
    if fragment.startswith("!") and len(fragment) > 1:  # "#!" names a page of its own on script-driven sites
        return "#" + _one_spelling(fragment, _QUERY_PLAIN, keep=b"/?&=+;#")
    if fragment:
        rules.append("fragment")
    return ""


def url_key(url: str) -> str:
    """Returns the key under which an address is known: 32 hex digits of the sha256 of its normal form."""
    return hashlib.sha256(normal_form(url).encode("utf-8", "replace")).hexdigest()[:32]


def article_id_of_url(url: str) -> str:
    """Returns the article id that an address leads to; equal for all its spellings."""
    return f"1-{url_key(url)}"


def article_id_of_text(text: str) -> str:
    """Returns the id of an article without address, from its text without white space."""
    words = "".join(unicodedata.normalize("NFC", text).split())
    return "1-" + hashlib.sha256(b"text:" + words.encode("utf-8", "replace")).hexdigest()[:32]


_INDEX_NAME = re.compile(r"(?:index|default|home|homepage|main|start|startseite|portada|inicio|accueil)(?:\.\w{2,5})?")


def is_plausible_canonical(canonical: str, page_url: str) -> bool:
    """Tells whether the address that a page names as its own can be believed.

    Templates often name the home page, a section or the script without its parameters on every story, and
    copies name the site they were copied from: believing those would make many stories one.

    Args:
        canonical: Absolute address from rel=canonical or og:url.
        page_url: Where the page came from; an empty string or a URN if that is unknown.
    """
    if not is_http_url(canonical) or has_login(canonical):
        return False
    own, page = _parse(normal_form(canonical)), _parse(normal_form(page_url))
    assert own is not None
    last = own.path.rpartition("/")[2]
    if page is not None and own == page:
        return True
    if not last and not own.query and not own.fragment:
        return False
    if _INDEX_NAME.fullmatch(last.lower()) and not own.query:
        return False
    if page is None:
        return True
    if domain_of(normal_form(canonical)) != domain_of(normal_form(page_url)):
        return False
    return bool(own.query) or names_story(last) or _may_be_short_name(own.path, page)


def _may_be_short_name(path: str, page: _Address) -> bool:
    """Judges a canonical path whose last segment does not look like a story's name."""
    if path == page.path:  # only the query went: all right for /a/31?ref=x, not for story.php?id=31
        return any(character.isdigit() for character in path.rpartition("/")[2])
    return not page.path.startswith(path + "/") and not names_story(page.path.rpartition("/")[2])
