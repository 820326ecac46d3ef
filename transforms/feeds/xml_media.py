"""Pictures and files of an entry: enclosures, Media RSS, podcast images. Their texts are captions, not the story."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from lxml import etree

from transforms.feeds import plain
from transforms.feeds.model import Enclosure
from transforms.feeds.xml_names import Fields, Names, attribute, text_of

Element: TypeAlias = etree._Element

_NODE_LIMIT = 300
_ENCLOSURE_LIMIT = 20
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:[?#].*)?$", re.IGNORECASE)


class Media(NamedTuple):
    """The picture of an entry and what Media RSS says of it."""

    image_url: str | None = None
    caption: str | None = None
    title: str | None = None


def media_of(fields: Fields, names: Names) -> Media:
    """Returns the first picture of an item, its caption, and the title that Media RSS gives the item."""
    images, captions, titles = [], [], []
    for space, name, element in _media_elements(fields, names):
        if (space, name) == ("media", "title"):
            titles.append(plain.literal(text_of(element)))
        elif (space, name) in (("media", "description"), ("media", "text")):
            captions.append(plain.markup_text(text_of(element)))
        elif _is_picture(space, name, element):
            images.append(attribute(element, "url") or attribute(element, "href") or _picture_text(element))
    return Media(
        next((url.strip() for url in images if url.strip()), None),
        next(filter(None, captions), None),
        next(filter(None, titles), None),
    )


def _media_elements(fields: Fields, names: Names) -> Iterator[tuple[str, str, Element]]:
    """Walks the children that may hold pictures and what is inside them, best first."""
    own = [key for key in fields if key[0] == "media"]
    for key in (*own, ("", "enclosure"), ("", "image"), ("itunes", "image"), ("image", "image")):
        for child in fields.get(key, [])[:_ENCLOSURE_LIMIT]:
            for element in itertools.islice(child.iter(), _NODE_LIMIT):
                space, name = names.of(element)
                yield space, name, element


def _is_picture(space: str, name: str, element: Element) -> bool:
    if (space, name) == ("media", "thumbnail") or name in ("image", "loc"):
        return True
    if (space, name) not in (("media", "content"), ("", "enclosure")):
        return False
    kind = attribute(element, "medium") or attribute(element, "type")
    return kind.startswith("image") if kind else _PICTURE.search(attribute(element, "url")) is not None


def _picture_text(element: Element) -> str:
    """The address in ``<image>url</image>`` or ``<image><url>...``."""
    text = next((text_of(child) for child in element if str(child.tag).rpartition("}")[2].lower() == "url"), "")
    text = text or (element.text or "")
    return text if text.strip().startswith(("http:", "https:", "/")) else ""


def enclosures_of(fields: Fields) -> tuple[Enclosure, ...]:
    """Returns the files that RSS ``enclosure`` elements name; those of Atom are links."""
    return tuple(
        Enclosure(url, attribute(e, "type") or None, length_of(attribute(e, "length")))
        for e in fields.get(("", "enclosure"), [])[:_ENCLOSURE_LIMIT]
        if (url := attribute(e, "url") or attribute(e, "href"))
    )


def length_of(text: str | None) -> int | None:
    """Returns a size in bytes; ``None`` for what is no number."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,15}", text) else None
