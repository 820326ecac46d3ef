from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.transforms.dedupe.make_runs import collect, collected, commit
from tests.transforms.write.make_items import START, entry, fetch, reject, run_at, sha, tagged
from transforms.dedupe.stage import DropKnown, DueEntries, TakeFirst
from transforms.dedupe.state import latest_state
from transforms.fetch.due import entry_from_json, entry_to_json
from transforms.records import Document, Entry, Fetch, Tally

RUN = run_at()


Items = Sequence[Entry | Document]


def outputs(transform: beam.PTransform, items: Items | None, main: str) -> tuple[list[Any], list[Any]]:
    """Runs one transform and returns what its main and side output hold."""
    collected.clear()
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
        source = pipeline if items is None else pipeline | beam.Create(list(items), reshuffle=False)
        out = source | transform
        _ = getattr(out, main) | "collect main" >> beam.Map(collect, "main")
        _ = out.side | "collect side" >> beam.Map(collect, "side")
    return collected.get("main", []), collected.get("side", [])


def take(transform: TakeFirst, items: Items) -> tuple[list[Any], list[Any]]:
    """Runs ``TakeFirst`` and returns what it takes, documents and entries together, and its side output."""
    collected.clear()
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
        kinds = {"entries": Entry, "documents": Document}
        inputs = {
            name: pipeline | name >> beam.Create([item for item in items if isinstance(item, kind)], reshuffle=False)
            for name, kind in kinds.items()
        }
        out = inputs | transform
        for name in kinds:
            _ = getattr(out, name) | f"collect {name}" >> beam.Map(collect, name)
        _ = out.side | "collect side" >> beam.Map(collect, "side")
    return collected.get("documents", []) + collected.get("entries", []), collected.get("side", [])


def counts(side: Sequence[Any]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for record in side:
        if isinstance(record, Tally):
            key = (record.stage, record.outcome)
            found[key] = found.get(key, 0) + record.items
    return found


def document(url: str, version: str) -> Document:
    return Document(entry(url, version, discovered_via="seed_jsonl"), "text", b"x", version, START)


def test_known_entries_and_documents_are_dropped_and_counted(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged("https://a.example/1", version="v1"), reject("https://a.example/gone"))
    items = [
        entry("https://a.example/1", "v1"),
        entry("https://a.example/1", "v2"),
        entry("https://a.example/gone", "v1"),
        entry("https://a.example/new", None),
        document("https://a.example/1", "v1"),
        document("https://a.example/gone", sha("text")),
    ]
    new, side = outputs(DropKnown(latest_state(str(tmp_path)), RUN), items, "new")
    assert sorted(new, key=str) == sorted([items[1], items[3], items[5]], key=str)
    assert counts(side) == {("known", "in"): 6, ("known", "passed"): 3, ("known", "known"): 3, ("known", "refused"): 1}


@pytest.fixture
def dataset_with_due_pages(tmp_path: Path) -> Path:
    rows = []
    for name, minutes in (("now", 0), ("later", 90)):
        page = entry(f"https://a.example/{name}", attempts=1)
        due_at = START + timedelta(minutes=minutes)
        rows.append(fetch(page.url, "page", "timeout", next_due_at=due_at, entry_json=entry_to_json(page)))
    commit(tmp_path, "r1", *rows)
    return tmp_path


def test_due_pages_come_back_and_the_copies_of_feeds_do_not(dataset_with_due_pages: Path) -> None:
    location = latest_state(str(dataset_with_due_pages))
    due, side = outputs(DueEntries(location, RUN), None, "entries")
    assert [(found.url, found.attempts) for found in due] == [("https://a.example/now", 1)]
    assert counts(side) == {("due", "item"): 1}
    copies = [entry("https://a.example/now", "v1"), entry("https://a.example/later", "v2")]
    new, side = outputs(DropKnown(location, RUN), copies, "new")
    assert new == []
    assert counts(side) == {("known", "in"): 2, ("known", "duplicate"): 1, ("known", "deferred"): 1}


def test_the_number_of_due_pages_may_be_limited(dataset_with_due_pages: Path) -> None:
    later = run_at("20261130T131502Z-0002", START + timedelta(hours=3))
    due, side = outputs(DueEntries(latest_state(str(dataset_with_due_pages)), later, limit=1), None, "entries")
    assert [found.url for found in due] == ["https://a.example/now"]
    assert counts(side) == {("due", "item"): 1, ("due", "left"): 1}


def test_no_due_page_no_tally(tmp_path: Path) -> None:
    assert outputs(DueEntries(latest_state(str(tmp_path)), RUN), None, "entries") == ([], [])


def entries_by_age() -> list[Entry]:
    return [entry(f"https://a.example/{n}", published_at=START - timedelta(hours=n)) for n in range(5)]


def test_without_a_limit_all_are_taken() -> None:
    items = entries_by_age()
    new, side = take(TakeFirst(None, RUN), items)
    assert sorted(new) == sorted(items)
    assert counts(side) == {("take", "in"): 5, ("take", "passed"): 5}


def test_seeds_go_first_then_the_newest_and_the_rest_is_due_at_once() -> None:
    seed = document("https://a.example/seed", "v1")
    items = [*entries_by_age()[::-1], seed]
    new, side = take(TakeFirst(3, RUN), items)
    assert sorted(map(str, new)) == sorted(map(str, [seed, *entries_by_age()[:2]]))
    assert counts(side) == {("take", "in"): 6, ("take", "passed"): 3, ("take", "deferred"): 3}
    rows = [record for record in side if isinstance(record, Fetch)]
    assert sorted(row.url for row in rows) == [found.url for found in entries_by_age()[2:]]
    assert {(row.kind, row.outcome, row.next_due_at) for row in rows} == {("page", "deferred", START)}
    assert all(entry_from_json(row.entry_json or "") in items for row in rows)


def test_a_limit_may_spare_documents() -> None:
    seeds = [document(f"https://a.example/seed/{n}", "v1") for n in range(4)]
    new, side = take(TakeFirst(2, RUN, entries_only=True), [*seeds, *entries_by_age()])
    assert len(new) == 6
    assert counts(side)["take", "deferred"] == 3


def test_exactly_the_limit_puts_nothing_off() -> None:
    new, side = take(TakeFirst(5, RUN), entries_by_age())
    assert len(new) == 5
    assert ("take", "deferred") not in counts(side)
