"""From what a document says (``RawFeed``) to entries: address, dates, texts, identity."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from urllib.parse import urljoin

from transforms.dates import ParsedDate, read_date
from transforms.feeds import plain
from transforms.feeds.identity import ItemFacts, item_keys
from transforms.feeds.model import Enclosure, FeedItem, Link, ParsedFeed, RawFeed, RawItem
from transforms.feeds.xml_media import length_of
from transforms.language import language_tag
from transforms.urls import has_login, normal_form, to_fetchable, without_logins

URL_LENGTH_LIMIT = 2048

_LONG_SUMMARY = 500
_TEASER_TOTAL = 2_000_000
"""Characters of HTML that are made plain for the teasers of one document."""

_WEB_PAGE_TYPES = ("text/html", "application/xhtml+xml", "")
_NO_PAGE_RELS = frozenset(
    {"self", "edit", "replies", "enclosure", "hub", "next", "previous", "license", "search", "icon"}
)
_FALLBACK_RELS = {"canonical": 1, "guid": 3, "content": 4, "about": 5, "id": 6, "origlink": 7, "related": 8, "via": 9}
_OTHER_SCHEME = re.compile(r"(?!https?:)[^/\\?#]*:[/\\]{2}", re.IGNORECASE)  # also a misspelt one, which is no path


def finish(raw: RawFeed, *, url: str | None, now: datetime, default_zone: str | None) -> ParsedFeed:
    """Makes a ``ParsedFeed`` of what a reader read.

    Args:
        raw: The document as written.
        url: Where it came from, for relative links; else the feed's own site is taken.
        now: The present, for dates.
        default_zone: For dates without a zone.
    """
    site, _ = best_link(raw.links, url)
    base = url or site
    language = language_tag(raw.language)
    teaser_limit = max(600, min(plain.TEASER_LIMIT, _TEASER_TOTAL // (len(raw.items) or 1)))
    drafts = [_item(item, base, teaser_limit, now, default_zone) for item in raw.items]
    pages = [normal_form(item.url) if item.url else None for item in drafts]
    _drop_links_to(normal_form(url) if url else "", drafts, pages)
    facts = [
        ItemFacts(
            item.id,
            item.url,
            page,
            item.title,
            item.published_raw or item.updated_raw,
            item.summary or item.content_html,
        )
        for item, page in zip(drafts, pages, strict=True)
    ]
    keys = item_keys(facts)
    shared = _shared_pages(pages, keys, site)
    items = tuple(
        item._replace(key=key, language=item.language or language, link_shared=page in shared)
        for item, key, page in zip(drafts, keys, pages, strict=True)
    )
    return ParsedFeed(
        raw.kind,
        title=raw.title,
        description=raw.description,
        language=language,
        site_url=site,
        items=items,
        hints=raw.hints,
        warnings=tuple(dict.fromkeys(raw.warnings)),
        image_title=raw.image_title,
    )


def _drop_links_to(document: str, drafts: list[FeedItem], pages: list[str | None]) -> None:
    """Takes links to the feed itself (``#``, ``//``) for what they are: none."""
    for number, (item, page) in enumerate(zip(drafts, pages, strict=True)):
        if page is not None and page == document:
            drafts[number] = item._replace(url=None, warnings=(*item.warnings, "bad_link"))
            pages[number] = None


def _item(raw: RawItem, base: str | None, teaser_limit: int, now: datetime, zone: str | None) -> FeedItem:
    warnings: list[str] = []
    url, link_raw = best_link(raw.links, base)
    if url is None and link_raw is not None:
        warnings.append("bad_link")
    if any(without_logins(text) != text for text in (link_raw, raw.id) if text):
        warnings.append("login_removed")
    published, published_raw = _date(raw.published, "published", now, zone, warnings)
    updated, updated_raw = _date(raw.updated, "updated", now, zone, warnings)
    summary = plain.markup_text(raw.summary_html, teaser_limit) if raw.summary_html else None
    content = raw.content_html
    if content is None and raw.summary_html and summary and len(summary) >= _LONG_SUMMARY:
        content = raw.summary_html  # the description carries the whole story
    return FeedItem(
        key="",
        id=without_logins(raw.id) if raw.id else raw.id,
        url=url,
        title=raw.title,
        summary=summary,
        content_html=content,
        authors=raw.authors,
        published=published,
        published_raw=published_raw,
        updated=updated,
        updated_raw=updated_raw,
        categories=raw.categories,
        enclosures=_enclosures(raw, base),
        image_url=absolute(raw.image_url, base) if raw.image_url else None,
        language=language_tag(raw.language),
        warnings=tuple(warnings),
        link_raw=link_raw,
        image_caption=raw.image_caption,
    )


def _enclosures(raw: RawItem, base: str | None) -> tuple[Enclosure, ...]:
    """All enclosed files once, with absolute addresses; what is no http(s) address is left out."""
    links = [link for link in raw.links if link.rel == "enclosure"]
    files = [Enclosure(_within(link.base, link.href) or "", link.type, length_of(link.length)) for link in links]
    files += raw.enclosures
    found: dict[str, Enclosure] = {}
    for file in files:
        address = absolute(file.url, base)
        if address:
            found.setdefault(address, file._replace(url=address))
    return tuple(found.values())


def best_link(links: tuple[Link, ...], base: str | None) -> tuple[str | None, str | None]:
    """Returns the address of a story's page and the link as written.

    An alternate link to a web page comes first, then alternates of other types, then what may serve as one
    (a permanent guid, ``rdf:about``, an id that is an address). Only http(s) counts.

    Returns:
        ``(None, None)`` if there is no link at all; ``(None, written)`` if none is usable.
    """
    written: str | None = None
    for link in sorted(links, key=_rank):
        if _rank(link) >= 100:
            break
        address = absolute(link.href, _within(base, link.base), keep_relative=link.rel in ("guid", "id", "about"))
        if address is not None:
            return address, link.href
        if link.rel == "alternate":
            written = written or link.href
    return None, written


def _within(base: str | None, inner: str) -> str | None:
    if not inner:
        return base
    try:
        return urljoin(base or "", inner)
    except ValueError:
        return base


def _rank(link: Link) -> int:
    if link.rel == "alternate":
        return 0 if (link.type or "") in _WEB_PAGE_TYPES else 2
    return 100 if link.rel in _NO_PAGE_RELS else _FALLBACK_RELS.get(link.rel, 100)


def absolute(href: str, base: str | None, *, keep_relative: bool = False) -> str | None:
    """Returns the http(s) address that a link leads to, or ``None``; a user name or password in it is left out.

    Args:
        href: As written; ``&amp;`` written twice and breaks inside are forgiven.
        base: Address of the document.
        keep_relative: True for an id, which is no address unless it is a whole one.
    """
    text = re.sub(r"[\t\r\n]+", "", href.strip()).replace("&amp;", "&")
    if not text or len(text) > URL_LENGTH_LIMIT:
        return None
    if text.lower().startswith("www."):
        text = "https://" + text
    if _OTHER_SCHEME.match(text):
        return None
    if base and not keep_relative and not text.startswith(("https://", "http://")):
        try:
            text = urljoin(base, text)
        except ValueError:
            return None
    fetchable = to_fetchable(text)
    if fetchable is None or len(fetchable) > URL_LENGTH_LIMIT:
        return None
    return text if text.isascii() and not has_login(text) and not re.search(r"[\s\"<>\\^`{|}]", text) else fetchable


def _date(
    raws: tuple[str, ...], field: str, now: datetime, zone: str | None, warnings: list[str]
) -> tuple[ParsedDate | None, str | None]:
    """The first date that can be read, else the first as written and a warning."""
    reason = ""
    for raw in raws:
        date, why = read_date(raw, now=now, default_zone=zone)
        if date is not None:
            return date, raw
        reason = reason or why
    if raws:
        warnings.append(f"{field}_{reason}")
    return None, raws[0][:200] if raws else None


def _shared_pages(pages: list[str | None], keys: list[str], site: str | None) -> set[str]:
    """Pages that hold no story of their own: front pages, and pages that three entries and more share."""
    users: dict[str, set[str]] = defaultdict(set)
    for page, key in zip(pages, keys, strict=True):
        if page:
            users[page].add(key)
    home = normal_form(site) if site else ""
    return {page for page, found in users.items() if len(found) > 2 or _is_front(page, home)}


def _is_front(page: str, home: str) -> bool:
    return page == home or ("?" not in page and not page.partition("://")[2].partition("/")[2])
