"""Dates as feeds and pages write them, read as instants; what is not sure is not read.

One scan cuts the text into times, numbers, names, offsets; every part must be understood, or there is
no date. Where two readings are possible (``03/04/2026``), the weekday, the zone and the present decide,
or nothing does and there is no date. Forms: RFC 822, 850, 5322, asctime, ISO 8601 and W3C with weeks and
ordinal days, US order, forms of other languages, seconds since 1970. Time linear in a bounded length.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from transforms.date_scan import Parts, offset_zone, place_zone, scan, scan_epoch, scan_usual

LENGTH_LIMIT = 120
LATEST_AHEAD = timedelta(hours=48)
_EARLIEST = datetime(1970, 1, 2, tzinfo=timezone.utc)  # the whole first day: zero with any zone's offset


class ParsedDate(NamedTuple):
    """A date that was read.

    Attributes:
        instant: In UTC; a date without time of day is the day's first moment.
        zone_known: False if a default zone was applied.
        precision: ``second``, ``minute`` or ``day``.
        raw: As written.
    """

    instant: datetime
    zone_known: bool
    precision: str
    raw: str


def parse_date(raw: str | None, *, now: datetime, default_zone: str | None = None) -> ParsedDate | None:
    """Returns the date, or ``None`` if there is none that can be read and believed; see ``read_date``."""
    return read_date(raw, now=now, default_zone=default_zone)[0]


def read_date(raw: str | None, *, now: datetime, default_zone: str | None = None) -> tuple[ParsedDate | None, str]:
    """Reads a date and says why, if there is none. Never raises.

    Args:
        raw: As written.
        now: The present, aware; later dates than 48 hours ahead are not believed, nor such up to 1970-01-01.
        default_zone: IANA zone or offset (``+01:00``) for dates without one; UTC if it is absent or unknown.

    Returns:
        The date and an empty string, or ``None`` and ``missing``, ``unreadable`` or ``implausible``.
    """
    if not raw or not raw.strip():
        return None, "missing"
    if len(raw) > LENGTH_LIMIT:
        return None, "unreadable"
    text = _tidy(raw)
    parts = scan_usual(text) or scan_epoch(text) or scan(text)
    clock = parts.clock() if parts else None
    if parts is None or clock is None:
        return None, "unreadable"
    days, sure = parts.days(default_zone or "")
    days = [day for day in days if day.weekday() in parts.weekdays] or days
    readings = [_instant(parts, day, clock, default_tz(default_zone)) for day in days]
    if not any(readings):
        return None, "unreadable"
    plausible = [at for at in readings if at and _EARLIEST <= at <= now + LATEST_AHEAD]
    if not plausible:
        return None, "implausible"
    if len(set(plausible)) > 1 and not sure:
        return None, "unreadable"
    return ParsedDate(plausible[0], parts.zone_known, parts.precision(), raw), ""


@functools.lru_cache(maxsize=256)
def default_tz(name: str | None) -> tzinfo:
    """Returns the zone of an IANA name or an offset (``+01:00``); UTC for anything else."""
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", (name or "").strip(), re.IGNORECASE)
    if offset:
        return offset_zone(offset[1], offset[2], offset[3]) or timezone.utc
    return place_zone((name or "").strip()) or timezone.utc


_EAST_ASIAN = str.maketrans("年년月월日일時时点시分분秒초", "----  ::::::  ")
_EAST_ASIAN_WEEKDAY = re.compile(
    r"\([月火水木金土日월화수목금토일]\)|[月火水木金土日]曜日?|[월화수목금토일]요일|(?:星期|周)[一二三四五六日天]"
)
_NOON_FIRST = re.compile(r"(?:(午前|上午|오전)|(?:午後|下午|오후))\s*(\d{1,2}:[\d:]*\d)")


def _tidy(raw: str) -> str:
    """One form of digits, signs and blanks; East Asian marks become the signs of ISO dates."""
    text = raw
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("−", "-").replace("–", "-").replace("—", "-")
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
        if re.search("[年년月월]", text):
            text = _from_east_asian(text)
    return " ".join(text.split()).strip(" \"'.,;")


def _from_east_asian(text: str) -> str:
    """``2026年3月10日 午後3時05分`` -> ``2026-3-10  3:05 pm``."""
    text = _EAST_ASIAN_WEEKDAY.sub(" ", text)
    text = re.sub(r"(?<=[年년月월時时点시分분])\s+(?=\d)", "", text).translate(_EAST_ASIAN)
    text = re.sub(r":(?=\s|$)", "", text)
    return _NOON_FIRST.sub(lambda match: f"{match[2]} {'am' if match[1] else 'pm'}", text)


def _instant(parts: Parts, day: date, clock: timedelta, home: tzinfo) -> datetime | None:
    try:
        local = datetime(day.year, day.month, day.day) + clock  # noqa: DTZ001 - the zone comes next
        zone = parts.zone
        if parts.zone_name and local.replace(tzinfo=home).tzname() == parts.zone_name.upper():
            zone = home  # the feed's own zone calls that time so: IST in Jerusalem, CST in Shanghai
        return local.replace(tzinfo=zone or home).astimezone(timezone.utc)
    except (OverflowError, ValueError):
        return None
