"""The YAML file that ``feeds add`` and ``feeds import`` write to, and what is listed already."""

from __future__ import annotations

import codecs
import glob
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.config.feeds import ListedFeed, list_feeds, read_feeds_file
from pipeline.config.load import Loaded
from pipeline.config.model import FeedItem
from pipeline.config.values import duration_text
from pipeline.errors import ConfigError
from pipeline.feeds.yaml_edit import add_feeds
from transforms.urls import url_key
from transforms.yaml_file import Mark, Problem, ProblemsError

_ENDINGS = (".yaml", ".yml")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NEW_FILE = "version: 1\n\nfeeds:\n"
_NAME_LENGTH = 200


class Target(NamedTuple):
    """Where feeds are added.

    Attributes:
        path: The YAML file; it need not exist yet.
        listed: Place of each feed that is listed already, by ``url_key`` of its address.
    """

    path: str
    listed: Mapping[str, Mark]


def find_target(file: str | None, loaded: Loaded) -> Target:
    """Returns the file to add to: the one that is named, else the only YAML file with feeds of the configuration.

    Raises:
        ConfigError: If it is not clear which file is meant.
        ProblemsError: If a list of feeds has mistakes.
    """
    if file is not None:
        if not file.lower().endswith(_ENDINGS):
            raise ConfigError(f"--file {file}: must be a YAML file, ending in .yaml or .yml")
        if "://" in file:
            raise ConfigError(f"--file {file}: feeds are added to local files alone")
        listed, problems = read_feeds_file(file, Mark(file, 0, 0), os.environ) if os.path.exists(file) else ([], [])
        return _target(file, listed, problems)
    files = list(_yaml_files(loaded.config.feeds))
    if not files:
        raise ConfigError("the configuration names no YAML file with feeds; name one with --file FEEDS.yaml")
    if len(files) > 1:
        raise ConfigError("several files list feeds; name one of them with --file: " + ", ".join(files))
    listed, problems = list_feeds(loaded.config, loaded.layers.place)
    return _target(files[0], listed, [*loaded.problems, *problems])


def _yaml_files(entries: Iterable[FeedItem | str]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str) and entry.lower().endswith(_ENDINGS) and "://" not in entry:
            yield from sorted(glob.glob(entry, recursive=True)) if glob.has_magic(entry) else [entry]


def _target(path: str, listed: Iterable[ListedFeed], problems: Sequence[Problem]) -> Target:
    if problems:
        raise ProblemsError(problems)
    places: dict[str, Mark] = {}
    for feed in listed:
        places.setdefault(url_key(feed.item.url), feed.mark)
    return Target(path, places)


def fields_of(item: FeedItem) -> dict[str, str | tuple[str, ...]]:
    """Returns the keys of a feed as they are written in a feeds file; ``$`` doubled, as it begins a variable."""
    fields: dict[str, str | tuple[str, ...]] = {}
    for name, model_field in FeedItem.model_fields.items():
        value = getattr(item, name)
        if value is None or value == ():
            continue
        key = model_field.alias or name
        if isinstance(value, bool):
            fields[key] = str(value).lower()
        elif isinstance(value, tuple):
            fields[key] = tuple(part.replace("$", "$$") for part in value)
        else:
            fields[key] = duration_text(value) if isinstance(value, float) else value.replace("$", "$$")
    first = ("id", "name", "url")
    order = sorted(fields, key=lambda key: first.index(key) if key in first else len(first))
    return {key: fields[key] for key in order}


def clean_name(name: str | None) -> str | None:
    """Returns a title from elsewhere as a name: one line, nothing invisible; ``None`` if nothing is left."""
    letters = "".join(letter if letter.isprintable() else " " for letter in name or "")
    return re.sub(r"\s+", " ", letters).strip()[:_NAME_LENGTH].strip() or None


def append(path: str, items: Sequence[FeedItem]) -> tuple[int, ...]:
    """Adds feeds to a feeds file, which is made if it is not there, and returns the line of each.

    Raises:
        ConfigError: If the file's form cannot be edited.
        OSError: If it cannot be read or written.
    """
    raw = Path(path).read_bytes() if os.path.exists(path) else _NEW_FILE.encode()
    bom, encoding = next(((bom, name) for bom, name in _BOMS if raw.startswith(bom)), (b"", "utf-8"))
    try:
        text = raw[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8; save the file as UTF-8") from None
    edited = add_feeds(text, [fields_of(item) for item in items], path)
    replace_file(path, bom + edited.text.encode(encoding))
    return edited.lines


def replace_file(path: str, data: bytes) -> None:
    """Writes a file whole or not at all; a link stays a link, the mode stays as it is.

    Raises:
        OSError: If it cannot be written; it names ``path``.
    """
    real = os.path.realpath(path)
    try:
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".newsbeam-")
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, os.stat(real).st_mode & 0o7777 if os.path.exists(real) else 0o666 & ~_umask())
            os.replace(draft, real)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
