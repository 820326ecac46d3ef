"""Ticks through ``FollowFeeds``: what goes out once, what goes out again, and what is asked."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.program import page
from tests.rows import assert_sound, read_rows
from tests.servers import Answer, NewsServer, Request
from transforms.dedupe.state import NEWEST, StateLocation
from transforms.feeds.poll import PollLimits
from transforms.fetch.client import ClientSettings
from transforms.fetch.pages import FetchSettings
from transforms.records import FeedSource, RunContext
from transforms.stream import follow
from transforms.stream.follow import Emission, Follower, Sent
from transforms.stream.spool import Spool

FETCH = FetchSettings(ClientSettings(user_agent="test", allow_loopback=True), host_gap_s=0.0)


def _feed(server: NewsServer, numbers: range, mark: str = "") -> str:
    items = "".join(
        f"<item><title>Item {n}{mark}</title><link>{server.url(f'/story/{n}')}</link><guid>i{n}</guid>"
        f"<pubDate>{formatdate(usegmt=True)}</pubDate></item>"
        for n in numbers
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>V</title><link>x</link>{items}</channel></rss>'


@pytest.fixture
def server():
    with NewsServer({"/story/1": page(1), "/story/2": page(2)}, host="127.0.0.3") as running:
        yield running


def _follower(server: NewsServer, root: Path, interval_s: int = 900) -> Follower:
    now = datetime.now(timezone.utc)
    feeds = [FeedSource(server.url("/feed.xml"), "vale", interval_s=interval_s)]
    run = RunContext("desk", now, time.time())
    return Follower(feeds, FETCH, PollLimits(), StateLocation(str(root), NEWEST), run)


def _numbers(emission: Emission) -> list[int]:
    return sorted(int((entry.url or "").rpartition("/")[2]) for entry in emission.entries)


def test_an_entry_goes_out_once_while_it_is_remembered(server: NewsServer, tmp_path: Path) -> None:
    server.routes["/feed.xml"] = _feed(server, range(3))
    follower, sent = _follower(server, tmp_path), Sent()

    first, second = follower.tick(0, sent), follower.tick(0, sent)

    assert _numbers(first) == [0, 1, 2]
    assert second == Emission([], [])
    assert server.paths().count("/feed.xml") == 1


def test_a_lost_state_sends_again_without_asking_again(server: NewsServer, tmp_path: Path) -> None:
    server.routes["/feed.xml"] = _feed(server, range(3))
    _follower(server, tmp_path).tick(0, Sent())
    server.routes["/feed.xml"] = 500  # it would not be there any more

    again = _follower(server, tmp_path).tick(0, Sent())

    assert _numbers(again) == [0, 1, 2]
    assert [spooled.result.row.outcome for spooled in Spool(str(tmp_path)).read()] == ["ok"]
    assert server.paths().count("/feed.xml") == 1


def test_a_cold_start_asks_without_validators(server: NewsServer, tmp_path: Path) -> None:
    def answer(request: Request) -> Answer:
        return Answer(body=_feed(server, range(2)), headers={"ETag": '"e"'})

    server.routes["/feed.xml"] = answer
    sent = Sent()
    follower = _follower(server, tmp_path, interval_s=0)
    follower.tick(0, sent)
    follower.tick(0, sent)
    _follower(server, tmp_path, interval_s=0).tick(0, Sent())

    asked = [request.headers.get("if-none-match") for request in server.requests if request.path == "/feed.xml"]
    assert asked == [None, '"e"', None]


def test_an_edited_entry_goes_out_again_and_what_is_under_way_does_not(server: NewsServer, tmp_path: Path) -> None:
    server.routes["/feed.xml"] = [_feed(server, range(3)), _feed(server, range(3), " (corrected)")]
    follower, sent = _follower(server, tmp_path, interval_s=0), Sent()
    first, second, third = (follower.tick(0, sent) for _ in range(3))

    assert _numbers(first) == _numbers(second) == [0, 1, 2]
    assert {entry.title for entry in second.entries} == {f"Item {n} (corrected)" for n in range(3)}
    assert third.entries == []


def test_a_slow_host_is_given_no_more_than_it_can_do(server: NewsServer, tmp_path: Path) -> None:
    server.routes["/feed.xml"] = _feed(server, range(30))
    now = datetime.now(timezone.utc)
    follower = Follower(
        [FeedSource(server.url("/feed.xml"), "vale")],
        FETCH._replace(host_gap_s=5.0),
        PollLimits(),
        StateLocation(str(tmp_path), NEWEST),
        RunContext("desk", now, time.time()),
    )
    follower._gate.slow_down("127.0.0.3", 5.0)  # the gate is shared by all tests of this process
    assert len(follower.tick(0, Sent()).entries) == int(follow.HOST_BUDGET_S / 5.0)


def test_a_tick_does_not_wait_for_a_host_that_stalls(
    server: NewsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "POLL_WAIT_S", 0.3)
    goes_on = threading.Event()

    def stall(request: Request) -> str:
        goes_on.wait(60)
        return _feed(server, range(2))

    server.routes["/feed.xml"] = stall
    follower, sent = _follower(server, tmp_path), Sent()

    assert follower.tick(0, sent).entries == []
    goes_on.set()
    deadline = time.monotonic() + 60
    found: list[int] = []
    while not found and time.monotonic() < deadline:
        found = _numbers(follower.tick(0, sent))
        time.sleep(0.1)
    assert found == [0, 1]
    assert server.paths().count("/feed.xml") == 1


def test_old_memory_is_pruned_and_clocks_that_jump_do_not_block(server: NewsServer, tmp_path: Path) -> None:
    server.routes["/feed.xml"] = _feed(server, range(0))
    sent = {"old": time.time() - 2 * follow.SENT_S, "of tomorrow": time.time() + 86_400, "fresh": time.time()}
    _follower(server, tmp_path).tick(0, sent)
    assert set(sent) >= {"fresh", ""}
    assert not {"old", "of tomorrow"} & set(sent)


def test_ticks_through_the_graph_commit_every_article_once(server: NewsServer, tmp_path: Path) -> None:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.testing.test_pipeline import TestPipeline
    from apache_beam.testing.test_stream import TestStream

    from pipeline.config.load import load_setup
    from pipeline.graph import Sources, build
    from pipeline.launch import RunOptions, make_job, new_run, run_facts
    from pipeline.plan import make_plan

    server.routes["/feed.xml"] = _feed(server, range(1, 3))
    words = {"dataset": str(tmp_path), "feeds": [server.url("/feed.xml")], "allow_loopback": True, "host_gap": "0"}
    plan = make_plan(load_setup(None, words, {}))
    run = new_run(datetime.now(timezone.utc) + timedelta(0))._replace(run_id="desk")
    job = make_job(plan, RunOptions(), run, StateLocation(str(tmp_path), NEWEST), run_facts(plan, (), (), ()))
    ticks = TestStream().advance_watermark_to(0)
    for number in range(6):
        ticks = ticks.add_elements([number]).advance_processing_time(10)
    with TestPipeline(options=PipelineOptions(["--streaming", "--allow_unsafe_triggers"])) as pipeline:
        nothing = [pipeline | f"No {name}" >> beam.Create([], reshuffle=False) for name in ("feeds", "seeds", "lists")]
        sources = Sources(*nothing, ticks=pipeline | ticks.advance_watermark_to_infinity())
        build(sources, job._replace(feeds=plan.feeds, limit=None))

    rows = read_rows(tmp_path, "articles")
    assert sorted(row["url"] for row in rows) == [server.url("/story/1"), server.url("/story/2")]
    assert all(row["run_id"].startswith("desk.") for row in rows)
    assert_sound(tmp_path)
