"""The Beam side of what is known: entries that need no work are dropped, those that are due come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows

from transforms.dedupe.state import NEWEST, StateLocation, open_state
from transforms.fetch.due import entry_to_json
from transforms.records import Document, Entry, Fetch, RunContext, Tally
from transforms.urls import host_of

SIDE = "side"


class _Tallying(beam.DoFn):
    """A DoFn that counts its outcomes and tells them at the end of each bundle."""

    STAGE = ""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def start_bundle(self) -> None:
        self._counts = Counter()

    def finish_bundle(self) -> Iterator[Any]:
        for outcome, count in sorted((+self._counts).items()):
            tally = GlobalWindows.windowed_value(Tally(self.STAGE, outcome, count))
            yield beam.pvalue.TaggedOutput(SIDE, tally)


class DropKnown(beam.PTransform):
    """Drops what committed runs hold already.

    In: ``PCollection[Entry | Document]``; a document carries its entry.
    Out: ``.new``, what remains, and ``.side``, tallies of the stage ``known``: ``in``, ``passed``, ``known``,
    ``deferred`` (the page is due later) and ``duplicate`` (the page is due now, ``DueEntries`` brings it); and
    ``refused``, how many of the known were refused for good by an earlier run.

    Two equal entries of one run both pass.
    """

    def __init__(self, location: StateLocation, run: RunContext) -> None:
        super().__init__()
        self._location = location
        self._run = run

    def expand(self, items: Any) -> Any:
        """Adds the one step."""
        return items | "Look up" >> beam.ParDo(_DropKnown(self._location, self._run)).with_outputs(SIDE, main="new")


class _DropKnown(_Tallying):
    STAGE = "known"

    def __init__(self, location: StateLocation, run: RunContext) -> None:
        super().__init__()
        self._location = location
        self._run = run

    def process(self, item: Entry | Document) -> Iterator[Entry | Document]:
        outcome = self._outcome(item)
        self._counts["in"] += 1
        self._counts[outcome] += 1
        if outcome == "passed":
            yield item
        elif outcome == "known":
            entry = item.entry if isinstance(item, Document) else item
            self._counts["refused"] += not open_state(self._location).is_committed(entry.url_key, entry.entry_version)

    def _outcome(self, item: Entry | Document) -> str:
        known = open_state(self._location)
        if isinstance(item, Document):
            return "known" if known.is_known_content(item.entry, item.body_sha256) else "passed"
        due = known.due_entry(item.url_key)
        if due is None or due.entry.rechecks:  # a page that is only looked at again is committed
            return "known" if known.is_known(item) else "passed"
        return "duplicate" if due.is_due(_judged_at(self._location, self._run)) else "deferred"


def _judged_at(location: StateLocation, run: RunContext) -> datetime:
    """The instant that decides which pages are due: one for all steps of a run, the present in a stream."""
    return run.now() if location.snapshot == NEWEST else run.started_at


class DueEntries(beam.PTransform):
    """Brings back the entries whose page was put off or failed for now, and whose time has come.

    In: the root of a pipeline, or ticks of which each asks once.
    Out: ``.entries`` and ``.side``: tallies of the stage ``due``: ``item``, and ``left`` for those over the limit,
    which stay due and are no items.
    """

    def __init__(self, location: StateLocation, run: RunContext, limit: int | None = None) -> None:
        """Takes where the state lies, the run, and the most entries to bring back (``None`` for all)."""
        super().__init__()
        self._location = location
        self._run = run
        self._limit = limit

    def expand(self, root: Any) -> Any:
        """Adds a source of one element, if there are no ticks, and the step that reads the state."""
        ticks = root if isinstance(root, beam.PCollection) else root | "Once" >> beam.Impulse()
        return ticks | "Read due" >> beam.ParDo(_ReadDue(self._location, self._run, self._limit)).with_outputs(
            SIDE, main="entries"
        )


class _ReadDue(_Tallying):
    STAGE = "due"

    def __init__(self, location: StateLocation, run: RunContext, limit: int | None) -> None:
        super().__init__()
        self._location = location
        self._run = run
        self._limit = limit

    def process(self, _: object) -> Iterator[Entry]:
        entries = open_state(self._location).due_entries(_judged_at(self._location, self._run))
        taken = entries if self._limit is None else entries[: self._limit]
        self._counts["item"] += len(taken)
        if len(entries) > len(taken):
            self._counts["left"] += len(entries) - len(taken)
        yield from taken


class Taken(NamedTuple):
    """What ``TakeFirst`` yields: PCollections of ``Entry``, ``Document`` and ``Side``."""

    entries: Any
    documents: Any
    side: Any


class TakeFirst(beam.PTransform):
    """Puts off what is over the number of items that a run may take.

    In: ``{"entries": PCollection[Entry], "documents": PCollection[Document]}``. Out: ``Taken``: of both together
    at most ``limit`` items (equal ones count as one), and tallies of the stage ``take`` (``in``, ``passed``,
    ``deferred``), and for each entry put off a ``Fetch`` that makes it due at once. A document comes again with
    its seed file.

    Seeds go first, then the newest entries. An unbounded input is never cut. What is not counted is not held back
    either: documents that are free of the limit are never kept in memory to wait for the others.
    """

    def __init__(self, limit: int | None, run: RunContext, entries_only: bool = False) -> None:
        """Takes the limit.

        Args:
            limit: Most items; ``None`` for all.
            run: The run.
            entries_only: Whether documents, whose bytes are here already, pass without being counted.
        """
        super().__init__()
        self._limit = limit
        self._run = run
        self._entries_only = entries_only

    def expand(self, items: dict[str, Any]) -> Taken:
        """Finds the place of the last item that is taken, and cuts there."""
        last = None
        if self._limit is not None and items["entries"].is_bounded:
            counted = ["entries"] if self._entries_only else ["entries", "documents"]
            ranks = [items[name] | f"Rank {name}" >> beam.Map(_rank) for name in counted]
            last = ranks | "All ranks" >> beam.Flatten() | "First" >> beam.combiners.Top.Smallest(self._limit + 1)
        entries = self._take("entries", items["entries"], last)
        documents = self._take("documents", items["documents"], None if self._entries_only else last)
        side = (entries[SIDE], documents[SIDE]) | "Beside" >> beam.Flatten()
        return Taken(entries["new"], documents["new"], side)

    def _take(self, name: str, items: Any, last: Any) -> Any:
        take = _Take(self._run)
        if last is None:
            return items | f"Take all {name}" >> beam.ParDo(take).with_outputs(SIDE, main="new")
        first = beam.pvalue.AsSingleton(last)
        step = beam.ParDo(take, first=first, limit=self._limit).with_outputs(SIDE, main="new")
        return items | f"Take {name}" >> step


Rank = tuple[bool, float, str, str]


def _rank(item: Entry | Document) -> Rank:
    entry = item.entry if isinstance(item, Document) else item
    age = -entry.published_at.timestamp() if entry.published_at else 0.0
    return (not isinstance(item, Document), age, entry.url_key, entry.entry_version or "")


class _Take(_Tallying):
    STAGE = "take"

    def __init__(self, run: RunContext) -> None:
        super().__init__()
        self._run = run

    def process(
        self, item: Entry | Document, first: Sequence[Rank] = (), limit: int | None = None
    ) -> Iterator[Entry | Document | Any]:
        self._counts["in"] += 1
        # An entry without address could not be put off: nothing would bring it back.
        is_free = isinstance(item, Entry) and not item.url
        if is_free or limit is None or len(first) <= limit or _rank(item) < first[limit]:
            self._counts["passed"] += 1
            yield item
            return
        self._counts["deferred"] += 1
        if isinstance(item, Entry):
            yield beam.pvalue.TaggedOutput(SIDE, self._put_off(item))

    def _put_off(self, entry: Entry) -> Fetch:
        assert entry.url
        return Fetch(
            kind="page",
            url=entry.url,
            host=host_of(entry.url),
            started_at=self._run.started_at,
            outcome="deferred",
            url_key=entry.url_key,
            attempts=entry.attempts,
            next_due_at=self._run.started_at,
            entry_json=entry_to_json(entry),
            source_id=entry.source_id,
        )
