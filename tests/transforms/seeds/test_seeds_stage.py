from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from transforms.records import Document, Entry, Reject, RunContext, Tally
from transforms.seeds import stage
from transforms.seeds.expand import expand_seeds
from transforms.seeds.stage import ReadSeeds, ReadUrls

RUN = RunContext("20260312T080000Z-0001", datetime(2026, 3, 12, 8, 0, tzinfo=timezone.utc), 1773302400.0)


_SEEN: list[Any] = []


def _remember(item: Any) -> None:
    _SEEN.append(item)


def run(transform: beam.PTransform, paths: list[str]) -> list[Any]:
    _SEEN.clear()
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
        outputs = pipeline | beam.Create(paths) | transform
        _ = tuple(outputs) | beam.Flatten() | beam.Map(_remember)
    return list(_SEEN)


def tallies(items: list[Any]) -> dict[tuple[str, str], int]:
    sums: Counter[tuple[str, str]] = Counter()
    for item in items:
        if isinstance(item, Tally):
            sums[item.stage, item.outcome] += item.items
    return dict(sums)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("Board pays for beds\n\nForty more beds.")
    (tmp_path / "b.jsonl").write_text('{"text": "one"}\nnonsense\n{"url": "https://courier.example/1"}\n')
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "d.html").write_text("<p>Beds")
    (tmp_path / "list.urls").write_text("https://courier.example/1\nhttps://courier.example/2\nno address\n")
    return tmp_path


def test_each_record_comes_out_once_and_is_counted(folder: Path):
    paths = [str(folder / name) for name in ("a.txt", "b.jsonl", "c.pdf", "d.html", "gone.txt")]
    items = run(ReadSeeds(RUN), paths)
    kinds = Counter(type(item) for item in items)
    assert (kinds[Document], kinds[Entry], kinds[Reject]) == (3, 1, 3)
    assert tallies(items) == {("read", "item"): 7, ("read", "passed"): 4, ("read", "rejected"): 3}
    assert {item.reason for item in items if isinstance(item, Reject)} == {"bad_json", "unknown_type", "unreadable"}
    (lost,) = [item for item in items if isinstance(item, Reject) and item.reason == "unreadable"]
    assert lost.retryable
    assert lost.input_uri == str(folder / "gone.txt")


def test_lists_of_addresses_give_entries(folder: Path):
    items = run(ReadUrls(RUN), [str(folder / "list.urls")])
    assert sorted(item.url for item in items if isinstance(item, Entry)) == [
        "https://courier.example/1",
        "https://courier.example/2",
    ]
    assert tallies(items) == {("read", "item"): 3, ("read", "passed"): 2, ("read", "rejected"): 1}


def test_a_directory_and_a_forbidden_file_are_rejects(folder: Path):
    os.chmod(folder / "a.txt", 0)
    (folder / "dir.txt").mkdir()
    items = run(ReadSeeds(RUN), [str(folder / "dir.txt")])
    assert [item.reason for item in items if isinstance(item, Reject)] == ["unreadable"]


def test_a_file_over_the_limit_is_a_reject(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stage, "FILE_BYTES_LIMIT", 10)
    assert stage.read_whole(str(folder / "c.pdf")) == b"%PDF-1.7"
    assert len(stage.read_whole(str(folder / "a.txt"))) == 11
    items = run(ReadSeeds(RUN), [str(folder / "a.txt")])
    assert [item.reason for item in items if isinstance(item, Reject)] == ["too_big"]


def test_a_compressed_file_comes_as_it_is(tmp_path: Path):
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    assert stage.read_whole(str(tmp_path / "cut.jsonl.gz")) == b"\x1f\x8b\x08\x00cut"


def test_a_name_that_is_no_utf8_is_read(tmp_path: Path):
    with open(os.fsencode(tmp_path) + b"/k\xfcste.jsonl", "wb") as file:
        file.write(json.dumps({"text": "Forty more beds."}).encode())
    items = run(ReadSeeds(RUN), list(expand_seeds([f"{tmp_path}/*.jsonl"]).paths))
    (found,) = [item for item in items if isinstance(item, Document)]
    assert found.raw_uri is not None
    assert found.raw_uri.endswith("/k%FCste.jsonl#L1")


def test_remote_patterns_are_listed_by_beam(folder: Path):
    assert stage.match_remote(f"{folder}/*.txt") == [str(folder / "a.txt")]
    found = expand_seeds(["nosuchscheme://bucket/*.txt"])
    assert found.paths == ()
    assert found.problems[0].startswith("nosuchscheme://bucket/*.txt cannot be listed: ")


def test_the_transforms_can_be_pickled():
    for transform in (ReadSeeds(RUN), ReadUrls(RUN)):
        assert pickle.loads(pickle.dumps(transform))._run == RUN
