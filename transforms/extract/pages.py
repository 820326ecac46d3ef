"""Documents in HTML: whole pages, and the content that feeds carry."""

from __future__ import annotations

import re

from transforms.extract import plain
from transforms.extract.assemble import assemble
from transforms.extract.body import extract_body
from transforms.extract.decode import DecodedPage, decode_page
from transforms.extract.extraction import Body, Extraction, refuse
from transforms.extract.lines import Sorted, sort_page_lines
from transforms.extract.live import is_live_blog, read_live_posts, without_posts
from transforms.extract.metadata import Metadata, read_metadata
from transforms.extract.page import Page, parse_tree, read_page
from transforms.extract.standfirst import find_standfirst
from transforms.extract.state import state_text
from transforms.extract.trace import Recorder
from transforms.extract.walls import why_no_article
from transforms.records import Document, LivePost, Reject
from transforms.text import clean_text

_RESCUE_SHARE_MAX = 0.3
_START_BYTES = 4096
_WHOLE_PAGE = re.compile(rb"<(?:!doctype|html|head|body)\b", re.IGNORECASE)


def extract_feed_content(document: Document, recorder: Recorder) -> Extraction | Reject:
    """Makes an article of a feed's own content: all of it is the text."""
    with recorder.step("feed_content"):
        decoded = decode_page(b"<html><body>" + document.body + b"</body></html>", "text/html; charset=utf-8")
        tree = parse_tree(decoded.html) if decoded else None
        raw = plain.fragment_text(tree) if tree is not None else ""
        text, is_cut = plain.split_feed_tail(clean_text(raw))
        placed = sort_page_lines(text, (document.entry.title or "",), document.entry.authors)
    if not placed.text:
        return refuse(document, "no_text", "the feed's content holds no text")
    body = Body(placed.text, "feed", 1.0)
    return assemble(document, placed, None, body, "feed_content", recorder, is_cut=is_cut)


def extract_page(document: Document, recorder: Recorder) -> Extraction | Reject:
    """Makes an article of a page, or says why it is none."""
    if not document.body.strip():
        return refuse(document, "empty", "the page has no bytes")
    with recorder.step("decode"):
        decoded = decode_page(document.body, document.content_type)
    if decoded is None:
        return refuse(document, "not_html", "binary, or in no encoding that could be made sure of")
    if b"<" not in decoded.html and document.raw_uri is None:
        return refuse(document, "not_html", "no mark-up in it")
    recorder.note("encoding", decoded.encoding)
    with recorder.step("parse"):
        tree = parse_tree(decoded.html)
    if tree is None and _WHOLE_PAGE.search(decoded.html[:_START_BYTES]):
        return refuse(document, "empty", "the page has no elements")
    if tree is None:
        return refuse(document, "not_html", "no mark-up could be read")
    with recorder.step("metadata"):
        page = read_page(tree)
        metadata = read_metadata(page, document)
    with recorder.step("text"):
        body = _rescue(extract_body(tree, decoded.html), metadata, page, decoded)
        posts = read_live_posts(page.graph, document.fetched_at) if is_live_blog(metadata.node) else ()
        placed = _place_lines(body, metadata, page, posts, recorder)
    has_scripts = len(decoded.with_scripts) > len(decoded.html)
    reason = None if posts else why_no_article(page, placed.text, has_scripts)
    if reason or not (placed.text or posts):
        detail = f"{len(placed.text)} characters of text on a page of {len(decoded.html)} bytes"
        return refuse(document, reason or "no_text", detail)
    if decoded.is_cut:
        document = document._replace(warnings=(*document.warnings, "page_cut"))
    text_source = "seed" if document.raw_uri else "page"
    return assemble(document, placed, metadata, body, text_source, recorder, posts=posts, is_cut=decoded.is_cut)


def _rescue(body: Body, metadata: Metadata, page: Page, decoded: DecodedPage) -> Body:
    """Other places for the text of a page that shows hardly any: structured data, script state, the fragment itself."""
    if is_live_blog(metadata.node):
        return body
    declared = metadata.article_body
    if declared and len(body.text) <= _RESCUE_SHARE_MAX * len(declared):
        return body._replace(text=_plain_text(declared), extractor="json_ld", escalation=body.escalation or "missing")
    if body.text:
        return body
    if not _WHOLE_PAGE.search(decoded.html[:_START_BYTES]):
        return body._replace(text=plain.fragment_text(page.tree), extractor="fragment")
    text = state_text(decoded.with_scripts)
    return body._replace(text=text, extractor="script_state") if text else body


def _plain_text(declared: str) -> str:
    if "<" not in declared:
        return declared
    tree = parse_tree(f"<html><body>{declared}</body></html>".encode("utf-8", "replace"))
    return plain.fragment_text(tree) if tree is not None else declared


def _place_lines(body: Body, metadata: Metadata, page: Page, posts: tuple[LivePost, ...], recorder: Recorder) -> Sorted:
    text = without_posts(clean_text(body.text), posts)
    standfirst = find_standfirst(page.tree, text, metadata.descriptions)
    if standfirst:
        text = f"{clean_text(standfirst)}\n{text}"
        recorder.note("standfirst", standfirst)
    placed = sort_page_lines(text, (metadata.title or "", metadata.headline or ""), metadata.authors)
    if posts and not placed.text and metadata.description:
        return placed._replace(text=clean_text(metadata.description))
    return placed
