"""``FetchPages`` on the in-process runner, against real servers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms.window import FixedWindows, GlobalWindows, TimestampedValue

from tests.servers import Answer, NewsServer
from transforms.fetch.client import ClientSettings
from transforms.fetch.stage import FetchPages, FetchSettings
from transforms.records import Alias, Document, Entry, Fetch, Reject, RunContext, Tally

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)
PAGE = "<!doctype html><title>Ferry</title><p>The ferry to Brenn sails again.</p>"
CLIENT = ClientSettings("newsbeam/1.0", allow_loopback=True, retry_pause_s=0.0, read_timeout_s=0.5)
SETTINGS = FetchSettings(CLIENT, host_gap_s=0.0)


def entry(url: str, **fields: Any) -> Entry:
    return Entry(
        **{"url": url, "url_key": url, "entry_version": "v1", "source_id": "news", "discovered_via": "feed"} | fields
    )


class Result:
    """What came out of the stage, read back from the files that the pipeline wrote."""

    def __init__(self, folder: Path) -> None:
        documents, self.side = ((folder / name).read_text().splitlines() for name in ("documents", "side"))
        self.documents = [tuple(json.loads(line)) for line in documents]
        self.kinds = Counter(line.partition("(")[0] for line in self.side)

    @property
    def tallies(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for line in self.side:
            if line.startswith("Tally("):
                tally = eval(line, {"Tally": Tally})
                assert tally.stage == "fetch"
                counts[tally.outcome] += tally.items
        return dict(counts)


@pytest.fixture(name="fetch")
def fixture_fetch(tmp_path: Path) -> Callable[..., Result]:
    def run(source: Any, settings: FetchSettings = SETTINGS, flags: tuple[str, ...] = (), runner: Any = None) -> Result:
        options = PipelineOptions(["--no_save_main_session", *flags])
        run_context = RunContext("20261130T120000Z-0001", NOW, time.time())
        with TestPipeline(runner=runner or FnApiRunner(), options=options) as pipeline:
            entries = pipeline | (
                source if isinstance(source, beam.PTransform) else beam.Create(source, reshuffle=False)
            )
            fetched = entries | FetchPages(settings, run_context)
            keep(fetched.documents | "Lines" >> beam.Map(line_of_document), tmp_path / "documents")
            keep(fetched.side | "Side lines" >> beam.Map(repr), tmp_path / "side")
        return Result(tmp_path)

    return run


def line_of_document(document: Document, window: Any = beam.DoFn.WindowParam) -> str:
    end = getattr(window, "end", None)
    return json.dumps((document.entry.url, document.kind, int(end) if end else 0))


def keep(lines: Any, path: Path) -> None:
    """Writes all lines of a pipeline into one file; of a bounded one the same however often bundles are repeated."""
    path.touch()
    if not lines.is_bounded:
        _ = lines | f"Append {path.name}" >> beam.Map(append, path)
        return
    _ = (
        lines
        | f"One window for {path.name}" >> beam.WindowInto(GlobalWindows())
        | f"Gather {path.name}" >> beam.combiners.ToList()
        | f"Write {path.name}" >> beam.Map(lambda gathered: path.write_text("".join(f"{line}\n" for line in gathered)))
    )


def append(line: str, path: Path) -> None:
    with path.open("a") as file:
        file.write(line + "\n")


def test_every_entry_leaves_once_and_the_sum_adds_up(fetch: Callable[..., Result]) -> None:
    routes = {"/robots.txt": 404, "/gone": 410, "/pdf": b"%PDF-1.4", "/error": 500, "*": PAGE}
    with (
        NewsServer(routes, host="127.0.0.2") as one,
        NewsServer(routes, host="127.0.0.3") as two,
        NewsServer({"*": Answer(hang=True)}, host="127.0.0.4") as dead,
    ):
        entries = [
            entry(server.url(f"/{page}")) for server in (one, two) for page in ("a", "b", "gone", "pdf", "error")
        ]
        entries += [entry(one.url("/a"), entry_version="v2"), entry(two.url("/gone2"), content_html="<p>x")]
        entries += [entry(two.url("/error"), url_key="again", content_html="<p>x"), entry("mailto:desk@news.example")]
        entries += [entry(dead.url(f"/{page}")) for page in range(5)]
        result = fetch(entries)
    assert result.tallies == {"in": 19, "passed": 6, "duplicate": 1, "rejected": 5, "deferred": 7}
    kinds = Counter(kind for _, kind, _ in result.documents)
    assert kinds == {"page": 5, "feed_content": 1}
    assert result.kinds[Reject.__name__] == 5
    assert result.kinds[Alias.__name__] == 1
    pages = [line for line in result.side if line.startswith("Fetch(kind='page'")]
    assert len(pages) == 18  # every entry but the duplicate
    assert sum("entry_json='" in line for line in pages) == 8  # deferred, or its text came from the feed meanwhile


def test_one_host_is_asked_in_turn_and_two_side_by_side(fetch: Callable[..., Result]) -> None:
    slow = Answer(body=PAGE, delay_s=0.05)
    with NewsServer({"*": slow}, host="127.0.0.2") as one, NewsServer({"*": slow}, host="127.0.0.3") as two:
        entries = [entry(server.url(f"/{page}")) for page in range(4) for server in (one, two)]
        result = fetch(entries, SETTINGS._replace(host_gap_s=0.15))
    assert len(result.documents) == 8
    for server in (one, two):
        assert server.most_at_once == 1
        for earlier, later in zip(server.requests, server.requests[1:], strict=False):
            assert later.started_s - earlier.ended_s > 0.14
    assert one.requests[0].started_s < two.requests[-1].ended_s
    assert two.requests[0].started_s < one.requests[-1].ended_s


def test_a_repeated_bundle_yields_every_page(fetch: Callable[..., Result]) -> None:
    with NewsServer({"*": PAGE}, host="127.0.0.2") as one, NewsServer({"*": PAGE}, host="127.0.0.3") as two:
        entries = [entry(server.url(f"/{page}")) for page in range(4) for server in (one, two)]
        result = fetch(entries, SETTINGS, ("--direct_runner_bundle_repeat=1",))
    assert sorted(url for url, _, _ in result.documents) == sorted(item.url or "" for item in entries)
    assert result.tallies == {"in": 8, "passed": 8}
    assert len(one.requests) == 1 + 2 * 4  # robots.txt once, the pages again


def test_a_budget_leaves_the_rest_for_later(fetch: Callable[..., Result]) -> None:
    with NewsServer({"*": PAGE}, host="127.0.0.2") as one, NewsServer({"*": PAGE}, host="127.0.0.3") as two:
        entries = [entry(server.url(f"/{page}")) for page in range(5) for server in (one, two)]
        result = fetch(entries, SETTINGS._replace(max_pages_per_host=3))
    assert result.tallies == {"in": 10, "passed": 6, "deferred": 4}
    assert sum("outcome='deferred'" in line for line in result.side if line.startswith("Fetch(")) == 4


def test_pages_keep_the_window_of_their_entry(fetch: Callable[..., Result]) -> None:
    class Source(beam.PTransform):
        def expand(self, begin: Any) -> Any:
            stamped = [TimestampedValue(entry(server.url(f"/{second}")), second) for second in (5, 15, 25)]
            return begin | beam.Create(stamped) | beam.Map(lambda value: value) | beam.WindowInto(FixedWindows(10))

    with NewsServer({"*": PAGE}) as server:
        result = fetch(Source())
    assert sorted(end for _, _, end in result.documents) == [10, 20, 30]
    assert result.tallies == {"in": 3, "passed": 3}


def test_an_unbounded_source_is_fetched_in_panes(fetch: Callable[..., Result]) -> None:
    class Source(beam.PTransform):
        def expand(self, begin: Any) -> Any:
            stream = TestStream()
            for page in range(3):
                stream.add_elements([entry(server.url(f"/{page}"))]).advance_processing_time(10)
            return begin | stream.advance_watermark_to_infinity()

    with NewsServer({"*": PAGE}) as server:
        result = fetch(Source(), SETTINGS, ("--streaming",), BundleBasedDirectRunner())
    assert sorted(url for url, _, _ in result.documents) == [server.url(f"/{page}") for page in range(3)]
    assert result.tallies == {"in": 3, "passed": 3}


def test_nothing_in_nothing_out(fetch: Callable[..., Result]) -> None:
    result = fetch([])
    assert (result.documents, result.side) == ([], [])


def test_due_pages_of_earlier_runs_come_with_their_history(fetch: Callable[..., Result]) -> None:
    with NewsServer({"/robots.txt": 404, "/a": 500}) as server:
        result = fetch([entry(server.url("/a"), attempts=5, first_failed_at=NOW - timedelta(days=1))])
    assert result.tallies == {"in": 1, "rejected": 1}
    assert any("reason='gave_up'" in line for line in result.side)
    assert Fetch.__name__ in result.kinds
