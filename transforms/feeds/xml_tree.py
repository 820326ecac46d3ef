"""A feed's bytes to an lxml tree: strictly if they are XML, else mended and with recovery.

Hostile documents are cut to size first, so that time and memory are bounded whatever comes. Document
types are thrown away: no entity is ever expanded by the parser, nothing is ever loaded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lxml import etree

from transforms.feeds import xml_repair
from transforms.feeds.classify import Kind
from transforms.feeds.clean import WINDOWS_CHARACTERS
from transforms.feeds.model import ITEM_LIMIT

MARKUP_LIMIT = 100_000
"""Tags, and besides attributes, that are read of one document."""

_ROOTS = {
    "atom": b'<feed xmlns="http://www.w3.org/2005/Atom">',
    "sitemap": b"<urlset>",
    "sitemap_index": b"<sitemapindex>",
}
_NAMESPACE_LIMIT = 1000
_MISUSED_LIMIT = 50_000
_PIECE_BYTES = 64 * 1024
_COMPLEX_SIZE_LIMIT = 2 * 1024 * 1024
_HALF_CHARACTER = re.compile(
    rb"&#(?:0*(?:5529[6-9]|55[3-9][0-9]{2}|56[0-9]{3}|57[0-2][0-9]{2}|573[0-3][0-9]|5734[0-3])"
    rb"|[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2});"
)
_C1_REFERENCE = re.compile(rb"&#(?:(1[2-5][0-9])|[xX]([89][0-9a-fA-F]));")
_ITEM_NAMES = {"atom": b"entry", "sitemap": b"url", "sitemap_index": b"sitemap"}


class Tree(NamedTuple):
    """The first element, or ``None`` if nothing could be read; ``warnings`` are codes of what was done."""

    root: etree._Element | None
    warnings: tuple[str, ...]


def read_tree(data: bytes, kind: Kind) -> Tree:
    """Parses a cleaned document. Never raises.

    Args:
        data: UTF-8.
        kind: What it is and where its first element begins.
    """
    head, data = data[: kind.start], data[kind.start :]
    warnings: list[str] = []
    data = _within_limits(data, _ITEM_NAMES.get(kind.name, b"item"), warnings)
    if _C1_REFERENCE.search(data):
        data = _C1_REFERENCE.sub(_from_windows, data, count=_MISUSED_LIMIT)
    root = next((root for end in _ends(data, warnings) if (root := _parse(data + end)) is not None), None)
    if root is None and warnings == ["too_complex"]:
        root = _parse(data[:_COMPLEX_SIZE_LIMIT], recover=True)
    elif root is None:
        warnings.append("cut_off" if xml_repair.is_cut_off(data) and not warnings else "xml_repaired")
        entities = xml_repair.entity_declarations(head)
        root = _parse(xml_repair.repair(data, entities), recover=True)
        if root is None:
            root = _parse(xml_repair.repair(_with_new_root(data, kind), entities), recover=True)
    return Tree(root, tuple(warnings))


def _with_new_root(data: bytes, kind: Kind) -> bytes:
    """Puts a sound first element in the place of one that cannot be read."""
    inside = re.search(rb"<(?:[\w.-]{1,20}:)?(?:channel|item|entry|url|sitemap)[\s>]", data, re.IGNORECASE)
    return _ROOTS.get(kind.name, b"<rss>") + data[inside.start() :] if inside else b""


def _ends(data: bytes, warnings: list[str]) -> list[bytes]:
    """What may have to be added to a document to make it whole: nothing, or the tags open where we cut it."""
    if "too_many_items" not in warnings:
        return [b""]
    root = re.match(rb"<([\w:.-]{1,60})", data)
    channel = re.search(rb"<((?:[\w.-]{1,20}:)?channel)[\s>]", data[:10_000])
    end = b"</%s>" % root[1] if root else b""
    return [b"</%s>%s" % (channel[1], end), end] if channel else [end]


def _from_windows(match: re.Match[bytes]) -> bytes:
    return WINDOWS_CHARACTERS.get(int(match[1]) if match[1] else int(match[2], 16), match[0])


def _parse(data: bytes, recover: bool = False) -> etree._Element | None:
    # huge_tree off: libxml2 then refuses more than 256 levels and texts over 10 MB.
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        if recover:
            # In recovery libxml2 takes half characters for text, and makes UTF-8 of them that is none.
            root = etree.fromstring(_HALF_CHARACTER.sub(b"", data), parser)
            if root is not None:
                etree.strip_elements(root, etree.Entity, with_tail=False)
            return root
        # In pieces, so that it stops at the first error instead of counting them all.
        for start in range(0, len(data), _PIECE_BYTES):
            parser.feed(data[start : start + _PIECE_BYTES])
        return parser.close()
    except (etree.XMLSyntaxError, ValueError, AssertionError):
        return None


def _within_limits(data: bytes, item_name: bytes, warnings: list[str]) -> bytes:
    """Cuts a document before the item, the tag or the namespace that is one too many."""
    if data.count(b"<") > MARKUP_LIMIT or data.count(b'="') + data.count(b"='") > MARKUP_LIMIT:
        end = _markup_end(data)
        if end < len(data):
            data = data[:end]
            warnings.append("too_complex")
    if sum(data.count(sign + name) for sign in (b"<", b":") for name in (item_name, item_name.upper())) > ITEM_LIMIT:
        items = re.finditer(rb"<(?:[\w.-]{1,20}:)?%s(?=[\s>/])" % item_name, data, re.IGNORECASE)
        for count, match in enumerate(items):
            if count == ITEM_LIMIT:
                data = data[: match.start()]
                warnings[:] = ["too_many_items"]
                break
    if data.count(b"xmlns") > _NAMESPACE_LIMIT:
        data = re.sub(rb"\sxmlns(?::[\w.-]{1,60})?\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')", b"", data)
        warnings.append("too_complex")
    return data


def _markup_end(data: bytes) -> int:
    """Where the limit of tags or attributes is reached; CDATA does not count, each section is one tag."""
    tags = attributes = position = 0
    while position < len(data):
        opened = data.find(b"<![CDATA[", position)
        end = len(data) if opened < 0 else opened
        tags += data.count(b"<", position, end) + 1
        attributes += data.count(b'="', position, end) + data.count(b"='", position, end)
        if tags > MARKUP_LIMIT or attributes > MARKUP_LIMIT:
            return _cut_within(data, position, end)
        if opened < 0:
            return len(data)
        closed = data.find(b"]]>", opened)
        position = len(data) if closed < 0 else closed + 3
    return len(data)


def _cut_within(data: bytes, position: int, end: int) -> int:
    """The last place of a stretch up to which it holds no more tags and attributes than the limit."""
    stretch = memoryview(data)[position:end]
    for count, match in enumerate(re.finditer(rb"<|=[\"']", stretch)):
        if count == MARKUP_LIMIT:
            return data.rfind(b"<", 0, position + match.start())
    return position
