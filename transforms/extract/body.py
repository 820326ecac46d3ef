"""The article's text from the tree: a fast extraction, checked against a second opinion, done with care if they differ.

``trafilatura`` in its fast mode, on the part of the page that is named as the article's body, is right on nine
pages of ten. ``resiliparse``, whose rules share nothing
with its, tells which is the tenth: the text is short, has a surplus, or misses what the other found.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import trafilatura
from lxml import etree
from lxml.html import HtmlElement
from resiliparse.extract.html2text import extract_plain_text
from trafilatura.settings import Extractor

from transforms.extract.extraction import Body
from transforms.extract.recover import recover_paragraphs
from transforms.extract.region import article_region, paragraph_chars
from transforms.extract.spacing import part_words
from transforms.extract.teasers import drop_link_teasers

SHORT_TEXT_CHARS = 800
_FAST_FOUND_MIN = 0.8
_OTHER_FOUND_MIN = 0.6
_PRECISE_MIN_CHARS = 500
_PRECISE_MIN_SHARE = 0.3
_PRECISE_SURE_SHARE = 0.5
_WITNESS_MIN_CHARS = 200
_LONGER_MIN = 1.5
_REGION_SHARE_MIN = 0.8
_SHINGLE_WORDS = 4
_CARE_LIMIT_ELEMENTS = 8000  # its steps are quadratic in them; whole pages have some hundred, the largest seen 4,000
_ELEMENT_COUNT = etree.XPath("count(//*)")
_ANCHOR_CHARS = 6
_SAMPLE_MIN = 10
# What no reader sees, and what trafilatura drops in every mode.
_UNSEEN = (
    "script", "style", "svg", "template", "iframe", "link", "meta", "input", "select", "source", "picture",
    "canvas", "object", "nav", "footer", "button", "noscript", "video", "audio", "embed", "textarea", "dialog",
    "menu",
)  # fmt: skip
# Two sentences, or a word and a figure, that only mark-up parts.
_GLUED = re.compile(r"[.!?](?<=[a-zß-ÿ]{3}[.!?])[\"”’»)]?[A-ZÀ-Ý][a-zß-ÿ]|\d(?<=[a-zß-ÿ]{4}\d)\d?\b")
_WORD = re.compile(r"\w+")


def _fast_options() -> Extractor:
    options = Extractor(output_format="python", fast=True, comments=False)
    # With any other focus than "balanced" a short text is not extracted again in recall mode: that is our escalation.
    options.focus = "as found"
    return options


# Never deduplicate: its memory is global to the process, a page seen twice would lose its text.
_OPTIONS = {
    "fast": _fast_options(),
    "default": Extractor(output_format="python", comments=False),
    "precision": Extractor(output_format="python", precision=True, comments=False),
}
_VERSION = f"trafilatura/{trafilatura.__version__}"


class _Candidate(NamedTuple):
    mode: str
    text: str
    teasers: list[str]


def extract_body(tree: HtmlElement, html: bytes) -> Body:
    """Extracts the text of an article.

    Args:
        tree: The parsed page; what is no text of an article is taken out of it.
        html: Its mark-up in UTF-8, for the second opinion.
    """
    prune(tree)
    first = _first_try(tree)
    if _GLUED.search(first.text):
        part_words(tree)
        first = _first_try(tree)
    other = second_opinion(html)
    own_share, other_share = overlap(first.text, other)
    reason = _escalation(first.text, own_share, other_share)
    chosen = first
    if reason:
        chosen = _take_care(tree, first, other, reason)
        own_share, other_share = overlap(chosen.text, other)
    extractor = f"{_VERSION}+{chosen.mode}" if chosen.text else ""
    return Body(chosen.text, extractor, round(_harmonic(own_share, other_share), 3), reason, tuple(chosen.teasers))


def _first_try(tree: HtmlElement) -> _Candidate:
    """The article's body alone, where the page names it and extraction takes most of it; else the whole page."""
    region = article_region(tree)
    if region is not None:
        teasers = drop_link_teasers(region)
        text = _run(region, "fast")
        if len(text) >= max(SHORT_TEXT_CHARS, _REGION_SHARE_MIN * paragraph_chars([region])):
            return _Candidate("fast+region", text, teasers)
    teasers = drop_link_teasers(tree)
    return _Candidate("fast", _run(tree, "fast"), teasers)


def prune(tree: HtmlElement) -> None:
    """Drops what is never text of an article, in place, so that no later step copies it or walks over it."""
    etree.strip_elements(tree, *_UNSEEN, with_tail=False)


def second_opinion(html: bytes) -> str:
    """Returns the main text by resiliparse's rules."""
    try:
        return str(extract_plain_text(html.decode("utf-8", "replace"), main_content=True, alt_texts=False, links=False,
                                      form_fields=False, noscript=False, comments=False))  # fmt: skip
    except Exception:  # a C++ library on arbitrary bytes: without an opinion the first text is checked with more care
        return ""


def overlap(one: str, other: str) -> tuple[float, float]:
    """Returns the share of each text's four-word runs that the other text has too."""
    a, b = _shingles(one), _shingles(other)
    common = len(a & b)
    return (common / len(a) if a else 0.0), (common / len(b) if b else 0.0)


def _shingles(text: str) -> set[tuple[str, ...]]:
    words: list[str] = _WORD.findall(text)
    if len(words) < _SHINGLE_WORDS:
        return {tuple(words)} if words else set()
    runs: list[tuple[str, ...]] = list(zip(words, words[1:], words[2:], words[3:], strict=False))
    # Those that begin with a long word are a sample that both texts draw alike.
    sample = {run for run in runs if len(run[0]) >= _ANCHOR_CHARS}
    return sample if len(sample) >= _SAMPLE_MIN else set(runs)


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def _escalation(text: str, own_share: float, other_share: float) -> str:
    if len(text) < SHORT_TEXT_CHARS:
        return "short"
    if own_share < _FAST_FOUND_MIN:
        return "surplus"
    return "missing" if other_share < _OTHER_FOUND_MIN else ""


def _take_care(tree: HtmlElement, first: _Candidate, other: str, reason: str) -> _Candidate:
    teasers = [*first.teasers, *drop_link_teasers(tree)]
    if reason != "surplus":
        recovered = recover_paragraphs(tree, first.text, other)
        if recovered != first.text:
            return _Candidate("fast+recovered", recovered, teasers)
    if _ELEMENT_COUNT(tree) > _CARE_LIMIT_ELEMENTS:
        return first
    if reason != "surplus":
        default = _run(tree, "default")
        if len(default) > _LONGER_MIN * len(first.text):
            return _Candidate("default", default, teasers)
        if reason == "missing":
            return first
    precise = _run(tree, "precision")
    return _Candidate("precision", precise, teasers) if _is_better(precise, first.text, other) else first


def _is_better(precise: str, fast: str, other: str) -> bool:
    """Tells whether the precise text trims the fast one rather than maims it; in doubt the second opinion decides."""
    if not precise:
        return False
    if len(precise) >= _PRECISE_SURE_SHARE * len(fast):
        return True
    if len(other) >= _WITNESS_MIN_CHARS:
        return _harmonic(*overlap(precise, other)) > _harmonic(*overlap(fast, other))
    return len(precise) >= _PRECISE_MIN_CHARS and len(precise) >= _PRECISE_MIN_SHARE * len(fast)


def _run(tree: HtmlElement, mode: str) -> str:
    document = trafilatura.bare_extraction(tree, options=_OPTIONS[mode])
    return document.text or "" if document is not None else ""
