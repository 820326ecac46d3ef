"""What a stream refuses before anything starts, and the flags that it adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config.load import load_setup
from pipeline.errors import ConfigError
from pipeline.options import beam_arguments
from pipeline.plan import Plan, make_plan
from pipeline.stream import StreamOptions, _flags, check_stream
from tests.program import ROOT, newsbeam

FEED = "http://127.0.0.1:9/feed.xml"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return make_plan(load_setup(None, {"dataset": str(tmp_path), "feeds": [FEED], "allow_loopback": True}, {}))


def _options(runner: str | None = "prism", **changes: object) -> StreamOptions:
    flags = tuple(beam_arguments(runner, []))
    return StreamOptions(flags, "desk")._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (_options(stream_id=None), "add --stream-id desk"),
        (_options(stream_id="a.b"), "small letters, digits and hyphens"),
        (_options(None), "use newsbeam watch"),
        (_options("spark"), "Spark runner cannot stream Python"),
        (_options("flink", detach=True), "use PROCESS or DOCKER"),
        (_options(tick="soon"), "--tick takes a time"),
        (_options(tick="0"), "at least 200ms"),
    ],
)
def test_what_cannot_work_is_a_mistake_that_says_what_does(plan: Plan, options: StreamOptions, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check_stream(plan, options)


def test_a_stream_needs_feeds(plan: Plan) -> None:
    with pytest.raises(ConfigError, match="nothing to follow"):
        check_stream(plan._replace(feeds=()), _options())


def test_the_tick_is_read_as_a_duration(plan: Plan) -> None:
    assert check_stream(plan, _options(tick="1m30s")) == 90.0


def test_flink_gets_what_a_stream_needs_unless_the_user_says_otherwise() -> None:
    flags = _flags(_options("flink"))
    assert "--checkpointing_interval=10000" in flags
    assert "--finish_bundle_before_checkpointing" in flags
    given = tuple(beam_arguments("flink", ["--checkpointing-interval=3000"]))
    assert "--checkpointing_interval=10000" not in _flags(StreamOptions(given, "desk"))


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    words = ["run", "--streaming", "--stream-id", "desk", "--feeds", FEED, "--allow-loopback", "-d", tmp_path / "out"]
    done = newsbeam(*words, "-c", ROOT / "configs/newsbeam.yaml", check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
