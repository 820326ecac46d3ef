"""Files by their path or address: what is read but not part of a dataset (configurations, topics, lists, seeds)."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from pathlib import Path

from transforms.remote.bucket import bucket_of, is_remote

_MAGIC = re.compile(r"[*?\[]")


def read_file(path: str, limit_bytes: int | None = None) -> bytes:
    """Returns a file, or its beginning.

    Args:
        path: A local path or an address.
        limit_bytes: Most bytes to return.

    Raises:
        OSError: If it cannot be read.
    """
    if not is_remote(path):
        with Path(path).open("rb") as file:
            return file.read(-1 if limit_bytes is None else limit_bytes)
    bucket, name = bucket_of(path)
    try:
        stat = bucket.stat(name) if name else None
        if stat is None:
            raise FileNotFoundError(2, "no such file", path)
        if not stat.size_bytes:
            return b""
        size = None if limit_bytes is None or limit_bytes >= stat.size_bytes else limit_bytes
        return bucket.read(name, 0, size, stat.generation)
    except FileNotFoundError:
        bucket.check()  # says so if it is the bucket that is not there
        raise


def is_file(path: str) -> bool:
    """Tells whether there is a file.

    Raises:
        OSError: If the store of an address cannot be asked.
    """
    if not is_remote(path):
        return os.path.isfile(path)
    bucket, name = bucket_of(path)
    found = bool(name) and bucket.stat(name) is not None
    if not found:
        bucket.check()
    return found


def size_of(path: str) -> int:
    """Returns the size of a file in bytes.

    Raises:
        OSError: If there is none or it cannot be asked for.
    """
    if not is_remote(path):
        return os.path.getsize(path)
    bucket, name = bucket_of(path)
    stat = bucket.stat(name)
    if stat is None:
        raise FileNotFoundError(2, "no such file", path)
    return stat.size_bytes


def match(pattern: str) -> list[str]:
    """Returns the files that a pattern stands for, sorted; a name without signs stands for itself, if it is there.

    ``*`` and ``?`` stop at ``/``, ``**`` stands for any folders. What lies below a hidden folder is left out.

    Args:
        pattern: A local path or an address.

    Raises:
        OSError: If the bucket cannot be listed.
    """
    if not is_remote(pattern):
        found_here = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
        return [path for path in found_here if os.path.isfile(path)]
    bucket, name = bucket_of(pattern)
    if not _MAGIC.search(name):
        return [pattern] if is_file(pattern) else []
    prefix = name[: _MAGIC.search(name).start()]  # type: ignore[union-attr]
    bucket.check()
    wanted = name.split("/")
    found = (stat.name for stat in bucket.all_below(prefix))
    return [f"{bucket.address}/{name}" for name in found if not name.endswith("/") and _fits(name.split("/"), wanted)]


def _fits(segments: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not segments
    head, rest = wanted[0], wanted[1:]
    if head == "**":
        if not rest:
            return bool(segments) and not any(segment.startswith(".") for segment in segments)
        if _fits(segments, rest):
            return True
        return bool(segments) and not segments[0].startswith(".") and _fits(segments[1:], wanted)
    if not segments or not fnmatch.fnmatchcase(segments[0], head):
        return False
    return _fits(segments[1:], rest)
