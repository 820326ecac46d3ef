"""The headline of a page: what the reader sees, checked against what the head of the page says."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from transforms.extract.page import Heading, Page, squeeze

TITLE_LIMIT_CHARS = 500
_AGREEMENT_MIN = 0.5
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
# What stands between a headline and the name of the site.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{4}"
)  # no blanks between words
_SEPARATOR = re.compile(r"\s+[|–—·•»«]+\s+|\s+-{1,2}\s+|\s*[|｜ㅣ]\s*|(?<=\S)\s?[:：]\s+")


def plain(text: str | None) -> str:
    """Returns a text of the head as readers would see it: entities resolved (twice, if need be), no tags."""
    if not text:
        return ""
    for _ in range(2):
        if "&" not in text:
            break
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub("", text)
    return squeeze(text.replace("\u200b", "").replace("\xad", ""))


def words_of(text: str) -> list[str]:
    """Returns the words of a text in lower case."""
    return _WORD.findall(text.casefold())


def agreement(one: str, other: str) -> float:
    """Returns 0 to 1: the share of words that two short texts have in common (Dice)."""
    a, b = words_of(one), words_of(other)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    left = set(a)
    right = set(b)
    return 2 * len(left & right) / (len(left) + len(right))


def strip_site_name(title: str, names: Iterable[str]) -> str:
    """Takes the name of the site off the end (or the start) of a title, if a separator sets it off.

    Args:
        title: A ``<title>`` or ``og:title``.
        names: What the site calls itself: publisher, site name, domain.
    """
    known = {"".join(words_of(name)) for name in names if name}
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    cut = title
    for _ in range(2):
        marks = list(_SEPARATOR.finditer(cut))
        if not marks:
            break
        head, tail = cut[: marks[-1].start()], cut[marks[-1].end() :]
        if not _is_site_name(tail, known):
            break
        cut = head
    marks = list(_SEPARATOR.finditer(cut))
    if marks and _is_site_name(cut[: marks[0].start()], known) and len(words_of(cut[marks[0].end() :])) >= 2:
        cut = cut[marks[0].end() :]
    return cut.strip() or title


def _is_site_name(part: str, known: set[str]) -> bool:
    joined = "".join(words_of(part))
    if not joined:
        return True
    return any(_is_same_house(joined, name) for name in known if name)


def _is_same_house(one: str, other: str) -> bool:
    """Equal, or one the longer form of the other (``eastwickpost`` and ``theeastwickpost``)."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(other) >= 4 and short in long and 3 * len(short) >= len(long))


def choose_headline(
    page: Page, declared: str | None, site_names: Iterable[str], announced: str | None = None
) -> tuple[str | None, str]:
    """Returns the headline and where it comes from (``schema.TITLE_SOURCES``).

    The ``<h1>`` that agrees best with what the head says wins; a menu or a slogan in an ``<h1>`` agrees
    with nothing. Without one the declared headline counts, then the meta title, then ``<title>``.

    Args:
        page: The parsed page.
        declared: ``headline`` of the page's JSON-LD article.
        site_names: What the site calls itself.
        announced: Title of the feed entry; it only helps to choose the heading.
    """
    names = tuple(site_names)
    headline = plain(declared)
    metas = [
        strip_site_name(plain(page.meta(key)), names) for key in ("og:title", "twitter:title", "title", "dc.title")
    ]
    titles = [text for text in metas if text]
    title_tag = strip_site_name(plain(page.title_tag), names)
    references = [text for text in (headline, *titles[:2], title_tag, plain(announced)) if text]
    best, best_score = "", 0.0
    for heading in page.headings:
        text = _spelling_of(heading, references)
        score = max((agreement(text, reference) for reference in references), default=0.0)
        if score > best_score:
            best, best_score = text, score
    if best and best_score >= _AGREEMENT_MIN:
        return best[:TITLE_LIMIT_CHARS], "h1"
    for text, source in ((headline, "json_ld"), (titles[0] if titles else "", "meta"), (title_tag, "title_tag")):
        if text:
            return text[:TITLE_LIMIT_CHARS], source
    long_headings = [heading.headline for heading in page.headings if _is_long(heading.headline)]
    return (long_headings[0][:TITLE_LIMIT_CHARS], "h1") if long_headings else (None, "none")


def _is_long(heading: str) -> bool:
    return len(words_of(heading)) >= 3 or _UNSPACED.search(heading) is not None


def _spelling_of(heading: Heading, references: list[str]) -> str:
    """The heading without its kicker, unless the head of the page counts the kicker as part of the headline."""
    headline = plain(heading.headline)
    if heading.text != heading.headline:
        whole = words_of(plain(heading.text))
        return next((reference for reference in references if words_of(reference) == whole), headline)
    return headline
