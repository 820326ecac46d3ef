"""From a document to an article, whole."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest
from extract_examples import FETCHED_AT, HEADLINE, PARAGRAPHS, URL, article_html, page_document, text_document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transforms import urls
from transforms.extract.article import Extraction, extract, extract_traced, to_article
from transforms.records import Article, Document, Reject
from transforms.schema import ACCESS, AI_RESERVATIONS, PRECISIONS, PUBLISHED_SOURCES, TEXT_SOURCES, TITLE_SOURCES

STORY = "\n".join(PARAGRAPHS)
LD = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": HEADLINE,
    "datePublished": "2026-03-04T09:30:00+01:00",
    "dateModified": "2026-03-04T10:00:00+01:00",
    "author": [{"@type": "Person", "name": "Ada Quennell"}, {"@type": "Person", "name": "Ivo Brandt"}],
    "publisher": {"@type": "NewsMediaOrganization", "name": "Brackwater Post"},
    "articleSection": "Harbour",
    "keywords": ["ferries", "Oxmere"],
    "image": {"url": "https://cdn.brackwater-post.example/quay.jpg"},
    "isAccessibleForFree": True,
}


def ld(**changes: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(LD | changes)}</script>'


def extracted(document: Document) -> Extraction:
    result = extract(document)
    assert isinstance(result, Extraction), result
    return result


def refused(document: Document) -> str:
    result = extract(document)
    assert isinstance(result, Reject), result
    assert result.stage == "extract"
    return result.reason


def unknown(_: object) -> None:
    return None


def test_a_page_gives_text_and_metadata_with_their_sources():
    head = ld() + (
        f'<link rel="canonical" href="{URL}"><meta property="og:description" content="Boats sail on Monday.">'
        '<meta property="og:site_name" content="Brackwater Post">'
    )
    found = extracted(page_document(article_html(head=head)))
    assert found.text == STORY
    assert (found.title, found.title_source) == (HEADLINE, "h1")
    assert found.authors == ("Ada Quennell", "Ivo Brandt")
    assert found.published_at == datetime(2026, 3, 4, 8, 30, tzinfo=timezone.utc)
    assert (found.published_source, found.published_precision, found.published_zone_known) == (
        "json_ld",
        "second",
        True,
    )
    assert found.modified_at == datetime(2026, 3, 4, 9, 0, tzinfo=timezone.utc)
    assert (found.section, found.publisher_keywords) == ("Harbour", ("ferries", "Oxmere"))
    assert found.image_url == "https://cdn.brackwater-post.example/quay.jpg"
    assert (found.article_type, found.access, found.is_truncated) == ("NewsArticle", "free", False)
    assert (found.language, found.language_declared) == ("en", "en")
    assert (found.canonical_url, found.source_name, found.description) == (
        URL,
        "Brackwater Post",
        "Boats sail on Monday.",
    )
    assert found.text_source == "page"
    assert found.word_count == len(STORY.replace("’", " ").split()) - STORY.count(" – ")
    assert found.extractor.startswith("trafilatura/")
    assert found.extraction_confidence > 0.9
    assert found.warnings == ()


def test_what_the_page_lacks_comes_from_the_feed():
    announced = datetime(2026, 3, 4, 7, 0, tzinfo=timezone.utc)
    html = "<html><body><article>" + "".join(f"<p>{text}</p>" for text in PARAGRAPHS) + "</article></body></html>"
    entry = {
        "title": "Ferry to Oxmere", "summary": "Boats sail.", "authors": ("Ada Quennell",), "published_at": announced,
        "published_raw": "Wed, 04 Mar 2026 07:00:00 GMT", "published_precision": "second", "published_zone_known": True,
        "language": "en-GB", "categories": ("ferries",), "image_url": "https://a.example/i.jpg",
    }  # fmt: skip
    found = extracted(page_document(html, entry))
    assert (found.title, found.title_source) == ("Ferry to Oxmere", "feed")
    assert (found.published_at, found.published_source) == (announced, "feed")
    assert (found.published_raw, found.published_zone_known) == ("Wed, 04 Mar 2026 07:00:00 GMT", True)
    assert (found.authors, found.description, found.language_declared) == (("Ada Quennell",), "Boats sail.", "en-GB")
    assert (found.publisher_keywords, found.image_url) == (("ferries",), "https://a.example/i.jpg")


def test_the_page_wins_over_the_feed_and_the_seed_over_the_page():
    record = {
        "title": "Other title",
        "authors": ("Mia Roth",),
        "published_at": datetime(2020, 1, 1, tzinfo=timezone.utc),
    }
    page = extracted(page_document(article_html(head=ld()), record))
    assert (page.title, page.authors, page.published_source) == (HEADLINE, ("Ada Quennell", "Ivo Brandt"), "json_ld")
    assert "date_conflict" in page.warnings
    seed = extracted(
        page_document(article_html(head=ld()), record | {"discovered_via": "seed_jsonl"}, raw_uri="s.jsonl#L1")
    )
    assert (seed.title, seed.title_source) == ("Other title", "seed")
    assert (seed.authors, seed.published_source, seed.text_source) == (("Mia Roth",), "seed", "seed")


def test_a_text_seed_keeps_its_lines_marks_teasers_and_moves_credits():
    teaser = "OXMERE FISHERMEN SAIL INTO THE FORBIDDEN ZONE AT NIGHT"
    lines = [*PARAGRAPHS[:2], teaser, *PARAGRAPHS[2:], "Brackwater Post's Ada Quennell contributed to this report."]
    found = extracted(text_document("\r\n\r\n".join(lines)))
    assert found.text.split("\n\n") == lines[:-1]
    assert [found.text[b.start : b.end] for b in found.boilerplate] == [teaser]
    assert found.credits == (lines[-1],)
    assert (found.title, found.published_at, found.language, found.text_source) == (None, None, "en", "seed")
    assert found.published_source == "none"


def test_a_text_of_one_sentence_is_an_article():
    assert extracted(text_document("The quay is open.")).text == "The quay is open."


def test_an_empty_text_is_refused():
    assert refused(text_document(" \n\u200b\n")) == "no_text"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "empty"),
        ("<html><body></body></html>", "empty"),
        (
            '<html><head><meta http-equiv="refresh" content="0; url=/x"></head><body><p>Redirecting</p></body></html>',
            "stub",
        ),
        ('<html><body><div id="root"></div><script>app()</script></body></html>', "stub"),
        ("<html><body><p>Please enable JavaScript and cookies to continue</p></body></html>", "stub"),
        (
            "<html><body><h2>We value your privacy</h2><p>We and our 812 partners store and access cookies on your device."
            "</p><p>You can accept all, reject all or manage your cookie settings at any time.</p></body></html>",
            "cookie_wall",
        ),
        (b"%PDF-1.7\n" + bytes(range(256)), "not_html"),
    ],
)
def test_pages_without_an_article_are_refused(html, reason):
    document = page_document(html)
    assert refused(document) == reason
    entry = {"content_html": f"<p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p>", "title": "Ferry to Oxmere"}
    found = extracted(page_document(html, entry))
    assert found.text == "\n".join(PARAGRAPHS[:2])
    assert (found.text_source, found.title_source) == ("feed_content", "feed")
    assert found.warnings == (f"page_failed:{reason}",)


def test_feed_content_is_all_text_and_its_cut_is_known():
    html = f"<p>{PARAGRAPHS[0]}</p><img src=x><p>{PARAGRAPHS[1]}</p><p>Continue reading…</p>"
    document = page_document(html, {"title": "Ferry to Oxmere"}, kind="feed_content", warnings=("page_failed:timeout",))
    found = extracted(document)
    assert (found.text, found.is_truncated) == ("\n".join(PARAGRAPHS[:2]), True)
    assert found.warnings == ("page_failed:timeout",)


def test_a_paywalled_page_says_so():
    prompt = "To keep reading, subscribe today and get your first month for one crown."
    html = article_html(PARAGRAPHS[:2], ld(isAccessibleForFree="False"), after=f"<div><p>{prompt}</p></div>")
    html = html.replace("</article>", f"<p>{prompt}</p></article>")
    found = extracted(page_document(html))
    assert (found.access, found.is_truncated, found.notices) == ("paywalled", True, (prompt,))
    assert prompt not in found.text


POSTS = [
    {"@type": "BlogPosting", "headline": f"Boat {i} is in", "datePublished": f"2026-03-04T0{i}:00:00Z",
     "articleBody": f"Boat number {i} has come in with ninety people on board, the harbour master says."}
    for i in range(1, 5)
]  # fmt: skip


def test_the_posts_of_a_live_blog_stay_out_of_the_text():
    shown = "".join(f"<p>{post['articleBody']}</p>" for post in POSTS)
    html = article_html(head=ld(**{"@type": "LiveBlogPosting", "liveBlogUpdate": POSTS}), after=shown)
    found = extracted(page_document(html.replace("</article>", f"{shown}</article>")))
    assert found.text == STORY
    assert found.article_type == "LiveBlogPosting"
    assert [post.title for post in found.live_posts] == [f"Boat {i} is in" for i in range(1, 5)]
    assert found.live_posts[0].at == datetime(2026, 3, 4, 1, 0, tzinfo=timezone.utc)
    assert found.live_posts[0].text == POSTS[0]["articleBody"]


def test_a_live_blog_that_shows_nothing_but_its_posts_is_no_stub():
    head = ld(**{"@type": "LiveBlogPosting", "liveBlogUpdate": POSTS, "description": "The boats as they come in."})
    found = extracted(page_document(f"<html><head>{head}</head><body><h1>{HEADLINE}</h1></body></html>"))
    assert len(found.live_posts) == 4
    assert found.text == "The boats as they come in."


def test_the_text_of_the_structured_data_rescues_a_page_that_shows_none():
    body = "\n\n".join(PARAGRAPHS)
    html = f"<html><head>{ld(articleBody=body)}</head><body><h1>{HEADLINE}</h1><p>Loading</p></body></html>"
    found = extracted(page_document(html))
    assert found.text == STORY
    assert found.extractor == "json_ld"


@pytest.mark.parametrize(
    ("head", "reservation"),
    [('<meta name="robots" content="index, noai">', "noai"), ('<meta name="tdm-reservation" content="1">', "tdm"),
     ('<meta name="tdm-reservation" content="0">', "none"), ('<meta name="robots" content="noindex">', "none")],
)  # fmt: skip
def test_reservations_are_read(head, reservation):
    assert extracted(page_document(article_html(head=head))).ai_reservation == reservation


@pytest.mark.parametrize(
    ("headers", "reservation"),
    [({"x_robots_tag": "noarchive, noai"}, "noai"), ({"tdm_reservation": "1"}, "tdm"),
     ({"x_robots_tag": "noindex", "tdm_reservation": "0"}, "none")],
)  # fmt: skip
def test_reservations_in_headers_are_read(headers, reservation):
    document = page_document(article_html())._replace(**headers)
    assert extracted(document).ai_reservation == reservation


@pytest.mark.parametrize("html", ["<html></html>", "<!doctype html><html><head></head><body></body></html>"])
def test_a_page_without_anything_is_empty(html):
    assert extract(page_document(html)).reason == "empty"


@pytest.mark.parametrize(
    ("heading", "title"), [("港で大きな火事", "港で大きな火事"), ("Home", None), ("น้ำท่วมใหญ่ที่ท่าเรือ", "น้ำท่วมใหญ่ที่ท่าเรือ")]
)
def test_a_sole_heading_in_a_script_without_blanks_is_a_title(heading, title):
    paragraphs = "".join(f"<p>{part}</p>" for part in PARAGRAPHS)
    found = extracted(page_document(f"<html><body><h1>{heading}</h1>{paragraphs}</body></html>"))
    assert found.title == title


def test_a_wrong_declared_language_is_flagged():
    html = article_html().replace('lang="en"', 'lang="de_DE"')
    found = extracted(page_document(html))
    assert (found.language, found.language_declared, found.warnings) == ("en", "de-DE", ("language_mismatch",))


def test_an_implausible_canonical_address_is_not_believed():
    html = article_html(head='<link rel="canonical" href="https://www.brackwater-post.example/">')
    assert extracted(page_document(html)).canonical_url is None


def test_the_same_page_gives_the_same_answer_a_year_later_and_twice():
    document = page_document(article_html(after="<p>Published on 3 March 2026</p><footer>© 2026</footer>"))
    later = document._replace(fetched_at=FETCHED_AT + timedelta(days=365))
    first = extract(document)
    assert extract(document) == first
    assert extract(later) == first


def test_another_process_gives_the_same_answer():
    document = page_document(article_html(head=ld()))
    code = (
        "import pickle, sys; from transforms.extract.article import extract;"
        "sys.stdout.buffer.write(pickle.dumps(tuple(extract(pickle.load(sys.stdin.buffer)))))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(document), capture_output=True, check=True)
    assert pickle.loads(done.stdout) == tuple(extract(document))


def test_identity_is_that_of_the_address():
    document = page_document(
        article_html(head=f'<link rel="canonical" href="{URL}">'), {"url": f"{URL}?utm_source=rss"}
    )
    article = to_article(document, extracted(document), unknown)
    assert isinstance(article, Article)
    assert article.article_id == urls.article_id_of_url(URL)
    assert (article.url, article.canonical_url, article.domain) == (f"{URL}?utm_source=rss", URL, urls.domain_of(URL))
    asked: list[str] = []

    def known(keys: object) -> str:
        asked.extend(keys)  # type: ignore[call-overload]
        return "1-known"

    assert to_article(document, extracted(document), known).article_id == "1-known"
    assert asked == [urls.url_key(f"{URL}?utm_source=rss"), urls.url_key(URL)]


def test_a_seed_without_address_is_known_by_its_text():
    one, other = (text_document(text) for text in (STORY, STORY.replace("\n", "\r\n\r\n")))
    article = to_article(one, extracted(one), unknown)
    assert article.url == f"urn:newsbeam:{article.article_id}"
    assert article.domain == ""
    assert to_article(other, extracted(other), unknown).article_id == article.article_id


def test_the_source_gets_the_name_that_the_page_gives_itself():
    document = page_document(article_html(head='<meta property="og:site_name" content="Brackwater Post">'))
    assert to_article(document, extracted(document), unknown).entry.source_name == "Brackwater Post"
    named = page_document(article_html(), {"source_name": "The Post"})
    assert to_article(named, extracted(named), unknown).entry.source_name == "The Post"


def test_the_account_tells_sources_teasers_and_times():
    teaser = '<p><a href="/b"><strong>MAYOR CALLS FERRY PLAN A DISASTER</strong></a></p>'
    result, trace = extract_traced(page_document(article_html(head=ld(), inside=teaser)))
    assert isinstance(result, Extraction)
    assert trace.sources["title"] == "h1"
    assert trace.sources["authors"] == "json_ld"
    assert trace.sources["published_at"] == "json_ld"
    assert trace.teasers == ("MAYOR CALLS FERRY PLAN A DISASTER",)
    assert trace.extractor == result.extractor
    assert {"decode", "parse", "metadata", "text"} <= set(trace.steps_ms)
    assert trace.notes["encoding"] == "utf-8"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300), st.sampled_from(["page", "text", "feed_content"]), st.booleans())
def test_no_bytes_raise_and_closed_lists_are_kept(body, kind, wrapped):
    if wrapped:
        body = (
            b"<html><body><article><h1>x</h1><p>"
            + body
            + b"</p><p>"
            + PARAGRAPHS[0].encode()
            + b"</p></article></body></html>"
        )
    result = extract(page_document(body, kind=kind))
    if isinstance(result, Reject):
        assert result.reason in ("empty", "no_text", "not_html", "cookie_wall", "stub")
        return
    assert result.text
    assert result.title_source in TITLE_SOURCES
    assert result.text_source in TEXT_SOURCES
    assert result.published_source in PUBLISHED_SOURCES
    assert result.published_precision in PRECISIONS
    assert (result.access in ACCESS, result.ai_reservation in AI_RESERVATIONS) == (True, True)
    assert 0 <= result.extraction_confidence <= 1
    assert pickle.loads(pickle.dumps(result)) == result
