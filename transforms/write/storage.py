"""Files of a dataset by their path below its root: the seam between the commit protocol and a file system.

Everything that reads or writes the dataset goes through a ``Storage``. Here is the one for local disks;
``object_storage.py`` has that for object stores. Paths are relative to the root, with ``/``. A file appears whole or
not at all, and what ``write`` or ``move`` returned from is on the disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import uuid
from collections.abc import Iterator, Mapping
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

    def delete_exactly(self, path: str, sha256: str) -> bool:
        """Removes a file if it is the one with this hash; tells whether it is gone, by this or before."""

    def names(self, folder: str) -> list[str]:
        """Returns the names in a folder, sorted; none if there is no such folder."""

    def stamps(self, folder: str) -> Mapping[str, str]:
        """Returns the files right in a folder, each with a mark that is another one when it was written anew."""

    def delete_tree(self, folder: str) -> None:
        """Removes a folder with all that is in it; no matter if it is gone already."""

    def sync(self, folders: set[str]) -> None:
        """Makes sure that renames and removals in these folders outlive a power cut; those that are gone are left."""

    def begin(self, run_id: str) -> None:
        """Lets the committer of a run decide for the holder of the lock, wherever it works."""

    def decide(self, run_id: str, path: str, data: bytes) -> None:
        """Writes the file from which a run counts, if the lock is still held; see ``carry_through``.

        Raises:
            DatasetError: If it cannot be written or the lock is lost; then the run does not count.
        """

    def carry_through(self) -> None:
        """Writes what a process has decided that ended before the file of ``decide`` was there."""

    def full_path(self, path: str) -> str:
        """Returns the path as the user would name it."""


def storage_of(root: str, drafts: str = STAGING) -> Storage:
    """Returns the storage for a root.

    Args:
        root: A local folder or an address such as ``gs://bucket/path``.
        drafts: The folder below the root in which a local file is written before it is put in place.

    Raises:
        StoreSetupError: If the root is on a store that is not supported or cannot be used as things are.
    """
    if "://" not in root:
        return LocalStorage(root, drafts)
    # Local runs have no use for it.
    from transforms.write.object_storage import ObjectStorage

    return ObjectStorage(root)


def has_folder(root: str, name: str) -> bool:
    """Tells whether a dataset has a folder of this name at its root.

    Raises:
        StoreSetupError: If the store of an address cannot be used.
    """
    if "://" not in root:
        return os.path.isdir(os.path.join(root, name))
    return name in storage_of(root).names("")


class LocalStorage:
    """A dataset on a local disk (POSIX rename: atomic within the root)."""

    def __init__(self, root: str, drafts: str = STAGING) -> None:
        """Takes the root folder, which need not exist yet, and the folder for drafts below it."""
        self.root = root.rstrip("/") or "/"
        self._drafts = drafts

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
        draft = f"{self._drafts}/{uuid.uuid4().hex}.draft"
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

    def delete_exactly(self, path: str, sha256: str) -> bool:
        """See ``Storage``: the lock of the system keeps everybody else away meanwhile."""
        if not self.exists(path):
            return True
        if hashlib.sha256(self.read(path)).hexdigest() != sha256:
            return False
        self.delete(path)
        return True

    def names(self, folder: str) -> list[str]:
        """See ``Storage``."""
        with self._told("read", folder):
            try:
                return sorted(os.listdir(self.full_path(folder)))
            except FileNotFoundError:
                return []

    def stamps(self, folder: str) -> dict[str, str]:
        """See ``Storage``."""
        with self._told("read", folder):
            try:
                with os.scandir(self.full_path(folder)) as found:
                    files = [(file.name, file.stat()) for file in found if file.is_file()]
            except FileNotFoundError:
                return {}
        return {name: f"{about.st_ino} {about.st_mtime_ns} {about.st_size}" for name, about in files}

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
                try:
                    handle = os.open(self.full_path(folder), os.O_RDONLY)
                except FileNotFoundError:
                    continue
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)

    def begin(self, run_id: str) -> None:
        """See ``Storage``: the lock of a disk needs no name of a run."""

    def decide(self, run_id: str, path: str, data: bytes) -> None:
        """See ``Storage``: the system holds the lock as long as the process lives."""
        self.write(path, data)

    def carry_through(self) -> None:
        """See ``Storage``: what was decided has been written."""

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
