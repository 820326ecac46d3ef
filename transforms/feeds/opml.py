"""Lists of feeds that people bring from elsewhere: OPML, CSV, plain text; and OPML to take away.

A list is read to its end whatever is wrong in it: entries that cannot be feeds are reported with line and
reason. A feed that is listed twice, in any spelling of its address, is one feed with the folders of both.
Programs that some readers run as feeds or filters (``exec:``, ``|command``) are refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from lxml import etree

from transforms.feeds import plain
from transforms.feeds.classify import classify
from transforms.feeds.clean import clean_bytes
from transforms.feeds.finish import absolute
from transforms.feeds.xml_names import Names, attribute
from transforms.feeds.xml_tree import read_tree
from transforms.records import FeedSource
from transforms.urls import url_key

FEED_LIMIT = 20_000

_URL_COLUMNS = ("xmlurl", "feed_url", "feedurl", "feed", "url", "rss", "address", "link")
_TITLE_COLUMNS = ("title", "name", "source_name", "text")
_FOLDER_COLUMNS = ("folders", "folder", "tags", "tag", "category", "categories", "group")
_PROGRAM = re.compile(r"\s*(?:\||exec:|filter:|file:|query:|javascript:|data:)", re.IGNORECASE)
_BARE_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#].*)?", re.DOTALL)


class ListedFeed(NamedTuple):
    """A feed in a list.

    Attributes:
        url: Its address, absolute, http(s).
        title: As listed; ``None`` if it has to come from the feed.
        folders: Names of the folders around it, outermost first, and its labels.
        line: Where it stands in the file, from 1.
        site_url: Address of the site, as listed.
        language: As listed.
    """

    url: str
    title: str | None = None
    folders: tuple[str, ...] = ()
    line: int = 0
    site_url: str | None = None
    language: str | None = None


class ListProblem(NamedTuple):
    """An entry that was left out: its line, what is wrong with it, and the entry as written."""

    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}: {self.text}" if self.text else f"line {self.line}: {self.reason}"


class FeedList(NamedTuple):
    """What a list holds: every feed once, what had to be left out, and how many entries named a feed once more."""

    feeds: tuple[ListedFeed, ...]
    problems: tuple[ListProblem, ...]
    repeated: int = 0


def read_list(data: bytes, name: str = "") -> FeedList:
    """Reads a list of feeds of any kind.

    Args:
        data: The file.
        name: Its name; ``.csv`` and ``.tsv`` decide, everything else is told by the content.
    """
    kind = classify(clean_bytes(data).data).name
    if kind == "opml" or name.lower().endswith(".opml"):
        return read_opml(data)
    text = clean_bytes(data).data.decode("utf-8", "replace")
    if name.lower().endswith((".csv", ".tsv")):
        return _collect(_csv_entries(text))
    return _collect(_text_entries(text))


def read_opml(data: bytes) -> FeedList:
    """Reads an OPML file (opml.org/spec2.opml); damage of its XML is mended where that is possible."""
    cleaned = clean_bytes(data)
    kind = classify(cleaned.data)
    if kind.name != "opml":
        return FeedList((), (ListProblem(1, "not an OPML file", ""),))
    root, warnings = read_tree(cleaned.data, kind)
    if root is None:
        return FeedList((), (ListProblem(1, "not readable as XML", ""),))
    # Lines are counted from the first element; what stands before it is counted here.
    offset = max(0, data[: max(0, data.find(b"<opml"))].count(b"\n"))
    found = _collect(_outlines(root, offset))
    if "too_complex" in warnings or "too_many_items" in warnings:
        last = found.feeds[-1].line if found.feeds else 1
        found = found._replace(problems=(*found.problems, ListProblem(last, "too long; the rest was not read", "")))
    return found


class _Listed(NamedTuple):
    """An entry as written."""

    line: int
    url: str
    title: str = ""
    folders: tuple[str, ...] = ()
    site_url: str = ""
    language: str = ""
    refusal: str = ""


def _collect(entries: Iterable[_Listed]) -> FeedList:
    feeds: dict[str, ListedFeed] = {}
    problems: list[ListProblem] = []
    repeated = 0
    for entry in entries:
        url, reason = (None, entry.refusal) if entry.refusal else feed_address(entry.url)
        if url is None:
            problems.append(ListProblem(entry.line, reason, " ".join(filter(None, (entry.title, entry.url)))[:200]))
            continue
        title = plain.headline(entry.title)
        new = ListedFeed(url, title, entry.folders, entry.line, entry.site_url or None, entry.language or None)
        known = feeds.get(url_key(url))
        if known is None and len(feeds) >= FEED_LIMIT:
            problems.append(ListProblem(entry.line, f"more than {FEED_LIMIT} feeds; the rest was not read", ""))
            break
        repeated += known is not None
        feeds[url_key(url)] = new if known is None else _merged(known, new)
    return FeedList(tuple(feeds.values()), tuple(problems), repeated)


def _merged(known: ListedFeed, other: ListedFeed) -> ListedFeed:
    return known._replace(
        title=known.title or other.title,
        folders=tuple(dict.fromkeys((*known.folders, *other.folders))),
        site_url=known.site_url or other.site_url,
        language=known.language or other.language,
    )


def feed_address(text: str) -> tuple[str | None, str]:
    """Returns the http(s) address that a listed address means, or ``None`` and what is wrong with it.

    ``feed://host`` and addresses without a scheme are taken as https.
    """
    url = "".join(text.split()).replace("&amp;", "&")
    if not url:
        return None, "no address"
    if _PROGRAM.match(url):
        return None, "runs a program or reads a file, which is never done"
    if url.lower().startswith(("feed:", "feeds:", "rss:", "pcast:", "itpc:", "podcast:")):
        url = url.partition(":")[2].removeprefix("//")
    if url.startswith("//"):
        url = url[2:]
    if "://" not in url[:12] and _BARE_HOST.fullmatch(url):
        url = "https://" + url
    if absolute(url, None) is None:
        return None, "not an http(s) address"
    return url, ""


def _outlines(root: etree._Element, offset: int) -> Iterator[_Listed]:
    names = Names(root)
    stack: list[tuple[etree._Element, tuple[str, ...]]] = [(root, ())]
    while stack:
        element, folders = stack.pop()
        inside = folders
        if names.of(element)[1] == "outline":
            children = [child for child in element.iterchildren() if names.of(child)[1] == "outline"]
            title = attribute(element, "title") or attribute(element, "text")
            listed = _outline(element, title, folders, offset, is_folder=bool(children))
            if listed is not None:
                yield listed
            inside = tuple(dict.fromkeys((*folders, title))) if title else folders
        stack += [(child, inside) for child in reversed(list(element.iterchildren()))]


def _outline(
    element: etree._Element, title: str, folders: tuple[str, ...], offset: int, *, is_folder: bool
) -> _Listed | None:
    """The feed that an outline stands for; ``None`` for folders, notes and links."""
    kind = attribute(element, "type").lower()
    url = attribute(element, "xmlUrl")
    if not url and kind in ("rss", "atom"):
        url = attribute(element, "url")
    if not url and (is_folder or kind not in ("rss", "atom")):
        return None
    program = attribute(element, "filtercmd")
    labels = [part for path in attribute(element, "category").split(",") for part in path.strip().split("/") if part]
    return _Listed(
        (element.sourceline or 0) + offset,
        url,
        title,
        tuple(dict.fromkeys((*folders, *labels))),
        attribute(element, "htmlUrl"),
        attribute(element, "language"),
        "needs a program to filter it, which is never run" if program else "",
    )


def _csv_entries(text: str) -> Iterator[_Listed]:
    """Rows with or without a header; separated by comma, semicolon, tab or bar, whichever the first line has most."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(text.splitlines(), delimiter=delimiter)
    columns: dict[str, int] = {}
    try:
        for count, row in enumerate(rows):
            cells = [cell.strip() for cell in row]
            if count == 0 and (columns := _header(cells)):
                continue
            if any(cells) and not cells[0].startswith("#"):
                yield _row(rows.line_num, cells, columns)
    except csv.Error as error:
        yield _Listed(rows.line_num, "", refusal=f"not readable as CSV ({error})")


def _header(cells: list[str]) -> dict[str, int]:
    """Places of the columns by what they hold; empty if the first row is no header."""
    lower = [cell.lower().replace(" ", "_") for cell in cells]
    places = {}
    for field, choices in (("url", _URL_COLUMNS), ("title", _TITLE_COLUMNS), ("folders", _FOLDER_COLUMNS)):
        found = next((lower.index(name) for name in choices if name in lower), None)
        if found is not None:
            places[field] = found
    return places if "url" in places else {}


def _row(line: int, cells: list[str], columns: dict[str, int]) -> _Listed:
    if not columns:
        place = next((i for i, cell in enumerate(cells) if feed_address(cell)[0]), 0)
        rest = [cell for i, cell in enumerate(cells) if i != place]
        return _Listed(line, cells[place], rest[0] if rest else "", tuple(cell for cell in rest[1:] if cell))
    values = {field: cells[place] for field, place in columns.items() if place < len(cells)}
    folders = [part.strip() for part in re.split(r"[,;|/]", values.get("folders", "")) if part.strip()]
    return _Listed(line, values.get("url", ""), values.get("title", ""), tuple(dict.fromkeys(folders)))


def _text_entries(text: str) -> Iterator[_Listed]:
    """A feed a line: the address, then words in quotes as labels (``"~word"`` is the title) or the title."""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "//")):
            continue
        quoted = re.findall(r'"([^"]*)"', stripped)
        address, _, rest = re.sub(r'"[^"]*"', " ", stripped).strip().partition(" ")
        if stripped.startswith('"') and quoted:
            address, quoted = quoted[0], quoted[1:]
        titles = [word[1:] for word in quoted if word.startswith("~")] or [rest.strip()]
        yield _Listed(number, address, titles[0], tuple(word for word in quoted if word and word[0] != "~"))


def listed(source: FeedSource) -> ListedFeed:
    """Returns a configured feed as an entry of a list."""
    return ListedFeed(source.url, source.source_name, source.tags, language=source.language)


def write_opml(feeds: Iterable[ListedFeed], title: str = "newsbeam") -> bytes:
    """Returns an OPML 2.0 file: each feed in the folder of its first label, all labels in ``category``."""
    by_folder: dict[str, list[ListedFeed]] = {}
    for feed in feeds:
        by_folder.setdefault(feed.folders[0] if feed.folders else "", []).append(feed)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<opml version="2.0">']
    lines += [f"  <head><title>{_attribute(title)[1:-1]}</title></head>", "  <body>"]
    for folder, inside in by_folder.items():
        indent = "      " if folder else "    "
        lines += [f"    <outline text={_attribute(folder)}>"] if folder else []
        lines += [indent + _outline_tag(feed) for feed in inside]
        lines += ["    </outline>"] if folder else []
    return ("\n".join([*lines, "  </body>", "</opml>"]) + "\n").encode("utf-8", "replace")


def _outline_tag(feed: ListedFeed) -> str:
    name = feed.title or feed.url
    pairs = [("type", "rss"), ("text", name), ("title", feed.title), ("xmlUrl", feed.url), ("htmlUrl", feed.site_url)]
    pairs += [("language", feed.language), ("category", ",".join("/" + tag.replace(",", " ") for tag in feed.folders))]
    return "<outline " + " ".join(f"{key}={_attribute(value)}" for key, value in pairs if value) + "/>"


def _attribute(text: str) -> str:
    clean = "".join(c if c >= " " and not "\ud800" <= c <= "\udfff" else " " for c in text)
    return quoteattr(clean, {'"': "&quot;"})
