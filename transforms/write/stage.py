"""The Beam side of the writer: one group by shard, one group for the commit, nothing else.

Rows cross one shuffle. Bounded input: workers settle and stage their shard, the last step commits. Unbounded
input: each pane is a small committed run of its own, made by one keyed committer under the lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms import trigger, window

from transforms.dedupe.state import StateLocation, open_state
from transforms.records import Fetch, Reject, RunContext, Side, TaggedArticle, Tally
from transforms.stream.panes import PaneCommitter
from transforms.write.commit import finish_if_journaled
from transforms.write.committer import commit_run, gather, stage_file
from transforms.write.manifest import manifest_path
from transforms.write.packed import pack
from transforms.write.rows import (
    checked_article_row,
    fetch_row,
    ingest_date,
    reject_row,
    snippets_to_store,
)
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, Settled, settle
from transforms.write.storage import DatasetError, storage_of

HEARTBEAT = "heartbeat"
_PANE_S = 3


class WriteSettings(NamedTuple):
    """How the dataset is written.

    Attributes:
        root: The dataset.
        shards: Groups that rows are spread over, and at least as many files a table and day.
        store_text: ``full``, ``excerpt`` or ``none``: also for snippets and payloads of rejects.
        facts: Plain JSON for the manifest: ``versions``, ``config_sha256``, ``taxonomy``, ``inputs``.
        pane_s: Only for unbounded input: seconds from the first row of a pane to its commit.
    """

    root: str
    shards: int = 1
    store_text: str = "full"
    facts: Mapping[str, Any] = {}
    pane_s: int = _PANE_S


class WriteDataset(beam.PTransform):
    """Writes tagged articles and side records to the dataset, and commits.

    In: ``{"tagged": PCollection[TaggedArticle] or a tuple of them, "side": PCollection[Side]}``.
    Out: the path of the manifest below the root, one element a commit.

    Guarantees: every article, reject and fetch that arrives is a row of a committed run, or counted in its
    manifest as known or duplicate; nothing is visible twice, whatever is retried; a bounded run without any
    input is committed too. The launcher of a bounded run holds the lock of the dataset; that of an unbounded
    one must not, since the committer takes it for each pane.
    """

    def __init__(self, settings: WriteSettings, location: StateLocation, run: RunContext) -> None:
        super().__init__()
        self._settings = settings
        self._location = location
        self._run = run

    def expand(self, inputs: dict[str, Any]) -> beam.PCollection:
        """Builds the two groups.

        Raises:
            DatasetError: If the dataset holds a run of this name, whose rows would pass for these.
        """
        storage = storage_of(self._settings.root)
        if storage.exists(manifest_path(self._run.run_id)):
            message = f"the run {self._run.run_id} is in {storage.root} already; start another"
            raise DatasetError(message, storage.full_path(manifest_path(self._run.run_id)))
        tagged, side = inputs["tagged"], inputs["side"]
        branches = tagged if isinstance(tagged, tuple) else (tagged,)
        heartbeat = side.pipeline | "Heartbeat" >> beam.Create([HEARTBEAT], reshuffle=False)
        # Rows are made before branches are joined: a join is where the in-process runner keeps what passes.
        made = [
            branch
            | f"Make rows {number}"
            >> beam.ParDo(_MakeRows(self._settings, self._run)).with_outputs("tallies", main="items")
            for number, branch in enumerate(branches)
        ]
        told = side | "Side rows" >> beam.ParDo(_SideRows(self._settings, self._run)).with_outputs("rest", main="items")
        items = (*(branch.items for branch in made), told.items) | "All rows" >> beam.Flatten()
        rest = (*(branch.tallies for branch in made), told.rest, heartbeat)
        if all(part.is_bounded for part in (*branches, side)):
            return self._write_once(items, rest)
        return self._write_panes(items, rest)

    def _write_once(self, items: beam.PCollection, rest: tuple[beam.PCollection, ...]) -> beam.PCollection:
        staged = (
            items
            | "Key by shard" >> beam.Map(_with_shard, self._settings.shards, ingest_date(self._run.started_at))
            | "Group by shard" >> beam.GroupByKey()
            | "Stage files" >> beam.ParDo(_StageFiles(self._settings, self._location, self._run))
        )
        return (
            (staged, *rest)
            | "All parts of the run" >> beam.Flatten()
            | "Key by run" >> beam.Map(_with_one_key)
            | "Group the run" >> beam.GroupByKey()
            | "Commit" >> beam.ParDo(_Commit(self._settings, self._location, self._run))
        )

    def _write_panes(self, items: beam.PCollection, rest: tuple[beam.PCollection, ...]) -> beam.PCollection:
        return (
            (items, *rest)
            | "All of the stream" >> beam.Flatten()
            | "Panes"
            >> beam.WindowInto(
                window.GlobalWindows(),
                trigger=trigger.Repeatedly(trigger.AfterProcessingTime(self._settings.pane_s)),
                accumulation_mode=trigger.AccumulationMode.DISCARDING,
            )
            | "Key by stream" >> beam.Map(_with_one_key)
            | "Group the pane" >> beam.GroupByKey()
            | "Commit pane" >> beam.ParDo(_CommitPane(self._settings, self._run))
        )


class _Counting(beam.DoFn):
    """A DoFn that tallies what comes in, once a bundle."""

    TAG = "rest"

    def __init__(self, settings: WriteSettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run
        self._in = 0

    def start_bundle(self) -> None:
        self._in = 0

    def finish_bundle(self) -> Iterator[Any]:
        if self._in:
            tally = window.GlobalWindows.windowed_value(Tally("write", "in", self._in))
            yield beam.pvalue.TaggedOutput(self.TAG, tally)


class _MakeRows(_Counting):
    TAG = "tallies"

    def process(self, tagged: TaggedArticle) -> Iterator[Item]:
        self._in += 1
        store = self._settings.store_text
        row, reject = checked_article_row(tagged, self._run, store)
        if row is not None:
            snippets = snippets_to_store(tagged.tags.snippets, store)
            row["text"] = pack(row["text"])
            yield ArticleItem(row, len(tagged.article.text), snippets)
        elif reject is not None:
            yield RejectItem(reject_row(reject, self._run, store))


class _SideRows(_Counting):
    def process(self, record: Side) -> Iterator[Any]:
        if isinstance(record, Reject):
            self._in += 1
            yield RejectItem(reject_row(record, self._run, self._settings.store_text))
        elif isinstance(record, Fetch):
            yield FetchItem(fetch_row(record, self._run))
        else:
            yield beam.pvalue.TaggedOutput(self.TAG, record)


def _with_shard(item: Item, shards: int, day: str) -> tuple[tuple[str, int], Item]:
    name = {ArticleItem: "article_id", RejectItem: "reject_id", FetchItem: "url"}[type(item)]
    digest = hashlib.sha256(item.row[name].encode("utf-8", "replace")).digest()
    return (day, int.from_bytes(digest[:4], "big") % max(1, shards)), item


def _with_one_key(element: object) -> tuple[int, object]:
    return 0, element


class _StageFiles(beam.DoFn):
    """Settles the rows of a shard and stages their files."""

    def __init__(self, settings: WriteSettings, location: StateLocation, run: RunContext) -> None:
        self._settings = settings
        self._location = location
        self._run = run

    def setup(self) -> None:
        self._known = open_state(self._location)

    def process(self, group: tuple[tuple[str, int], Iterable[Item]]) -> Iterator[object]:
        (day, shard), items = group
        settled = settle(items, self._known, day, f"{self._run.run_id}.{shard:05d}")
        yield from _stage(self._settings.root, self._run.run_id, settled)


def _stage(root: str, run_id: str, settled: Settled) -> Iterator[object]:
    storage = storage_of(root)
    for file in settled.files:
        yield stage_file(storage, run_id, file)
    yield from settled.aliases
    yield from settled.tallies
    yield settled.summary


class _Commit(beam.DoFn):
    """Commits a bounded run; done again after a failure, it finishes what was begun."""

    def __init__(self, settings: WriteSettings, location: StateLocation, run: RunContext) -> None:
        self._settings = settings
        self._location = location
        self._run = run

    def process(self, group: tuple[int, Iterable[object]]) -> Iterator[str]:
        storage = storage_of(self._settings.root)
        run = self._run
        if not finish_if_journaled(storage, run.run_id):
            known = open_state(self._location)
            parts = gather(group[1])
            commit_run(storage, parts, known, run.run_id, run.started_at, run.now(), self._settings.facts)
        yield manifest_path(run.run_id)


class _CommitPane(beam.DoFn):
    """Commits a pane of a stream as a run of its own."""

    def __init__(self, settings: WriteSettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run

    def setup(self) -> None:
        settings = self._settings
        self._committer = PaneCommitter(settings.root, settings.store_text, settings.facts, self._run)

    def process(self, group: tuple[int, Iterable[object]]) -> Iterator[str]:
        yield from self._committer.commit(group[1])
