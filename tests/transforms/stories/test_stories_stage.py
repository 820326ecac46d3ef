from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.rows import assert_sound, read_rows
from tests.transforms.dedupe.make_runs import collect, collected, commit
from tests.transforms.stories.make_stories import edited, report
from tests.transforms.write.make_items import START, run_at, tagged
from transforms.records import TaggedArticle
from transforms.stories import stage
from transforms.stories.stage import GroupStories, StorySettings
from transforms.write.commit import recover
from transforms.write.manifest import read_manifest

DAY = timedelta(days=1)


def group(root: Path, run_id: str, day: int = 0, *flags: str, since: str = "2026-11-30") -> list[str]:
    """Runs the job and returns the manifests that it yields."""
    collected.clear()
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(list(flags))) as pipeline:
        job = GroupStories(StorySettings(str(root), since), run_at(run_id, START + day * DAY))
        _ = pipeline | job | "collect" >> beam.Map(collect, "manifests")
    return collected.get("manifests", [])


def article(name: str, text: str, minutes: int = 0) -> TaggedArticle:
    return tagged(f"https://{name}.example/1", text, published_at=START - DAY + timedelta(minutes=minutes))


def story_of(root: Path) -> dict[str, str]:
    """The story of each article by the name of its site, as the newest row says, named alike."""
    names = {row["article_id"]: row["domain"][0] for row in read_rows(root, "articles")}
    newest = {row["article_id"]: row for row in sorted(read_rows(root, "stories"), key=lambda row: row["as_of"])}
    return {names[article_id]: names[row["story_id"]] for article_id, row in newest.items()}


def test_copies_get_the_story_of_the_earliest_in_a_committed_run(tmp_path: Path) -> None:
    text = report(1, 30)
    commit(tmp_path, "r1", article("b", edited(text, 0.2), 2), article("a", text, 1), article("c", report(2, 30)))

    assert group(tmp_path, "s1") == ["_runs/s1.json"]

    assert story_of(tmp_path) == {"a": "a", "b": "a", "c": "c"}
    manifest = read_manifest(str(tmp_path), "s1")
    assert manifest is not None
    assert (manifest.kind, manifest.sequence) == ("stories", 2)
    assert {tally.outcome: tally.items for tally in manifest.stages} == {
        "articles": 3, "new": 3, "stories": 2, "copies": 1, "linked": 0
    }  # fmt: skip
    assert_sound(tmp_path)


def test_the_same_articles_again_write_nothing(tmp_path: Path) -> None:
    commit(tmp_path, "r1", article("a", report(1, 30)), article("b", report(1, 30), 1))
    group(tmp_path, "s1")
    assert group(tmp_path, "s2") == []
    assert not (tmp_path / "_runs" / "s2.json").exists()
    assert_sound(tmp_path)


def test_an_empty_window_writes_nothing(tmp_path: Path) -> None:
    commit(tmp_path, "r1", article("a", report(1, 30)))
    assert group(tmp_path, "s1", 5, since="2026-12-05") == []


def test_a_later_arrival_joins_and_changes_no_row(tmp_path: Path) -> None:
    text = report(1, 30)
    commit(tmp_path, "r1", article("b", text, 30))
    group(tmp_path, "s1")
    commit(tmp_path, "r2", article("a", edited(text, 0.1), 1), at=START + DAY)
    group(tmp_path, "s2", 1)

    assert story_of(tmp_path) == {"a": "b", "b": "b"}
    assert len(read_rows(tmp_path, "stories")) == 2


def test_stories_that_prove_to_be_one_are_linked(tmp_path: Path) -> None:
    text = report(1, 40)
    commit(tmp_path, "r1", article("a", edited(text, 0.3, 1), 1), article("b", edited(text, 0.3, 2), 2))
    group(tmp_path, "s1")
    assert story_of(tmp_path) == {"a": "a", "b": "b"}
    commit(tmp_path, "r2", article("c", text, 3), at=START + DAY)
    group(tmp_path, "s2", 1)

    assert story_of(tmp_path) == {"a": "a", "b": "a", "c": "a"}
    assert len(read_rows(tmp_path, "stories")) == 4
    assert group(tmp_path, "s3", 1) == []


def test_a_leader_older_than_the_window_still_names_the_story(tmp_path: Path) -> None:
    text = report(1, 30)
    commit(tmp_path, "r1", article("a", text, 1))
    group(tmp_path, "s1")
    commit(tmp_path, "r2", article("b", text, 2), at=START + 2 * DAY)
    group(tmp_path, "s2", 2)
    commit(tmp_path, "r3", article("c", text, 3), at=START + 4 * DAY)
    group(tmp_path, "s3", 4, since="2026-12-02")

    assert story_of(tmp_path) == {"a": "a", "b": "a", "c": "a"}


def test_bundles_that_run_twice_change_nothing(tmp_path: Path) -> None:
    commit(tmp_path, "r1", article("a", report(1, 30)), article("b", report(1, 30), 1))
    assert set(group(tmp_path, "s1", 0, "--direct_runner_bundle_repeat=1")) == {"_runs/s1.json"}
    assert story_of(tmp_path) == {"a": "a", "b": "a"}
    assert len(read_rows(tmp_path, "stories")) == 2
    assert_sound(tmp_path)


def test_a_run_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, "r1", article("a", report(1, 30)))
    monkeypatch.setattr("transforms.stories.write.write_meta", _ends_here)
    with pytest.raises(Exception, match="cut short"):
        group(tmp_path, "s1")
    assert (tmp_path / "_runs" / "s1.journal").exists()

    assert recover(str(tmp_path)).finished == ("s1",)
    assert story_of(tmp_path) == {"a": "a"}
    assert_sound(tmp_path)


def _ends_here(storage: object) -> None:
    raise KeyError("cut short")


def test_texts_in_many_files_and_shards_meet(tmp_path: Path) -> None:
    assert stage.SHARDS > 1
    text = report(1, 30)
    for number, name in enumerate("abcdef"):
        commit(tmp_path, f"r{number}", article(name, edited(text, 0.05, number), number))
    group(tmp_path, "s1")
    assert set(story_of(tmp_path).values()) == {"a"}
