"""kill -9 of ``dataset retag`` half-way, then the same command: the rows of an undisturbed retag, column by column."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.program import ROOT, newsbeam, run_json, run_until_killed
from tests.rows import assert_same_rows, read_rows
from tests.transforms.maintain.make_dataset import findings_of

pytestmark = pytest.mark.slow
PLACES = ("after the first staged file", "in the middle of promote")  # tests of maintain go through all others
TOPICS = "topics:\n  - id: councils\n    terms: [council, sheriff, county]\n    thresholds: {relevant: 1}\n"


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    """A dataset in two runs, and a copy that was retagged without a disturbance."""
    folder = tmp_path_factory.mktemp("retag")
    shutil.copy(ROOT / "configs" / "topics.yaml", folder)
    for seeds in ("seeds/*.txt", "seeds/*.jsonl"):
        run_json("--seeds", seeds, "-d", folder / "out")
    (folder / "more.yaml").write_text(TOPICS, encoding="utf-8")
    shutil.copytree(folder / "out", folder / "undisturbed")
    newsbeam(*command(folder / "undisturbed", folder))
    return folder


def command(root, folder):
    return ["dataset", "retag", "-d", str(root), "--topics", str(folder / "topics.yaml"), str(folder / "more.yaml")]


@pytest.mark.parametrize("place", PLACES)
def test_a_retag_that_was_killed_is_completed_by_the_next(place, datasets, tmp_path):
    root = tmp_path / "out"
    shutil.copytree(datasets / "out", root)
    before = {row["article_id"]: row["taxonomy_sha256"] for row in read_rows(root, "articles")}
    run_until_killed(Path(__file__).parent / "killed_program.py", place, *command(root, datasets))

    newsbeam(*command(root, datasets))

    assert_same_rows(datasets / "undisturbed", root)
    assert findings_of(root) == []
    after = {row["article_id"]: row["taxonomy_sha256"] for row in read_rows(root, "articles")}
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())
    assert "councils" in {row["topic"] for row in read_rows(root, "article_topics")}
