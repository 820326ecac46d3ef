from __future__ import annotations

import shutil

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.rows import assert_same_rows, data_files, read_rows
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import (
    DAY_1,
    MARSH,
    contents_of,
    findings_of,
    hashes,
    kinds,
    tagged_story,
    taxonomy,
)
from tests.transforms.write.make_items import run_at
from transforms.maintain.compact import compact
from transforms.maintain.compare import ChangedTags, Looked, changed_tags
from transforms.maintain.retag import article_of, holds_text, is_whole, stems_to_retag
from transforms.maintain.stage import RetagSettings, RetagStems
from transforms.maintain.taxonomy import older_taxonomy_count
from transforms.tag.tagger import Tagger
from transforms.write.commit import recover
from transforms.write.manifest import read_manifests
from transforms.write.storage import DatasetError, LocalStorage

HARBOR = "The harbor board of Vale met at the quay. The quay is old."
HERONS = "A heron stood in the marsh beside the harbor. The marsh was wet."
BREAD = "The bakery of Vale sold out of bread before noon."


@pytest.fixture
def old(tmp_path):
    return taxonomy(tmp_path)


@pytest.fixture
def new(tmp_path):
    return taxonomy(tmp_path, "2", MARSH)


@pytest.fixture
def root(tmp_path, old):
    """Two runs: one with a text that the new topic finds, one without."""
    root, by = tmp_path / "out", Tagger(old)
    facts = [("1", "Quay", HARBOR), ("2", "Herons", HERONS)]
    stories = [tagged_story(f"https://vale.example/{n}", title, text, by) for n, title, text in facts]
    commit(root, "20260901T100000Z-0001", *stories, at=DAY_1)
    commit(root, "20260901T110000Z-0002", tagged_story("https://vale.example/3", "Bread", BREAD, by), at=DAY_1)
    return root


def retag(root, taxonomy, run_id="20260905T100000Z-0001"):
    """One run of the pipeline over all stems that need it."""
    stems = stems_to_retag(contents_of(root), taxonomy.sha256)
    if stems:
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
            settings = RetagSettings(str(root), taxonomy)
            _ = pipeline | beam.Create(stems) | RetagStems(settings, run_at(run_id))
    return len(stems)


def topics_of(root):
    return {row["url"].rpartition("/")[2]: row["topics"] for row in read_rows(root, "articles")}


def test_articles_and_their_topics_get_the_new_tags(root, new):
    before = read_rows(root, "articles")
    assert retag(root, new) == 2
    assert topics_of(root) == {"1": ["harbor"], "2": ["marsh", "harbor"], "3": []}
    rows = {(row["topic"], row["url"][-1]): row for row in read_rows(root, "article_topics")}
    assert rows.keys() == {("harbor", "1"), ("harbor", "2"), ("marsh", "2")}
    # Terms: marsh twice and heron once in the text (lead), title "Herons" is no term: 1.5 * 3.
    assert (rows["marsh", "2"]["score"], rows["marsh", "2"]["match_count"]) == (4.5, 3)
    assert rows["marsh", "2"]["terms"] == ["en:marsh", "en:heron"]
    assert rows["marsh", "2"]["snippet"] == "A heron stood in the marsh beside the harbor."
    assert {row["taxonomy_sha256"] for row in rows.values()} == {new.sha256}
    kept = ("article_id", "revision", "text", "run_id", "content_sha256", "fetched_at", "ingest_date")
    told = [[row[name] for name in kept] for row in read_rows(root, "articles")]
    assert sorted(told) == sorted([row[name] for name in kept] for row in before)
    assert findings_of(root) == []


def test_a_file_whose_tags_stay_is_noted_and_not_written(root, new):
    bread = data_files(root, "articles")[1]
    whole = bread.read_bytes()
    retag(root, new)
    manifest = read_manifests(str(root))[-1]
    assert (manifest.kind, manifest.taxonomy["sha256"]) == ("retag", new.sha256)
    assert manifest.inputs == {
        "files": 2, "files_changed": 1, "files_checked": 1, "files_without_text": 0, "rows": 3, "rows_changed": 1,
    }  # fmt: skip
    assert [path for path, _ in manifest.checked] == [str(bread.relative_to(root))]
    assert bread.read_bytes() == whole


def test_a_second_time_there_is_nothing_to_do_and_back_again_all_is_as_before(root, old, new):
    first = hashes(root)
    retag(root, new)
    second = hashes(root)
    assert second != first
    assert retag(root, new, "20260905T110000Z-0002") == 0
    assert retag(root, old, "20260905T120000Z-0003") == 1, "the file that was only checked is of the old one still"
    assert hashes(root) == first
    assert findings_of(root) == []
    retag(root, new, "20260905T130000Z-0004")
    assert hashes(root) == second
    assert findings_of(root) == []


def test_the_count_of_an_older_taxonomy(root, old, new):
    assert older_taxonomy_count(str(root), old.sha256) == 0
    assert older_taxonomy_count(str(root), new.sha256) == 3
    retag(root, new)
    assert older_taxonomy_count(str(root), new.sha256) == 0
    compact(contents_of(root), DAY_1.date().replace(day=9), 2, lambda line: None)
    # In the one file every row names the taxonomy that it was tagged or checked with.
    assert {row["taxonomy_version"] for row in read_rows(root, "articles")} == {"2"}
    assert {row["taxonomy_sha256"] for row in read_rows(root, "article_topics")} == {new.sha256}
    assert older_taxonomy_count(str(root), new.sha256) == 0
    assert older_taxonomy_count(str(root), old.sha256) == 3
    assert older_taxonomy_count(str(root.parent / "none"), old.sha256) == 0
    assert findings_of(root) == []


@pytest.mark.parametrize("calls", [1, 3, 4, 5, 6, 7, 8, 9])
def test_ended_at_any_step_and_done_again_the_rows_are_those_of_an_undisturbed_run(root, new, monkeypatch, calls):
    left = [calls]
    undisturbed = root.parent / "undisturbed"
    shutil.copytree(root, undisturbed)

    def counted(name):
        real = getattr(LocalStorage, name)

        def wrapped(self, *args):
            if left[0] <= 0:
                raise DatasetError("the power went", "")
            left[0] -= 1
            return real(self, *args)

        return wrapped

    with monkeypatch.context() as patched:
        for name in ("move", "write", "delete", "delete_tree", "sync"):
            patched.setattr(LocalStorage, name, counted(name))
        with pytest.raises(Exception, match="the power went"):
            retag(root, new)
    recover(str(root))
    retag(root, new, "20260905T110000Z-0002")
    retag(undisturbed, new)
    assert_same_rows(undisturbed, root)
    assert topics_of(root) == {"1": ["harbor"], "2": ["marsh", "harbor"], "3": []}
    assert kinds(root).count("retag") == 1
    assert findings_of(root) == []


def test_a_text_that_is_not_whole_is_left(tmp_path, old, new):
    root, by = tmp_path / "out", Tagger(old)
    cut = tagged_story("https://vale.example/2", "Herons", "A heron stood in the…", by)
    cut = cut._replace(article=cut.article._replace(word_count=90))
    commit(root, "20260901T100000Z-0001", cut, at=DAY_1)
    files = hashes(root)
    retag(root, new)
    assert hashes(root) == files
    assert read_manifests(str(root))[-1].inputs["files_without_text"] == 1
    assert older_taxonomy_count(str(root), new.sha256) == 0, "nothing could be done about it"


@pytest.mark.parametrize(
    ("text", "words", "whole"),
    [(None, 5, False), ("And so on…", 3, True), ("And so on…", 200, False), ("Whole.", 1, True), ("", 0, True)],
)
def test_what_a_whole_text_is(text, words, whole):
    assert is_whole({"text": text, "word_count": words}) is whole


def test_the_statistics_tell_whether_there_is_text(root):
    contents = contents_of(root)
    assert all(holds_text(contents.storage, file) for file in contents.files("articles"))


def test_a_stored_row_gives_the_tags_of_the_article_itself(root, old):
    by = Tagger(old)
    for row in read_rows(root, "articles"):
        tags = by.tag(article_of(row))
        assert list(tags.topics) == row["topics"]
        assert [score._asdict() for score in tags.scores] == row["topic_scores"]
        assert [match._asdict() for match in tags.matches] == row["matches"]


def test_what_another_taxonomy_would_change(root, old, new):
    commit(
        root,
        "20260902T100000Z-0003",
        tagged_story("https://vale.example/1", "Quay", "Nothing is left of it.", Tagger(old)),
        at=DAY_1,
    )
    found = list(changed_tags(contents_of(root), Tagger(old), Tagger(new)))
    gained = [item for item in found if isinstance(item, ChangedTags)]
    assert [(item.url, item.gained, item.lost) for item in gained] == [("https://vale.example/2", ("marsh",), ())]
    assert found[-1] == Looked(articles=3, without_text=0), "of article 1 the newest revision"
    back = list(changed_tags(contents_of(root), Tagger(new), Tagger(old)))
    assert [(item.gained, item.lost) for item in back if isinstance(item, ChangedTags)] == [((), ("marsh",))]
