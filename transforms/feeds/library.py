"""The reading of feedparser, as a second witness: it knows more odd vocabularies than we do.

It is never let near the network or a file (bytes go in as a stream), never sees a document before our
cleaning, and is left out where a document is so big that it would take too long. Its dates, identities
and choice between texts are not used, since they depend on the order of elements.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import feedparser
from lxml import etree

from transforms.feeds import plain
from transforms.feeds.model import ITEM_LIMIT, Enclosure, Link, RawFeed, RawItem
from transforms.feeds.xml_feed import person_name

TAG_LIMIT = 3000
_TEXT_LENGTH_LIMIT = 100


def read_with_feedparser(root: etree._Element, kind: str) -> RawFeed | None:
    """Reads a parsed document once more; ``None`` if it is too big for that or feedparser fails.

    The tree is changed by it.
    """
    if sum(1 for _ in root.iter()) > TAG_LIMIT:
        return None
    for element in root.iter():
        if _is_long(element.text) and not _is_address(element):
            element.text = None
        if _is_long(element.tail):
            element.tail = None
    data = etree.tostring(root, encoding="utf-8", xml_declaration=True)
    try:
        parsed = feedparser.parse(
            BytesIO(data),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception:  # feedparser raises errors of many kinds on odd documents
        return None
    feed = parsed.get("feed") or {}
    return RawFeed(
        kind,
        title=_title(feed),
        description=plain.markup_text(_text(feed, "subtitle")),
        language=_text(feed, "language") or None,
        links=_links(feed),
        items=tuple(_item(entry) for entry in parsed.get("entries", [])[:ITEM_LIMIT]),
    )


def _is_long(text: str | None) -> bool:
    """Tells which texts are left out because they cost feedparser much time; we have read them already.

    Its search for mail addresses takes time in the square of the length (feedparser pull request 580), and
    long bodies come to it in thousands of pieces.
    """
    return text is not None and len(text) > _TEXT_LENGTH_LIMIT


def _is_address(element: etree._Element) -> bool:
    return str(element.tag).rpartition("}")[2].lower() in ("link", "guid", "id", "url", "origlink")


def _item(entry: Any) -> RawItem:
    return RawItem(
        id=_text(entry, "id") or None,
        links=_links(entry),
        title=_title(entry),
        summary_html=_text(entry, "summary") or None,
        content_html=next((text for part in entry.get("content", []) if (text := _text(part, "value"))), None),
        authors=tuple(name for person in entry.get("authors", []) if (name := person_name(_text(person, "name")))),
        published=tuple(filter(None, [_text(entry, "published")])),
        updated=tuple(filter(None, [_text(entry, "updated")])),
        categories=tuple(text for tag in entry.get("tags", []) if (text := _text(tag, "label") or _text(tag, "term"))),
        enclosures=tuple(
            Enclosure(url, _text(file, "type") or None)
            for file in entry.get("enclosures", [])
            if (url := _text(file, "href"))
        ),
        language=_text(entry, "language") or None,
    )


def _text(holder: Any, key: str) -> str:
    # dict.get, because feedparser's own answers with other keys ("published" for "updated").
    value = dict.get(holder, key)
    return value.strip() if isinstance(value, str) else ""


def _title(holder: Any) -> str | None:
    detail = dict.get(holder, "title_detail") or {}
    text = _text(holder, "title")
    return plain.markup_text(text, plain.TITLE_LIMIT) if "html" in _text(detail, "type") else plain.headline(text)


def _links(holder: Any) -> tuple[Link, ...]:
    found = [
        Link(href, _text(link, "rel") or "alternate", _text(link, "type") or None)
        for link in dict.get(holder, "links") or []
        if (href := _text(link, "href"))
    ]
    return tuple(found)
