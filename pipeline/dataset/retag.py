"""``dataset retag``: which stems are tagged anew, in runs of a bounded size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipeline.config.model import Config
from pipeline.errors import RunError
from pipeline.launch import new_run, run_pipeline, versions
from pipeline.progress import Progress
from transforms import meter
from transforms.maintain.contents import Contents, remove_empty_folders
from transforms.maintain.retag import Stem, holds_text
from transforms.maintain.stage import RetagSettings, RetagStems
from transforms.tag.stage import TagSettings
from transforms.tag.taxonomy import Taxonomy
from transforms.write.manifest import Manifest, read_manifest
from transforms.write.storage import storage_of

# What is staged at once: the files of a run lie on the disk twice until its commit.
RUN_BYTES = 1 << 30


class RetagResult(NamedTuple):
    """What was done.

    Attributes:
        run_ids: The committed runs; none if every row had the taxonomy already.
        counts: As in ``stage.counts_of``.
    """

    run_ids: tuple[str, ...]
    counts: dict[str, int]


def refuse_without_text(contents: Contents, stems: Sequence[Stem]) -> None:
    """Checks that there is a text to tag.

    Raises:
        RunError: If no stem has any.
    """
    if stems and not any(holds_text(contents.storage, stem.articles) for stem in stems):
        raise RunError(
            f"{contents.storage.root} holds no texts (store_text: none), so that nothing can be tagged again;"
            " store texts, and fetch the articles into a new dataset"
        )


def run_retag(
    contents: Contents,
    stems: Sequence[Stem],
    taxonomy: Taxonomy,
    config: Config,
    beam_flags: Sequence[str],
    show_progress: bool,
) -> RetagResult:
    """Tags stems anew and commits. The caller holds the lock and has recovered.

    Raises:
        RunError: If no stem has a text, or a pipeline ends without a commit.
        DatasetError: If the dataset cannot be read or written; runs that are done stay done.
    """
    refuse_without_text(contents, stems)
    settings = RetagSettings(
        contents.storage.root,
        taxonomy,
        TagSettings(entity_model=config.entity_model),
        "excerpt" if config.store_text == "excerpt" else "full",
        tuple(versions().items()),
    )
    counts: Counter[str] = Counter()
    run_ids = []
    meter.reset()
    with Progress(show_progress):
        for batch in _batches(stems):
            manifest = _run_once(settings, batch, beam_flags)
            counts.update(manifest.inputs)
            run_ids.append(manifest.run_id)
            remove_empty_folders(contents.storage, manifest.removes)
    return RetagResult(tuple(run_ids), dict(counts))


def _run_once(settings: RetagSettings, stems: Sequence[Stem], beam_flags: Sequence[str]) -> Manifest:
    run = new_run(None)
    storage_of(settings.root).begin(run.run_id)
    pipeline = beam.Pipeline(options=PipelineOptions(list(beam_flags), save_main_session=False))
    _ = pipeline | "Stems" >> beam.Create(list(stems), reshuffle=False) | "Retag" >> RetagStems(settings, run)
    run_pipeline(pipeline)
    manifest = read_manifest(settings.root, run.run_id)
    if manifest is None:
        raise RunError(f"the run {run.run_id} ended without a manifest; run the command again, nothing is lost")
    return manifest


def _batches(stems: Sequence[Stem]) -> Iterator[list[Stem]]:
    batch: list[Stem] = []
    size = 0
    for stem in stems:
        weight = stem.articles.bytes + sum(file.bytes for file in stem.topics)
        if batch and size + weight > RUN_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(stem)
        size += weight
    if batch:
        yield batch
