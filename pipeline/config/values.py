"""Single values as people write them in files, flags and the environment.

Each function takes the text as written (or a value that Python code gives), returns the plain value and
raises ``ValueError`` with one sentence that says what is wrong and how to write it. Light: nothing heavy
is imported.
"""

from __future__ import annotations

import functools
import re
import zoneinfo
from typing import Any

from transforms.remote.bucket import has_store
from transforms.urls import is_http_url, safe_to_show

_UNITS = {"w": 604_800.0, "d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|[wdhms])")
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,3})?(?:ms|[wdhms]))+")
_INTEGER = re.compile(r"[0-9]{1,12}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_OFFSET = re.compile(r"[+-](?:0[0-9]|1[0-4]):?[0-5][0-9]|Z|UTC")
_ZONE = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SECRET = re.compile(r"(?i)([?&][^=&#\s]*(?:key|token|secret|pass|pwd|auth|sig)[^=&#\s]*=)[^&#\s]*")
_MAX_DURATION_S = 3_650 * 86_400.0
_MAX_INTEGER = 1_000_000_000


def text(value: Any) -> str:
    """Returns a text of one line, trimmed."""
    if value is None:
        raise ValueError("has no value; write one, or remove the key")
    if not isinstance(value, str):
        raise ValueError(f"must be a single text, not {_kind(value)}")
    if _CONTROL.search(value):
        raise ValueError("has control characters or line breaks")
    return value.strip()


def filled(value: Any) -> str:
    """Returns a text that is not empty."""
    found = text(value)
    if not found:
        raise ValueError("is empty; write a value, or remove the key")
    return found


def text_list(value: Any) -> Any:
    """Returns a list; one text alone is a list of one, nothing is an empty list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value] if value.strip() else []
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list, not {_kind(value)}")
    return list(value)


def item_list(value: Any) -> Any:
    """Returns a list whose items may be anything; nothing is an empty list."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list, with a dash before each entry")
    return list(value)


def version(value: Any) -> str:
    """Returns the version of a file's form; there is only 1."""
    word = text(str(value) if isinstance(value, int) else value)
    if word != "1":
        raise ValueError(f'"{word}" is not known; this newsbeam reads version 1')
    return word


def flag(value: Any) -> bool:
    """Returns a truth value: ``true`` or ``false`` (YAML 1.2 core; ``yes`` and ``on`` are words)."""
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word in ("true", "false"):
        return word == "true"
    meant = {"yes": "true", "on": "true", "y": "true", "1": "true"}.get(word)
    meant = meant or {"no": "false", "off": "false", "n": "false", "0": "false"}.get(word)
    raise ValueError(f'"{word}" is neither true nor false' + (f"; write {meant}" if meant else ""))


def count(value: Any) -> int:
    """Returns a whole number from 0 on."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    word = text(value)
    if not _INTEGER.fullmatch(word) or int(word) > _MAX_INTEGER:
        raise ValueError(f'"{word}" is not a whole number from 0 to {_MAX_INTEGER}')
    return int(word)


def duration(value: Any) -> float:
    """Returns seconds from ``5s``, ``15m``, ``1h30m``, ``7d``, ``2w``, ``250ms`` or ``0``."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)  # from Python code: seconds already
    else:
        word = text(value)
        if word == "0":
            return 0.0
        if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", word):
            raise ValueError(f'"{word}" has no unit; write {word}s, {word}m, {word}h or {word}d')
        if not _DURATION.fullmatch(word):
            raise ValueError(f'"{word}" is not a duration; write it as 5s, 15m, 1h30m, 7d or 0')
        parts = _PART.findall(word)
        if len({unit for _, unit in parts}) < len(parts):
            raise ValueError(f'"{word}" names a unit twice')
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 <= seconds <= _MAX_DURATION_S:
        raise ValueError("is longer than 10 years (or negative)")
    return seconds


def time_limit(value: Any) -> float:
    """Returns the seconds of a limit, which cannot be 0."""
    seconds = duration(value)
    if seconds == 0:
        raise ValueError("cannot be 0; nothing could be done in that time")
    return seconds


def duration_text(seconds: float) -> str:
    """Returns a duration as people write it, such as ``1h30m``; ``duration`` reads it back."""
    rest, parts = round(seconds * 1000), []
    for unit in ("d", "h", "m", "s", "ms"):
        size = round(_UNITS[unit] * 1000)
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0"


def language(value: Any) -> str:
    """Returns a BCP 47 tag as written; ``no`` is Norwegian, never false."""
    word = filled(value)
    if not _LANGUAGE.fullmatch(word):
        raise ValueError(f'"{word}" is not a language tag (BCP 47) such as en, es or pt-BR')
    return word


def country(value: Any) -> str:
    """Returns an ISO 3166 code of two letters, upper case; ``NO`` is Norway."""
    word = filled(value).upper()
    if not re.fullmatch(r"[A-Z]{2}", word):
        raise ValueError(f'"{word}" is not a country code of two letters (ISO 3166) such as US or MX')
    return word


def time_zone(value: Any) -> str:
    """Returns an IANA zone or an offset such as ``-05:00``."""
    word = filled(value)
    if _OFFSET.fullmatch(word):
        return word
    if _ZONE.fullmatch(word):
        known = _zones()
        # A machine without zone data cannot judge names; the date parser falls back to UTC there.
        if word in known or not known:
            return word
    raise ValueError(f'"{word}" is not a time zone; write one as America/Chicago or as an offset like -05:00')


@functools.cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())  # walks the file system


def contact(value: Any) -> str:
    """Returns a mail address or http(s) address for the User-Agent, or an empty text."""
    word = "" if value is None else text(value)
    if word and not word.isascii():
        raise ValueError("must be plain ASCII, since it goes into an HTTP header")
    if word and not is_web_address(word) and not re.fullmatch(r"[^\s@()<>,;]+@[^\s@()<>,;]+\.[^\s@()<>,;]+", word):
        raise ValueError(f'"{word}" is neither a mail address nor a web address')
    return word


def web_address(value: Any) -> str:
    """Returns an http(s) address."""
    word = filled(value)
    if not is_web_address(word):
        raise ValueError(f'"{without_secrets(word)}" is not an http:// or https:// address')
    return word


def feed_address(value: Any) -> str:
    """Returns an http(s) address, or the path or address of a file that lists feeds."""
    word = filled(value)
    if "://" in word and not is_web_address(word) and not has_store(word):
        raise ValueError(f'"{without_secrets(word)}" is neither an http(s) address nor a file')
    return word


def is_web_address(word: str) -> bool:
    """Tells whether a text is an http(s) address with a host."""
    return not re.search(r"\s", word) and is_http_url(word)


def without_secrets(address: str) -> str:
    """Returns an address fit for messages: no user, no password, no secret values of its query."""
    return _SECRET.sub(r"\1***", safe_to_show(address))


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "keys and values"
    return "a list" if isinstance(value, list | tuple) else f"{value!r}"
