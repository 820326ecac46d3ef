from __future__ import annotations

import gzip
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.records import Entry, Reject
from transforms.seeds.urls_file import read_urls
from transforms.urls import url_key

NOW = datetime(2026, 3, 12, 8, 0, tzinfo=timezone.utc)
LIST = "# my list\n\n  https://courier.example/n/1  \nhttps://courier.example/ä/2\n"


def packed(data: bytes) -> bytes:
    """A gzip file without the time of its making, so that the names of tests stay the same."""
    return gzip.compress(data, mtime=0)


def read(data: bytes) -> list[Entry | Reject]:
    return list(read_urls("list.txt", data, now=NOW))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_encoding_and_line_end_gives_the_same_addresses(encoding: str, end: str):
    found = read(LIST.replace("\n", end).encode(encoding))
    assert [item.url for item in found] == ["https://courier.example/n/1", "https://courier.example/%C3%A4/2"]


def test_an_address_is_an_entry_of_its_host():
    (found,) = read(b"https://www.courier.example/n/1?utm_source=x")
    assert isinstance(found, Entry)
    assert found.url == "https://www.courier.example/n/1?utm_source=x"
    assert found.url_key == url_key("https://courier.example/n/1")
    assert (found.entry_version, found.source_id, found.discovered_via) == (None, "www.courier.example", "urls")


@pytest.mark.parametrize(
    "line",
    [
        "https://courier.example/n/1 # the first",
        '"https://courier.example/n/1"',
        "<https://courier.example/n/1>",
        "https://courier.example/n/1\tBoard pays for beds",
        "https://courier.example/n/1,",
    ],
)
def test_signs_around_an_address_go(line: str):
    assert [item.url for item in read(line.encode())] == ["https://courier.example/n/1"]


def test_a_heading_is_no_address_and_a_bad_line_is_named():
    found = read(b"URL\nhttps://courier.example/n/1\ncourier.example/n/2\nURL\n")
    assert [type(item) for item in found] == [Entry, Reject, Reject]
    assert [(item.reason, item.input_uri) for item in found if isinstance(item, Reject)] == [
        ("bad_url", "list.txt#L3"),
        ("bad_url", "list.txt#L4"),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"%PDF-1.7", "binary"),
        (b"PK\x03\x04", "binary"),
        (packed(b"https://courier.example/n/1")[:-3], "truncated"),
        (b"https://courier.example/" + b"a" * 5000, "bad_url"),
    ],
)
def test_what_is_no_list_is_refused(data: bytes, reason: str):
    assert [item.reason for item in read(data) if isinstance(item, Reject)] == [reason]


def test_a_login_goes_and_two_addresses_in_a_line_are_refused():
    (found,) = read(b"https://me:hunter2@courier.example/n/1")
    assert isinstance(found, Entry)
    assert (found.url, found.source_id) == ("https://courier.example/n/1", "courier.example")
    for line in (b"https://a.example/1 https://me:hunter2@b.example/", b"https://me:hunter2@kestrel[bay.example/"):
        (refused,) = read(line)
        assert isinstance(refused, Reject)
        assert (refused.stage, refused.reason, refused.input_uri) == ("read", "bad_url", "list.txt#L1")
        assert "hunter2" not in refused.detail + repr(refused.payload)


def test_a_compressed_list_is_read_and_one_of_comments_is_empty_work():
    assert len(read(packed(LIST.encode()))) == 2
    assert read(b"# nothing today\n") == []


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")))
def test_nothing_raises(data: bytes):
    for item in read(data):
        assert isinstance(item, Entry | Reject)
