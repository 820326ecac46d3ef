"""``newsbeam feeds health``: how each feed is doing, from the polls in the dataset."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

from pipeline.cli.feeds import configured, shown_address
from pipeline.cli.output import err, out, plural, shown_path, table
from pipeline.errors import ExitCode

_HEADER = ("state", "id", "url", "last success", "rhythm", "next due", "failures", "gaps", "moved to", "note")


def run(args: argparse.Namespace) -> int:
    """Shows the health of the feeds; exit 3 if one of them wants a person to look.

    Raises:
        ProblemsError: With the mistakes of the configuration and the lists.
        DatasetError: If the dataset cannot be read.
    """
    config, items = configured(args)
    from pipeline.config.feeds import source_of
    from pipeline.feeds.health import judge, read_polls

    now = args.now or datetime.now(timezone.utc)
    polls = read_polls(config.dataset, now)
    if not polls:
        err(f"{shown_path(config.dataset)} has no polls of the last 60 days; newsbeam run --feeds ... makes some")
        return int(ExitCode.DONE)
    states = judge([source_of(item, config) for item in items], polls, now)
    if args.json:
        for state in states:
            out(json.dumps(as_row(state), ensure_ascii=False))
    else:
        out(table(_HEADER, [_cells(state, now) for state in sorted(states, key=_worst_first)], sys.stdout))
    _tell(states)
    return int(ExitCode.TOO_MANY_REJECTS if any(state.needs_person for state in states) else ExitCode.DONE)


def as_row(state: Any) -> dict[str, Any]:
    """Returns the health of a feed ready for JSON: times in ISO 8601 UTC, the rhythm in seconds, no secrets."""
    return {
        "id": state.source_id,
        "url": shown_address(state.feed_url),
        "problems": list(state.problems),
        "outcome": state.outcome,
        "http_status": state.http_status,
        "last_attempt_at": _iso(state.last_attempt_at),
        "last_success_at": _iso(state.last_success_at),
        "last_news_at": _iso(state.last_news_at),
        "rhythm_s": round(state.rhythm.total_seconds()) if state.rhythm is not None else None,
        "next_due_at": _iso(state.next_due_at),
        "failures": state.failures,
        "gaps": state.gaps,
        "moved_to": shown_address(state.moved_to) if state.moved_to else None,
        "validators_unreliable": state.validators_unreliable,
        "note": state.note,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z") if moment else None


def _worst_first(state: Any) -> bool:
    return not state.needs_person


def _cells(state: Any, now: datetime) -> tuple[Any, ...]:
    name = ", ".join(state.problems) or ("ok" if state.outcome else "not polled")
    moved = shown_address(state.moved_to) if state.moved_to else None
    note = state.note or (state.outcome if state.failures else None)
    return (
        *(
            name,
            state.source_id,
            shown_address(state.feed_url),
            _ago(state.last_success_at, now),
            _length(state.rhythm),
        ),
        *(_ahead(state.next_due_at, now), state.failures, state.gaps, moved, note),
    )


def _ago(moment: datetime | None, now: datetime) -> str | None:
    return f"{_length(now - moment)} ago" if moment else None


def _ahead(moment: datetime | None, now: datetime) -> str | None:
    if moment is None:
        return None
    return "now" if moment <= now else f"in {_length(moment - now)}"


def _length(length: timedelta | None) -> str | None:
    """A length of time as people say it: its largest unit and, below ten of them, the next."""
    if length is None:
        return None
    minutes = max(0, round(length.total_seconds() / 60))
    days, hours = minutes // 1440, minutes % 1440 // 60
    if days:
        return f"{days}d" + (f" {hours}h" if hours and days < 10 else "")
    return f"{hours}h" + (f" {minutes % 60}m" if minutes % 60 and hours < 10 else "") if hours else f"{minutes}m"


def _tell(states: list[Any]) -> None:
    """Says what the problems mean, to stderr."""
    from transforms.feeds.health import PROBLEMS

    counts = Counter(problem for state in states for problem in state.problems)
    for problem in [name for name in PROBLEMS if name in counts]:
        err(f"{problem} ({counts[problem]}): {PROBLEMS[problem]}")
    unpolled = sum(state.outcome is None for state in states)
    troubled = sum(state.needs_person for state in states)
    err(
        f"{troubled} of {plural(len(states), 'feed')} want{'s' if len(states) == 1 else ''} a person to look"
        + (f", {unpolled} not polled" if unpolled else "")
    )
