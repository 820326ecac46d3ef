"""The items of a stream, counted so that the sum holds whatever is killed. No Beam, no disk.

A runner that goes back to a checkpoint does work again, and tallies that travel through it are counted again, or
are gone while what they stand for is committed. Therefore the items of a stream are not counted on the way but at
the commit, off what is committed:

- The items of a poll come in with its row: its tallies lie in the spool beside it, and are taken together, once.
- An entry of a poll ends with the commit that makes it known or due: before, it is *under way*.
- A page that was due comes in and ends with the commit that changes when it is due.
- A row that none of these stands for (of a seed, of a list, of a page that was looked at again after a rollback and
  had changed meanwhile) comes in and ends with its own commit.

So for each commit: under way before + in = what became of them + under way after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.dedupe.state import KnownState
from transforms.records import Alias, Entry, Tally
from transforms.stream.spool import Spooled, is_told
from transforms.urls import url_key

Row = Mapping[str, Any]

STAGE = "stream"
# What workers did; it may have been done twice, and says nothing of items.
_WORK = frozenset(("in", "passed", "rejected", "too_old"))


class Ended(NamedTuple):
    """What a commit writes, as far as items are concerned.

    Attributes:
        articles: Rows of ``articles``.
        rejects: Rows of ``rejects``, those of polls apart.
        poll_rejects: Number of rows of ``rejects`` that stand for items which polls refused.
        pages: Rows of ``fetches`` of kind ``page``.
        aliases: Of the commit.
    """

    articles: Sequence[Row] = ()
    rejects: Sequence[Row] = ()
    poll_rejects: int = 0
    pages: Sequence[Row] = ()
    aliases: Sequence[Alias] = ()


class Balance(NamedTuple):
    """The tallies of a commit, and how many items are under way after it."""

    tallies: tuple[Tally, ...]
    under_way: int


def work_tallies(tallies: Iterable[Tally]) -> list[Tally]:
    """Returns the tallies of stages that count work, not items."""
    return [tally for tally in tallies if tally.items and tally.outcome in _WORK]


def balance(polls: Sequence[Spooled], before: KnownState, ended: Ended, under_way: int) -> Balance:
    """Counts the items of one commit.

    Args:
        polls: All in the spool; the rows of those that are not committed yet are in this commit.
        before: What was known before it.
        ended: What it writes.
        under_way: How many items were under way after the last commit of the stream.
    """
    change = _Change(before, ended)
    was_due = _due_in(before)
    counts: Counter[str] = Counter()
    sources: Counter[tuple[str, str]] = Counter()
    open_before = open_after = 0
    for key in change.due:
        if was_due(key):
            sources["due", "item"] += 1
            counts[change.claim(key)] += 1
    rejects_of_polls = 0
    for spooled in polls:
        told = is_told(spooled, before)
        if not told:
            sources.update({(tally.stage, tally.outcome): tally.items for tally in spooled.result.tallies})
            rejects_of_polls += len(spooled.result.rejects)
        for entry in spooled.result.entries:
            was_open = not (told and is_closed(entry, before.is_known, was_due))
            open_before += told and was_open
            if not is_closed(entry, change.is_known, change.is_due):
                open_after += 1
                # Its page was due in an older version; that one has ended, and it goes out again.
                sources["due", "item"] += not was_open
            elif was_open:
                counts[change.claim(entry.url_key)] += 1
    # What another command ended or opened meanwhile; and what polls refused as they did before.
    counts["known"] += max(0, under_way - open_before) + rejects_of_polls - ended.poll_rejects
    sources["due", "item"] += max(0, open_before - under_way)
    sources.update(change.unclaimed())
    del counts["written"]  # the writer counts its rows
    found = [Tally(*key, items) for key, items in sources.items()]
    found += [Tally(STAGE, outcome, items) for outcome, items in counts.items()]
    return Balance(tuple(tally for tally in found if tally.items), open_after)


def is_closed(entry: Entry, is_known: Callable[[Entry], bool], is_due: Callable[[str], bool]) -> bool:
    """Tells whether an entry has ended: the dataset knows it, or keeps its page for a later try."""
    return is_known(entry) or is_due(entry.url_key)


def _due_in(known: KnownState) -> Callable[[str], bool]:
    return lambda key: known.due_entry(key) is not None


class _Change:
    """What is known after a commit, beside what was known before; and which item each of its rows stands for."""

    def __init__(self, before: KnownState, ended: Ended) -> None:
        self._before = before
        self._was_due = _due_in(before)
        self._versions: set[tuple[str, str | None]] = set()
        self._keys: set[str] = set()
        self._refused: set[str] = set()
        self._duplicates: set[str] = set()
        self._rows: dict[str, list[str]] = {}  # by url_key: the sources of rows that no item has claimed
        for row in ended.articles:
            self._versions.add((row["url_key"], row["entry_version"]))
            self._keys.update([row["url_key"], *(url_key(row[name]) for name in _ADDRESSES if row[name])])
            self._rows.setdefault(row["url_key"], []).append(_source(row["discovered_via"]))
        for row in ended.rejects:
            key = url_key(row["url"]) if row["url"] else ""
            if not row["retryable"] and not row["input_uri"] and row["url"]:
                self._refused.add(key)
            # After a refusal that may pass the entry stays under way: it is another item that has ended.
            place = key if key in self._refused else ""
            self._rows.setdefault(place, []).append("read" if row["input_uri"] else "due")
        for alias in ended.aliases:
            self._versions.add((alias.url_key, alias.entry_version))
            self._keys.add(alias.url_key)
            if alias.outcome == "duplicate":
                self._duplicates.add(alias.url_key)
        newest_last = sorted(ended.pages, key=lambda row: row["started_at"])
        self.due = {row["url_key"]: row["entry_json"] is not None for row in newest_last}

    def is_known(self, entry: Entry) -> bool:
        """As ``KnownState.is_known`` after the commit."""
        version = entry.entry_version
        committed = entry.url_key in self._keys if version is None else (entry.url_key, version) in self._versions
        return committed or entry.url_key in self._refused or self._before.is_known(entry)

    def is_due(self, key: str) -> bool:
        """Tells whether the page of this key is due, now or later, after the commit."""
        return self.due[key] if key in self.due else self._was_due(key)

    def claim(self, key: str) -> str:
        """Returns what became of an item with this key, which has ended; a row stands for one item only."""
        if self._rows.get(key):
            self._rows[key].pop()
            return "written"
        if self.is_due(key):
            return "deferred"
        return "duplicate" if key in self._duplicates else "known"

    def unclaimed(self) -> Counter[tuple[str, str]]:
        """Returns tallies for the rows that no item stands for."""
        return Counter((source, "item") for sources in self._rows.values() for source in sources)


_ADDRESSES = ("final_url", "canonical_url")


def _source(discovered_via: str) -> str:
    return "due" if discovered_via == "feed" else "read"
