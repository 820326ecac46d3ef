"""What the dataset knows already: look-ups for the stages, and where the state comes from.

The state is derived: a snapshot in ``_meta/state/`` plus the manifests that are newer. It can be deleted at
any time; ``latest_state`` mends what is absent, damaged or behind. A process holds one copy, however many
stages ask.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.dedupe import history
from transforms.dedupe.fold import FETCH_MEMORY, brings_news, fetch_key, merge
from transforms.dedupe.replay import Replay, read_replay
from transforms.dedupe.snapshot import EMPTY, SnapshotError, State, key_of
from transforms.fetch.due import entry_from_json
from transforms.records import Entry
from transforms.write.storage import DatasetError, storage_of

NEWEST = "newest"
_MAX_PENDING = 50
_REREAD_S = 600.0
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)


class StateLocation(NamedTuple):
    """Where the state of a dataset lies; small, pickled into the DoFns.

    Attributes:
        root: The dataset.
        snapshot: Path of the snapshot below the root; ``None`` if nothing is known; ``NEWEST`` for jobs that
            do not end: whatever is committed, read again every ten minutes.
        replay: Path of the file with what is taken in once more (``dataset replay``), if any.
    """

    root: str
    snapshot: str | None
    replay: str | None = None


class CommittedRevision(NamedTuple):
    """The newest committed revision of an article.

    Attributes:
        first_seen_at: That of revision 1.
        is_poor: Whether it may hold less than the page had, see ``fold.is_poor``.
    """

    revision: int
    content_sha256: str
    first_seen_at: datetime
    is_poor: bool = False


class FeedState(NamedTuple):
    """What the newest row of ``fetches`` says of a feed.

    Attributes:
        url: The feed's address as configured.
        started_at: When it was asked.
        outcome: One of ``rejects.FETCH_OUTCOMES``.
        etag, last_modified, body_sha256: Of the last answer, if the newest poll brought none.
        entry_json: What the poll wanted to remember (for feeds it is no entry).
    """

    url: str
    started_at: datetime
    outcome: str
    http_status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_sha256: str | None = None
    failures: int = 0
    next_due_at: datetime | None = None
    retry_after_until: datetime | None = None
    entry_json: str | None = None
    moved_to: str | None = None


class DuePage(NamedTuple):
    """A page that was put off or failed for now; ``next_due_at`` ``None`` means at once."""

    entry: Entry
    next_due_at: datetime | None

    def is_due(self, now: datetime) -> bool:
        """Tells whether its time has come."""
        return self.next_due_at is None or self.next_due_at <= now


class _Column:
    """A relation that is looked up by key: its keys are searched, its values read one by one."""

    def __init__(self, table: pa.Table) -> None:
        self._keys = table["key"].to_numpy()
        self._table = table

    def find(self, key: int) -> int:
        """Returns the row of a key, -1 if there is none."""
        place = int(np.searchsorted(self._keys, np.uint64(key)))
        return place if place < len(self._keys) and int(self._keys[place]) == key else -1

    def value(self, name: str, row: int) -> object:
        return self._table[name][row].as_py()


class KnownState:
    """Answers what committed runs know. Read-only; safe to share between threads."""

    def __init__(self, state: State = EMPTY, replay: Replay | None = None) -> None:
        """Takes the relations, and what is to be taken in once more although it was refused."""
        self.state = state
        self._replay = replay
        self._lifted = replay.lifted() if replay else frozenset()
        names = ("version", "url", "article", "text", "reject", "refused", "fetch")
        self._columns = {name: _Column(state[name]) for name in names}
        self._feeds = {row["name"]: _feed_state(row) for row in state["feed"].to_pylist()}
        self._due = dict(_due_pages(state["due"].to_pylist()))
        self._hosts = {row["name"]: _utc(row["at"]) for row in state["host"].to_pylist()}

    def _has(self, relation: str, *parts: str) -> bool:
        return self._columns[relation].find(key_of(*parts)) >= 0

    def _is_refused(self, *parts: str) -> bool:
        return self._has("refused", *parts) and key_of(*parts) not in self._lifted

    def is_known(self, entry: Entry) -> bool:
        """Tells whether an announced entry needs no fetching: committed in this version, or finally refused.

        A bare address, without version, is known in any version.
        """
        return self.is_committed(entry.url_key, entry.entry_version) or self._is_refused("url", entry.url_key)

    def is_known_content(self, entry: Entry, body_sha256: str) -> bool:
        """Tells the same of an entry whose content is here already (a seed).

        That its page was refused once says nothing of the content; that these very bytes were refused does.
        """
        committed = self.is_committed(entry.url_key, entry.entry_version)
        return committed or self._is_refused("body", body_sha256)

    def is_committed(self, url_key: str, entry_version: str | None) -> bool:
        """Tells whether an article or alias with this key and version is committed; without version, with any."""
        if entry_version is None:
            return self._has("url", url_key)
        return self._has("version", url_key, entry_version)

    def article_id_for(self, url_keys: Sequence[str]) -> str | None:
        """Returns the article that the first known of these keys led to."""
        url = self._columns["url"]
        rows = (url.find(key_of(key)) for key in url_keys)
        return next((str(url.value("article_id", row)) for row in rows if row >= 0), None)

    def revision_of(self, article_id: str) -> CommittedRevision | None:
        """Returns the newest committed revision of an article."""
        article = self._columns["article"]
        row = article.find(key_of(article_id))
        if row < 0 or article.value("article_id", row) != article_id:
            return None
        revision, content, at = (article.value(name, row) for name in ("revision", "content_sha256", "at"))
        assert isinstance(revision, int)
        assert isinstance(content, bytes)
        assert isinstance(at, datetime)
        return CommittedRevision(revision, content.hex(), _utc(at), bool(article.value("is_poor", row)))

    def duplicate_of(self, text_fingerprint: str) -> str | None:
        """Returns the earliest committed article with the same words."""
        text = self._columns["text"]
        row = text.find(key_of(text_fingerprint))
        return None if row < 0 else str(text.value("article_id", row))

    def has_reject(self, reject_id: str) -> bool:
        """Tells whether this very refusal is committed."""
        return self._has("reject", reject_id)

    def has_fetch(self, kind: str, url: str, started_at: datetime) -> bool:
        """Tells whether a stream has committed this very exchange (within the last day of its rows)."""
        return self._columns["fetch"].find(fetch_key(kind, url, started_at)) >= 0

    def fetches_known_since(self) -> datetime:
        """Returns the instant since which ``has_fetch`` remembers all that is committed."""
        times = self.state["fetch"]["at"]
        return _utc(pc.max(times).as_py()) - FETCH_MEMORY if len(times) else _LONG_AGO

    def feeds(self) -> Mapping[str, FeedState]:
        """Returns the state of each feed by its address."""
        return self._feeds

    def hosts(self) -> Mapping[str, datetime]:
        """Returns until when hosts asked us to stay away; past times too."""
        return self._hosts

    def due_entry(self, url_key: str) -> DuePage | None:
        """Returns the page that is still due under this key, whether its time has come or not."""
        return self._due.get(url_key)

    def due_entries(self, now: datetime) -> list[Entry]:
        """Returns the entries whose page is to be tried again now, those that wait longest first.

        With a replay its pages alone.
        """
        if self._replay is not None:
            return list(self._replay.entries)
        ready = [page for page in self._due.values() if page.is_due(now)]
        ready.sort(key=lambda page: (page.next_due_at or _LONG_AGO, page.entry.url_key))
        return [page.entry for page in ready]


def _utc(at: datetime) -> datetime:
    return at.astimezone(timezone.utc)


def _feed_state(row: dict[str, object]) -> FeedState:
    fields = {name: value for name, value in json.loads(str(row["json"])).items() if name in FeedState._fields}
    for name in ("next_due_at", "retry_after_until"):
        if name in fields:
            fields[name] = _utc(datetime.fromisoformat(fields[name]))
    at = row["at"]
    assert isinstance(at, datetime)
    return FeedState(url=str(row["name"]), started_at=_utc(at), **fields)


def _due_pages(rows: Iterable[dict[str, object]]) -> Iterable[tuple[str, DuePage]]:
    for row in rows:
        found = json.loads(str(row["json"]))
        try:
            entry = entry_from_json(found["entry"])
        except ValueError:  # of another version of newsbeam; its feed may bring it again
            continue
        due = found["next_due_at"]
        yield str(row["name"]), DuePage(entry, _utc(datetime.fromisoformat(due)) if due else None)


_OPEN_LOCK = threading.Lock()
_OPEN: dict[StateLocation, tuple[float, KnownState]] = {}


def open_state(location: StateLocation, max_age_s: float = _REREAD_S) -> KnownState:
    """Returns the state at a location; one copy a process.

    Args:
        location: Where it lies.
        max_age_s: With ``NEWEST``, how long ago it may have been read, seconds.

    Raises:
        DatasetError: If it cannot be read and not be rebuilt.
    """
    with _OPEN_LOCK:
        read_at, known = _OPEN.get(location, (0.0, None))
        if known is None or (location.snapshot == NEWEST and time.monotonic() - read_at > max_age_s):
            known = _remember(location, _load(location, known))
        return known


def _remember(location: StateLocation, known: KnownState) -> KnownState:
    """Keeps the copy of one dataset at a time: a process works for one, and a copy may be large."""
    _OPEN.clear()
    _OPEN[location] = (time.monotonic(), known)
    return known


def _load(location: StateLocation, before: KnownState | None = None) -> KnownState:
    storage = storage_of(location.root)
    if location.snapshot is None:
        return KnownState()
    if location.snapshot == NEWEST:
        state = history.newest_state(storage, before.state if before else None)
        return before if before and state is before.state else KnownState(state)
    replay = read_replay(storage, location.replay) if location.replay else None
    try:
        return KnownState(history.read_snapshot(storage, location.snapshot), replay)
    except (DatasetError, SnapshotError):
        return KnownState(history.newest_state(storage), replay)


def latest_state(root: str) -> StateLocation:
    """Returns where the state after all committed runs lies, after writing it if it is not there.

    The caller holds the lock of the dataset.

    Raises:
        DatasetError: If a manifest or a data file is needed and cannot be read.
    """
    storage = storage_of(root)
    state, path = history.newest_snapshot(storage)
    pending = history.pending_additions(storage, state)
    if path is None and not pending:
        return StateLocation(root, None)
    if path is None or len(pending) > _MAX_PENDING or any(map(brings_news, pending)):
        state = merge(state, pending)
        path = history.write_snapshot(storage, state)
    location = StateLocation(root, path)
    with _OPEN_LOCK:
        if location not in _OPEN:
            _remember(location, KnownState(state))
    return location
