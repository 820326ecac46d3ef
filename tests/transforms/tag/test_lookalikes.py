"""Sentences that only look like a topic, and some that do not look like one, judged by hand: what ships gets all right."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from make_taxonomy import SHIPPED

from transforms.tag.tagger import Tagger
from transforms.tag.taxonomy import load_taxonomy

with open(Path(__file__).resolve().parents[2] / "data" / "lookalikes.tsv", encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def shipped():
    return Tagger(load_taxonomy([SHIPPED]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['language']} {row['text'][:40]}")
def test_a_sentence_has_the_topics_that_a_reader_sees(shipped, row):
    tags = shipped.tag_text(row["title"] or None, row["text"], row["language"])
    assert {score.topic for score in tags.scores if score.match_count} == set(row["topics"].split())
