from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import apache_beam as beam
import pyarrow.parquet as pq
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.rows import assert_same_rows, assert_sound, data_files, read_rows
from tests.transforms.write.make_items import START, fetch, reject, run_at, tagged, tags
from transforms.dedupe.state import StateLocation, latest_state, open_state
from transforms.records import Alias, RunContext, Side, TaggedArticle, Tally
from transforms.schema import TABLES
from transforms.write import stage
from transforms.write.manifest import Manifest, check_sum, read_manifest
from transforms.write.stage import WriteDataset, WriteSettings
from transforms.write.storage import DatasetError


def write(
    root: Path,
    articles: Sequence[TaggedArticle] = (),
    side: Sequence[Side] = (),
    run: RunContext | None = None,
    flags: Sequence[str] = (),
    **settings: object,
) -> Manifest:
    run = run or run_at()
    items = Tally("read", "item", len(articles) + sum(type(record).__name__ == "Reject" for record in side))
    location = latest_state(str(root))
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(list(flags))) as pipeline:
        _ = {
            "tagged": pipeline | "tagged" >> beam.Create(list(articles)),
            "side": pipeline | "side" >> beam.Create([*side, items]),
        } | WriteDataset(WriteSettings(str(root), **settings), location, run)  # type: ignore[arg-type]
    manifest = read_manifest(str(root), run.run_id)
    assert manifest is not None
    return manifest


def test_articles_topics_rejects_and_fetches_become_rows(tmp_path: Path) -> None:
    article = tagged(topics=tags(deportation="primary", immigration="relevant", sanctuary_city="mention"))
    manifest = write(tmp_path, [article], [reject(), fetch()])
    assert [row["url"] for row in read_rows(tmp_path, "articles")] == ["https://harrow-bay.example/council-vote"]
    found = {(row["topic"], row["level"]) for row in read_rows(tmp_path, "article_topics")}
    assert found == {("deportation", "primary"), ("immigration", "relevant")}
    assert [row["reason"] for row in read_rows(tmp_path, "rejects")] == ["not_found"]
    assert [row["outcome"] for row in read_rows(tmp_path, "fetches")] == ["ok"]
    assert manifest.items["in"] == 2
    assert check_sum(manifest.items)
    assert_sound(tmp_path)


def test_a_run_without_input_makes_a_dataset_that_opens(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    assert manifest.items == dict.fromkeys(manifest.items, 0)
    for table in TABLES:
        assert len(data_files(tmp_path, table)) == 1
        assert read_rows(tmp_path, table) == []
    assert_sound(tmp_path)


def test_the_same_again_adds_no_data_file(tmp_path: Path) -> None:
    articles, side = [tagged()], [reject()]
    write(tmp_path, articles, side)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/**/*.parquet")}
    for number in range(2, 4):
        manifest = write(tmp_path, articles, side, run_at(f"20261130T101502Z-000{number}"))
        assert manifest.items["known"] == 2
        assert check_sum(manifest.items)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/**/*.parquet")} == before
    assert_sound(tmp_path)


def test_changed_text_is_the_next_revision(tmp_path: Path) -> None:
    write(tmp_path, [tagged(text="Two people were hurt.")])
    later = START.replace(day=30, hour=12)
    manifest = write(
        tmp_path,
        [tagged(text="Three people were hurt.", version="v2", fetched_at=later)],
        [],
        run_at("20261130T120000Z-0002", later),
    )
    rows = sorted(read_rows(tmp_path, "articles"), key=lambda row: row["revision"])
    assert [(row["revision"], row["text"]) for row in rows] == [
        (1, "Two people were hurt."),
        (2, "Three people were hurt."),
    ]
    assert rows[1]["first_seen_at"] == rows[0]["first_seen_at"]
    assert manifest.items["revised"] == 1
    assert_sound(tmp_path)


def test_a_row_that_does_not_fit_is_a_reject_and_the_others_are_written(tmp_path: Path) -> None:
    bad = tagged("https://a.example/bad", title="Harrow \ud83d Bay")
    manifest = write(tmp_path, [bad, tagged()])
    assert [row["url"] for row in read_rows(tmp_path, "articles")] == [tagged().article.url]
    (refused,) = read_rows(tmp_path, "rejects")
    assert (refused["stage"], refused["reason"], refused["url"]) == ("write", "bad_row", "https://a.example/bad")
    assert manifest.items == {
        "in": 2,
        "new": 1,
        "revised": 0,
        "known": 0,
        "duplicates": 0,
        "deferred": 0,
        "rejected": 1,
    }


def test_aliases_and_tallies_of_all_stages_reach_the_manifest(tmp_path: Path) -> None:
    alias = Alias("k" * 32, "v1", tagged().article.article_id, "duplicate")
    manifest = write(tmp_path, [tagged()], [alias, alias, Tally("known", "known", 2), Tally("known", "known", 3)])
    assert manifest.aliases == (alias,)
    assert Tally("known", "known", 5) in manifest.stages
    assert Tally("write", "in", 1) in manifest.stages
    assert [(topic.topic, topic.primary) for topic in manifest.topics] == [("deportation", 1)]


def test_the_name_of_a_run_cannot_be_used_twice(tmp_path: Path) -> None:
    write(tmp_path, [tagged()])
    with pytest.raises(DatasetError, match="already"):
        write(tmp_path, [tagged("https://a.example/other")])


def test_store_text_none_keeps_no_text_anywhere(tmp_path: Path) -> None:
    secret = "The council of Harrow Bay met in closed session."
    article = tagged(text=secret, topics=tags(deportation="primary")._replace(snippets={"deportation": secret}))
    write(tmp_path, [article], [reject(payload=secret.encode())], store_text="none")
    for path in tmp_path.glob("**/*"):
        if path.suffix == ".parquet":
            assert b"closed session" not in str(pq.ParquetFile(path).read().to_pylist()).encode()
        elif path.is_file():
            assert b"closed session" not in path.read_bytes()


def test_every_step_pickles_and_lives_in_a_module() -> None:
    location, settings = StateLocation("out", None), WriteSettings("out")
    for step in (stage._MakeRows(settings, run_at()), stage._SideRows(settings, run_at())):
        assert pickle.loads(pickle.dumps(step)).__module__ == "transforms.write.stage"
    for kind in (stage._StageFiles, stage._Commit):
        assert pickle.loads(pickle.dumps(kind(settings, location, run_at()))).__module__ == "transforms.write.stage"
    pickle.loads(pickle.dumps(stage._CommitPane(settings, run_at())))


@pytest.mark.parametrize("flags", [(), ("--direct_runner_bundle_repeat=1",)])
@pytest.mark.parametrize("shards", [1, 3])
def test_shards_and_repeated_bundles_change_no_row(tmp_path: Path, flags: tuple[str, ...], shards: int) -> None:
    articles = [tagged(f"https://paper{n % 4}.example/story/{n}", f"Story {n}.") for n in range(30)]
    side = [reject(f"https://paper.example/{n}") for n in range(5)] + [
        fetch(f"https://f{n}.example/") for n in range(3)
    ]
    write(tmp_path / "a", articles, side)
    manifest = write(tmp_path / "b", articles[::-1], side[::-1], flags=flags, shards=shards)
    assert_same_rows(tmp_path / "a", tmp_path / "b")
    assert_sound(tmp_path / "b")
    assert check_sum(manifest.items)
    assert open_state(latest_state(str(tmp_path / "b"))).revision_of(articles[3].article.article_id).revision == 1
