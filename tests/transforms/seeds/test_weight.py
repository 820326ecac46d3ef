"""How much text seed files are taken to hold, so that a run's text fits into memory."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipeline import plan
from pipeline.plan import cut_batches
from transforms.seeds.weight import text_bytes_of

SENTENCES = "The harbour office opens at nine, and the ferry leaves when it is full. " * 400
PAGE = f"<html><head><title>Ferry</title></head><body><p>{SENTENCES}</p></body></html>"


def write(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return str(path)


def test_a_text_counts_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", SENTENCES)
    assert text_bytes_of(path) == len(SENTENCES)


@pytest.mark.parametrize("name", ["a.html", "a.jsonl", "a.json"])
def test_of_pages_a_small_share_is_text(tmp_path: Path, name: str) -> None:
    content = PAGE if name == "a.html" else json.dumps({"url": "https://paper.example/1", "html": PAGE})
    assert len(content) / 20 < text_bytes_of(write(tmp_path, name, content)) < len(content) / 10


def test_records_of_text_count_whole(tmp_path: Path) -> None:
    content = json.dumps({"url": "https://paper.example/1", "text": SENTENCES})
    assert text_bytes_of(write(tmp_path, "a.jsonl", content)) == len(content)


def test_compressed_pages_are_looked_into_whatever_their_name(tmp_path: Path) -> None:
    page = json.dumps({"url": "https://paper.example/1", "html": PAGE})
    as_pages = write(tmp_path, "pages.jsonl.gz", page)
    as_text = write(tmp_path, "texts.jsonl.gz", page.replace("<", "("))
    unnamed = tmp_path / "unnamed.jsonl"
    unnamed.write_bytes(Path(as_pages).read_bytes())
    assert text_bytes_of(as_pages) == text_bytes_of(str(unnamed)) < text_bytes_of(as_text) / 10


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"\x1f\x8bnot gzip at all", b"\x00\xff" * 50])
def test_damaged_files_have_a_weight_too(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(content)
    assert text_bytes_of(str(path)) == 5 * len(content)
    assert text_bytes_of(str(tmp_path / "absent.txt")) == 0


def test_batches_are_cut_by_text_and_every_file_is_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "BATCH_TEXT_BYTES", int(2.5 * len(SENTENCES)))
    texts = [write(tmp_path, f"{number}.txt", SENTENCES) for number in range(5)]
    assert list(map(len, cut_batches(tuple(texts)))) == [2, 2, 1]
    pages = [write(tmp_path, f"{number}.html", PAGE) for number in range(5)]
    assert list(cut_batches(tuple(pages))) == [tuple(pages)]
