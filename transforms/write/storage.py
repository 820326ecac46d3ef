"""Files of a dataset by their path below its root: the seam between the commit protocol and a file system.

Everything that reads or writes the dataset goes through a ``Storage``. Here is the one for local disks; an
object store needs another class with the same methods and a line in ``storage_of``. Paths are relative to
the root, with ``/``. A file appears whole or not at all, and what ``write`` or ``move`` returned from is on
the disk.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Protocol

STAGING = "_staging"


class DatasetError(Exception):
    """The dataset cannot be read or written; for people, with the path (exit 1).

    Attributes:
        path: The file or folder that the trouble is about.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message, path)
        self.path = path

    def __str__(self) -> str:
        return str(self.args[0])


class Storage(Protocol):
    """What the dataset asks of a file system."""

    root: str

    def exists(self, path: str) -> bool:
        """Tells whether there is a file at ``path``."""

    def read(self, path: str) -> bytes:
        """Returns a whole file."""

    def open(self, path: str) -> IO[bytes]:
        """Opens a file for reading in parts."""

    def write(self, path: str, data: bytes) -> None:
        """Makes ``data`` visible at ``path``, whole or not at all."""

    def move(self, source: str, target: str) -> None:
        """Renames a file, over another if there is one."""

    def delete(self, path: str) -> None:
        """Removes a file; no matter if it is gone already."""

    def names(self, folder: str) -> list[str]:
        """Returns the names in a folder, sorted; none if there is no such folder."""

    def delete_tree(self, folder: str) -> None:
        """Removes a folder with all that is in it; no matter if it is gone already."""

    def sync(self, folders: set[str]) -> None:
        """Makes sure that renames and removals in these folders outlive a power cut."""

    def full_path(self, path: str) -> str:
        """Returns the path as the user would name it."""


def storage_of(root: str) -> Storage:
    """Returns the storage for a root.

    Raises:
        DatasetError: If the root is on a file system that is not supported.
    """
    if "://" in root:
        scheme = root.partition("://")[0]
        raise DatasetError(f"cannot write to {root}: {scheme}:// is not supported yet; name a local folder", root)
    return LocalStorage(root)


class LocalStorage:
    """A dataset on a local disk (POSIX rename: atomic within the root)."""

    def __init__(self, root: str) -> None:
        """Takes the root folder, which need not exist yet."""
        self.root = root.rstrip("/") or "/"

    def full_path(self, path: str) -> str:
        """See ``Storage``."""
        return os.path.join(self.root, path) if path else self.root

    def exists(self, path: str) -> bool:
        """See ``Storage``."""
        return os.path.isfile(self.full_path(path))

    def read(self, path: str) -> bytes:
        """See ``Storage``."""
        with self._told("read", path), open(self.full_path(path), "rb") as file:
            return file.read()

    def open(self, path: str) -> IO[bytes]:
        """See ``Storage``."""
        with self._told("read", path):
            return open(self.full_path(path), "rb")

    def write(self, path: str, data: bytes) -> None:
        """See ``Storage``: written below ``_staging``, flushed, renamed, folder flushed."""
        draft = f"{STAGING}/{uuid.uuid4().hex}.draft"
        with self._told("write", path):
            self._make_folder(draft)
            self._make_folder(path)
            try:
                with open(self.full_path(draft), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(self.full_path(draft), self.full_path(path))
            except OSError:
                self._drop(draft)
                raise
        self.sync({os.path.dirname(path)})

    def move(self, source: str, target: str) -> None:
        """See ``Storage``."""
        with self._told("write", target):
            self._make_folder(target)
            os.replace(self.full_path(source), self.full_path(target))

    def delete(self, path: str) -> None:
        """See ``Storage``."""
        with self._told("remove", path):
            try:
                os.remove(self.full_path(path))
            except FileNotFoundError:
                return

    def names(self, folder: str) -> list[str]:
        """See ``Storage``."""
        with self._told("read", folder):
            try:
                return sorted(os.listdir(self.full_path(folder)))
            except FileNotFoundError:
                return []

    def delete_tree(self, folder: str) -> None:
        """See ``Storage``."""
        for name in self.names(folder):
            path = f"{folder}/{name}"
            if os.path.isdir(self.full_path(path)) and not os.path.islink(self.full_path(path)):
                self.delete_tree(path)
            else:
                self.delete(path)
        with self._told("remove", folder):
            try:
                os.rmdir(self.full_path(folder))
            except FileNotFoundError:
                return
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:  # a worker that lives on after its run has staged once more
                    raise

    def sync(self, folders: set[str]) -> None:
        """See ``Storage``."""
        for folder in sorted(folders):
            with self._told("write", folder):
                handle = os.open(self.full_path(folder), os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)

    def _make_folder(self, path: str) -> None:
        folder = os.path.dirname(self.full_path(path))
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)

    def _drop(self, path: str) -> None:
        try:
            os.remove(self.full_path(path))
        except OSError:
            return

    @contextmanager
    def _told(self, verb: str, path: str) -> Iterator[None]:
        """Turns what the system says into one line with the path."""
        try:
            yield
        except OSError as error:
            full = self.full_path(path)
            reason = error.strerror or str(error)
            raise DatasetError(f"cannot {verb} {full}: {reason}", full) from error
