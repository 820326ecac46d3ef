"""What a feed says about when to ask for it: ttl, sy:*, skipHours, skipDays.

Odd values are the rule: ``dayly``, ``always``, frequencies of 0.1 and 0, hours up to 24. What makes no sense
is left out; what is extreme is brought into bounds. Times of day are GMT (RSS 2.0).
"""

from __future__ import annotations

import itertools
import re

from lxml import etree

from transforms.feeds.model import ScheduleHints
from transforms.feeds.xml_names import Name, text_of

LONGEST_MIN = 7 * 24 * 60
SHORTEST_MIN = 1

_PERIODS = (
    ("min", 1),
    ("hour", 60),
    ("da", 24 * 60),
    ("week", 7 * 24 * 60),
    ("month", 30 * 24 * 60),
    ("year", 365 * 24 * 60),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER = re.compile(r"\d{1,7}(?:\.\d{1,4})?")


def schedule_hints(fields: dict[Name, list[etree._Element]]) -> ScheduleHints:
    """Reads the hints from the children of a channel."""
    hours = {hour for text in _children_texts(fields, "skiphours") if (hour := _hour(text)) is not None}
    days = {day for text in _children_texts(fields, "skipdays") if (day := _day(text))}
    return ScheduleHints(
        ttl_min=ttl_minutes(_text(fields, ("", "ttl"))),
        update_period_min=period_minutes(
            _text(fields, ("sy", "updateperiod")), _text(fields, ("sy", "updatefrequency"))
        ),
        # A feed that skips all hours or days cannot mean it.
        skip_hours=tuple(sorted(hours)) if len(hours) < 24 else (),
        skip_days=tuple(day for day in _DAYS if day in days) if len(days) < 7 else (),
    )


def ttl_minutes(text: str) -> int | None:
    """Returns a ttl in minutes, at most a week; ``None`` for zero and for what is no number."""
    number = _NUMBER.match(text.strip())
    minutes = int(float(number[0])) if number else 0
    return min(minutes, LONGEST_MIN) if minutes > 0 else None


def period_minutes(period: str, frequency: str) -> int | None:
    """Returns the time between two updates in minutes, at most a week.

    Args:
        period: ``hourly``, ``daily`` ...; the start of the word decides (``dayly``).
        frequency: Updates a period, 1 if it is no number above zero; also ``5/minute``.
    """
    name, count = period.strip().lower(), frequency.strip().lower()
    if "/" in count:
        count, _, name = count.partition("/")
    minutes = next((length for start, length in _PERIODS if name.startswith(start)), None)
    if minutes is None:
        return None
    number = _NUMBER.match(count.strip())
    times = float(number[0]) if number else 1.0
    return round(min(max(minutes / (times if times > 0 else 1.0), SHORTEST_MIN), LONGEST_MIN))


def _text(fields: dict[Name, list[etree._Element]], name: Name) -> str:
    return text_of(fields[name][0])[:40] if name in fields else ""


def _children_texts(fields: dict[Name, list[etree._Element]], name: str) -> list[str]:
    parents = fields.get(("", name), [])[:2]
    return [text_of(child)[:40].strip() for parent in parents for child in itertools.islice(parent.iterchildren(), 50)]


def _hour(text: str) -> int | None:
    return int(text) % 24 if re.fullmatch(r"[0-9]{1,2}", text) and int(text) <= 24 else None


def _day(text: str) -> str | None:
    return next((day for day in _DAYS if len(text) >= 3 and day.lower().startswith(text.lower()[:3])), None)
