"""When a feed is asked again. Pure rules: times in, times out.

A feed rests for the longest of what the user, its server and its own text ask for, at most a day. A feed
that fails rests longer each time, at most a day, and is never given up; one that is gone for good is still
asked once a week. Nothing here knows HTTP beyond the header values, and nothing keeps state.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import NamedTuple

LONGEST_REST_S = 24 * 3600
GONE_REST_S = 7 * 24 * 3600
_SAME_TIME_OF_DAY = timedelta(minutes=10)  # what a poll a day may come early
UNCONDITIONAL_AFTER = timedelta(days=7) - _SAME_TIME_OF_DAY
MOVE_CONFIRMED_AFTER = timedelta(days=1) - _SAME_TIME_OF_DAY
GONE_POLLS = 3
GONE_AFTER = timedelta(days=3) - _SAME_TIME_OF_DAY

# The band of Media Cloud's rss-fetcher: what share of a document's entries should be known already.
FEW_SEEN = 0.33
MANY_SEEN = 0.67
LENGTHEN_S = 600
LENGTHEN_SILENT_S = 3600
SHORTEN_S = 3600
OFF_SCHEDULE_S = 1200
SILENT_AFTER = timedelta(days=31)
# While a feed brings news its rest grows to this many times the user's interval, not more: news should be new.
LIVELY_FACTOR = 4

_HARD, _SOFT, _TEMPORARY = 1.0, 0.5, 0.25
_WEIGHTS = {
    "connect_error": _TEMPORARY,
    "dns_error": _TEMPORARY,
    "host_down": _TEMPORARY,
    "deferred": _TEMPORARY,
    "not_found": _SOFT,  # feeds that answer 404 do come back
    "denied": _SOFT,  # 403 is how some hosts limit rates
    "rate_limited": _SOFT,
    "server_error": _SOFT,
    "timeout": _SOFT,
    "not_feed": _SOFT,
}
_MAX_WEIGHT = 40.0
_LEAST_BACK_OFF_S = 300.0
_MAX_AGE = re.compile(r'(?:^|[,\s])max-age\s*=\s*"?(\d{1,10})', re.IGNORECASE)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class FeedWishes(NamedTuple):
    """What a feed's own text says about its rhythm.

    Attributes:
        rest_min: The longer of ``ttl`` and the sy:* period, minutes.
        skip_hours: Hours of the day in GMT, 0 to 23, in which it does not want to be asked.
        skip_days: Days in GMT, 0 = Monday.
    """

    rest_min: float = 0.0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


def failure_weight(outcome: str) -> float:
    """Returns how much a failed poll counts towards back-off: 1 hard, 0.5 soft, 0.25 temporary."""
    return _WEIGHTS.get(outcome, _HARD)


def add_weight(weight: float, outcome: str) -> float:
    """Returns the weight of failures in a row after one more."""
    return min(_MAX_WEIGHT, weight + failure_weight(outcome))


def back_off_s(interval_s: float, weight: float) -> float:
    """Returns the rest after failures that weigh ``weight``: doubled for each hard one, at most a day."""
    return min(float(LONGEST_REST_S), max(interval_s, _LEAST_BACK_OFF_S) * math.pow(2.0, min(weight, _MAX_WEIGHT)))


def next_due(
    now: datetime,
    interval_s: float,
    *,
    headers: Mapping[str, str] | None = None,
    wishes: FeedWishes | None = None,
    adaptive_s: float = 0.0,
    weight: float = 0.0,
    retry_after_until: datetime | None = None,
    jitter_s: float = 0.0,
    gone: bool = False,
) -> datetime:
    """Returns when a feed is due again.

    Args:
        now: The instant of the poll.
        interval_s: Shortest rest by the user's configuration, seconds; it may be longer than a day.
        headers: Of the answer, lower-case names; ``cache-control``, ``expires``, ``age`` and ``date`` count.
        wishes: What the feed's text asks for.
        adaptive_s: Rest found from the share of known entries, see ``adapted_interval_s``.
        weight: Of the failures in a row; 0 after a success.
        retry_after_until: Until when the server asked us to stay away; at most a day is obeyed.
        jitter_s: Added to the result, so that feeds refused together do not come back together.
        gone: The feed is gone for good as far as we can tell.
    """
    wishes = wishes or FeedWishes()
    rest_s = max(adaptive_s, fresh_for_s(headers or {}, now), wishes.rest_min * 60)
    if weight > 0:
        rest_s = max(rest_s, back_off_s(interval_s, weight))
    rest_s = max(float(interval_s), min(rest_s, LONGEST_REST_S))
    if gone:
        rest_s = max(rest_s, GONE_REST_S)
    due = now + timedelta(seconds=rest_s + jitter_s)
    if retry_after_until is not None:
        due = max(due, min(retry_after_until, now + timedelta(seconds=LONGEST_REST_S)))
    return _outside_skipped(due, wishes)


def fresh_for_s(headers: Mapping[str, str], now: datetime) -> float:
    """Returns for how many more seconds the server calls its answer fresh (RFC 9111, section 4.2).

    The longer of Cache-Control max-age (less Age) and Expires (less Date) counts; nonsense counts as 0.
    """
    found = _MAX_AGE.search(headers.get("cache-control", ""))
    max_age = float(found.group(1)) if found else 0.0
    age = headers.get("age", "").strip()
    if age.isdecimal() and len(age) <= 10:
        max_age -= float(age)
    expires = parse_http_date(headers.get("expires"))
    remaining = 0.0
    if expires is not None:
        sent = parse_http_date(headers.get("date")) or now
        remaining = (expires - sent).total_seconds()
    return max(0.0, max_age, remaining)


def parse_http_date(value: str | None) -> datetime | None:
    """Returns the instant of an HTTP date (RFC 9110, section 5.6.7), or ``None`` if it is none."""
    try:
        parsed = parsedate_to_datetime((value or "").strip())
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def adapted_interval_s(
    current_s: float,
    interval_s: float,
    *,
    seen_share: float | None,
    successes: int,
    off_schedule_s: float,
    silent_for: timedelta,
) -> float:
    """Returns the rest that fits how fast a feed changes, seconds.

    The aim is that between a third and two thirds of the entries are known already: fewer, and some may
    slip through between two polls; more, and we ask for nothing.

    Args:
        current_s: The adaptive rest so far; 0 if there is none yet.
        interval_s: Shortest rest by the user's configuration.
        seen_share: Share of the entries that the poll before had; 1.0 for a 304; ``None`` if unknown.
        successes: Successful polls in a row, this one included; fewer than two change nothing.
        off_schedule_s: How much later than due the poll came (negative: earlier). A late poll never
            shortens and an early one never lengthens.
        silent_for: Time since the feed last brought something new.
    """
    current_s = max(float(interval_s), current_s)
    silent = silent_for > SILENT_AFTER
    longest_s = LONGEST_REST_S if silent else min(LONGEST_REST_S, interval_s * LIVELY_FACTOR)
    if seen_share is not None and successes >= 2:
        if seen_share > MANY_SEEN and off_schedule_s > -OFF_SCHEDULE_S:
            current_s += LENGTHEN_SILENT_S if silent else LENGTHEN_S
        elif seen_share < FEW_SEEN and off_schedule_s < OFF_SCHEDULE_S:
            current_s -= SHORTEN_S
    return max(float(interval_s), min(current_s, longest_s))


def is_due(now: datetime, next_due_at: datetime | None, started_at: datetime) -> bool:
    """Tells whether a feed polled at ``started_at`` is due again.

    Runs that start at even distances reach a feed a few seconds earlier or later each time, so the last
    twentieth of the rest, at most 30 s, is given away.
    """
    if next_due_at is None:
        return True
    slack = min((next_due_at - started_at) / 20, timedelta(seconds=30))
    return now >= next_due_at - max(slack, timedelta(0))


def is_gone(count: int, first_at: datetime | None, now: datetime) -> bool:
    """Tells whether "gone" (410) has been said often and long enough to be believed."""
    return first_at is not None and count >= GONE_POLLS and now - first_at >= GONE_AFTER


def jitter_s(url: str, failures: int, longest_s: float = 3600.0) -> float:
    """Returns a rest of 0 to ``longest_s`` seconds that differs between feeds and from failure to failure."""
    digest = hashlib.sha256(f"{failures} {url}".encode()).digest()
    return longest_s * int.from_bytes(digest[:4], "big") / 2**32


def wishes_of(
    ttl_min: float | None,
    update_period_min: float | None,
    skip_hours: object = (),
    skip_days: object = (),
) -> FeedWishes:
    """Returns a feed's wishes, cleaned: hour 24 is 0, days by name or number, nonsense is dropped."""
    rests = [value for value in (ttl_min, update_period_min) if value and math.isfinite(value) and value > 0]
    return FeedWishes(
        rest_min=min(max(rests, default=0.0), LONGEST_REST_S / 60),
        skip_hours=_clean(skip_hours, _hour),
        skip_days=_clean(skip_days, _day),
    )


def _clean(values: object, read: Callable[[object], int | None]) -> tuple[int, ...]:
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        return ()
    return tuple(sorted({number for value in values if (number := read(value)) is not None}))


def _hour(value: object) -> int | None:
    text = str(value).strip()
    if not text.isdecimal() or len(text) > 3 or int(text) > 24:
        return None
    return int(text) % 24


def _day(value: object) -> int | None:
    text = str(value).strip().lower()
    if text.isdecimal():
        return int(text) if len(text) == 1 and int(text) < 7 else None
    return next((index for index, name in enumerate(_DAYS) if len(text) >= 3 and name.startswith(text)), None)


def _outside_skipped(due: datetime, wishes: FeedWishes) -> datetime:
    """Moves a time out of the skipped hours and days; a feed that skips everything skips nothing."""
    if len(wishes.skip_hours) >= 24 or len(wishes.skip_days) >= 7:
        return due
    moved = due.astimezone(timezone.utc)
    for _ in range(24 * 8):
        if moved.weekday() not in wishes.skip_days and moved.hour not in wishes.skip_hours:
            return moved
        moved = moved.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return due
