"""What a page says about its article: headline, authors, dates, section, address, language, rights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from transforms import urls
from transforms.extract.authors import find_authors
from transforms.extract.headline import agreement, choose_headline, plain
from transforms.extract.jsonld import ARTICLE_TYPES, Node, types_of
from transforms.extract.page import Page
from transforms.extract.published import Published, find_published
from transforms.records import Document

DESCRIPTION_LIMIT_CHARS = 2000
KEYWORD_LIMIT = 50
_KEYWORD_LIMIT_CHARS = 100
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*$")
_NO_AI = re.compile(r"\b(?:noai|noml)\b", re.IGNORECASE)
_SPLIT_KEYWORDS = re.compile(r"\s*[,;|]\s*")
_PAYWALLED_TIERS = frozenset({"locked", "metered", "paid", "premium", "subscriber", "hard", "plus", "subscription"})


class Metadata(NamedTuple):
    """Fields of ``records.Article`` as far as the page's head tells them."""

    title: str | None
    title_source: str
    headline: str | None
    description: str | None
    descriptions: tuple[str, ...]
    authors: tuple[str, ...]
    authors_source: str
    published: Published
    section: str | None
    keywords: tuple[str, ...]
    article_type: str | None
    image_url: str | None
    canonical_url: str | None
    site_name: str | None
    language_declared: str | None
    access: str
    ai_reservation: str
    article_body: str | None
    declared_words: int | None
    node: Node | None


def read_metadata(page: Page, document: Document) -> Metadata:
    """Reads everything that the head, the structured data and the headings of a page say.

    Args:
        page: The parsed page.
        document: Where it came from. The title of its entry is a witness to which heading is the headline.
    """
    entry = document.entry
    url = document.final_url or entry.url
    node = choose_article(page, url)
    graph = page.graph
    publisher = _publisher(page, node)
    site_name = plain(page.meta("og:site_name", "application-name")) or publisher
    houses = tuple(name for name in (publisher, site_name, *_domain_names(url)) if name)
    declared = graph.text(node, "headline") or graph.text(node, "name") if node else None
    title, title_source = choose_headline(page, declared, houses, entry.title)
    authors, authors_source = find_authors(page, node, houses)
    body = graph.text(node, "articleBody") if node else None
    descriptions = tuple(_descriptions(page, node))
    return Metadata(
        title=title,
        title_source=title_source,
        headline=plain(declared) or None,
        description=_clip(descriptions[0]) if descriptions else None,
        descriptions=descriptions,
        authors=authors,
        authors_source=authors_source,
        published=find_published(page, node, url, document.fetched_at, entry.published_at),
        section=_section(page, node),
        keywords=_keywords(page, node),
        article_type=_article_type(page, node),
        image_url=_image(page, node, url),
        canonical_url=_canonical(page, url),
        site_name=site_name or None,
        language_declared=_language(page, node),
        access=_access(page, node),
        ai_reservation=_ai_reservation(page, document),
        article_body=body if body and len(body) > 100 else None,
        declared_words=_declared_words(page, node),
        node=node,
    )


def choose_article(page: Page, url: str | None) -> Node | None:
    """Returns the JSON-LD object of the article that the page is about, not of one that it links to."""
    articles = page.graph.articles()
    if len(articles) < 2:
        return articles[0] if articles else None
    titles = [
        text
        for text in (page.meta("og:title"), page.title_tag, *(heading.text for heading in page.headings[:3]))
        if text
    ]
    own_key = urls.url_key(url) if url else None

    def closeness(node: Node) -> tuple[bool, float, int]:
        headline = plain(page.graph.text(node, "headline"))
        near = max((agreement(headline, title) for title in titles), default=0.0)
        addresses = {page.graph.text(node, key) for key in ("url", "mainEntityOfPage", "@id")}
        is_own = own_key is not None and any(urls.url_key(address) == own_key for address in addresses if address)
        return is_own and near >= 0.3, round(near, 2), min(len(node), 12)

    # max() keeps the first of equals, and specific types come first.
    return max(articles, key=closeness)


def _publisher(page: Page, node: Node | None) -> str | None:
    graph = page.graph
    for source in ([node] if node else []) + page.graph.pages():
        for key in ("publisher", "sourceOrganization", "isPartOf"):
            for value in graph.values(source, key):
                name = value.get("name") if isinstance(value, dict) else value if key == "publisher" else None
                if isinstance(name, str) and name.strip():
                    return plain(name)
    return plain(page.meta("dc.publisher", "dcterms.publisher", "publisher")) or None


def _domain_names(url: str | None) -> Iterator[str]:
    domain = urls.domain_of(url) if url else ""
    if domain:
        yield domain
        yield domain.split(".")[0]


def _descriptions(page: Page, node: Node | None) -> Iterator[str]:
    """What the head says of the page, each wording once, the best kept first."""
    raws = [page.meta(key) for key in ("og:description", "description", "twitter:description", "dc.description")]
    raws += [page.graph.text(node, key) for key in ("description", "alternativeHeadline")] if node else []
    yield from dict.fromkeys(text for raw in raws if (text := plain(raw)))


def _clip(text: str, limit: int = DESCRIPTION_LIMIT_CHARS) -> str | None:
    return text[:limit] or None


def _section(page: Page, node: Node | None) -> str | None:
    value = page.graph.text(node, "articleSection") if node else None
    value = value or page.meta(
        "article:section", "parsely-section", "section", "cxenseparse:category", "og:article:section"
    )
    value = value or next(iter(page.properties.get("articlesection", ())), None)
    return _clip(plain(value), 200)


def _keywords(page: Page, node: Node | None) -> tuple[str, ...]:
    found: list[str] = []
    if node:
        for value in page.graph.values(node, "keywords"):
            text = value.get("name") if isinstance(value, dict) else value
            if isinstance(text, str):
                found.extend(_SPLIT_KEYWORDS.split(plain(text)))
    if not found:
        found = [plain(tag) for tag in page.metas.get("article:tag", ())]
    if not found:
        for key in ("news_keywords", "keywords", "parsely-tags"):
            found = [part for value in page.metas.get(key, ()) for part in _SPLIT_KEYWORDS.split(plain(value))]
            if found:
                break
    kept = (word.strip() for word in found)
    return tuple(dict.fromkeys(word for word in kept if word and len(word) <= _KEYWORD_LIMIT_CHARS))[:KEYWORD_LIMIT]


def _article_type(page: Page, node: Node | None) -> str | None:
    types = [name for name in types_of(node) if name in ARTICLE_TYPES] if node else []
    if types:
        specific = [name for name in types if name not in ("Article", "NewsArticle")]
        return (specific or types)[0]
    og_type = (page.meta("og:type") or "").lower()
    return "Article" if og_type in ("article", "news", "og:article") else None


def _image(page: Page, node: Node | None, url: str | None) -> str | None:
    candidates: list[str | None] = [page.meta("og:image", "og:image:url", "og:image:secure_url", "twitter:image")]
    if node:
        for key in ("image", "thumbnailUrl"):
            values = page.graph.values(node, key)
            candidates.extend(value.get("url") if isinstance(value, dict) else value for value in values)
    for candidate in candidates:
        if isinstance(candidate, str) and candidate.strip():
            address = _absolute(candidate, url)
            if address:
                return address
    return None


def _absolute(address: str, url: str | None) -> str | None:
    try:
        joined = urljoin(url or "", address.strip())
    except ValueError:
        return None
    return urls.without_logins(joined) if urls.is_http_url(joined) else None


def _canonical(page: Page, url: str | None) -> str | None:
    for candidate in (page.canonical_link, page.meta("og:url")):
        address = _absolute(candidate, url) if candidate else None
        if address and urls.is_plausible_canonical(address, url or ""):
            return address
    return None


def _language(page: Page, node: Node | None) -> str | None:
    declared = page.graph.text(node, "inLanguage") if node else None
    for value in (page.language, declared, page.meta("content-language", "og:locale", "dc.language", "language")):
        tag = (value or "").split(",")[0].strip()
        if _LANGUAGE_TAG.match(tag):
            parts = re.split(r"[-_]", tag)
            return "-".join(
                [parts[0].lower(), *(p.upper() if len(p) == 2 else p.title() if len(p) == 4 else p for p in parts[1:])]
            )
    return None


def _access(page: Page, node: Node | None) -> str:
    """IsAccessibleForFree of the article (not of a part of it), then the tier that publishers tell aggregators."""
    if node is not None:
        for value in page.graph.values(node, "isAccessibleForFree"):
            text = str(value).strip().lower().rsplit("/", 1)[-1]
            if text in ("false", "no", "0"):
                return "paywalled"
            if text in ("true", "yes", "1"):
                return "free"
    tier = (page.meta("article:content_tier", "content_tier", "cxenseparse:articleaccess", "paywall") or "").lower()
    if tier == "free":
        return "free"
    return "paywalled" if tier in _PAYWALLED_TIERS else "unknown"


def _ai_reservation(page: Page, document: Document) -> str:
    """Opt-outs: the TDM Reservation Protocol (W3C community group report) before the ``noai`` directive."""
    if "1" in (page.meta("tdm-reservation"), document.tdm_reservation.strip()):
        return "tdm"
    metas = [value for key in ("robots", "googlebot", "noai") for value in page.metas.get(key, ())]
    return "noai" if _NO_AI.search(" ".join([*metas, document.x_robots_tag])) or "noai" in page.metas else "none"


def _declared_words(page: Page, node: Node | None) -> int | None:
    text = page.graph.text(node, "wordCount") if node else None
    return int(text) if text and text.isdecimal() and 0 < int(text) < 100_000 else None
