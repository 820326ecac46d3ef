"""The seam between newsbeam and object stores: a handful of requests that each of them can answer.

``gcs.py`` answers them for ``gs://``. Another store needs a class with the same methods and a line in ``_STORES``;
it must know conditional writes, since the lease of a dataset rests on them.
"""

from __future__ import annotations

import errno
import importlib
import threading
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

MUST_NOT_EXIST = 0
# Scheme, and module and class that serve it.
_STORES = {"gs": ("transforms.remote.gcs", "GcsBucket")}


class StoreError(OSError):
    """A store did not do what it was asked; ``strerror`` says why, ``filename`` is the address."""

    def __init__(self, message: str, address: str, number: int = errno.EIO) -> None:
        super().__init__(number, message, address)

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, str]]:
        return type(self), (str(self.strerror), str(self.filename))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class StoreSetupError(StoreError):
    """The store cannot be used at all, and the user can mend it: no credentials, no such bucket (exit 2)."""


class ChangedError(StoreError):
    """An object is not, or no more, the one that a conditional request meant."""


class ObjectStat(NamedTuple):
    """What a store says of an object.

    Attributes:
        name: Its name in the bucket.
        size_bytes: Its length.
        generation: Changes whenever the object is written.
        updated_at: When it was written last, by the clock of the store.
    """

    name: str
    size_bytes: int
    generation: int
    updated_at: datetime


class Bucket(Protocol):
    """A bucket of an object store. Reads see every write that returned before them.

    Errors are ``FileNotFoundError``, ``PermissionError`` or a ``StoreError``.
    """

    address: str

    def check(self) -> None:
        """Raises ``StoreSetupError`` unless the bucket is there and may be listed; takes seconds at most."""

    def stat(self, name: str) -> ObjectStat | None:
        """Returns what is known of an object; ``None`` if there is none."""

    def read(self, name: str, start: int = 0, size: int | None = None, generation: int | None = None) -> bytes:
        """Returns an object or ``size`` bytes of it, at least one; of this generation if one is given."""

    def write(self, name: str, data: bytes, if_generation: int | None = None) -> int:
        """Writes an object whole and returns its generation.

        With ``if_generation`` only over that generation (``MUST_NOT_EXIST``: over none); else ``ChangedError``.
        """

    def copy(self, source: str, target: str) -> None:
        """Copies an object within the store, over another if there is one."""

    def delete(self, name: str, if_generation: int | None = None) -> None:
        """Removes an object; no matter if it is gone already."""

    def all_below(self, prefix: str) -> list[ObjectStat]:
        """Returns all objects whose names begin with ``prefix``, sorted by name."""

    def folder(self, prefix: str) -> list[str]:
        """Returns the next segments of the names that begin with ``prefix``, sorted, each once."""


def is_remote(path: str) -> bool:
    """Tells whether a path is an address on some store (``gs://bucket/x``), ``file://`` left aside."""
    return "://" in path and not path.startswith("file://")


def has_store(address: str) -> bool:
    """Tells whether there is a store for the scheme of an address."""
    scheme, mark, _ = address.partition("://")
    return bool(mark) and scheme in _STORES


_BUCKETS: dict[str, Bucket] = {}
_BUCKETS_LOCK = threading.Lock()


def bucket_of(address: str) -> tuple[Bucket, str]:
    """Returns the bucket of an address, one object a process, and the name within it.

    Raises:
        StoreSetupError: If there is no store for the scheme, its packages are not installed, or nobody says who asks.
    """
    scheme, _, rest = address.partition("://")
    bucket, _, name = rest.partition("/")
    if scheme not in _STORES:
        known = " or ".join(f"{known}://" for known in _STORES)
        raise StoreSetupError(f"{scheme}:// is not supported; name a local path or {known}", address)
    if not bucket:
        raise StoreSetupError(f"names no bucket; write {scheme}://bucket/path", address)
    root = f"{scheme}://{bucket}"
    with _BUCKETS_LOCK:
        if root not in _BUCKETS:
            module, kind = _STORES[scheme]
            make: Callable[[str], Bucket] = getattr(importlib.import_module(module), kind)
            _BUCKETS[root] = make(root)
        return _BUCKETS[root], name
