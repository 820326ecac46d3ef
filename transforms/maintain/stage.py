"""The Beam side of ``dataset retag``: a stem an element, one group for the commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from transforms import meter
from transforms.maintain.contents import Change, commit_change
from transforms.maintain.retag import CHANGED, Retagged, Stem, retag
from transforms.records import RunContext
from transforms.tag.stage import TagSettings, shared_tagger
from transforms.tag.taxonomy import Taxonomy
from transforms.write.commit import finish_if_journaled
from transforms.write.committer import StagedFile, stage_file
from transforms.write.manifest import FileRecord, manifest_path
from transforms.write.storage import Storage, storage_of


class RetagSettings(NamedTuple):
    """How a dataset is tagged anew.

    Attributes:
        root: The dataset.
        taxonomy: The new taxonomy.
        tag: Options of tagging.
        store_text: How much of a snippet is stored.
        versions: For the manifest.
    """

    root: str
    taxonomy: Taxonomy
    tag: TagSettings = TagSettings()
    store_text: str = "full"
    versions: tuple[tuple[str, str], ...] = ()


class StagedStem(NamedTuple):
    """A stem with its new files staged."""

    stem: Stem
    outcome: str
    changed_rows: int
    files: tuple[StagedFile, ...]


class RetagStems(beam.PTransform):
    """Tags stems with a taxonomy and commits the outcome as one run of the kind ``retag``.

    In: ``PCollection[Stem]``, at least one. Out: the path of the manifest, one element.

    Guarantees: every row keeps its article_id, revision, text and run_id; a stem is changed whole or not at
    all, and all stems of the run at once. The launcher holds the lock of the dataset.
    """

    def __init__(self, settings: RetagSettings, run: RunContext) -> None:
        super().__init__()
        self._settings = settings
        self._run = run

    def expand(self, stems: Any) -> Any:
        """Joins the steps."""
        return (
            stems
            | "Spread stems" >> beam.Reshuffle()
            | "Tag stem" >> beam.ParDo(_RetagStem(self._settings, self._run))
            | "Key by run" >> beam.Map(lambda staged: (0, staged))
            | "Group the run" >> beam.GroupByKey()
            | "Commit" >> beam.ParDo(_CommitStems(self._settings, self._run))
        )


class _RetagStem(beam.DoFn):
    def __init__(self, settings: RetagSettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run

    def setup(self) -> None:
        self._tagger = shared_tagger(self._settings.taxonomy, self._settings.tag)

    def process(self, stem: Stem) -> Iterator[StagedStem]:
        storage = storage_of(self._settings.root)
        done = retag(storage, stem, self._tagger, self._settings.store_text)
        meter.add("tagged", stem.articles.rows)
        yield self._staged(storage, done)

    def _staged(self, storage: Storage, done: Retagged) -> StagedStem:
        files = tuple(stage_file(storage, self._run.run_id, file) for file in done.files)
        return StagedStem(done.stem, done.outcome, done.changed_rows, files)


class _CommitStems(beam.DoFn):
    """Commits the run; done again after a failure, it finishes what was begun."""

    def __init__(self, settings: RetagSettings, run: RunContext) -> None:
        self._settings = settings
        self._run = run

    def process(self, group: tuple[int, Iterable[StagedStem]]) -> Iterator[str]:
        storage = storage_of(self._settings.root)
        run, taxonomy = self._run, self._settings.taxonomy
        if not finish_if_journaled(storage, run.run_id):
            # Of a stem that a retry has staged twice, one is enough: both are the same.
            stems = list({staged.stem.articles.path: staged for staged in group[1]}.values())
            commit_change(
                storage,
                "retag",
                run.run_id,
                run.started_at,
                run.now(),
                change_of(stems),
                counts_of(stems),
                taxonomy={"id": taxonomy.id, "version": taxonomy.version, "sha256": taxonomy.sha256},
                versions=dict(self._settings.versions),
            )
        yield manifest_path(run.run_id)


def change_of(stems: Iterable[StagedStem]) -> Change:
    """Returns what the outcomes of all stems mean for the files."""
    added: list[StagedFile] = []
    replaced: list[tuple[StagedFile, str]] = []
    removed: list[FileRecord] = []
    checked: list[tuple[str, str]] = []
    for staged in stems:
        if staged.outcome != CHANGED:
            checked.append((staged.stem.articles.path, staged.stem.articles.sha256))
            continue
        old = {file.path: file for file in (staged.stem.articles, *staged.stem.topics)}
        for file in staged.files:
            before = old.pop(file.path, None)
            if before is None:
                added.append(file)
            else:
                replaced.append((file, before.sha256))
        removed += old.values()
    return Change(added, replaced, removed, checked)


def counts_of(stems: Iterable[StagedStem]) -> dict[str, int]:
    """Returns files and rows of articles by outcome, for the manifest."""
    counts = dict.fromkeys(("files", "files_changed", "files_checked", "files_without_text", "rows", "rows_changed"), 0)
    for staged in stems:
        counts["files"] += 1
        counts[f"files_{staged.outcome}"] += 1
        counts["rows"] += staged.stem.articles.rows
        counts["rows_changed"] += staged.changed_rows
    return counts
