from __future__ import annotations

import gzip
import json
import time
from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.records import Document, Entry, Reject
from transforms.rejects import reason_of
from transforms.seeds.common import sha256_hex
from transforms.seeds.formats import FORMATS, read_seed_file

NOW = datetime(2026, 3, 12, 8, 0, tzinfo=timezone.utc)
TEXT = "EASTWICK — The board voted on Tuesday to pay for forty more beds. The centre has been full since October."


def packed(data: bytes) -> bytes:
    """A gzip file without the time of its making, so that the names of tests stay the same."""
    return gzip.compress(data, mtime=0)


def read(path: str, data: bytes) -> list[Document | Entry | Reject]:
    return list(read_seed_file(path, data, now=NOW))


def one(path: str, data: bytes) -> Document | Entry | Reject:
    found = read(path, data)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("a.txt", TEXT.encode(), "text"),
        ("a.TXT", TEXT.encode(), "text"),
        ("a.txt", TEXT.encode("utf-16"), "text"),
        ("a.html", b"<html><body><p>Beds</p></body></html>", "page"),
        ("a.htm", b"<p>Beds", "page"),
        ("a.jsonl", b'{"text": "Beds"}', "text"),
        ("a.ndjson", b'{"html": "<p>Beds"}', "page"),
        ("a.json", b'{"text": "Beds"}', "text"),
        ("a.txt.gz", packed(TEXT.encode()), "text"),
        ("a.html.gz", packed(b"<p>Beds"), "page"),
        ("a.jsonl.GZ", packed(b'{"text": "Beds"}'), "text"),
    ],
)
def test_files_are_read_by_their_ending(path: str, data: bytes, kind: str):
    found = one(path, data)
    assert isinstance(found, Document)
    assert (found.kind, found.warnings) == (kind, ())
    assert found.fetched_at == NOW


@pytest.mark.parametrize(
    ("path", "data", "kind", "warning"),
    [
        ("a.txt", b"<!-- saved --><!DOCTYPE html><html><p>Beds", "page", "read_as:html"),
        ("a.txt", b'{"title": "Beds", "text": "Forty more beds."}', "text", "read_as:jsonl"),
        ("a.jsonl", b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">Beds', "page", "read_as:html"),
        ("a.txt.gz", TEXT.encode(), "text", "not_compressed"),
        ("a.txt", "naïve “café” of the old centre".encode("cp1252"), "text", "decoded_as:cp1252"),
        ("a.txt", "Küste Bühne Straße ".encode() + b"\xff", "text", "repaired_encoding"),
    ],
)
def test_what_a_file_holds_counts_more_than_its_name(path: str, data: bytes, kind: str, warning: str):
    found = one(path, data)
    assert isinstance(found, Document)
    assert found.kind == kind
    assert warning in found.warnings


def test_compressed_data_is_known_by_its_first_bytes():
    found = one("a.txt", packed(TEXT.encode()))
    assert isinstance(found, Document)
    assert found.body.decode() == TEXT
    assert found.body_sha256 == sha256_hex(TEXT.encode())  # as if it had not been compressed


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.pdf", b"%PDF-1.7 ...", "unknown_type"),
        ("a", TEXT.encode(), "unknown_type"),
        ("a.docx", b"PK\x03\x04...", "unknown_type"),
        ("a.txt", b"PK\x03\x04...", "unknown_type"),
        ("a.jsonl", b"BZh91AY", "unknown_type"),
        ("a.txt.gz", packed(packed(b"a")), "unknown_type"),
        ("a.txt", b"%PDF-1.7 ...", "binary"),
        ("a.txt", b"\x89PNG\r\n\x1a\n....", "binary"),
        ("a.html", bytes(range(256)) * 4, "binary"),
        ("a.jsonl", b"\x00\x01\x02\x03\x04\x05", "binary"),
        ("a.xml", b"\xff\xd8\xff\xe0....", "binary"),
        ("a.txt", b"", "empty"),
        ("a.jsonl", b"\r\n \n", "empty"),
        ("a.txt", "\ufeff\u200b\n".encode(), "empty"),
        ("a.txt.gz", packed(b""), "empty"),
        ("a.txt.gz", b"", "empty"),
        ("a.txt", b"\x81\x8d\x8f\x90\x9d" * 9, "bad_encoding"),
        ("a.txt", b"\xff\xfe\x00\xd8a", "bad_encoding"),
        ("a.jsonl.gz", packed(b'{"text": "Beds"}')[:-4], "truncated"),
        ("a.jsonl.gz", packed(b'{"text": "Beds"}')[:9], "truncated"),
        ("a.jsonl.gz", packed(b'{"text": "Beds"}') + b"rest", "truncated"),
        ("a.txt", b"a" * ((16 << 20) + 1), "too_big"),
    ],
)
def test_what_cannot_be_a_seed_is_refused_with_its_reason(path: str, data: bytes, reason: str):
    found = one(path, data)
    assert isinstance(found, Reject)
    assert (found.stage, found.reason, found.input_uri, found.failed_at) == ("read", reason, path, NOW)
    assert found.detail
    assert len(found.payload or b"") <= 2048


def test_a_damaged_checksum_is_seen():
    data = bytearray(packed(TEXT.encode()))
    data[-6] ^= 1
    assert one("a.txt.gz", bytes(data)).reason == "truncated"  # type: ignore[union-attr]


def test_members_of_gzip_are_one_file():
    data = packed(b'{"text": "one"}\n') + packed(b'{"text": "two"}\n') + b"\0" * 9
    assert [type(found) for found in read("a.jsonl.gz", data)] == [Document, Document]


@pytest.mark.parametrize(("name", "megabytes"), [("a.txt.gz", 80), ("a.jsonl.gz", 300)])
def test_a_gzip_bomb_is_refused_within_its_bound(name, megabytes):
    began = time.monotonic()
    bomb = gzip.compress(bytes(megabytes << 20), compresslevel=1)
    assert one(name, bomb).reason == "too_big"  # type: ignore[union-attr]
    assert time.monotonic() - began < 20


def test_the_line_of_a_record_is_named():
    found = read("news/a.jsonl", b'\n{"text": "one"}\n\nnonsense\n{"url": "https://courier.example/1"}\n')
    assert isinstance(found[0], Document)
    assert found[0].raw_uri == "news/a.jsonl#L2"
    assert isinstance(found[1], Reject)
    assert found[1].input_uri == "news/a.jsonl#L4"
    assert isinstance(found[2], Entry)


def test_a_json_file_may_be_an_array_or_one_object_over_several_lines():
    array = json.dumps([{"text": "one"}, {"text": "two"}], indent=1).encode()
    assert [found.raw_uri for found in read("a.json", array)] == ["a.json#1", "a.json#2"]  # type: ignore[union-attr]
    assert one("a.json", json.dumps({"title": "Beds", "text": "one"}, indent=1).encode()).raw_uri == "a.json"  # type: ignore[union-attr]
    assert len(read("a.jsonl", array)) == 2


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*FORMATS, ".txt.gz", ".jsonl.gz", ".pdf", ""]),
    st.binary(max_size=200)
    | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))
    | st.text(alphabet='{}[]"textur:, \n\\u<>/', max_size=80).map(str.encode)
    | st.binary(max_size=60).map(gzip.compress),
)
def test_any_bytes_give_records_or_rejects_and_nothing_raises(ending: str, data: bytes):
    for found in read("seed" + ending, data):
        assert isinstance(found, Document | Entry | Reject)
        if isinstance(found, Reject):
            assert reason_of(found.stage, found.reason)
        elif isinstance(found, Document):
            assert found.entry.entry_version == found.body_sha256
            assert found.entry.url_key


lines = st.lists(
    st.sampled_from(
        [
            b'{"text": "one"}',
            b'{"url": "https://courier.example/1"}',
            b'{"text": "k\xfcste"}',
            b"nonsense",
            b"[1]",
            b'{"title": "no text"}',
            b"",
            b"   ",
        ]
    ),
    min_size=1,
    max_size=12,
)


@given(lines, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans())
def test_every_line_that_is_not_blank_comes_out_once(parts: list[bytes], end: bytes, marked: bool):
    full = [line for line in parts if line.strip()]
    data = (b"\xef\xbb\xbf" if marked else b"") + end.join(parts)
    found = read("a.jsonl", data)
    assert len(found) == max(1, len(full))  # a file of blanks is one reject


@given(lines, st.integers(0, 12))
def test_a_file_cut_at_a_line_end_gives_the_same_records(parts: list[bytes], cut: int):
    def facts(data: bytes) -> list[tuple[str, str | None]]:
        found = read("a.jsonl", data) if data.strip() else []
        return [(type(item).__name__, getattr(item, "body_sha256", None)) for item in found]

    whole = facts(b"\n".join(parts))
    assert facts(b"\n".join(parts[:cut])) + facts(b"\n".join(parts[cut:])) == whole


def test_compressed_records_may_be_as_large_as_plain_ones_and_texts_may_not() -> None:
    line = json.dumps({"url": "https://paper.example/1", "text": "The ferry is late again. " * 580_000})
    data = gzip.compress("\n".join([line] * 5).encode(), 1)  # 72 MB unpacked
    assert [type(record) for record in read_seed_file("dump.jsonl.gz", data, now=NOW)] == [Document] * 5
    (refused,) = read_seed_file("dump.txt.gz", data, now=NOW)
    assert isinstance(refused, Reject)
    assert (refused.reason, "cut the file" in (refused.detail or "")) == ("too_big", True)
