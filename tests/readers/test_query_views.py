"""``newsbeam query`` over every view of a dataset of two minor versions."""

from __future__ import annotations

import json

import pytest

from pipeline.cli import main

COUNTS = {
    "articles": 4,
    "articles_latest": 3,
    "article_topics": 5,
    "article_topics_latest": 3,
    "rejects": 1,
    "fetches": 2,
    "stories": 2,
    "topic_daily": 2,
    "feed_health": 1,
}


def ask(capsys, root, sql):
    assert main(["query", sql, "-d", str(root), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("view", COUNTS)
def test_every_view_reads_both_versions(two_versions, view, capsys):
    assert ask(capsys, two_versions, f"SELECT count(*) AS n FROM {view}") == [{"n": COUNTS[view]}]


def test_the_newer_column_is_null_in_older_rows(two_versions, capsys):
    rows = ask(capsys, two_versions, "SELECT url, revision, section FROM articles ORDER BY ALL")
    assert [(row["url"], row["revision"], row["section"]) for row in rows] == [
        ("https://a.example/1", 1, None),
        ("https://a.example/1", 2, "Harbor"),
        ("https://b.example/1", 1, None),
        ("https://c.example/1", 1, "Weather"),
    ]


def test_topics_stories_and_feeds_tell_what_was_written(two_versions, capsys):
    daily = ask(capsys, two_versions, "SELECT day, topic, articles, stories FROM topic_daily ORDER BY ALL")
    assert daily == [
        {"day": "2026-11-30", "topic": "deportation", "articles": 1, "stories": 1},
        {"day": "2026-11-30", "topic": "immigration", "articles": 2, "stories": 1},
    ]
    stories = ask(capsys, two_versions, "SELECT count(DISTINCT story_id) AS stories, count(*) AS copies FROM stories")
    assert stories == [{"stories": 1, "copies": 2}]
    health = ask(capsys, two_versions, "SELECT outcome, failures, polls, entries_new FROM feed_health")
    assert health == [{"outcome": "timeout", "failures": 1, "polls": 2, "entries_new": 2}]


def test_lists_of_structs_come_as_json(two_versions, capsys):
    (row,) = ask(capsys, two_versions, "SELECT matches, live_posts FROM articles_latest WHERE section = 'Weather'")
    assert row["matches"] == []
    assert row["live_posts"][0]["title"] == "The mayor speaks"
