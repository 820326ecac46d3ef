"""Reads RSS 0.90 to 2.0, RDF and Atom 0.3 and 1.0 from a tree; what belongs where is told by names alone.

An item's own vocabulary comes first, Dublin Core and Atom next, podcast and media elements last: a photo
caption is never the story. Items may stand anywhere, also inside one another if one was never closed.
"""

from __future__ import annotations

import base64
import binascii
import html
import itertools
import re
from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

from transforms.feeds import plain
from transforms.feeds.hints import schedule_hints
from transforms.feeds.model import ITEM_LIMIT, RawFeed, RawItem
from transforms.feeds.xml_links import LinkReader
from transforms.feeds.xml_media import enclosures_of, media_of
from transforms.feeds.xml_names import Fields, Name, Names, attribute, inner_html, language_of, text_of

Element: TypeAlias = etree._Element
_LIST_LIMIT = 50
_SAME_LIMIT = 4
"""Elements for one thing that are tried, such as dates."""
_NAME_LIMIT = 200
_MARKUP_LIMIT = 30_000_000
"""Characters of markup taken of one document; an element inside another counts in both."""

_TITLES: tuple[Name, ...] = (
    ("", "title"),
    ("atom", "title"),
    ("dc", "title"),
    ("dcterms", "title"),
    ("itunes", "title"),
)
_SUMMARIES: tuple[Name, ...] = (
    ("", "description"),
    ("", "summary"),
    ("atom", "summary"),
    ("dc", "description"),
    ("dcterms", "abstract"),
    ("itunes", "summary"),
    ("itunes", "subtitle"),
)
_CONTENTS: tuple[Name, ...] = (
    ("content", "encoded"),
    ("", "content"),
    ("atom", "content"),
    ("xhtml", "body"),
    ("xhtml", "div"),
    ("", "encoded"),
)
_PUBLISHED: tuple[Name, ...] = (
    ("", "pubdate"),
    ("", "published"),
    ("", "issued"),
    ("atom", "published"),
    ("atom", "issued"),
    ("dc", "date"),
    ("dcterms", "issued"),
    ("dcterms", "created"),
    ("dc", "issued"),
    ("prism", "publicationdate"),
    ("", "date"),
    ("", "created"),
    ("", "dcdate"),
)
_UPDATED: tuple[Name, ...] = (
    ("", "updated"),
    ("atom", "updated"),
    ("", "modified"),
    ("atom", "modified"),
    ("dcterms", "modified"),
    ("", "lastbuilddate"),
)
_AUTHORS: tuple[Name, ...] = (
    ("", "author"),
    ("dc", "creator"),
    ("atom", "author"),
    ("dcterms", "creator"),
    ("itunes", "author"),
    ("dc", "author"),
)
_CATEGORIES: tuple[Name, ...] = (("", "category"), ("dc", "subject"), ("atom", "category"), ("media", "category"))
_LANGUAGES: tuple[Name, ...] = (("", "language"), ("dc", "language"))
_IDS: tuple[Name, ...] = (("", "guid"), ("", "id"), ("atom", "id"), ("dc", "identifier"))


_SUBTITLES: tuple[Name, ...] = (("", "description"), ("", "subtitle"), ("", "tagline"), *_SUMMARIES[2:])
_LOOKS_LIKE_HTML = re.compile(r"</(?:p|a|b|i|em|strong|div|ul|span|h[1-6])>|<(?:br|p|img|a)[\s/>]", re.IGNORECASE)
_MAIL_FIRST = re.compile(r"(?:mailto:)?[^\s()<>]+@[^\s()<>]+\s*[(<]\s*([^()<>]+?)\s*[)>]")
_MAIL_LAST = re.compile(r"([^<>()]+?)\s*[(<]\s*(?:mailto:)?[^\s()<>]+@[^\s()<>]+\s*[)>]")


def read_feed(root: Element, kind: str) -> RawFeed:
    """Reads a feed from its first element."""
    return _Reader(root, kind).read()


class _Reader:
    def __init__(self, root: Element, kind: str) -> None:
        self._root = root
        self._is_atom = kind == "atom"
        self._kind = kind
        self._names = Names(root)
        self._links = LinkReader(root)
        self._markup_left = _MARKUP_LIMIT

    def read(self) -> RawFeed:
        channel = next((e for e in self._root.iterchildren() if self._names.of(e) == ("", "channel")), self._root)
        fields = self._names.fields(channel)
        pictures = fields.get(("", "image"), []) + self._names.fields(self._root).get(("", "image"), [])
        items = [self._item(element) for element in self._item_elements()]
        feed_authors = self._people(fields) if self._is_atom else ()
        return RawFeed(
            self._kind,
            title=self._title(fields),
            description=next((text for e in _chosen(fields, _SUBTITLES) if (text := self._plain(e))), None),
            language=next(iter(_texts(fields, _LANGUAGES)), "") or language_of(channel) or None,
            links=self._links.of(fields),
            image_title=next((text for e in pictures if (text := self._title(self._names.fields(e)))), None),
            hints=schedule_hints(fields),
            items=tuple(item if item.authors else item._replace(authors=feed_authors) for item in items),
        )

    def _item_elements(self) -> list[Element]:
        found: list[Element] = []
        for element in self._root.iter():
            if self._names.of(element) in (("", "item"), ("", "entry"), ("atom", "entry")):
                found.append(element)
                if len(found) == ITEM_LIMIT:
                    break
        return found

    def _item(self, item: Element) -> RawItem:
        fields = self._names.fields(item)
        media = media_of(fields, self._names)
        return RawItem(
            id=next(iter(_texts(fields, _IDS)), None) or self._links.about(item),
            links=self._links.of(fields, item),
            title=self._title(fields) or media.title,
            summary_html=next((text for e in _chosen(fields, _SUMMARIES) if (text := self._markup(e))), None),
            content_html=next((text for e in _chosen(fields, _CONTENTS) if (text := self._markup(e))), None),
            authors=self._people(fields),
            published=_texts(fields, _PUBLISHED),
            updated=_texts(fields, _UPDATED),
            categories=_categories(fields),
            enclosures=enclosures_of(fields),
            image_url=media.image_url,
            image_caption=media.caption,
            language=next(iter(_texts(fields, _LANGUAGES)), "") or language_of(item) or None,
        )

    def _title(self, fields: Fields) -> str | None:
        return next((text for e in _chosen(fields, _TITLES) if (text := _title_text(e))), None)

    def _plain(self, element: Element) -> str | None:
        return plain.markup_text(self._markup(element))

    def _markup(self, element: Element) -> str:
        """The HTML of a summary or content; empty if it is of another kind (video, JSON) or there is none."""
        if self._markup_left <= 0:
            return ""
        markup = _markup(element, self._is_atom or element.tag.startswith("{http://www.w3.org/2005/Atom}"))
        self._markup_left -= len(markup)
        return markup.strip()

    def _people(self, fields: Fields) -> tuple[str, ...]:
        """Names of the first vocabulary that has any; bare mail addresses only if there is nothing better."""
        mails: tuple[str, ...] = ()
        for name in _AUTHORS:
            found = [person_name(self._person_text(e)) for e in fields.get(name, [])[:_LIST_LIMIT]]
            names = tuple(dict.fromkeys(text for text in found if text))
            if names and not all("@" in text for text in names):
                return names
            mails = mails or names
        return mails

    def _person_text(self, element: Element) -> str:
        if not len(element):
            return element.text or ""
        inside = self._names.fields(element)
        named = [e for (_, name), elements in inside.items() if name == "name" for e in elements]
        mailed = [e for (_, name), elements in inside.items() if name == "email" for e in elements]
        texts = [text for e in (*named, *mailed) if (text := text_of(e).strip())]
        return texts[0] if texts else (element.text or "")


def _chosen(fields: Fields, names: tuple[Name, ...]) -> Iterator[Element]:
    for name in names:
        yield from fields.get(name, ())


def _texts(fields: Fields, names: tuple[Name, ...]) -> tuple[str, ...]:
    found = (text_of(element).strip() for element in itertools.islice(_chosen(fields, names), _SAME_LIMIT))
    return tuple(text for text in found if text)


def _title_text(element: Element) -> str | None:
    """The plain text of a title by its declared type, or by its looks if it has none."""
    kind = attribute(element, "type").lower()
    if kind in ("text", "text/plain", "plain") or "xhtml" in kind:
        return plain.literal(text_of(element))
    if "html" in kind:
        return plain.markup_text(text_of(element), plain.TITLE_LIMIT)
    return plain.headline(text_of(element))


def _markup(element: Element, is_atom: bool) -> str:
    kind, mode = attribute(element, "type").lower(), attribute(element, "mode").lower()
    if mode == "base64":
        return _from_base64(element.text or "") if "html" in kind or "text" in kind else ""
    if len(element) and ("xhtml" in kind or "html" in kind or not kind or mode == "xml"):
        only = element[0] if len(element) == 1 and not (element.text or "").strip() else None
        return inner_html(only if only is not None and str(only.tag).endswith("}div") else element)
    text = text_of(element)
    if kind in ("text", "text/plain", "plain"):
        return html.escape(text, quote=False)
    if "html" in kind:
        return text
    if kind:
        return ""
    return html.escape(text, quote=False) if is_atom and not _LOOKS_LIKE_HTML.search(text) else text


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def person_name(text: str) -> str | None:
    """Returns the name in ``mail (Name)``, ``Name <mail>`` or a name alone; a bare mail address as it is."""
    text = plain.unescape(plain.one_line(text[: 2 * _NAME_LIMIT]))[:_NAME_LIMIT]
    match = _MAIL_FIRST.fullmatch(text) or _MAIL_LAST.fullmatch(text)
    if not match and "@" in text and len(text) == _NAME_LIMIT:
        return None
    name = re.sub(r"^by\s+", "", match[1] if match else text, flags=re.IGNORECASE)
    return name.strip(" ,;") or None


def _categories(fields: Fields) -> tuple[str, ...]:
    found = []
    for element in _chosen(fields, _CATEGORIES):
        label = attribute(element, "label") or attribute(element, "term") if element.attrib else ""
        found.append(label or text_of(element))
    for element in fields.get(("media", "keywords"), ()):
        found += text_of(element)[: 20 * _NAME_LIMIT].split(",")
    texts = (plain.one_line(plain.unescape(text[:_NAME_LIMIT])) for text in found)
    return tuple(dict.fromkeys(text for text in texts if text))[:_LIST_LIMIT]
