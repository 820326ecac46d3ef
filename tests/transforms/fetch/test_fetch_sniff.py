"""Pages and what only calls itself one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.fetch.sniff import is_page

HTML = b"<!DOCTYPE html><html><title>Harbour</title>"
HTML_TYPES = ["text/html", "text/html; charset=utf-8", "TEXT/HTML", "application/xhtml+xml"]
OTHER_TYPES = [None, "", "text/plain", "application/octet-stream", "text/xml", "application/json", "image/jpeg", "x"]


@pytest.mark.parametrize("content_type", [*HTML_TYPES, *OTHER_TYPES])
@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"\xef\xbb\xbf\r\n" + HTML,
        b"<!-- cached -->\n<!-- twice -->" + HTML,
        b'<?xml version="1.0"?>\n' + HTML,
        b"<html>",
        b"<HEAD>",
        b"<p>The tide",
        b"<h1>Harbour</h1>",
        b'<div class="story">',
        HTML.decode().encode("utf-16"),
        HTML.decode().encode("utf-16-le"),
        HTML.decode().encode("utf-16-be"),
    ],
)
def test_what_starts_like_html_is_a_page_whatever_its_type(content_type: str | None, body: bytes) -> None:
    assert is_page(content_type, body)


@pytest.mark.parametrize("content_type", [*HTML_TYPES, *OTHER_TYPES])
@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"GIF89a<html>",
        b"RIFF\x24\0\0\0WEBPVP8 ",
        b"\0\0\0\x18ftypmp42",
        b"PK\x03\x04\x14",
        b"\x1f\x8b\x08\0",
        b"ID3\x04",
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        b"some\0binary\0data",
    ],
)
def test_images_documents_and_binaries_are_none_whatever_their_type(content_type: str | None, body: bytes) -> None:
    assert not is_page(content_type, body)


@pytest.mark.parametrize(
    "body",
    [
        b"The harbour opens.",
        b'{"title": "Harbour"}',
        b'<?xml version="1.0"?><rss version="2.0">',
        b"<feed xmlns='http://www.w3.org/2005/Atom'>",
        b"<svg xmlns='http://www.w3.org/2000/svg'>",
        b"<article-list>",
        b"<!-- only a comment",
        b"",
    ],
)
def test_of_what_is_neither_the_type_decides(body: bytes) -> None:
    assert all(is_page(content_type, body) for content_type in HTML_TYPES)
    assert not any(is_page(content_type, body) for content_type in OTHER_TYPES)


@given(st.none() | st.text(max_size=30), st.binary(max_size=200))
def test_no_answer_makes_it_fail(content_type: str | None, body: bytes) -> None:
    assert is_page(content_type, body) in (True, False)


def test_many_comments_cost_nothing() -> None:
    started_s = time.process_time()
    assert not is_page(None, b"<!---->" * 100_000)
    assert time.process_time() - started_s < 2
