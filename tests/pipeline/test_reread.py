"""Topics and feeds that change while ``newsbeam watch`` works."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config.load import load_setup
from pipeline.plan import Plan, make_plan
from pipeline.reread import Reread

TOPICS = "topics:\n  - id: {id}\n    terms: [harbour]\n"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(tmp_path)
    Path("topics.yaml").write_text(TOPICS.format(id="port"))
    Path("feeds.txt").write_text("http://127.0.0.1:9/a.xml\n")
    flags = {"topics": ["topics.yaml"], "feeds": ["feeds.txt", "http://127.0.0.1:9/b.xml"], "dataset": "out"}
    return make_plan(load_setup(None, flags, {}))


def topics_of(plan: Plan) -> list[str]:
    return [topic.id for topic in plan.taxonomy.topics]


def test_nothing_is_read_again_without_a_change(plan: Plan) -> None:
    told: list[str] = []
    reread = Reread(plan, told.append)
    Path("topics.yaml").touch()
    assert reread.apply(plan) is plan
    assert told == []


def test_changed_topics_and_feeds_are_in_the_next_plan(plan: Plan) -> None:
    told: list[str] = []
    reread = Reread(plan, told.append)
    Path("topics.yaml").write_text(TOPICS.format(id="coast"))
    Path("feeds.txt").write_text("http://127.0.0.1:9/a.xml\nhttp://127.0.0.1:9/c.xml\n")
    changed = reread.apply(plan)
    assert topics_of(changed) == ["coast"]
    assert [feed.url[-5:] for feed in changed.feeds] == ["a.xml", "c.xml", "b.xml"]
    assert [line.rpartition(", ")[2] for line in told] == ["1 topic", "read again: 3 feeds"]
    assert reread.apply(changed) is changed


@pytest.mark.parametrize("content", ["topics: [{id: Wrong}]\n", ": :\n- [", ""])
def test_mistakes_are_told_once_and_change_nothing(plan: Plan, content: str) -> None:
    told: list[str] = []
    reread = Reread(plan, told.append)
    Path("topics.yaml").write_text(content)
    assert topics_of(reread.apply(plan)) == ["port"]
    assert topics_of(reread.apply(plan)) == ["port"]
    (line,) = told
    assert line.startswith("the topics have mistakes, those read before stay in use: ")
    assert "topics.yaml" in line


def test_a_file_that_is_gone_for_a_moment_changes_nothing(plan: Plan) -> None:
    reread = Reread(plan, pytest.fail)
    Path("topics.yaml").unlink()
    assert reread.apply(plan) is plan
