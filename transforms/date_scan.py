"""Cuts a date's text into its parts: times, numbers, names of months and days, zones.

The inner half of ``transforms/dates.py``. Every character must belong to a part that is understood; a
part that is left over or stands twice makes the text no date.
"""

from __future__ import annotations

import functools
import re
import zoneinfo
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from transforms import date_names
from transforms.date_names import fold


def place_zone(name: str) -> tzinfo | None:
    """Returns the zone of an IANA name, in any case of letters for most of them; ``None`` if there is none."""
    title = "/".join("_".join(word.capitalize() for word in part.split("_")) for part in name.split("/"))
    return _zone_info(name) or _zone_info(title)


@functools.lru_cache(maxsize=256)
def _zone_info(key: str) -> tzinfo | None:
    try:
        return zoneinfo.ZoneInfo(key)
    except (KeyError, ValueError, OSError):
        return None


def offset_zone(sign: str, hours: str, minutes: str | None) -> timezone | None:
    """Returns an offset from UTC; ``None`` beyond 14 hours, which no place on earth has."""
    total = int(hours) * 60 + int(minutes or 0)
    if total > 14 * 60 or int(minutes or 0) > 59:
        return None
    return timezone(timedelta(minutes=-total if sign == "-" else total))


class Number(NamedTuple):
    """A number and how many digits it was written with."""

    value: int
    digits: int


class Parts:
    """What a scan found. ``triple`` is a date of three numbers with their sign (``2026-03-10``)."""

    def __init__(self) -> None:
        self.numbers: list[Number] = []
        self.names: list[str] = []
        self.triple: tuple[Number, Number, Number, str] | None = None
        self.day: date | None = None
        self.time: tuple[str, str | None, str | None, str | None] | None = None
        self.meridiem = ""
        self.zone: tzinfo | None = None
        self.zone_name = ""
        self.weekdays: frozenset[int] = frozenset()
        self.months: tuple[int, ...] = ()

    @property
    def zone_known(self) -> bool:
        """Whether the text itself says where its clock stands."""
        return self.zone is not None and self.time is not None

    def precision(self) -> str:
        """How exact the text is: ``second``, ``minute`` or ``day``."""
        if self.time is None:
            return "day"
        return "minute" if self.time[2] is None else "second"

    def settle_names(self) -> bool:
        """Tells months from weekdays, which share names (``mar`` is March and Tuesday); False if it cannot."""
        months = [name for name in self.names if name in date_names.MONTHS]
        if self.triple is None and self.day is None:
            only = [name for name in months if name not in date_names.WEEKDAYS]
            if len(only) > 1 or not months:
                return False
            month = only[0] if only else months[-1]
            self.months = date_names.MONTHS[month]
            last = len(self.names) - 1 - self.names[::-1].index(month)
            del self.names[last]
        if not all(name in date_names.WEEKDAYS for name in self.names) or len(self.names) > 1:
            return False
        self.weekdays = frozenset(date_names.WEEKDAYS[self.names[0]]) if self.names else frozenset()
        return True

    def clock(self) -> timedelta | None:
        """The time of day; ``None`` if it is impossible."""
        if self.time is None:
            return timedelta()
        hour, minute, second = int(self.time[0]), int(self.time[1] or 0), int(self.time[2] or 0)
        micro = int(((self.time[3] or "") + "000000")[:6])
        if self.meridiem and hour <= 12:
            hour = hour % 12 + (12 if self.meridiem == "p" else 0)
        if minute > 59 or second > 60 or hour > 24 or (hour == 24 and (minute or second or micro)):
            return None
        return timedelta(hours=hour, minutes=minute, seconds=min(second, 59), microseconds=micro)

    def days(self, default_zone: str) -> tuple[list[date], bool]:
        """The days that may be meant, the likeliest first, and whether that order alone may decide."""
        if self.day is not None:
            return [self.day], True
        if self.triple is not None:
            return _days_of_triple(*self.triple, order=self._order(default_zone))
        if not self.months:
            return [], False
        first, second = self.numbers
        day, year = (first, second) if first.digits < 3 else (second, first)
        found = [_day(_year(year), month, day.value) for month in self.months]
        if year.digits == 2 and not any(day and day.weekday() in self.weekdays for day in found):
            # "Tue, 26 Mar 10": the year first, if the weekday says so.
            turned = [_day(_year(day), month, year.value) for month in self.months]
            found = [day for day in turned if day and day.weekday() in self.weekdays] or found
        return [day for day in found if day], len(self.months) == 1

    def _order(self, default_zone: str) -> str:
        """``month`` or ``day``: what comes first, by the clock, the zone's name or the feed's home."""
        if self.meridiem or self.zone_name in date_names.MONTH_FIRST_ZONES:
            return "month"
        if self.zone_name in date_names.DAY_FIRST_ZONES or default_zone.startswith(("Europe/", "Australia/")):
            return "day"
        return "month" if default_zone in date_names.MONTH_FIRST_PLACES else ""


def _year(number: Number) -> int:
    """RFC 5322 section 4.3: two digits from 50 on are of the last century, three count from 1900."""
    if number.digits <= 2:
        return number.value + (2000 if number.value < 50 else 1900)
    return number.value + 1900 if number.digits == 3 else number.value


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _days_of_triple(a: Number, b: Number, c: Number, sign: str, *, order: str) -> tuple[list[date], bool]:
    if a.digits == 4:
        found = [_day(a.value, b.value, c.value)]
    elif sign == ".":
        found = [_day(_year(c), b.value, a.value)]
    else:
        month_first, day_first = _day(_year(c), a.value, b.value), _day(_year(c), b.value, a.value)
        found = [month_first, day_first]
        if order:
            found = [(month_first or day_first) if order == "month" else (day_first or month_first)]
        elif c.digits == 2:
            found.append(_day(_year(a), b.value, c.value))
    return [day for day in found if day], False


_USUAL = re.compile(
    r"(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:(GMT)|([+-])(\d\d)(\d\d))"
)


def scan_usual(text: str) -> Parts | None:
    """The form that nearly all feeds write (RFC 5322), only faster than ``scan`` and with the same result."""
    match = _USUAL.fullmatch(text)
    months = date_names.MONTHS.get(match[2].lower(), ()) if match else ()
    if match is None or len(months) != 1:
        return None
    parts = Parts()
    parts.day = _day(int(match[3]), months[0], int(match[1]))
    parts.time = (match[4], match[5], match[6], None)
    parts.zone = timezone.utc if match[7] else offset_zone(match[8], match[9], match[10])
    return parts if parts.day and parts.zone else None


_EPOCH = re.compile(r"(?:/Date\()?(-?\d{9,10}|-?\d{13}|-?\d{16})(?:\.\d+)?(?:[+-]\d{4}\)/|\)/)?")


def scan_epoch(text: str) -> Parts | None:
    """Seconds, milli- or microseconds since 1970; also as old ASP.NET writes them."""
    match = _EPOCH.fullmatch(text)
    if not match:
        return None
    value = int(match[1]) / {13: 1e3, 16: 1e6}.get(len(match[1].lstrip("-")), 1)
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=int(value // 1))
    parts = Parts()
    parts.day = moment.date()
    parts.time = (str(moment.hour), str(moment.minute), str(moment.second), None)
    parts.zone = timezone.utc
    return parts


_NOON = r"(?:\s?([AaPp])\.?\s?[Mm]\b\.?)"
_TOKEN = re.compile(
    rf"""
    (?P<week>\d{{4}}-?W\d{{2}}-?\d(?!\d))
  | (?P<ordinal>\d{{4}}-\d{{3}}(?![\d:-]))
  | (?P<basic>\d{{8}}(?:T?\d{{4}}(?:\d{{2}}(?:[.,]\d+)?)?)?(?!\d))
  | (?P<triple>\d{{1,4}}([-/.])[ ]?\d{{1,2}}\5[ ]?\d{{1,4}}(?![\d:]))
  | (?P<named>\d{{1,4}}[-/](?:[^\W\d_]{{3,12}})\.?[-/]\d{{1,4}}(?!\d)
      |[^\W\d_]{{3,12}}[-/]\d{{1,2}}[-/]\d{{4}}(?!\d))
  | (?P<time>T?(?:\d{{1,2}}):(?:\d{{1,2}})(?::\d{{1,2}}(?:[.,]\d+)?)?{_NOON}?)
  | (?P<hourly>(?:T\d{{4}}(?:\d\d(?:[.,]\d+)?)?|T\d\d)(?!\d)
      |\d{{1,2}}(?:\.\d\d)?{_NOON}|\d{{1,2}}\s?[HhUu]\s?(?:\d\d)?\b
      |\d{{1,2}}\s?(?:[Uu]hr|uur)(?:\s\d\d)?\b|\d{{1,2}}\.\d\d(?![\d.]))
  | (?P<offset>[+-]{{1,2}}\d{{1,2}}(?::?\d{{2}}(?::?\d{{2}})?)?(?!\d))
  | (?P<number>\d{{1,4}})(?:st|nd|rd|th|er|[ºª°])?(?!\d)
  | (?P<place>[A-Za-z]+(?:/[A-Za-z0-9_+-]+)+)
  | (?P<word>[^\W\d_](?:[^\W\d_]|['’ʼ])*)
  | (?P<note>\([^()]*\)|\[[^\[\]]*\])
  | (?P<mark>[\s,.;|'·•/-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOCK = re.compile(r"T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?", re.IGNORECASE)
_HOURLY = re.compile(r"T(\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?|(\d{1,2})\D*(\d\d)?", re.IGNORECASE)
_MERIDIEM = re.compile(r"([ap])\.?\s?m\.?$", re.IGNORECASE)
_ZONES = date_names.ZONE_OFFSETS.keys() | date_names.ZONE_PLACES.keys()
_NAMES = date_names.MONTHS.keys() | date_names.WEEKDAYS.keys()


def scan(text: str) -> Parts | None:
    """Cuts the whole text into known parts; ``None`` if anything is left over or stands twice."""
    parts = Parts()
    position = 0
    before = ""
    notes = []
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        kind, token = match.lastgroup or "", match[0]
        if kind == "note":
            notes.append(token[1:-1])
        elif kind != "mark" and not _TAKERS[kind](parts, token, before):
            return None
        before = before if kind in ("mark", "note") else kind
    for note in notes:
        if parts.zone is None:
            _take_zone_note(parts, note.strip())
    if parts.triple or parts.day:
        complete = not parts.numbers
    else:
        complete = len(parts.numbers) == 2 or _numbers_make_triple(parts)
    return parts if complete and parts.settle_names() else None


def _numbers_make_triple(parts: Parts) -> bool:
    """``Sat, 11 04 2020``: three numbers without a month's name."""
    if len(parts.numbers) != 3 or any(
        name in date_names.MONTHS and name not in date_names.WEEKDAYS for name in parts.names
    ):
        return False
    first, second, third = parts.numbers
    parts.triple = (first, second, third, " ")
    parts.numbers = []
    return True


def _take_day(parts: Parts, token: str, before: str) -> bool:
    """A week date or an ordinal date (ISO 8601)."""
    try:
        if "w" in token.lower():
            year, week, day = int(token[:4]), int(token.lower().partition("w")[2][:2]), int(token[-1])
            parts.day = date.fromisocalendar(year, week, day)
        else:
            day_of_year = date(int(token[:4]), 1, 1) + timedelta(days=int(token[5:]) - 1)
            parts.day = day_of_year if day_of_year.year == int(token[:4]) else None
    except (ValueError, OverflowError):
        return False
    return parts.day is not None and before == ""


def _take_basic(parts: Parts, token: str, before: str) -> bool:
    digits = token[:8]
    parts.day = _day(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    clock = token[8:].lstrip("Tt")
    if clock:
        parts.time = (clock[:2], clock[2:4], clock[4:6] or None, clock[7:] or None)
    return parts.day is not None and before == ""


def _take_triple(parts: Parts, token: str, before: str) -> bool:
    values = [Number(int(part), len(part)) for part in re.findall(r"\d+", token)]
    sign = next(c for c in token if c in "-/.")
    fresh = parts.triple is None and parts.day is None and not parts.numbers
    parts.triple = (values[0], values[1], values[2], sign)
    return fresh


def _take_named(parts: Parts, token: str, before: str) -> bool:
    """``10-Mar-2026`` and ``Mar-10-2026``."""
    pieces = [piece.strip(".") for piece in re.split(r"[-/]", token)]
    parts.numbers += [Number(int(piece), len(piece)) for piece in pieces if piece.isdigit()]
    names = [fold(piece) for piece in pieces if not piece.isdigit()]
    parts.names += names
    return all(name in date_names.MONTHS for name in names)


def _take_time(parts: Parts, token: str, before: str) -> bool:
    match = _CLOCK.match(token)
    assert match is not None
    return _set_time(parts, (match[1], match[2], match[3], match[4]), token)


def _take_hourly(parts: Parts, token: str, before: str) -> bool:
    match = _HOURLY.match(token)
    assert match is not None
    if match[1]:
        return before in ("triple", "basic", "week", "ordinal") and _set_time(
            parts, (match[1], match[2], match[3], match[4]), ""
        )
    return _set_time(parts, (match[5], match[6], None, None), token)


def _set_time(parts: Parts, time: tuple[str, str | None, str | None, str | None], token: str) -> bool:
    fresh = parts.time is None
    parts.time = time
    meridiem = _MERIDIEM.search(token)
    parts.meridiem = meridiem[1].lower() if meridiem else ""
    return fresh


def _take_offset(parts: Parts, token: str, before: str) -> bool:
    if parts.time is None and parts.triple is None and parts.day is None:
        return False
    match = re.fullmatch(r"[+-]*([+-])(\d{1,2}):?(\d{2})?(?::?\d{2})?", token)
    if match is None:
        return False
    if parts.zone is not None and not parts.zone_name:
        return False
    parts.zone = offset_zone(match[1], match[2], match[3])
    parts.zone_name = ""
    return parts.zone is not None


def _take_number(parts: Parts, token: str, before: str) -> bool:
    digits = re.match(r"\d+", token)
    assert digits is not None
    parts.numbers.append(Number(int(digits[0]), len(digits[0])))
    return len(parts.numbers) <= 3


def _take_place(parts: Parts, token: str, before: str) -> bool:
    zone = place_zone(token)
    if zone is None:
        return all(_take_word(parts, word, before) for word in token.split("/"))
    parts.zone = parts.zone or zone
    return True


def _take_word(parts: Parts, token: str, before: str) -> bool:
    name = fold(token)
    if name in _ZONES and (before in ("time", "hourly", "offset") or name not in _NAMES):
        return _set_zone(parts, name)
    if name in _NAMES:
        parts.names.append(name)
        return len(parts.names) <= 2
    if name in date_names.FILLERS:
        return True
    # A zone that we do not know leaves the date, marked as one whose zone was assumed.
    return before in ("time", "hourly") and token.isupper() and token.isascii() and len(token) <= 5


def _set_zone(parts: Parts, name: str) -> bool:
    if parts.zone is None:
        parts.zone_name = name
        if name in date_names.ZONE_PLACES:
            parts.zone = place_zone(date_names.ZONE_PLACES[name])
        else:
            parts.zone = timezone(timedelta(minutes=date_names.ZONE_OFFSETS[name]))
    return True


def _take_zone_note(parts: Parts, note: str) -> None:
    """A zone in brackets, such as ``(CET)`` or ``[Europe/Paris]``; other remarks are left alone."""
    name = fold(note)
    zone = place_zone(note) if "/" in note else None
    if zone is not None:
        parts.zone = zone
    elif name in _ZONES:
        _set_zone(parts, name)


_TAKERS = {
    "week": _take_day, "ordinal": _take_day, "basic": _take_basic, "triple": _take_triple, "named": _take_named,
    "time": _take_time, "hourly": _take_hourly, "offset": _take_offset, "number": _take_number, "place": _take_place,
    "word": _take_word,
}  # fmt: skip
