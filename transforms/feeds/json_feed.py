"""Reads JSON Feed 1.0 and 1.1, and RSS written as JSON. See jsonfeed.org/version/1.1.

Every value may have any type; what has the wrong one is left out, numbers as ids are texts.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

from transforms.feeds import plain
from transforms.feeds.hints import ttl_minutes
from transforms.feeds.model import ITEM_LIMIT, Enclosure, Link, RawFeed, RawItem, ScheduleHints
from transforms.feeds.xml_feed import person_name

_LIST_LIMIT = 50
_SIGN_LIMIT = 400_000
_COMMA_LIMIT = 1_500_000


def read_json(data: bytes) -> RawFeed:
    """Reads a JSON document; kind ``unknown`` if it is no feed. Never raises."""
    if data.count(b"{") + data.count(b"[") + data.count(b'":') > _SIGN_LIMIT or data.count(b",") > _COMMA_LIMIT:
        return RawFeed("unknown", warnings=("too_complex",))
    try:
        document = json.loads(data, strict=False)
    except (ValueError, RecursionError):
        return RawFeed("unknown", warnings=("bad_json",))
    if not isinstance(document, dict):
        return RawFeed("unknown")
    rss = document.get("rss")
    if isinstance(rss, dict) and isinstance(rss.get("channel"), dict):
        return _rss(rss["channel"])
    items = document.get("items")
    is_named = "jsonfeed" in _text(document.get("version")).lower()
    if not is_named and not (isinstance(items, list) and _looks_like_items(items, document)):
        return RawFeed("unknown")
    return _json_feed(document, items if isinstance(items, list) else [])


def _looks_like_items(items: list[Any], document: dict[str, Any]) -> bool:
    """A feed with a wrong version: it has a title, and entries with an id or an address."""
    entries = [item for item in items[:10] if isinstance(item, dict)]
    named = [item for item in entries if "id" in item or "url" in item]
    return bool(named) and len(named) == len(items[:10]) and "title" in document


def _json_feed(document: dict[str, Any], items: list[Any]) -> RawFeed:
    authors = _authors(document)
    raw = [_item(item) for item in items[:ITEM_LIMIT] if isinstance(item, dict)]
    return RawFeed(
        "json",
        title=plain.headline(_text(document.get("title"))),
        description=plain.markup_text(_text(document.get("description"))),
        language=_text(document.get("language")) or None,
        links=_links((document.get("home_page_url"), "alternate")),
        items=tuple(item if item.authors else item._replace(authors=authors) for item in raw),
        warnings=("too_many_items",) if len(items) > ITEM_LIMIT else (),
    )


def _item(item: dict[str, Any]) -> RawItem:
    content_text = _text(item.get("content_text"))
    content = _text(item.get("content_html")) or html.escape(content_text, quote=False).replace("\n", "<br>\n")
    return RawItem(
        id=_text(item.get("id")) or None,
        links=_links((item.get("url"), "alternate"), (item.get("external_url"), "related"), (item.get("id"), "id")),
        title=plain.headline(_text(item.get("title"))),
        summary_html=html.escape(_text(item.get("summary")), quote=False) or None,
        content_html=content or None,
        authors=_authors(item),
        published=tuple(filter(None, [_text(item.get("date_published"))])),
        updated=tuple(filter(None, [_text(item.get("date_modified"))])),
        categories=tuple(dict.fromkeys(text for tag in _list(item.get("tags")) if (text := _text(tag)[:200]))),
        enclosures=tuple(_attachments(item)),
        image_url=_text(item.get("image")) or _text(item.get("banner_image")) or None,
        language=_text(item.get("language")) or None,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def _list(value: object) -> list[Any]:
    return value[:_LIST_LIMIT] if isinstance(value, list) else [] if value is None else [value]


def _links(*pairs: tuple[object, str]) -> tuple[Link, ...]:
    return tuple(Link(text, rel) for value, rel in pairs if (text := _text(value)))


def _authors(holder: dict[str, Any]) -> tuple[str, ...]:
    """``authors`` of version 1.1, else ``author`` of version 1.0."""
    people = _list(holder.get("authors")) or _list(holder.get("author"))
    texts = [_text(person.get("name")) if isinstance(person, dict) else _text(person) for person in people]
    return tuple(dict.fromkeys(name for text in texts if (name := person_name(text))))


def _attachments(item: dict[str, Any]) -> Iterator[Enclosure]:
    for file in _list(item.get("attachments")):
        if isinstance(file, dict) and (url := _text(file.get("url"))):
            size = file.get("size_in_bytes")
            is_size = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53
            yield Enclosure(url, _text(file.get("mime_type")) or None, size if is_size else None)


def _rss(channel: dict[str, Any]) -> RawFeed:
    items = channel.get("item")
    items = items if isinstance(items, list) else [items]
    return RawFeed(
        "json",
        title=plain.headline(_value(channel.get("title"))),
        description=plain.markup_text(_value(channel.get("description"))),
        language=_value(channel.get("language")) or None,
        links=_links((_value(channel.get("link")), "alternate")),
        hints=ScheduleHints(ttl_min=ttl_minutes(_value(channel.get("ttl")))),
        items=tuple(_rss_item(item) for item in items[:ITEM_LIMIT] if isinstance(item, dict)),
        warnings=("rss_in_json", *(("too_many_items",) if len(items) > ITEM_LIMIT else ())),
    )


def _rss_item(item: dict[str, Any]) -> RawItem:
    guid = _value(item.get("guid"))
    authors = [person_name(_value(person)) for person in _list(item.get("author")) + _list(item.get("dc:creator"))]
    files = [file for file in _list(item.get("enclosure")) if isinstance(file, dict)]
    return RawItem(
        id=guid or None,
        links=_links((_value(item.get("link")), "alternate"), (guid, "guid")),
        title=plain.headline(_value(item.get("title"))),
        summary_html=_value(item.get("description")) or None,
        content_html=_value(item.get("content:encoded")) or None,
        authors=tuple(name for name in authors if name),
        published=tuple(filter(None, [_value(item.get("pubDate")), _value(item.get("dc:date"))])),
        categories=tuple(text for tag in _list(item.get("category")) if (text := _value(tag))),
        enclosures=tuple(
            Enclosure(url, _text(file.get("type")) or None) for file in files if (url := _text(file.get("url")))
        ),
    )


def _value(value: object) -> str:
    """A text, or the text of an element with attributes (``{"#value": ...}``)."""
    if isinstance(value, dict):
        return next((text for key in ("#value", "#text", "_", "$t") if (text := _text(value.get(key)))), "")
    return _text(value)
