"""The spool: what each poll brought, kept beside the dataset until all of it is committed.

A feed shows an entry for a while only. If the answer to a poll is lost on its way through the graph (a worker is
killed, a job is cancelled), the next poll may not show it any more. Therefore each answer is a file here before
anything of it is passed on, and every tick passes on again what no committed run holds. Spooled rows also stand
for the state of their feeds, so that a restart polls nobody sooner than is due.

One file a poll, written whole or not at all; any number of workers read and write side by side.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import uuid
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from transforms.dedupe.state import FeedState, KnownState
from transforms.feeds.poll import PollResult
from transforms.fetch.due import TIME_LIMIT, entry_from_json, entry_to_json
from transforms.records import Entry, Fetch, Reject, Tally
from transforms.write.storage import DatasetError, storage_of

SPOOL = "_spool"
KEPT_FOR = TIME_LIMIT
_TIMES = frozenset(("started_at", "next_due_at", "retry_after_until", "failed_at"))
_Row = TypeVar("_Row", Fetch, Reject)


class Spooled(NamedTuple):
    """A poll in the spool: the name of its file, the host that was asked, and what it brought."""

    name: str
    host: str
    result: PollResult

    @property
    def rows(self) -> tuple[Fetch, ...]:
        """The poll's own row, and those of all else that it did."""
        return (self.result.row, *self.result.fetches)


class Spool:
    """The spool of one dataset, as one process sees it; safe to share between threads."""

    def __init__(self, root: str) -> None:
        """Takes the root of the dataset.

        Raises:
            StoreSetupError: If the store of an address cannot be used.
        """
        # Drafts stay out of the staging folder, which a committer empties at any time.
        self._storage = storage_of(root, drafts=SPOOL)
        self._seen: dict[str, Spooled | None] = {}
        self._lock = threading.Lock()

    def add(self, host: str, result: PollResult) -> None:
        """Keeps what a poll brought; it is on the disk when this returns.

        Args:
            host: By which buckets of feeds are told apart.
            result: Of one poll.

        Raises:
            DatasetError: If it cannot be written; then the poll has not happened.
        """
        stamp = result.row.started_at.strftime("%Y%m%dT%H%M%S%f")
        name = f"{stamp}-{hashlib.sha256(host.encode()).hexdigest()[:8]}-{uuid.uuid4().hex[:8]}.json"
        self._storage.write(f"{SPOOL}/{name}", to_json(host, result).encode())

    def read(self) -> list[Spooled]:
        """Returns all polls in the spool, oldest first. A file that is damaged is put aside as ``.damaged``."""
        with self._lock:
            names = [name for name in self._storage.names(SPOOL) if name.endswith(".json")]
            self._seen = {name: self._seen.get(name) or self._load(name) for name in names}
            return [spooled for spooled in self._seen.values() if spooled is not None]

    def _load(self, name: str) -> Spooled | None:
        path = f"{SPOOL}/{name}"
        try:
            host, result = from_json(self._storage.read(path).decode())
        except DatasetError as error:
            if isinstance(error.__cause__, FileNotFoundError):  # another worker has settled it
                return None
            raise
        except ValueError:
            self._storage.move(path, path + ".damaged")
            return None
        return Spooled(name, host, result)

    def remove(self, name: str) -> None:
        """Forgets a poll that is committed as a whole."""
        self._storage.delete(f"{SPOOL}/{name}")


def open_entries(spooled: Spooled, known: KnownState, now: datetime) -> list[Entry]:
    """Returns the entries of a poll that the dataset neither knows nor keeps for a later try.

    None of a poll that is too old: what has not ended by then never will (a page that kills its extractor).
    """
    if now - spooled.result.row.started_at > KEPT_FOR:
        return []
    return [
        entry
        for entry in spooled.result.entries
        if not known.is_known(entry) and known.due_entry(entry.url_key) is None
    ]


def is_told(spooled: Spooled, known: KnownState) -> bool:
    """Tells whether all rows of a poll are committed. Each commit takes in all polls that are in the spool."""
    if spooled.result.row.started_at < known.fetches_known_since():  # what is so old is forgotten, not missing
        return True
    return all(known.has_fetch(row.kind, row.url, row.started_at) for row in spooled.rows)


def feed_state(row: Fetch) -> FeedState:
    """Returns the state of a feed that a poll's row stands for until it is committed."""
    return FeedState(**{name: getattr(row, name) for name in FeedState._fields})


def to_json(host: str, result: PollResult) -> str:
    """Returns the content of a file."""
    return json.dumps(
        {
            "host": host,
            "row": _plain(result.row),
            "entries": [entry_to_json(entry) for entry in result.entries],
            "fetches": [_plain(row) for row in result.fetches],
            "rejects": [_plain(reject) for reject in result.rejects],
            "tallies": [list(tally) for tally in result.tallies],
        }
    )


def from_json(text: str) -> tuple[str, PollResult]:
    """Returns host and result of a file.

    Raises:
        ValueError: If the file is damaged.
    """
    try:
        data = json.loads(text)
        return str(data["host"]), PollResult(
            _record(Fetch, data["row"]),
            tuple(entry_from_json(entry) for entry in data["entries"]),
            tuple(_record(Fetch, row) for row in data["fetches"]),
            tuple(_record(Reject, row) for row in data["rejects"]),
            tuple(Tally(*fields) for fields in data["tallies"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a spooled poll: {error}") from error


def _plain(row: Fetch | Reject) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in row._asdict().items():
        if isinstance(value, datetime):
            value = value.isoformat()
        elif isinstance(value, bytes):
            value = base64.b64encode(value).decode("ascii")
        if value is not None:
            fields[name] = value
    return fields


def _record(kind: type[_Row], fields: dict[str, Any]) -> _Row:
    found = {name: value for name, value in fields.items() if name in kind._fields}
    for name in _TIMES.intersection(found):
        found[name] = datetime.fromisoformat(found[name])
    if "payload" in found:
        found["payload"] = base64.b64decode(found["payload"])
    return kind(**found)
