"""The Beam side of the stories job: read, meet, compare, group, commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timezone
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np

from transforms.dedupe.state import latest_state, open_state
from transforms.records import RunContext
from transforms.stories.candidates import Meetings, Numbers, batches, candidates, meetings
from transforms.stories.compare import Copy, Text, copies_among
from transforms.stories.group import group
from transforms.stories.read import Part, SketchedPart, TextReader, read_grouped, read_window
from transforms.stories.write import commit_stories
from transforms.write.commit import finish_if_journaled
from transforms.write.manifest import manifest_path
from transforms.write.storage import storage_of

SHARDS = 16


class StorySettings(NamedTuple):
    """What the job works on.

    Attributes:
        root: The dataset.
        since: First ``ingest_date`` of the articles, ``YYYY-MM-DD``.
        facts: Plain JSON for the manifest: ``versions``, ``config_sha256``, ``inputs``.
    """

    root: str
    since: str
    facts: Mapping[str, Any] = {}


class GroupStories(beam.PTransform):
    """Groups the articles of the last days into stories and commits the rows of ``stories``.

    In: the pipeline.
    Out: the path of the manifest below the root; nothing if there was nothing to write.

    Guarantees: each article of the window has a row afterwards; a story_id that was given stays; a second run
    over the same articles writes nothing. The launcher holds the lock of the dataset. Texts never cross a
    shuffle, only hashes of them.
    """

    def __init__(self, settings: StorySettings, run: RunContext) -> None:
        super().__init__()
        self._settings = settings
        self._run = run

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """Builds the steps; texts are read twice, the second time only those that have candidates."""
        root = self._settings.root
        parts = (
            pipeline
            | "Window" >> beam.Create([self._settings.since], reshuffle=False)
            | "List articles" >> beam.FlatMap(_list_parts, root)
            | "Spread articles" >> beam.Reshuffle()
        )
        found = (
            parts
            | "Sketch texts" >> beam.ParDo(_SketchTexts(root))
            | "Group by hash" >> beam.GroupByKey()
            | "Let texts meet" >> beam.Map(_meet)
            | "Key the meetings" >> beam.Map(_with_one_key)
            | "Group the meetings" >> beam.GroupByKey()
            | "Choose candidates" >> beam.FlatMap(_choose).with_outputs("places", main="pairs")
        )
        texts = parts | "Read candidates" >> beam.ParDo(_ReadCandidates(root), beam.pvalue.AsIter(found.places))
        copies = (
            {"pairs": found.pairs, "texts": texts}
            | "Group by batch" >> beam.CoGroupByKey()
            | "Compare" >> beam.Map(_compare)
        )
        heartbeat = pipeline | "Heartbeat" >> beam.Create([[]], reshuffle=False)
        return (
            (copies, heartbeat)
            | "All copies" >> beam.Flatten()
            | "Key the copies" >> beam.Map(_with_one_key)
            | "Group the copies" >> beam.GroupByKey()
            | "Commit stories" >> beam.ParDo(_CommitStories(self._settings, self._run))
        )


def _with_one_key(element: Any) -> tuple[int, Any]:
    return 0, element


def _list_parts(since: str, root: str) -> list[Part]:
    return read_window(storage_of(root), date.fromisoformat(since)).parts


class _SketchTexts(beam.DoFn):
    """Part -> (shard of the hashes, sketches)."""

    def __init__(self, root: str) -> None:
        self._root = root

    def setup(self) -> None:
        self._reader = TextReader(storage_of(self._root))

    def process(self, part: Part) -> Iterator[tuple[int, SketchedPart]]:
        found = self._reader.sketches(part)
        shards = found.hashes % np.uint64(SHARDS)
        for shard in range(SHARDS):
            of_shard = shards == shard
            if of_shard.any():
                yield shard, SketchedPart(found.hashes[of_shard], found.numbers[of_shard])


def _meet(group: tuple[int, Iterable[SketchedPart]]) -> Meetings:
    hashes, numbers = (np.concatenate(column) for column in zip(*group[1], strict=True))
    return meetings(hashes, numbers)


def _choose(group: tuple[int, Iterable[Meetings]]) -> Iterator[Any]:
    chosen = batches(candidates(group[1]))
    yield beam.pvalue.TaggedOutput("places", (chosen.texts, chosen.batch))
    first, second, _ = chosen.pairs
    batch_of_pair = chosen.batch[np.searchsorted(chosen.texts, first)]
    for batch in np.unique(batch_of_pair).tolist():
        kept = batch_of_pair == batch
        yield batch, (first[kept], second[kept])


class _ReadCandidates(beam.DoFn):
    """Part -> (batch, its texts that have candidates)."""

    def __init__(self, root: str) -> None:
        self._root = root

    def setup(self) -> None:
        self._reader = TextReader(storage_of(self._root))

    def process(self, part: Part, places: Iterable[tuple[Numbers, Numbers]]) -> Iterator[tuple[int, dict[int, Text]]]:
        for texts, batch in places:
            kept = np.isin(part.numbers, texts)
            wanted = part._replace(rows=part.rows[kept], numbers=part.numbers[kept])
            batches_of_wanted = batch[np.searchsorted(texts, wanted.numbers)].tolist()
            by_batch: dict[int, dict[int, Text]] = {}
            if batches_of_wanted:
                for (number, text), of in zip(self._reader.texts(wanted), batches_of_wanted, strict=True):
                    by_batch.setdefault(of, {})[number] = text
            yield from by_batch.items()


def _compare(group: tuple[int, Mapping[str, Iterable[Any]]]) -> list[Copy]:
    texts = {number: text for some in group[1]["texts"] for number, text in some.items()}
    (first, second), *_ = group[1]["pairs"]
    return copies_among(texts, zip(first.tolist(), second.tolist(), strict=True))


class _CommitStories(beam.DoFn):
    """All copies -> committed rows; done again after a failure, it finishes what was begun."""

    def __init__(self, settings: StorySettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run

    def process(self, gathered: tuple[int, Iterable[list[Copy]]]) -> Iterator[str]:
        storage = storage_of(self._settings.root)
        if finish_if_journaled(storage, self._run.run_id):
            yield manifest_path(self._run.run_id)
            return
        since = date.fromisoformat(self._settings.since)
        window = read_window(storage, since)
        copies = sorted(copy for some in gathered[1] for copy in some)
        led_at = _Leaders(self._settings.root, dict(zip(window.article_ids, window.appeared_at, strict=True)))
        found = group(window.article_ids, copies, read_grouped(storage, since), led_at, self._run.now())
        path = commit_stories(storage, found, self._run, self._settings.facts)
        if path is not None:
            yield path


class _Leaders:
    """When the leader of a story appeared; of one that is older than the window, when it was first seen."""

    def __init__(self, root: str, appeared_at: Mapping[str, datetime]) -> None:
        self._root = root
        self._appeared_at = appeared_at

    def __call__(self, story_id: str) -> datetime:
        if story_id in self._appeared_at:
            return self._appeared_at[story_id]
        committed = open_state(latest_state(self._root)).revision_of(story_id)
        return committed.first_seen_at if committed else datetime.min.replace(tzinfo=timezone.utc)
