"""Pages that are due again: when, how long, and the entry that is kept for it in ``fetches``.

A page that failed for now is tried again without its feed, which may have moved on and answers 304.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from transforms.records import Entry

RETRY_BASE = timedelta(minutes=15)
ATTEMPT_LIMIT = 6
TIME_LIMIT = timedelta(days=7)

_TIMES = ("published_at", "updated_at", "first_failed_at")
_LISTS = ("authors", "categories")


def entry_to_json(entry: Entry) -> str:
    """Returns an entry as a JSON object, ASCII, without the fields that have their default value."""
    fields: dict[str, Any] = {}
    for name, value in entry._asdict().items():
        if name not in Entry._field_defaults or value != Entry._field_defaults[name]:
            fields[name] = value.isoformat() if isinstance(value, datetime) else value
    return json.dumps(fields)


def entry_from_json(text: str) -> Entry:
    """Returns the entry that ``entry_to_json`` wrote. Fields of later versions are passed over.

    Raises:
        ValueError: If the text is no such object.
    """
    try:
        fields = {name: value for name, value in json.loads(text).items() if name in Entry._fields}
        for name in _TIMES:
            if fields.get(name) is not None:
                fields[name] = datetime.fromisoformat(fields[name])
        for name in _LISTS:
            if name in fields:
                fields[name] = tuple(fields[name])
        return Entry(**fields)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"not an entry: {error}") from error


def after_failure(entry: Entry, now: datetime) -> Entry:
    """Returns the entry as it is kept after one more failed attempt."""
    return entry._replace(attempts=entry.attempts + 1, first_failed_at=entry.first_failed_at or now)


def is_given_up(entry: Entry, now: datetime) -> bool:
    """Tells whether an entry (as after its last failure) has used up its attempts or its time."""
    too_old = entry.first_failed_at is not None and now - entry.first_failed_at >= TIME_LIMIT
    return too_old or entry.attempts >= ATTEMPT_LIMIT


def next_try_at(failures_before: int, now: datetime, not_before: datetime | None = None) -> datetime:
    """Returns when a page is due after a failure: 15 minutes, doubled for each failure before.

    Args:
        failures_before: Failed attempts before this one.
        now: When it failed.
        not_before: What ``Retry-After`` said.
    """
    doublings = min(max(failures_before, 0), ATTEMPT_LIMIT)
    due_at = now + RETRY_BASE * (1 << doublings)
    return due_at if not_before is None else max(due_at, not_before)
