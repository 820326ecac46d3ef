"""From patterns to seed files: sorted names, nothing is opened.

``**`` stands for any folders, links to folders are not followed inside it, hidden files and folders and
``README`` files are left out.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import urllib.parse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from transforms.remote.bucket import has_store
from transforms.remote.files import match

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")
_FILE_SCHEME = "file://"


def is_seed_name(path: str) -> bool:
    """Tells whether a file of this name may be a seed: hidden files and ``README*`` never are."""
    name = path.rpartition("/")[2]
    return bool(name) and not name.startswith((".", "~$")) and not name.lower().startswith("readme")


class SeedFiles(NamedTuple):
    """What patterns stand for.

    Attributes:
        paths: The files, sorted, each once.
        unmatched: Patterns that match no seed file.
        problems: What is wrong with a pattern, a line each, for people: a folder, a folder that cannot be read.
        left_out: Files that patterns met and that are no seeds by their name.
    """

    paths: tuple[str, ...]
    unmatched: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def expand_seeds(patterns: Sequence[str]) -> SeedFiles:
    """Finds the files that patterns stand for.

    Args:
        patterns: Paths or patterns (``*``, ``?``, ``[...]``, ``**``), local or of a file system that Beam knows
            (``gs://``). A local name that exists is taken as it is, whatever signs are in it.
    """
    by_place: dict[str, str] = {}
    unmatched: list[str] = []
    problems: list[str] = []
    left_out: list[str] = []
    for pattern in patterns:
        if _SCHEME.match(pattern) and not pattern.startswith(_FILE_SCHEME):
            found = _remote(pattern, problems)
        else:
            found = list(_local(local_path(pattern), problems))
        wanted = [path for path in found if is_seed_name(path)]
        left_out += (path for path in found if not is_seed_name(path))
        for path in wanted:
            by_place.setdefault(path if _SCHEME.match(path) else os.path.abspath(path), path)
        if not wanted:
            unmatched.append(pattern)
    left_out = sorted(map(_portable, set(left_out)))
    paths = sorted(map(_portable, by_place.values()))
    return SeedFiles(tuple(paths), tuple(unmatched), tuple(problems), tuple(left_out))


def local_path(path: str) -> str:
    """Returns the name of a local file as the system knows it; undoes what ``expand_seeds`` did to odd names."""
    if path.startswith(_FILE_SCHEME):
        return os.fsdecode(urllib.parse.unquote_to_bytes(path[len(_FILE_SCHEME) :]))
    return path


def _portable(path: str) -> str:
    """A name that is no valid UTF-8 travels as a ``file://`` address."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return _FILE_SCHEME + urllib.parse.quote(os.fsencode(os.path.abspath(path)))
    return path


def _local(pattern: str, problems: list[str]) -> Iterator[str]:
    path = os.path.expanduser(pattern)
    if os.path.lexists(path):
        yield from _named(path, problems)
        return
    if not _MAGIC.search(path):
        return
    root, segments = _split_root(path)
    yield from dict.fromkeys(_walk(root, segments, problems))


def _named(path: str, problems: list[str]) -> Iterator[str]:
    if os.path.isdir(path):
        problems.append(f"{path} is a directory; use {os.path.join(path, '**')} for all files in it")
    elif _is_file(path):
        yield path
    elif os.path.exists(path):
        problems.append(f"{path} is no regular file")


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _split_root(path: str) -> tuple[str, list[str]]:
    """The folder before the first segment with a sign in it, and the segments from there on."""
    segments = path.split("/")
    first = next(number for number, segment in enumerate(segments) if _MAGIC.search(segment))
    root = "/".join(segments[:first])
    if path.startswith("/") and not root:
        root = "/"
    return root, [segment for segment in segments[first:] if segment not in ("", ".")]


def _walk(folder: str, segments: list[str], problems: list[str]) -> Iterator[str]:
    head, rest = segments[0], segments[1:]
    if head == "**":
        while rest[:1] == ["**"]:
            rest = rest[1:]
        yield from _walk(folder, rest or ["*"], problems)
        for entry in _entries(folder, problems):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _walk(os.path.join(folder, entry.name), ["**", *rest], problems)
        return
    if not _MAGIC.search(head):
        yield from _reached(os.path.join(folder, head), rest, problems)
        return
    for entry in _entries(folder, problems):
        # Hidden files are told as left out, hidden folders are not even looked into.
        if fnmatch.fnmatchcase(entry.name, head) and not (rest and entry.name.startswith(".")):
            yield from _reached(os.path.join(folder, entry.name), rest, problems)


def _reached(path: str, rest: list[str], problems: list[str]) -> Iterator[str]:
    if rest and os.path.isdir(path):
        yield from _walk(path, rest, problems)
    elif not rest and _is_file(path):
        yield path


def _entries(folder: str, problems: list[str]) -> list[os.DirEntry[str]]:
    """The entries of a folder, sorted."""
    try:
        with os.scandir(folder or ".") as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problem = f"{folder or '.'} cannot be read: {error.strerror or error}"
        if problem not in problems:
            problems.append(problem)
        return []


def _remote(pattern: str, problems: list[str]) -> list[str]:
    try:
        if has_store(pattern):
            return match(pattern)
        from transforms.seeds.stage import match_remote  # Beam only for those who name a store that it alone knows

        return match_remote(pattern)
    except Exception as error:  # each file system of Beam raises its own; all mean that it cannot be listed
        scheme = pattern.partition("://")[0]
        words = f"{scheme}:// is read through Beam, whose packages for it are not installed or not set up"
        if isinstance(error, OSError) and error.strerror:
            words = error.strerror
        problems.append(f"{pattern} cannot be listed: {words}")
        return []
