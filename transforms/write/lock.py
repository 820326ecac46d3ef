"""The lock of a dataset: one writer at a time, on one host or one shared file system.

The lock is an flock on ``ROOT/_lock``, so that the system frees it when its holder ends in whatever way; a
file that was left over means nothing. It is never stolen. The file says who holds it, for people. In an object
store the lock is a lease (``lease.py``).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import weakref
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any

from transforms.write.storage import DatasetError

if TYPE_CHECKING:
    from transforms.write.lease import Lease

LOCK_FILE = "_lock"
_CANNOT_WRITE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)


class DatasetBusyError(DatasetError):
    """Another process writes to the dataset (exit 4).

    Attributes:
        pid: Its process id, if the lock file says so.
        started_at: When it took the lock, ISO 8601, if the lock file says so.
    """

    def __init__(self, message: str, path: str = "", pid: int | None = None, started_at: str | None = None) -> None:
        super().__init__(message, path)
        self.args = (message, path, pid, started_at)
        self.pid = pid
        self.started_at = started_at


class DatasetLock:
    """A lock that is held until ``release`` or the end of the process; also a context manager."""

    def __init__(self, handle: int, path: str) -> None:
        """Takes an open file descriptor that holds the lock."""
        self._handle: int | None = handle
        self.path = path
        _HELD.add(self)

    def release(self) -> None:
        """Gives the lock back; the second time does nothing."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            os.ftruncate(handle, 0)
            os.close(handle)

    def forget(self) -> None:
        """Closes the copy of a forked child, which would keep the lock when the parent is killed."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> DatasetLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


_HELD: weakref.WeakSet[DatasetLock] = weakref.WeakSet()


def _forget_in_child() -> None:
    for lock in list(_HELD):
        lock.forget()


os.register_at_fork(after_in_child=_forget_in_child)


def acquire(root: str, wait: bool = False) -> DatasetLock | Lease:
    """Takes the lock of a dataset; makes the root if there is none.

    Args:
        root: The dataset, a local folder or an address such as ``gs://bucket/path``.
        wait: Whether to wait for another holder to end; else it is an error.

    Raises:
        DatasetBusyError: If another process holds the lock.
        DatasetError: If the root cannot be made or written to.
        StoreSetupError: If the store of an address cannot be used.
    """
    if "://" in root:
        return _acquire_lease(root, wait)
    path = os.path.join(root, LOCK_FILE)
    try:
        os.makedirs(root, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DatasetError(f"cannot write to the dataset {root}: {error.strerror}", root) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _read_holder(handle)
        os.close(handle)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise DatasetError(f"cannot lock {path}: {error.strerror}", path) from error
        raise _busy(root, path, holder) from error
    lock = DatasetLock(handle, path)
    try:
        _write_holder(handle)
    except OSError as error:
        lock.release()
        raise DatasetError(f"cannot write {path}: {error.strerror}", path) from error
    return lock


def acquire_to_read(root: str, wait: bool = False) -> AbstractContextManager[object]:
    """Keeps writers away from a dataset for as long as it is read, as far as this process may.

    Where nothing can be written, a lock file that is there is locked in common with other readers. Without one, and
    in an object store, a writer that comes later is not kept away.

    Args:
        root: The dataset.
        wait: Whether to wait for a writer to end; else it is an error.

    Raises:
        DatasetBusyError: If a process writes to it.
        DatasetError: If it cannot be asked for.
    """
    try:
        return acquire(root, wait)
    except DatasetBusyError:
        raise
    except DatasetError as error:
        if getattr(error.__cause__, "errno", None) not in _CANNOT_WRITE:
            raise
    path = os.path.join(root, LOCK_FILE)
    try:
        file = open(path, "rb") if "://" not in root else None  # noqa: SIM115 (to close it ends the lock)
    except OSError:
        file = None
    if file is None:
        return nullcontext()
    try:
        fcntl.flock(file, fcntl.LOCK_SH if wait else fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        holder = _read_holder(file.fileno())
        file.close()
        raise _busy(root, path, holder) from error
    return file


def _acquire_lease(root: str, wait: bool) -> Lease:
    # For object stores alone.
    from transforms.remote.bucket import StoreSetupError
    from transforms.write.lease import acquire_lease
    from transforms.write.object_storage import ObjectStorage

    root = ObjectStorage(root).root  # checks the bucket
    try:
        return acquire_lease(root, wait, lambda holder, path: _busy(root, path, holder))
    except (DatasetError, StoreSetupError):
        raise
    except OSError as error:
        raise DatasetError(f"cannot lock {root}: {error.strerror or error}", root) from error


def _busy(root: str, path: str, holder: dict[str, Any]) -> DatasetBusyError:
    pid, started_at = holder.get("pid"), holder.get("started_at")
    known = isinstance(pid, int) and isinstance(started_at, str)
    who = holder.get("who") or (f"process {pid}, which started at {started_at}," if known else "another process")
    message = f"dataset {root} is busy: {who} writes to it; try again later, or wait for it with --wait"
    return DatasetBusyError(message, path, pid if isinstance(pid, int) else None, str(started_at) if known else None)


def _write_holder(handle: int) -> None:
    holder = {"pid": os.getpid(), "started_at": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(holder).encode() + b"\n", 0)


def _read_holder(handle: int) -> dict[str, Any]:
    try:
        holder = json.loads(os.pread(handle, 1000, 0))
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}
