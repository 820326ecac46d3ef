from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from typing import Any

import pytest

from transforms.records import Document, Entry, Reject
from transforms.seeds.common import Place, sha256_hex
from transforms.seeds.jsonl import read_jsonl
from transforms.urls import url_key

NOW = datetime(2026, 3, 12, 8, 0, tzinfo=timezone.utc)
BODY = "The board voted on Tuesday to pay for forty more beds."


def read(data: bytes) -> list[Document | Entry | Reject]:
    return list(read_jsonl(Place("news.jsonl", NOW), data))


def record(**fields: Any) -> Document | Entry | Reject:
    (found,) = read(json.dumps(fields).encode())
    return found


def document(**fields: Any) -> Document:
    found = record(**fields)
    assert isinstance(found, Document)
    return found


MESSY = b"\r\n".join(
    [
        b'\xef\xbb\xbf{"url": "https://courier.example/n/1", "title": "N1", "text": "Forty more beds."}',
        b"",
        b'{"url": "https://courier.example/n/2", "title": "N2", "text": "Forty more beds."},',
        b"   ",
        b'{"url": "https://courier.example/n/3", "title": "NUL \x00 inside", "text": "x"}',
        b'{"url": "https://courier.example/n/4", "title": NaN, "text": "Forty more beds."}',
        b"# a comment",
        b'{"url": "https://courier.example/n/5", "title": "lone \\udfff surrogate", "text": "Forty more beds."}',
        b"[1, 2]",
        b'{"url": "https://courier.example/n/6", "url": "https://courier.example/n/7", "text": "twice"}',
        b'{"url": "https://courier.example/n/8", "text": "bad \xff byte"}',
        b'"just a text"',
        b'{"url": "https://courier.example/n/9", "title": "N9", "text": "Forty more beds."}',
        b'{"url": "https://courier.example/n/10", "title": "N10", "tex',
    ]
)


def test_one_bad_line_costs_that_line_and_is_named():
    found = read(MESSY)
    rows = {item.raw_uri: item for item in found if isinstance(item, Document)}
    refused = {item.input_uri: item.reason for item in found if isinstance(item, Reject)}
    assert len(found) == 12
    assert {uri: row.warnings for uri, row in rows.items()} == {
        "news.jsonl#L1": (),
        "news.jsonl#L3": ("repaired_comma",),
        "news.jsonl#L5": ("repaired_control",),
        "news.jsonl#L6": ("repaired_nan",),
        "news.jsonl#L8": ("repaired_surrogate",),
        "news.jsonl#L11": ("repaired_encoding",),
        "news.jsonl#L13": (),
    }
    assert refused == {
        "news.jsonl#L7": "bad_json",
        "news.jsonl#L9": "bad_json",
        "news.jsonl#L10": "bad_record",
        "news.jsonl#L12": "bad_json",
        "news.jsonl#L14": "bad_json",
    }
    assert rows["news.jsonl#L8"].entry.title == "lone \ufffd surrogate"
    assert rows["news.jsonl#L11"].body.decode() == "bad \ufffd byte"
    assert rows["news.jsonl#L6"].entry.title is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_encoding_and_line_end_is_read(encoding: str, end: str):
    lines = ['{"title": "Küste", "text": "Die Küste – schön."}', '{"title": "Café", "text": "Schöne Grüße, café."}']
    found = read(end.join(lines).encode(encoding))
    assert [item.entry.title for item in found if isinstance(item, Document)] == ["Küste", "Café"]


def test_fields_are_read_under_their_usual_names():
    found = document(
        URL="https://courier.example/n/1",
        headline="Board pays\n for beds",
        content_text=BODY,
        datePublished="2026-03-10T08:00:00+01:00",
        author={"@type": "Person", "name": "Nora Vance"},
        lang="en-GB",
        source="Courier",
        source_id="courier",
        description="Forty more.",
        tags=["board", "beds"],
        id=4711,
        image="https://courier.example/i.jpg",
        unknown={"a": 1},
    )
    entry = found.entry
    assert (found.kind, found.body.decode(), found.raw_uri) == ("text", BODY, "news.jsonl#L1")
    assert entry.url == "https://courier.example/n/1"
    assert entry.url_key == url_key("https://courier.example/n/1")
    assert entry.title == "Board pays for beds"
    assert entry.published_at == datetime(2026, 3, 10, 7, 0, tzinfo=timezone.utc)
    assert (entry.published_raw, entry.published_zone_known) == ("2026-03-10T08:00:00+01:00", True)
    assert (entry.authors, entry.language) == (("Nora Vance",), "en-GB")
    assert (entry.source_id, entry.source_name, entry.summary) == ("courier", "Courier", "Forty more.")
    assert (entry.categories, entry.entry_id) == (("board", "beds"), "4711")
    assert (entry.image_url, entry.discovered_via) == ("https://courier.example/i.jpg", "seed_jsonl")


def test_a_record_is_known_by_its_bytes():
    line = b'{"text": "Forty more beds."}'
    (plain,) = read(line)
    (ended,) = read(line + b"\r\n")
    assert isinstance(plain, Document)
    assert isinstance(ended, Document)
    assert plain.body_sha256 == ended.body_sha256 == sha256_hex(line)
    assert plain.entry.url_key == plain.entry.entry_version == sha256_hex(line)
    assert (plain.entry.url, plain.entry.source_id) == (None, "seeds")


def test_the_host_is_the_source_of_a_record_that_names_none():
    assert document(url="https://www.courier.example/n/1", text=BODY).entry.source_id == "www.courier.example"


def test_html_goes_before_text_and_unclear_content_is_looked_at():
    assert document(html="<p>Beds</p>", text="Beds").kind == "page"
    assert document(content="<p>Beds</p>").kind == "page"
    assert document(content="Beds, 3 < 4").kind == "text"
    assert document(text=["One paragraph.", "Another."]).body == b"One paragraph.\n\nAnother."


def test_a_bare_address_is_to_be_fetched():
    found = record(url="https://courier.example/ä", title="Beds")
    assert isinstance(found, Entry)
    assert (found.url, found.title, found.discovered_via) == ("https://courier.example/%C3%A4", "Beds", "urls")
    assert found.entry_version is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"title": "no text"}, "bad_record"),
        ({}, "bad_record"),
        ({"text": "", "html": None}, "bad_record"),
        ({"text": {"a": 1}}, "bad_record"),
        ({"text": 5}, "bad_record"),
        ({"url": "not an address"}, "bad_url"),
        ({"url": "mailto:desk@courier.example"}, "bad_url"),
    ],
)
def test_a_record_without_news_is_refused(fields: dict[str, Any], reason: str):
    found = record(**fields)
    assert isinstance(found, Reject)
    assert found.reason == reason


def test_a_bad_field_costs_that_field():
    found = document(url="ftp://courier.example/a", title=["x"], authors=[1, "Nora Vance"], text=BODY)
    assert found.entry.url is None
    assert found.entry.title is None
    assert found.entry.authors == ("Nora Vance",)
    assert set(found.warnings) == {"bad_url", "bad_field:title", "bad_field:authors"}


@pytest.mark.parametrize(
    ("declared", "language", "warnings"),
    [
        ("en", "en", ()),
        ("pt_BR", "pt-BR", ()),
        ("English", "en", ()),
        ("english!!", None, ("bad_field:language",)),
        ("de la calle", None, ("bad_field:language",)),
        ("", None, ()),
    ],
)
def test_a_declared_language_is_a_tag(declared: str, language: str | None, warnings: tuple[str, ...]):
    found = document(language=declared, text=BODY)
    assert (found.entry.language, found.warnings) == (language, warnings)


@pytest.mark.parametrize(
    ("raw", "warning"),
    [
        ("9999-12-31T23:59:00+09:00", "published_implausible"),
        ("2099-01-01T00:00:00Z", "published_implausible"),
        ("1970-01-01T00:00:00Z", "published_implausible"),
        ("soon", "published_unreadable"),
    ],
)
def test_impossible_dates_are_null_and_kept_as_written(raw: str, warning: str):
    found = document(text=BODY, published=raw)
    assert (found.entry.published_at, found.entry.published_raw) == (None, raw)
    assert warning in found.warnings


@pytest.mark.parametrize("stamp", [1773129600, 1773129600000, 1773129600.0])
def test_numbers_are_instants(stamp: float):
    assert document(text=BODY, timestamp=stamp).entry.published_at == datetime(2026, 3, 10, 8, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize("written", ["1773129600", "1773129600000", "1773129600.50", "1.7731296e9"])
def test_a_number_of_a_date_is_kept_as_written(written: str):
    (found,) = read(f'{{"text": "{BODY}", "published": {written}}}'.encode())
    assert isinstance(found, Document)
    assert found.entry.published_raw == written
    assert found.entry.published_at is not None
    assert found.entry.published_at.replace(microsecond=0) == datetime(2026, 3, 10, 8, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"text": "a"', "a comma or the closing bracket is missing, at character 13"),
        ('{"text": "a', "a text has no closing quote; the record may be cut off, at character 10"),
        ('{"text": }', "a value is missing or misspelt, at character 10"),
        ("{text: 1}", "a key in double quotes is missing, at character 2"),
        ('{"text" 1}', "a colon is missing behind a key, at character 9"),
        ('{"text": "\\x"}', "a backslash stands where it means nothing"),
        ('{"text": "a"} {"text": "b"}', "something follows the end of the record, at character 15"),
        ('{"text": ' + "9" * 5000 + "}", "a number has too many digits"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_line_that_is_no_json_is_explained_without_words_of_python(line: str, words: str):
    (refused,) = read(line.encode())
    assert isinstance(refused, Reject)
    assert refused.reason == "bad_json"
    assert words in refused.detail
    assert not re.search(r"char \d|Expecting|sys\.|line 1 column", refused.detail)


def test_nothing_in_json_breaks_the_reader():
    for line in (
        b'{"text": ' + b"[" * 100_000,
        b'{"text": "a", "n": ' + b"9" * 10_000 + b"}",
        b'{"text": "a", "n": 1e999}',
    ):
        (found,) = read(line)
        assert isinstance(found, Document | Reject)


def test_an_overlong_line_is_refused_and_the_next_is_read():
    found = read(b'{"text": "' + b"a" * (16 << 20) + b'"}\n{"text": "b"}')
    assert [type(item) for item in found] == [Reject, Document]
    assert isinstance(found[0], Reject)
    assert found[0].reason == "too_big"
    assert len(found[0].payload or b"") == 2048
