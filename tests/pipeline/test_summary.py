"""What a run tells at its end: what went wrong, and the command that shows why."""

from __future__ import annotations

import io

import pytest

from pipeline.summary import Summary, as_text
from transforms.records import Tally

ITEMS = dict.fromkeys(("in", "new", "revised", "known", "duplicates", "deferred", "rejected"), 0)
ROWS = dict.fromkeys(("articles", "article_topics", "rejects", "fetches"), 0)


def told(**changes):
    """The lines of a summary of an empty run with these changes."""
    summary = Summary(
        root="news",
        run_ids=("20261130T101502Z-0001",),
        inputs={"seed_files": 1, "feeds": 1},
        items=ITEMS | changes.pop("items", {}),
        adds_up=True,
        stages=changes.pop("stages", ()),
        feeds=changes.pop("feeds", {}),
        topics=(),
        no_topic=0,
        rejects=changes.pop("rejects", {}),
        rows=ROWS,
        held=changes.pop("held", {"articles": 0}),
        elapsed_s=1.0,
    )
    return as_text(summary, io.StringIO()).splitlines()


def test_what_was_refused_before_is_told_with_the_command_that_tries_again():
    stages = (Tally("known", "known", 3), Tally("known", "refused", 1), Tally("write", "refused", 1))
    lines = told(items={"in": 3, "known": 3}, stages=stages, held={"articles": 1})
    (line,) = [line for line in lines if "refused" in line]
    assert line.startswith("  known: 2 of them were refused by an earlier run")
    assert "newsbeam dataset replay -d news --stage" in line
    assert "FROM rejects" in lines[-1]


@pytest.mark.parametrize(
    ("changes", "table"),
    [
        ({"rejects": {"read:empty": 1}, "held": {"articles": 5}}, "rejects"),
        ({"feeds": {"polled": 2, "failed": 1}, "held": {"articles": 5}}, "fetches WHERE kind = 'feed'"),
        ({"items": {"in": 1, "deferred": 1}}, "fetches WHERE kind = 'page'"),
        ({}, "fetches WHERE kind = 'feed'"),
        ({"held": {"articles": 5}}, "articles_latest"),
    ],
)
def test_the_next_command_shows_the_reasons(changes, table):
    assert f"FROM {table}" in told(**changes)[-1]


def test_that_no_feed_was_due_is_told():
    assert "  no feed was due; --due-now asks them all the same" in told(stages=(Tally("poll", "not_due", 1),))
