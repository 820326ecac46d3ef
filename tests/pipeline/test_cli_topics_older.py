"""A run tells of articles that an older taxonomy tagged, with a command that can be copied."""

from __future__ import annotations

import argparse

import pytest

from pipeline.cli.parser import parse
from pipeline.cli.topics_older import older_taxonomy_line
from pipeline.config.load import load_config
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import DAY_1, MARSH, tagged_story, taxonomy
from transforms.tag.tagger import Tagger


@pytest.fixture
def root(tmp_path):
    by = Tagger(taxonomy(tmp_path))
    stories = [tagged_story(f"https://vale.example/{n}", "Quay", f"The quay of Vale {n}.", by) for n in range(2)]
    commit(tmp_path / "out", "20260901T100000Z-0001", *stories, at=DAY_1)
    return tmp_path / "out"


def line(root, used, store_text="full", **flags):
    args = argparse.Namespace(**{"config": None, "dataset": None, "topics": None} | flags)
    return older_taxonomy_line(args, load_config(None, {"dataset": str(root), "store_text": store_text}, {}), used)


def test_nothing_is_said_while_the_taxonomy_is_the_same(root, tmp_path):
    assert line(root, taxonomy(tmp_path)) == ""
    assert line(tmp_path / "none", taxonomy(tmp_path)) == ""


def test_older_articles_are_counted_and_the_command_that_mends_it_can_be_copied(root, tmp_path):
    new = taxonomy(tmp_path, "2", MARSH)
    told = line(root, new, dataset="out", topics=["a.yaml", "my topics.yaml"])
    count, _, command = told.partition("; mend: newsbeam ")
    assert count == "newsbeam: note: 2 stored articles were tagged with another taxonomy than vale 2"
    assert command == "dataset retag -d out --topics a.yaml 'my topics.yaml'"
    args = parse(["dataset", "retag", "-d", "out", "--topics", "a.yaml", "my topics.yaml"])
    assert (args.dataset, args.topics) == ("out", ["a.yaml", "my topics.yaml"])


def test_nothing_is_said_where_texts_are_not_stored_whole(root, tmp_path):
    assert line(root, taxonomy(tmp_path, "2", MARSH), "none") == ""
