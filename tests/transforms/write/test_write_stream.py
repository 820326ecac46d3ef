"""The writer under an unbounded source: each pane is a committed run, every row is there once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.test_stream import TestStream

import transforms.write.stage as write_stage
from tests.rows import assert_sound, read_rows
from tests.transforms.write.make_items import fetch, reject, run_at, tagged
from transforms.dedupe.state import NEWEST, StateLocation, open_state
from transforms.records import Alias, Side, TaggedArticle, Tally
from transforms.write.manifest import read_manifests
from transforms.write.stage import WriteDataset, WriteSettings

RUN = run_at("20261130T101502Z-beef")


def stream(root: Path, *panes: list[TaggedArticle | Side]) -> None:
    """Lets the panes through, with enough time between them."""
    source = TestStream()
    for elements in panes:
        source = source.add_elements(elements).advance_processing_time(10)
    source = source.advance_watermark_to_infinity()
    with TestPipeline(options=PipelineOptions(["--streaming"])) as pipeline:
        items = pipeline | source
        _ = {
            "tagged": items | beam.Filter(lambda item: isinstance(item, TaggedArticle)),
            "side": items | "beside" >> beam.Filter(lambda item: not isinstance(item, TaggedArticle)),
        } | WriteDataset(WriteSettings(str(root)), StateLocation(str(root), NEWEST), RUN)


def test_two_panes_are_two_runs_with_every_row_once(tmp_path: Path) -> None:
    first, second = tagged("https://a.example/1", "One."), tagged("https://a.example/2", "Two.")
    stream(tmp_path, [first, fetch(), Tally("poll", "item", 1)], [second, reject(), Tally("poll", "item", 2)])
    assert [row["url"] for row in read_rows(tmp_path, "articles")] == [first.article.url, second.article.url]
    assert len(read_rows(tmp_path, "rejects")) == len(read_rows(tmp_path, "fetches")) == 1
    runs = [manifest.run_id for manifest in read_manifests(str(tmp_path)) if manifest.items["new"]]
    assert len(runs) == 2
    assert all(run_id.startswith(f"{RUN.run_id}.") for run_id in runs)
    assert {row["run_id"] for row in read_rows(tmp_path, "articles")} == set(runs)
    assert_sound(tmp_path)


def test_what_a_pane_brings_again_is_dropped(tmp_path: Path) -> None:
    pane: list[TaggedArticle | Side] = [
        tagged(),
        reject(),
        fetch(),
        Alias("k" * 32, "v2", "1-" + "a" * 32, "unchanged"),
    ]
    stream(tmp_path, pane, pane)
    for table in ("articles", "rejects", "fetches"):
        assert len(read_rows(tmp_path, table)) == 1, table
    assert sum(len(manifest.aliases) for manifest in read_manifests(str(tmp_path))) == 1
    assert_sound(tmp_path)


def test_revisions_are_numbered_against_the_pane_before(tmp_path: Path) -> None:
    stream(tmp_path, [tagged(text="Two hurt.")], [tagged(text="Three hurt.", version="v2")])
    assert sorted(row["revision"] for row in read_rows(tmp_path, "articles")) == [1, 2]
    known = open_state(StateLocation(str(tmp_path), NEWEST))
    revision = known.revision_of(tagged().article.article_id)
    assert revision is not None
    assert revision.revision == 2


def test_an_idle_pane_is_no_run(tmp_path: Path) -> None:
    stream(tmp_path, [tagged()], [Tally("poll", "in", 0)], [Tally("poll", "in", 0)])
    with_news = [manifest for manifest in read_manifests(str(tmp_path)) if manifest.items["new"]]
    assert len(with_news) == 1
    assert len(read_manifests(str(tmp_path))) <= 2  # the heartbeat may come as a pane of its own


def test_a_duplicate_waits_for_the_page_that_it_is_one_of(tmp_path: Path) -> None:
    page = tagged()
    duplicate = Alias(page.article.entry.url_key, "v0", "", "duplicate")
    stream(tmp_path, [duplicate, Tally("fetch", "duplicate", 1)])
    assert not any(manifest.aliases for manifest in read_manifests(str(tmp_path)))


def test_it_is_committed_with_that_page(tmp_path: Path) -> None:
    made, settings = tagged(), WriteSettings(str(tmp_path))
    committer = write_stage._CommitPane(settings, RUN)  # one instance, as a worker has
    committer.setup()
    duplicate = Alias(made.article.entry.url_key, "v0", "", "duplicate")
    rows = list(_made_rows(settings, made))
    for pane in ([duplicate, Tally("fetch", "duplicate", 1)], rows):
        list(committer.process((0, pane)))
    assert [len(manifest.aliases) for manifest in read_manifests(str(tmp_path))] == [0, 1]


def _made_rows(settings: WriteSettings, made: TaggedArticle) -> Iterator[object]:
    yield from write_stage._MakeRows(settings, RUN).process(made)
