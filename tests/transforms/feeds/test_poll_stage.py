from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.collected import Collect
from tests.feed_polls import CLIENT, HOUR, TUESDAY, dataset_with, feed, rss, run_at
from tests.servers import Answer, NewsServer
from transforms.dedupe.state import StateLocation
from transforms.feeds.stage import PollFeeds, PollSettings
from transforms.fetch.pages import FetchSettings
from transforms.records import Entry, FeedSource, Fetch, Reject, Tally

SETTINGS = PollSettings(FetchSettings(CLIENT, host_gap_s=0.0, threads=8), max_age_s=1e9)


class Polled:
    """Runs the stage on the in-process runner and keeps what comes out, by type."""

    def __init__(
        self,
        urls: Iterable[str],
        settings: PollSettings = SETTINGS,
        location: StateLocation | None = None,
        flags: Iterable[str] = (),
        hours: int = 0,
    ) -> None:
        collect = Collect()
        sources = [FeedSource(url, f"feed-{n}") for n, url in enumerate(urls)]
        run = run_at(TUESDAY + hours * HOUR)
        with beam.Pipeline(FnApiRunner(), PipelineOptions(list(flags))) as pipeline:
            created = pipeline | beam.Create(sources, reshuffle=False)
            polled = created | PollFeeds(settings, location or StateLocation("", None), run)
            (polled.entries, polled.side) | beam.Flatten() | collect
        seen = collect.items
        self.entries = [item for item in seen if isinstance(item, Entry)]
        self.rejects = [item for item in seen if isinstance(item, Reject)]
        self.rows = [item for item in seen if isinstance(item, Fetch)]
        self.tallies: Counter[str] = Counter()
        for tally in (item for item in seen if isinstance(item, Tally)):
            assert tally.stage == "poll"
            self.tallies[tally.outcome] += tally.items

    def polls(self) -> dict[str, str]:
        """Outcome by address of each poll."""
        return {row.url: row.outcome for row in self.rows if row.kind == "feed"}


def test_entries_rows_and_tallies_come_out_and_add_up() -> None:
    untitled = rss(7).replace("</channel>", "<item><title>No link</title></item></channel>")
    with NewsServer({"/a": rss(1, 2, 3), "/b": untitled, "/c": 404, "/d": rss(50_000, 8)}, host="127.0.0.34") as server:
        urls = [server.url(path) for path in ("/a", "/b", "/c", "/d", "/a#again")]
        settings = SETTINGS._replace(max_items_per_feed=2, max_age_s=7 * 86400.0)
        polled = Polled(urls, settings)
    assert polled.polls() == dict(zip(urls[:4], ("ok", "ok", "not_found", "ok"), strict=True))
    assert sorted(entry.title or "" for entry in polled.entries) == [f"Ferry story {n}" for n in (1, 2, 7, 8)]
    assert [row.outcome for row in polled.rows if row.kind == "page"] == ["deferred"]
    assert [reject.reason for reject in polled.rejects] == ["no_link"]
    assert polled.tallies == {
        "polled": 4, "ok": 3, "failed": 1, "duplicate_feed": 1,
        "item": 6, "passed": 4, "rejected": 1, "deferred": 1, "too_old": 1,
    }  # fmt: skip


def test_the_state_of_the_dataset_decides_what_is_asked_and_how(tmp_path: Path) -> None:
    routes = {"/a": [feed(1, ETag='"a"'), feed(status=304)], "/b": rss(2)}
    with NewsServer(routes, host="127.0.0.34") as server:
        urls = [server.url("/a"), server.url("/b")]
        first = Polled(urls)
        location = dataset_with(tmp_path, [row for row in first.rows if row.kind == "feed"])
        soon = Polled(urls, location=location)
        assert soon.rows == []
        assert soon.tallies == {"not_due": 2}
        later = Polled(urls, location=location, hours=1)
        assert later.polls() == {urls[0]: "not_modified", urls[1]: "ok"}
        now = Polled(urls, SETTINGS._replace(due_now=True), location)
        assert now.polls() == {urls[0]: "not_modified", urls[1]: "ok"}
        assert [request.headers.get("if-none-match") for request in server.requests if request.path == "/a"] == [
            None, '"a"', '"a"',
        ]  # fmt: skip


def test_hosts_go_on_side_by_side_and_each_keeps_its_gap() -> None:
    servers = [NewsServer({"*": Answer(body=rss(1), delay_s=0.2)}, host=f"127.0.0.{n}") for n in (35, 36, 37)]
    with servers[0], servers[1], servers[2]:
        urls = [server.url(f"/{n}") for server in servers for n in range(3)]
        polled = Polled(urls, SETTINGS._replace(fetch=SETTINGS.fetch._replace(host_gap_s=0.1)))
    assert polled.tallies["ok"] == 9
    assert [server.most_at_once for server in servers] == [1, 1, 1]
    spans = [(server.requests[0].started_s, server.requests[-1].started_s) for server in servers]
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    for server in servers:
        starts = [request.started_s for request in server.requests]
        assert all(b - a >= 0.1 for a, b in itertools.pairwise(starts))


def test_a_repeated_bundle_gives_the_same_entries() -> None:
    with NewsServer({"*": rss(1, 2)}, host="127.0.0.34") as server:
        urls = [server.url(f"/{n}") for n in range(3)]
        once = Polled(urls)
        twice = Polled(urls, flags=["--direct_runner_bundle_repeat=1"])
    assert set(once.entries) == set(twice.entries)
    assert once.polls() == twice.polls()


def test_nothing_comes_of_no_feeds() -> None:
    polled = Polled([])
    assert (polled.entries, polled.rows, polled.tallies) == ([], [], {})


@pytest.mark.slow
def test_a_thousand_feeds_on_a_hundred_hosts_take_little_time_and_memory() -> None:
    servers = [NewsServer({"*": feed(status=304)}, host=f"127.0.2.{n}") for n in range(1, 101)]
    for server in servers:
        server.__enter__()
    try:
        polled = Polled([server.url(f"/{n}") for server in servers for n in range(10)])
    finally:
        for server in servers:
            server.__exit__()
    assert polled.tallies == {"polled": 1000, "not_modified": 1000}
