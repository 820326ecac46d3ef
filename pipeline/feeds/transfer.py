"""Lists of feeds from elsewhere, and for elsewhere: OPML, CSV, plain text, our own YAML."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from pipeline.config import values
from pipeline.config.model import FeedDefaults, FeedItem
from pipeline.config.problems import problems_of
from pipeline.feeds.feeds_file import clean_name, fields_of
from pipeline.feeds.yaml_edit import add_feeds
from transforms.decoding import looks_binary
from transforms.feeds.opml import ListedFeed, read_list, write_opml
from transforms.urls import url_key
from transforms.yaml_file import KeyPath, Mark, YamlFile, load_yaml

MAX_BYTES = 50 << 20
FORMATS = {".opml": "opml", ".xml": "opml", ".csv": "csv", ".txt": "txt", ".yaml": "yaml", ".yml": "yaml"}

_MODELS: dict[str, type[BaseModel]] = {"": FeedItem}
_FORMULA = re.compile(r"[=@\t\r]|[+-].*[(|!=]", re.DOTALL)


class Taken(NamedTuple):
    """What a list holds.

    Attributes:
        items: Every feed once, in any spelling of its address, with the tags of all places.
        problems: A line for each entry that was left out: where, why, what.
        repeated: How many entries named a feed once more.
    """

    items: tuple[FeedItem, ...]
    problems: tuple[str, ...]
    repeated: int


def read_feeds(path: str, tags: Sequence[str] = ()) -> Taken:
    """Reads a list to its end, whatever is wrong in it.

    Args:
        path: The file.
        tags: Given to all of its feeds.

    Raises:
        OSError: If it cannot be read.
    """
    if os.path.getsize(path) > MAX_BYTES:
        return Taken((), (f"{path}: larger than {MAX_BYTES >> 20} MiB",), 0)
    if path.lower().endswith((".yaml", ".yml")):
        taken = _read_yaml(path)
    else:
        data = Path(path).read_bytes()
        if looks_binary(data):
            return Taken((), (f"{path}: binary data, no list of feeds",), 0)
        found = read_list(data, path)
        problems = [f"{path}:{problem.line}: {_said(problem.reason, problem.text)}" for problem in found.problems]
        taken = _made(found.feeds, path, problems, found.repeated)
    extra = tuple(filter(None, map(clean_name, tags)))
    items = [item.model_copy(update={"tags": tuple(dict.fromkeys((*item.tags, *extra)))}) for item in taken.items]
    return taken._replace(items=tuple(items))


def _said(reason: str, text: str) -> str:
    words = " ".join(values.without_secrets(word) for word in text.split(" "))
    return f"{reason}: {words}" if words else reason


def _made(feeds: Iterable[ListedFeed], path: str, problems: list[str], repeated: int) -> Taken:
    items = []
    for feed in feeds:
        tags = tuple(dict.fromkeys(filter(None, map(clean_name, feed.folders))))
        try:
            items.append(
                FeedItem(url=feed.url, name=clean_name(feed.title), language=_language(feed.language), tags=tags)
            )
        except ValidationError:
            problems.append(f"{path}:{feed.line}: not an http(s) address: {values.without_secrets(feed.url)}")
    return Taken(tuple(items), tuple(problems), repeated)


def _language(word: str | None) -> str | None:
    try:
        return values.language(word.replace("_", "-")) if word else None
    except ValueError:
        return None


def _read_yaml(path: str) -> Taken:
    file = load_yaml(path)
    problems = [str(problem) for problem in file.problems]
    is_bare = isinstance(file.data, list)
    top: KeyPath = () if is_bare else ("feeds",)
    content = {"feeds": file.data} if is_bare else file.data
    listed = content.get("feeds") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        return Taken((), (*problems, f"{path}: holds no list of feeds"), 0)
    defaults, wrong = _checked(FeedDefaults, content.get("defaults") or {}, file, ("defaults",))
    items: dict[str, FeedItem] = {}
    repeated = 0
    for number, entry in enumerate(listed):
        item, found = _entry(entry, defaults or FeedDefaults(), file, (*top, number))
        wrong += found
        if item is not None:
            known = items.setdefault(url_key(item.url), item)
            repeated += known is not item
            tags = tuple(dict.fromkeys((*known.tags, *item.tags)))
            items[url_key(item.url)] = known.model_copy(update={"tags": tags})
    return Taken(tuple(items.values()), (*problems, *wrong), repeated)


def _entry(entry: Any, defaults: FeedDefaults, file: YamlFile, path: KeyPath) -> tuple[FeedItem | None, list[str]]:
    """Reads one entry; what comes from variables is not copied, as it may be secret."""
    data = {"url": entry} if isinstance(entry, str) else entry
    if _has_variable(data):
        return None, [f"{file.mark_of(path)}: has a variable, which is not copied; add it by hand"]
    item, wrong = _checked(FeedItem, _without_double_dollars(data), file, path)
    if item is None:
        return None, wrong
    missing = {name: getattr(defaults, name) for name in FeedDefaults.model_fields if getattr(item, name) is None}
    return item.model_copy(update={**missing, "tags": tuple(dict.fromkeys((*item.tags, *defaults.tags)))}), []


def _has_variable(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_variable, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and "${" in value.replace("$$", "")


def _without_double_dollars(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_double_dollars(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_double_dollars(part) for part in value]
    return value.replace("$$", "$") if isinstance(value, str) and "$$" in value else value


def _checked(model: type[Any], data: Any, file: YamlFile, path: KeyPath) -> tuple[Any, list[str]]:
    def place(below: KeyPath, of_key: bool) -> Mark:
        whole = (*path, *below)
        return file.key_mark_of(whole) if of_key else file.mark_of(whole)

    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, [str(problem) for problem in problems_of(error, place, _MODELS)]


def has_secret(item: FeedItem) -> bool:
    """Tells whether the address of a feed holds a password or a token."""
    return values.without_secrets(item.url) != item.url


def write_feeds(items: Sequence[FeedItem], form: str) -> bytes:
    """Returns a list of feeds in one of the ``FORMATS``; all but YAML know no more than address, name and tags."""
    if form == "opml":
        return write_opml(ListedFeed(item.url, item.name, item.tags, language=item.language) for item in items)
    if form == "yaml":
        fields = [fields_of(item) for item in items]
        return add_feeds("version: 1\n\nfeeds:\n", fields, "feeds.yaml").text.encode() if items else b"feeds: []\n"
    if form == "csv":
        return _csv(items).encode()
    return "".join(f"{item.url}\n" for item in items).encode()


def _csv(items: Iterable[FeedItem]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("url", "title", "tags", "language"))
    writer.writerows(_cells(item) for item in items)
    return buffer.getvalue()


def _cells(item: FeedItem) -> Iterator[str]:
    for cell in (item.url, item.name or "", "; ".join(item.tags), item.language or ""):
        # A name that a spreadsheet would run as a formula gets an apostrophe, as is usual there.
        yield f"'{cell}" if _FORMULA.match(cell) else cell
