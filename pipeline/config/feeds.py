"""Lists of feeds: YAML files of our own form, OPML, CSV and plain lists, and addresses given directly."""

from __future__ import annotations

import glob
import logging
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ValidationError

from pipeline.config import values
from pipeline.config.model import Config, FeedDefaults, FeedItem, Strict
from pipeline.config.problems import problems_of
from pipeline.config.variables import expand_variables
from transforms.records import FeedSource
from transforms.remote.bucket import is_remote
from transforms.remote.files import match, read_file
from transforms.urls import host_of, safe_to_show, url_key
from transforms.yaml_file import MAX_BYTES, KeyPath, Mark, Problem, YamlFile, load_yaml

if TYPE_CHECKING:
    from transforms.feeds import opml

_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?:/|\Z)")
_LOG = logging.getLogger("newsbeam.config")


def _as_item(value: Any) -> Any:
    """An address alone is a feed with nothing but an address."""
    return {"url": value} if isinstance(value, str) else value


class FeedsFile(Strict):
    """A feeds file: ``version``, ``defaults`` and ``feeds``."""

    version: Annotated[str, BeforeValidator(values.version)] = "1"
    defaults: FeedDefaults = FeedDefaults()
    feeds: Annotated[tuple[Annotated[FeedItem, BeforeValidator(_as_item)], ...], BeforeValidator(values.item_list)] = ()


class ListedFeed(NamedTuple):
    """A feed and the place where it is listed."""

    item: FeedItem
    mark: Mark


def list_feeds(
    config: Config, place: Callable[[KeyPath], Mark], environ: Mapping[str, str] | None = None
) -> tuple[list[ListedFeed], list[Problem]]:
    """Returns all feeds of a configuration in order, each address once, and all mistakes.

    The same address twice in one file is a mistake; over several files the first one counts and gets the
    tags of the others.

    Args:
        config: The configuration.
        place: Tells where the value at a path of the configuration stands.
        environ: Variables for ``${NAME}``; default: those of the process.
    """
    listed: list[ListedFeed] = []
    problems: list[Problem] = []
    for number, entry in enumerate(config.feeds):
        mark = place(("feeds", number))
        if isinstance(entry, FeedItem):
            listed.append(ListedFeed(entry, mark))
        elif values.is_web_address(entry):
            listed.append(ListedFeed(FeedItem(url=entry), mark))
        else:
            files = _files_of(entry)
            if not files:
                problems.append(_wrong(mark, f"no file matches {entry}"))
            for file in files:
                found, wrong = read_feeds_file(file, mark, os.environ if environ is None else environ)
                listed += found
                problems += wrong
    return _each_once(listed, problems), problems


def _files_of(entry: str) -> list[str]:
    if not glob.has_magic(entry) or os.path.exists(entry):
        return [entry]
    return match(entry) if is_remote(entry) else sorted(glob.glob(entry, recursive=True))


def read_feeds_file(file: str, named_at: Mark, environ: Mapping[str, str]) -> tuple[list[ListedFeed], list[Problem]]:
    """Reads one file with feeds; its ending says what it is.

    Args:
        file: Path of a YAML, OPML, CSV or text file.
        named_at: Where the file is named, for the mistake that there is none.
        environ: Variables for ``${NAME}``.
    """
    try:
        if file.lower().endswith((".yaml", ".yml")):
            return _from_yaml(load_yaml(file), environ)
        return _from_list(file)
    except OSError as error:
        return [], [_wrong(named_at, f"{file}: {error.strerror or error}")]


def _wrong(mark: Mark, message: str) -> Problem:
    return Problem(mark, "feeds" if mark.line else "", message)


def source_of(item: FeedItem, config: Config) -> FeedSource:
    """Returns the record that the stages work with; what the feed leaves open comes from the config."""
    interval_s = config.poll_interval_s if item.interval_s is None else item.interval_s
    return FeedSource(
        url=item.url,
        source_id=item.id or _host(item.url),
        source_name=item.name,
        language=item.language,
        interval_s=round(interval_s),
        time_zone=item.time_zone,
        conditional=item.conditional or "auto",
        robots=config.robots_for_feeds if item.robots is None else item.robots,
        tags=item.tags,
    )


def _host(url: str) -> str:
    if plain := _PLAIN_HOST.match(url):
        return plain[1]  # nearly all
    try:
        return urlsplit(url).hostname or host_of(url)
    except ValueError:  # such as a bracket in the password
        return host_of(url)


def _from_yaml(file: YamlFile, environ: Mapping[str, str]) -> tuple[list[ListedFeed], list[Problem]]:
    problems = list(file.problems)
    if file.data is None:
        return [], problems
    data = expand_variables(file, environ, problems)
    is_bare = isinstance(data, list)

    def at(path: KeyPath) -> KeyPath:
        return path[1:] if is_bare and path[:1] == ("feeds",) else path

    def place(path: KeyPath, of_key: bool) -> Mark:
        return file.key_mark_of(at(path)) if of_key else file.mark_of(at(path))

    if is_bare:
        data = {"feeds": data}
    if not isinstance(data, dict):
        problems.append(Problem(Mark(file.file, 1, 1), "", "must hold `feeds:` with a list below it"))
        return [], problems
    try:
        content = FeedsFile.model_validate(data)
    except ValidationError as error:
        models: dict[str, type[BaseModel]] = {"": FeedsFile, "defaults": FeedDefaults, "feeds": FeedItem}
        return [], problems + problems_of(error, place, models)
    listed = [
        ListedFeed(_with_defaults(item, content.defaults), place(("feeds", number), False))
        for number, item in enumerate(content.feeds)
    ]
    return listed, problems


def _with_defaults(item: FeedItem, defaults: FeedDefaults) -> FeedItem:
    missing = {
        name: value
        for name in FeedDefaults.model_fields
        if getattr(item, name) is None and (value := getattr(defaults, name)) is not None
    }
    tags = tuple(dict.fromkeys((*item.tags, *defaults.tags)))
    if not missing and tags == item.tags:
        return item
    return item.model_copy(update={**missing, "tags": tags})


def _from_list(file: str) -> tuple[list[ListedFeed], list[Problem]]:
    """Reads OPML, CSV or text as other programs write them: what cannot be used is said, the rest goes in."""
    from transforms.feeds.opml import read_list  # brings lxml, which YAML has no use for

    body = read_file(file, MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        return [], [Problem(Mark(file, 0, 0), "", f"larger than {MAX_BYTES >> 20} MiB; split it")]
    found = read_list(body, os.path.basename(file))
    for left_out in found.problems if found.feeds else ():
        _LOG.warning("%s: left out: %s", file, safe_to_show(str(left_out)))
    if not found.feeds:
        first = f" ({safe_to_show(str(found.problems[0]))})" if found.problems else ""
        return [], [Problem(Mark(file, 0, 0), "", f"lists no feed that can be used{first}")]
    return [ListedFeed(_item_of(feed), Mark(file, feed.line, 1)) for feed in found.feeds], []


def _item_of(feed: opml.ListedFeed) -> FeedItem:
    def usable(read: Callable[[Any], str], word: str | None) -> str | None:
        try:
            return read(word) if word else None
        except ValueError:
            return None

    tags = tuple(tag for folder in feed.folders if (tag := usable(values.filled, folder)))
    name = usable(values.filled, feed.title)
    return FeedItem(url=feed.url, name=name, language=usable(values.language, feed.language), tags=tags)


def _each_once(listed: list[ListedFeed], problems: list[Problem]) -> list[ListedFeed]:
    by_key: dict[str, ListedFeed] = {}
    for feed in listed:
        key = url_key(feed.item.url)
        first = by_key.setdefault(key, feed)
        if first is feed:
            continue
        if first.mark.file == feed.mark.file and feed.mark.line:
            shown = values.without_secrets(feed.item.url)
            problems.append(Problem(feed.mark, "", f"{shown} is listed twice, first in line {first.mark.line}"))
        tags = tuple(dict.fromkeys((*first.item.tags, *feed.item.tags)))
        by_key[key] = ListedFeed(first.item.model_copy(update={"tags": tags}), first.mark)
    return list(by_key.values())
