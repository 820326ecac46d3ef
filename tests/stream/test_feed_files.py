"""The list of feeds of a running stream: read again by its hash, kept if it is wrong; and back-pressure."""

from __future__ import annotations

import json
import pickle
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pipeline.config.load import load_setup
from pipeline.stream import FeedFiles
from tests.servers import NewsServer
from transforms.dedupe.state import NEWEST, StateLocation
from transforms.feeds.poll import PollLimits
from transforms.fetch.client import ClientSettings
from transforms.fetch.pages import FetchSettings
from transforms.records import FeedSource, RunContext
from transforms.stream import follow
from transforms.stream.follow import Follower, Sent

FETCH = FetchSettings(ClientSettings(user_agent="test", allow_loopback=True), host_gap_s=0.0)
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>V</title><link>x</link>
<item><title>A</title><link>https://vale-post.example/1</link><guid>1</guid></item>
<item><title>B</title><link>https://vale-post.example/2</link><guid>2</guid></item></channel></rss>"""


def _list(file: Path, *urls: str) -> Path:
    file.write_text(json.dumps({"version": 1, "feeds": [{"url": url} for url in urls]}))
    return file


def _files(file: Path) -> FeedFiles:
    config = load_setup(None, {"dataset": str(file.parent), "feeds": [str(file)], "allow_loopback": True}, {}).config
    files: FeedFiles = pickle.loads(pickle.dumps(FeedFiles(config)))  # as it comes to a worker
    return files


def test_a_changed_list_gives_its_feeds_once(tmp_path: Path) -> None:
    files = _files(_list(tmp_path / "feeds.yaml", "http://127.0.0.1/a"))
    assert files() is None
    _list(tmp_path / "feeds.yaml", "http://127.0.0.1/a", "http://127.0.0.1/b")
    assert [feed.url for feed in files() or []] == ["http://127.0.0.1/a", "http://127.0.0.1/b"]
    assert files() is None


def test_a_wrong_list_changes_nothing_and_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = _files(_list(tmp_path / "feeds.yaml", "http://127.0.0.1/a"))
    (tmp_path / "feeds.yaml").write_text("feeds: [")
    with caplog.at_level("WARNING", "newsbeam.stream"):
        assert files() is None
    assert "the feeds stay as they were" in caplog.text


def _follower(root: Path, feeds: list[FeedSource], reread: follow.Reread | None = None) -> Follower:
    run = RunContext("desk", datetime.now(timezone.utc), time.time())
    return Follower(feeds, FETCH, PollLimits(), StateLocation(str(root), NEWEST), run, reread=reread)


def test_a_new_feed_is_polled_without_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "REREAD_S", 0.0)
    with NewsServer({"/feed.xml": FEED}, host="127.0.0.5") as server:
        added = [FeedSource(server.url("/feed.xml"), "vale")]
        assert [len(_follower(tmp_path, [], reread).tick(0, Sent()).entries) for reread in (None, lambda: added)] == [
            0,
            2,
        ]


def test_no_feed_is_polled_while_too_much_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with NewsServer({"/feed.xml": FEED}, host="127.0.0.6") as server:
        follower, sent = _follower(tmp_path, [FeedSource(server.url("/feed.xml"), "vale", interval_s=0)]), Sent()
        monkeypatch.setattr(follow, "MOST_WAITING", 1)
        follower.tick(0, sent)  # brings two entries, one too many
        follower.tick(0, sent)
        assert server.paths().count("/feed.xml") == 1
        monkeypatch.setattr(follow, "MOST_WAITING", 2)
        follower.tick(0, sent)
        assert server.paths().count("/feed.xml") == 2
