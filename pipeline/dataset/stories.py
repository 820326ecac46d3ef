"""``newsbeam dataset stories``: finds the copies of one story among the articles of the last days."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipeline.launch import new_run, run_pipeline, versions
from pipeline.options import DIRECT_RUNNER
from transforms.stories.read import first_day, read_grouped, read_window
from transforms.stories.stage import GroupStories, StorySettings
from transforms.write.manifest import read_manifest
from transforms.write.storage import storage_of

DAYS = 3


class Stories(NamedTuple):
    """What the job found.

    Attributes:
        articles: Of the last days.
        stories: That they tell.
        copies: Articles that are a copy of another one.
        new: Articles that were grouped for the first time.
        linked: Stories that were found to be an earlier one.
        run_id: The run that wrote rows; ``None`` if there was nothing new.
    """

    articles: int
    stories: int
    copies: int
    new: int = 0
    linked: int = 0
    run_id: str | None = None


def run_stories(root: str, days: int = DAYS, now: datetime | None = None, beam_flags: tuple[str, ...] = ()) -> Stories:
    """Groups the articles of the last days and commits what is new. The caller holds the lock and has recovered.

    Args:
        root: The dataset.
        days: Articles taken in on the day of ``now`` and so many days before.
        now: The clock of the run; ``None`` is the real one.
        beam_flags: Checked flags for Beam, runner included; none for the in-process runner.

    Raises:
        DatasetError: If the dataset cannot be read or written.
    """
    run = new_run(now)
    storage_of(root).begin(run.run_id)
    since = first_day(run.started_at, days)
    facts = {"versions": versions(), "inputs": {"days": days}}
    flags = list(beam_flags) or [f"--runner={DIRECT_RUNNER}"]
    pipeline = beam.Pipeline(options=PipelineOptions(flags, save_main_session=False))
    _ = pipeline | "Group stories" >> GroupStories(StorySettings(root, since.isoformat(), facts), run)
    run_pipeline(pipeline)

    storage = storage_of(root)
    article_ids, grouped = read_window(storage, since).article_ids, read_grouped(storage, since)
    stories = [grouped[article_id].story_id for article_id in article_ids]
    copies = sum(article_id != story_id for article_id, story_id in zip(article_ids, stories, strict=True))
    manifest = read_manifest(storage, run.run_id)
    told = {tally.outcome: tally.items for tally in manifest.stages} if manifest else {}
    run_id = run.run_id if manifest else None
    return Stories(len(article_ids), len(set(stories)), copies, told.get("new", 0), told.get("linked", 0), run_id)
