"""Pages made to break extraction: bounded time, and an answer."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from extract_examples import HEADLINE, PARAGRAPHS, article_html, page_document

from transforms.extract.article import Extraction, extract

STORY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)


def varied(number: int, words: int) -> str:
    # Equal paragraphs would collapse to one: extraction takes a repeated line for a mistake of the page.
    return " ".join(
        f"{'abcdefghijklmnopqrstuvwxyz'[(number * 7 + place) % 26]}{number}x{place}" for place in range(words)
    )


def links(wrap: str) -> str:
    return "".join(wrap.format(f'<a href="/{i}">{varied(i, 5)}</a>') for i in range(20_000))


PAGES: dict[str, Callable[[], str]] = {
    "3,000 divs around the article": lambda: "<div>" * 3000 + article_html() + "</div>" * 3000,
    "3,000 divs in the article": lambda: article_html(inside="<div>" * 3000 + "deep" + "</div>" * 3000),
    "20,000 links in one element": lambda: article_html(after=links("{}")),
    "20,000 links in paragraphs": lambda: article_html(after=links("<p>{}</p>")),
    "20,000 links in lists": lambda: article_html(inside=links("<ul><li>{}</li></ul>")),
    "an inline image of 8 MB": lambda: article_html(inside=f'<img src="data:image/png;base64,{"iVBOR" * 1_600_000}">'),
    "a script of 8 MB": lambda: article_html(head=f"<script>var a = '{'x' * 8_000_000}'</script>"),
    "10,000 headings": lambda: article_html(after="".join(f"<h1>{varied(i, 4)}</h1>" for i in range(10_000))),
    "10,000 bylines": lambda: article_html(
        after="".join(f'<p class="byline">By {varied(i, 2)}</p>' for i in range(10_000))
    ),
    "10,000 times": lambda: article_html(after='<time datetime="2026-03-04">x</time>' * 10_000),
    "structured data nested 100,000 deep": lambda: article_html(
        head=f'<script type="application/ld+json">{"[" * 100_000}</script>'
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_article_is_found_in_bounded_time(name):
    document = page_document(PAGES[name]())
    start = time.process_time()
    result = extract(document)
    # Ten seconds are the limit of a page; this is processor time, so that a busy machine does not fail the test.
    assert time.process_time() - start < 10
    assert isinstance(result, Extraction)
    assert result.title == HEADLINE
    for paragraph in PARAGRAPHS:
        assert paragraph in result.text


def test_a_page_of_30_mb_is_cut_and_says_so():
    paragraphs = "".join(f"<p>{varied(i, 60)}.</p>" for i in range(70_000))
    body = article_html(inside=paragraphs).encode()
    assert len(body) > 30_000_000
    start = time.process_time()
    result = extract(page_document(body))
    assert time.process_time() - start < 20
    assert isinstance(result, Extraction)
    assert "page_cut" in result.warnings
    assert result.is_truncated
    assert PARAGRAPHS[0] in result.text
