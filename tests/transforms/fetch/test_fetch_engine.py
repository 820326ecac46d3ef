"""The threads and the queue between the walks and the stage."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest

from tests.servers import Answer, NewsServer
from transforms.fetch import engine as engine_module
from transforms.fetch.client import ClientSettings
from transforms.fetch.engine import ClosedError, FetchEngine, StepQueue
from transforms.fetch.pages import FetchSettings, Step
from transforms.records import Document, Entry, RunContext

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)
RUN = RunContext("20261130T120000Z-0001", NOW, time.time())
PAGE = b"<!doctype html><title>Ferry</title>"


def entry(url: str, **fields: Any) -> Entry:
    return Entry(
        **{"url": url, "url_key": url, "entry_version": None, "source_id": "news", "discovered_via": "urls"} | fields
    )


def step_of(size: int) -> Step:
    document = Document(entry("http://news.example/"), "page", bytes(size), "", NOW)
    return Step("passed", document, ())


@pytest.fixture(name="make_engine")
def fixture_make_engine() -> Iterator[Any]:
    engines = []

    def make(client: dict[str, Any] | None = None, **settings: Any) -> FetchEngine:
        plain = {"user_agent": "newsbeam/1.0", "allow_loopback": True, "retry_pause_s": 0.0}
        plain |= client or {}
        engines.append(FetchEngine(FetchSettings(ClientSettings(**plain), **{"host_gap_s": 0.0, **settings}), RUN))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def test_the_queue_holds_back_whoever_would_overfill_it() -> None:
    steps = StepQueue(limit_bytes=10_000, limit_items=100)
    steps.begin_walk()
    put = []

    def walk() -> None:
        for size in (6000, 6000, 50_000, 10):
            steps.put("mark", step_of(size))
            put.append(size)
        steps.end_walk()

    thread = threading.Thread(target=walk)
    thread.start()
    time.sleep(0.1)
    assert put == [6000]
    drained = steps.drain(wait=True)
    next(drained)
    time.sleep(0.1)
    assert put == [6000, 6000]
    assert [len(step.document.body) for _, step in drained if step.document] == [6000, 50_000, 10]
    thread.join()


def test_the_queue_is_bounded_in_items_too() -> None:
    steps = StepQueue(limit_bytes=1 << 30, limit_items=2)
    put = []

    def walk() -> None:
        for number in range(5):
            steps.put("mark", step_of(1))
            put.append(number)

    thread = threading.Thread(target=walk)
    thread.start()
    time.sleep(0.1)
    assert put == [0, 1]
    while thread.is_alive():
        list(steps.drain(wait=False))
    assert put == [0, 1, 2, 3, 4]


def test_a_closed_queue_ends_its_walks() -> None:
    steps = StepQueue(limit_bytes=1000, limit_items=1)
    steps.put("mark", step_of(1))
    failed = threading.Event()

    def walk() -> None:
        with pytest.raises(ClosedError):
            steps.put("mark", step_of(1))
        failed.set()

    thread = threading.Thread(target=walk)
    thread.start()
    steps.close()
    thread.join(timeout=5)
    assert failed.is_set()


def test_hosts_go_on_side_by_side_and_a_bad_one_stalls_no_other(make_engine: Any) -> None:
    servers = [NewsServer({"*": Answer(body=PAGE, delay_s=0.1)}, host=f"127.0.0.{number}") for number in range(10, 15)]
    bad = NewsServer({"/robots.txt": 404, "*": Answer(hang=True)}, host="127.0.0.20")
    engine = make_engine(client={"read_timeout_s": 3.0})
    for server in [*servers, bad]:
        server.__enter__()
    for server in [bad, *servers]:
        engine.submit(server.host, [entry(server.url(f"/{number}")) for number in range(4)], server.host)
    arrived = [(mark, step.outcome) for mark, step in engine.drain(wait=True)]
    for server in [*servers, bad]:
        server.__exit__()
    outcomes = [(mark == bad.host, outcome) for mark, outcome in arrived]
    assert outcomes == [(False, "passed")] * 20 + [(True, "deferred")] * 4
    first, second, *_ = sorted((server.requests[0].started_s, server.requests[-1].ended_s) for server in servers)
    assert second[0] < first[1]
    assert all(server.most_at_once == 1 for server in servers)


def test_a_page_waits_for_nobody_when_not_asked_to(make_engine: Any) -> None:
    with NewsServer({"*": Answer(body=PAGE, delay_s=0.2)}) as server:
        engine = make_engine()
        engine.submit(server.host, [entry(server.url("/a"))], None)
        assert list(engine.drain(wait=False)) == []
        assert [step.outcome for _, step in engine.drain(wait=True)] == ["passed"]


def test_more_hosts_than_threads_all_come_out_known_bad_ones_last(make_engine: Any) -> None:
    servers = [NewsServer({"*": PAGE}, host=f"127.0.0.{number}") for number in range(30, 36)]
    engine = make_engine(threads=1)
    for server in servers:
        server.__enter__()
    with NewsServer({"*": Answer(body=PAGE, delay_s=0.3)}, host="127.0.0.40") as slow:
        engine.submit(slow.host, [entry(slow.url("/a"))], slow.host)  # keeps the only thread while the others queue
        for position, server in enumerate(servers):
            attempts = 1 if position == 0 else 0
            pages = [entry(server.url(f"/{page}"), attempts=attempts) for page in range(1 + position % 2)]
            engine.submit(server.host, pages, server.host)
        order = list(dict.fromkeys(mark for mark, _ in engine.drain(wait=True)))
    for server in servers:
        server.__exit__()
    hosts = [server.host for server in servers]
    assert order == [slow.host, hosts[1], hosts[3], hosts[5], hosts[2], hosts[4], hosts[0]]


def test_a_new_bundle_forgets_what_nobody_took(make_engine: Any) -> None:
    with NewsServer({"*": PAGE}) as server:
        engine = make_engine(queue_items=1)
        engine.submit(server.host, [entry(server.url(f"/old{number}")) for number in range(5)], "old")
        time.sleep(0.1)
        engine.open()
        engine.submit(server.host, [entry(server.url("/new"))], "new")
        assert [mark for mark, _ in engine.drain(wait=True)] == ["new"]


def test_an_error_in_a_walk_is_raised_to_the_reader(make_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class BrokenWalk:
        def __init__(self, *_: Any) -> None:
            raise ZeroDivisionError

    monkeypatch.setattr(engine_module, "HostWalk", BrokenWalk)
    engine = make_engine()
    engine.submit("news.example", [entry("http://news.example/")], None)
    with pytest.raises(ZeroDivisionError):
        list(engine.drain(wait=True))


def test_close_ends_the_threads(make_engine: Any) -> None:
    engine = make_engine(threads=4)
    for number in range(4):
        engine.submit("", [entry(f"mailto:{number}")], None)
    assert len(list(engine.drain(wait=True))) == 4
    threads = list(engine._threads)
    engine.close()
    for thread in threads:
        thread.join(timeout=5)
    assert not any(thread.is_alive() for thread in threads)
