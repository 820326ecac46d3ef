"""The graph with a source that does not end: the same ``build`` commits each pane, every row once."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.test_stream import TestStream

from pipeline.config.load import load_setup
from pipeline.graph import Sources, build
from pipeline.launch import RunOptions, make_job, new_run, run_facts
from pipeline.plan import make_plan
from tests.program import ROOT, story
from tests.rows import assert_same_rows, read_rows
from transforms.dedupe.state import NEWEST, StateLocation
from transforms.write.manifest import read_manifests

NOW = datetime(2026, 11, 30, 10, tzinfo=timezone.utc)


def _job(dataset, seeds):
    setup = load_setup(str(ROOT / "configs/newsbeam.yaml"), {"dataset": str(dataset), "seeds": [str(seeds)]}, {})
    plan = make_plan(setup)
    return make_job(
        plan, RunOptions(now=NOW), new_run(NOW), StateLocation(str(dataset), NEWEST), run_facts(plan, (), (), ())
    )


def test_two_panes_are_two_commits_and_every_row_is_there_once(tmp_path):
    paths = []
    for number in range(6):
        path = tmp_path / f"{number}.jsonl"
        title, paragraphs = story(number)
        path.write_text(
            json.dumps({"url": f"https://vale-post.example/{number}", "title": title, "text": "\n\n".join(paragraphs)})
        )
        paths.append(str(path))
    ticks = (
        TestStream()
        .advance_watermark_to(0)
        .add_elements(paths[:3])
        .advance_processing_time(30)
        # The fourth is a file of the first pane once more: known by then.
        .add_elements([*paths[3:], paths[0]])
        .advance_processing_time(30)
        .advance_watermark_to_infinity()
    )
    dataset = tmp_path / "stream"
    job = _job(dataset, tmp_path / "*.jsonl")
    with TestPipeline(options=PipelineOptions(["--streaming", "--allow_unsafe_triggers"])) as pipeline:
        sources = Sources(
            feeds=pipeline | "No feeds" >> beam.Create([], reshuffle=False),
            seed_paths=pipeline | "Ticks" >> ticks,
            url_paths=pipeline | "No lists" >> beam.Create([], reshuffle=False),
        )
        build(sources, job)

    rows = read_rows(dataset, "articles")
    assert sorted(row["url"] for row in rows) == [f"https://vale-post.example/{number}" for number in range(6)]
    assert {row["revision"] for row in rows} == {1}
    committed = [manifest.items["new"] for manifest in read_manifests(str(dataset)) if manifest.items["new"]]
    assert committed == [3, 3]

    from tests.program import run_json

    run_json("--seeds", tmp_path / "*.jsonl", "-d", tmp_path / "batch", "--now", "2026-11-30T10:00:00Z")
    assert_same_rows(dataset, tmp_path / "batch")
