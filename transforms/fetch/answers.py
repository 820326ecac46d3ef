"""What the status and the headers of an HTTP answer mean for us (RFC 9110). No I/O."""

from __future__ import annotations

import contextlib
import email.utils
import urllib.parse
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

REDIRECTS = (301, 302, 303, 307, 308)
PERMANENT_REDIRECTS = (301, 308)
RETRY_AFTER_LIMIT = timedelta(hours=24)

_OUTCOMES = {304: "not_modified", 404: "not_found", 408: "timeout", 410: "gone", 429: "rate_limited", 451: "gone"}


def outcome_of_status(status: int, headers: Mapping[str, str]) -> str:
    """Returns the outcome that a final status stands for, one of ``rejects.FETCH_OUTCOMES``.

    Args:
        status: Any number; what is outside 100 to 599 (LinkedIn's 999) is a refusal.
        headers: With lower-case names.
    """
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return "denied"
    if 200 <= status <= 299:
        return "ok"
    if status == 503 and "retry-after" in headers:
        return "rate_limited"
    if 500 <= status <= 599 or status < 200:
        return "server_error"
    if 300 <= status <= 399 and status != 304:
        return "bad_url"
    return _OUTCOMES.get(status, "denied")


def retry_after_until(value: str | None, now: datetime) -> datetime | None:
    """Reads ``Retry-After``: seconds or an HTTP date.

    Returns:
        An instant from ``now`` to 24 hours later, whatever was asked; ``None`` if the value cannot be read.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        until = now + min(timedelta(seconds=int(text[:9])), RETRY_AFTER_LIMIT)
    else:
        try:
            until = email.utils.parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if until.tzinfo is None:  # "-0000": UTC by RFC 5322
            until = until.replace(tzinfo=timezone.utc)
    return min(max(until, now), now + RETRY_AFTER_LIMIT)


def redirect_target(current_url: str, location: str) -> str:
    """Returns where a ``Location`` leads, absolute; it may be no usable address.

    Header values arrive as Latin-1; an address that was sent as raw UTF-8 is read as such. What cannot be
    joined comes back as it is.
    """
    with contextlib.suppress(UnicodeError):  # it was Latin-1, or is text already
        location = location.encode("latin-1").decode("utf-8")
    try:
        return urllib.parse.urljoin(current_url, location.strip())
    except ValueError:  # such as an open bracket
        return location.strip()


def moved_to(redirects: tuple[tuple[int, str], ...]) -> str | None:
    """Returns the new address of what has moved for good: the end of an unbroken leading run of 301 and 308.

    Args:
        redirects: Status and target of each hop, in order.
    """
    target = None
    for status, place in redirects:
        if status not in PERMANENT_REDIRECTS:
            break
        target = place
    return target
