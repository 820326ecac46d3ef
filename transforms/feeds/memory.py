"""What one poll of a feed must know of the polls before, and its form in the dataset.

The newest ``fetches`` row of a feed is its whole state. Validators, failures and times have columns; the
rest is this record, kept as one JSON object in the row's ``entry_json``. Nothing in it is secret or large:
the entries of the last document are remembered as a sketch of at most 128 short hashes.
"""

from __future__ import annotations

import hashlib
import json
import math
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any, NamedTuple

from transforms.feeds.schedule import FeedWishes, wishes_of

SKETCH_SIZE = 128
_HASH_LETTERS = 6
_MAX_JSON = 20_000


class PollMemory(NamedTuple):
    """The part of a feed's state that has no column of its own.

    Attributes:
        seen: Short hashes of the entries of the last document, the smallest ``SKETCH_SIZE`` of them, sorted.
        kind: What the last document was (``rss``, ``sitemap_index`` ...).
        note: What was wrong with the last poll, in a word or two; ``None`` if nothing.
        first_at: First poll that succeeded; ``succeeded_at`` the last one.
        whole_at: Last poll that brought a whole document (no 304).
        news_at: Last poll that brought an entry not seen before.
        successes: Successful polls in a row.
        weight: Weight of the failures in a row, see ``schedule.failure_weight``.
        adaptive_s: Rest found from the share of known entries.
        wishes: What the feed's text asks for.
        unreliable: The server said 304 although there was news: validators are not sent to it.
        refusals: Answers in a row that asked for patience (429, 503 with Retry-After).
        document_url: Where the last whole document came from, if not from the configured address.
        move_to: Target of a permanent redirect, from when it was first seen (``move_first_at``).
        gone_count: Answers in a row that said "gone", the first at ``gone_first_at``.
    """

    seen: tuple[str, ...] = ()
    kind: str | None = None
    note: str | None = None
    first_at: datetime | None = None
    succeeded_at: datetime | None = None
    whole_at: datetime | None = None
    news_at: datetime | None = None
    successes: int = 0
    weight: float = 0.0
    adaptive_s: float = 0.0
    wishes: FeedWishes = FeedWishes()
    unreliable: bool = False
    refusals: int = 0
    document_url: str | None = None
    move_to: str | None = None
    move_first_at: datetime | None = None
    gone_count: int = 0
    gone_first_at: datetime | None = None


def to_json(memory: PollMemory) -> str:
    """Returns the record as a JSON object; what has its default is left out."""
    wishes = {key: value for key, value in memory.wishes._asdict().items() if value}
    fields = memory._replace(wishes=FeedWishes())._asdict() | {"seen": "".join(memory.seen)}
    written: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, datetime):
            written[key] = value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
        elif value and key != "wishes":
            written[key] = value
    return json.dumps(written | ({"wishes": wishes} if wishes else {}), separators=(",", ":"))


def from_json(text: str | None) -> PollMemory:
    """Reads what ``to_json`` wrote; damaged text or fields count as not there."""
    if not text or len(text) > _MAX_JSON:
        return PollMemory()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return PollMemory()
    if not isinstance(data, dict):
        return PollMemory()
    return PollMemory()._replace(**{name: _read(name, data[name]) for name in PollMemory._fields if name in data})


def _read(name: str, value: object) -> Any:
    """Reads one field; what cannot be read is as if it were not there."""
    if name.endswith("_at"):
        return _time(value)
    if name in ("kind", "note", "document_url", "move_to"):
        return value if isinstance(value, str) else None
    if name == "seen":
        return _cut(value) if isinstance(value, str) else ()
    if name == "wishes":
        wishes = value if isinstance(value, dict) else {}
        return wishes_of(_number(wishes.get("rest_min")), None, wishes.get("skip_hours"), wishes.get("skip_days"))
    if name == "unreliable":
        return value is True
    return _number(value) if name in ("weight", "adaptive_s") else int(_number(value))


def sketch(keys: Iterable[str]) -> tuple[str, ...]:
    """Returns the smallest hashes of the keys: a sample that two documents choose alike."""
    return tuple(sorted({_short_hash(key) for key in keys})[:SKETCH_SIZE])


def merged(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the sketch of two documents together."""
    return tuple(sorted({*first, *second})[:SKETCH_SIZE])


def overlap(before: tuple[str, ...], keys: Iterable[str]) -> float | None:
    """Returns the share of ``keys`` that the document before had, or ``None`` if that cannot be said.

    If the document before had more entries than its sketch holds, only keys whose hashes lie in the
    sketch's range are compared: a fair sample, since hashes do not know age or place.
    """
    hashes = {_short_hash(key) for key in keys}
    if len(before) >= SKETCH_SIZE:
        hashes = {value for value in hashes if value <= before[-1]}
    if not before or not hashes:
        return None
    return len(hashes.intersection(before)) / len(hashes)


def was_seen(before: tuple[str, ...], key: str) -> bool | None:
    """Tells whether the document before had this entry; ``None`` if the sketch cannot say."""
    value = _short_hash(key)
    if len(before) >= SKETCH_SIZE and value > before[-1]:
        return None
    return value in before


def _short_hash(key: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(key.encode("utf-8", "replace")).digest())[:_HASH_LETTERS].decode()


def _cut(text: str) -> tuple[str, ...]:
    parts = (text[start : start + _HASH_LETTERS] for start in range(0, len(text), _HASH_LETTERS))
    return tuple(sorted(part for part in parts if len(part) == _HASH_LETTERS)[:SKETCH_SIZE])


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if math.isfinite(value) and 0 <= value < 1e9 else 0.0


def _time(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        parsed = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return parsed.astimezone(timezone.utc) if parsed.tzinfo else None
