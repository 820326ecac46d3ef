"""The lock of a dataset in an object store: an object that one process holds and keeps renewing.

It is made if there is none, or taken over if its holder is known to be gone: its process on this machine has ended, or
it was not renewed for ``EXPIRES_S`` by the clock of the store. Every change of it is conditional on the generation
that was read before, so that of two processes one wins. A holder that was only slow and wakes up finds that out at
the next renewal or decision; what it may do until then is told in ``object_storage.py``.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, NamedTuple

from transforms.remote.bucket import MUST_NOT_EXIST, Bucket, ChangedError, bucket_of
from transforms.write.storage import DatasetError

LEASE_FILE = "_lock"
EXPIRES_S = 60.0
RENEW_S = 10.0
# By its own clock a holder stops a little before others may take over.
_SAFE_S = 50.0
_ASK_AGAIN_S = 1.0
_LOG = logging.getLogger("newsbeam.lease")


class Decision(NamedTuple):
    """That a run counts: its id, the file that says what is to be done, and a staged copy of that file."""

    run_id: str
    path: str
    staged: str


class _Found(NamedTuple):
    """A lease as it lies in the store."""

    holder: dict[str, Any]
    generation: int
    age: timedelta


class Lease:
    """A lease that is held until ``release``; also a context manager. Its renewal is a thread of its own."""

    def __init__(self, root: str, bucket: Bucket, name: str, holder: dict[str, Any], generation: int) -> None:
        """Takes a lease that this process has just written."""
        self.root = root
        self.path = f"{bucket.address}/{name}"
        self._bucket = bucket
        self._name = name
        self._holder = holder
        self._generation = generation
        self._renewed_at = time.monotonic()
        self._taken_by: str | None = None
        self._mutex = threading.RLock()
        self._ended = threading.Event()
        _HELD[root] = self
        self._thread = threading.Thread(target=self._keep, name="newsbeam-lease", daemon=True)
        self._thread.start()

    @property
    def decision(self) -> Decision | None:
        """The decision that was not yet carried through when the lease was taken, if there is one."""
        with self._mutex:
            return _decision_in(self._holder)

    def check(self) -> None:
        """Makes sure that nobody else can hold the lease, by what this process knows.

        Raises:
            DatasetError: If it was taken over, or could not be renewed for too long.
        """
        if self._taken_by is not None:
            raise DatasetError(
                f"dataset {self.root} was taken over by {self._taken_by}, since this process had not been heard of for"
                f" {EXPIRES_S:g} s; what it was about to write is not in the dataset, run the command again",
                self.path,
            )
        if time.monotonic() - self._renewed_at > _SAFE_S:
            self.confirm()

    def confirm(self) -> None:
        """Makes sure of the same by asking the store.

        Raises:
            DatasetError: As ``check``.
        """
        self._change(lambda holder: None)
        if self._taken_by is not None:
            self.check()

    def name_run(self, run_id: str) -> None:
        """Lets the committer of a run decide in the name of this lease, on whatever machine it works."""
        self._change(lambda holder: holder.update(run_id=run_id))
        self.check()

    def decide(self, decision: Decision) -> None:
        """Makes a run count; from here on it is carried through, by whoever holds the lease.

        Raises:
            DatasetError: If the lease is lost; then the run does not count.
        """
        self._change(lambda holder: holder.update(decision=list(decision)))
        self.check()

    def forget_decision(self) -> None:
        """Says that the decision can be told from the dataset itself by now; the next renewal writes that."""
        with self._mutex:
            self._holder.pop("decision", None)

    def release(self) -> None:
        """Gives the lease back; the second time does nothing. A decision in it is left to the next holder."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        if _HELD.get(self.root) is self:
            del _HELD[self.root]
        if self._taken_by is not None:
            return
        try:
            if self.decision is not None:
                self._change(lambda holder: holder.update(released=True))
            else:
                self._bucket.delete(self._name, if_generation=self._generation)
        except ChangedError:
            self._change(lambda holder: holder.update(released=True))
        except OSError as error:
            _LOG.warning("the lease %s could not be given back, it ends in %g s: %s", self.path, EXPIRES_S, error)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _keep(self) -> None:
        while not self._ended.wait(RENEW_S):
            try:
                self._change(lambda holder: None)
            except OSError as error:  # tried again until others may take over
                _LOG.warning("the lease %s could not be renewed: %s", self.path, error)
            if self._taken_by is not None:
                _LOG.error("the lease %s was taken over by %s", self.path, self._taken_by)
                return

    def _change(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Writes the lease anew if it is still ours, else remembers who has it."""
        with self._mutex:
            while self._taken_by is None:
                holder = self._holder | {"renewed_at": _now_text(), "nonce": uuid.uuid4().hex}
                change(holder)
                began = time.monotonic()
                try:
                    self._generation = self._bucket.write(self._name, _bytes(holder), self._generation)
                except ChangedError:
                    if not self._is_adopted(holder):
                        continue
                self._holder, self._renewed_at = holder, began
                return

    def _is_adopted(self, written: dict[str, Any]) -> bool:
        """Looks at what is there instead: our own write after all, a decision of our committer, or another holder."""
        found = _find(self._bucket, self._name)
        if found is None or found.holder.get("token") != written["token"]:
            self._taken_by = "another process" if found is None else _who(found.holder)
            return False
        self._generation = found.generation
        if found.holder.get("nonce") == written["nonce"]:
            return True
        if "decision" in found.holder:
            self._holder["decision"] = found.holder["decision"]
        return False


_HELD: dict[str, Lease] = {}
os.register_at_fork(after_in_child=_HELD.clear)


def held(root: str) -> Lease | None:
    """Returns the lease that this process holds on a dataset."""
    return _HELD.get(root)


def acquire_lease(root: str, wait: bool, busy: Callable[[dict[str, Any], str], Exception]) -> Lease:
    """Takes the lease of a dataset.

    Args:
        root: Its address, without ``/`` at the end.
        wait: Whether to wait for another holder to end.
        busy: Makes the error that says who holds it, from its words and the path of the lease.

    Raises:
        OSError: If the store cannot be asked.
    """
    bucket, name = _place(root)
    told = False
    while True:
        found = _find(bucket, name)
        if found is None or _is_gone(found):
            holder = _myself()
            if found is not None and "decision" in found.holder:
                holder["decision"] = found.holder["decision"]
            try:
                generation = bucket.write(name, _bytes(holder), found.generation if found else MUST_NOT_EXIST)
            except ChangedError:
                mine = _find(bucket, name)  # a write that was sent twice and arrived at once is refused too
                if mine is None or mine.holder.get("nonce") != holder["nonce"]:
                    continue
                generation = mine.generation
            return Lease(root, bucket, name, holder, generation)
        if not wait:
            raise busy(found.holder | {"who": _who(found.holder)}, f"{bucket.address}/{name}")
        if not told:
            _LOG.info("waiting for %s to end", _who(found.holder))
            told = True
        time.sleep(_ASK_AGAIN_S)


def decide_for(root: str, decision: Decision) -> None:
    """Makes a run count in the name of its launcher, from a worker on another machine.

    Raises:
        DatasetError: If the launcher does not hold the lease any more; then the run does not count.
    """
    bucket, name = _place(root)
    while True:
        found = _find(bucket, name)
        if found is None or found.holder.get("run_id") != decision.run_id or found.holder.get("released"):
            message = f"the launcher of the run {decision.run_id} holds {root} no more; its rows are not written"
            raise DatasetError(f"{message}, run the command again", f"{bucket.address}/{name}")
        holder = found.holder | {"decision": list(decision), "nonce": uuid.uuid4().hex}
        try:
            bucket.write(name, _bytes(holder), found.generation)
        except ChangedError:
            continue  # renewed meanwhile; and to decide twice does no harm
        return


def decision_of(root: str) -> Decision | None:
    """Returns the decision that the lease of a dataset names, whoever holds it."""
    found = _find(*_place(root))
    return None if found is None else _decision_in(found.holder)


def _place(root: str) -> tuple[Bucket, str]:
    bucket, prefix = bucket_of(root)
    return bucket, f"{prefix}/{LEASE_FILE}" if prefix else LEASE_FILE


def _find(bucket: Bucket, name: str) -> _Found | None:
    while (stat := bucket.stat(name)) is not None:
        try:
            data = bucket.read(name, generation=stat.generation)
        except FileNotFoundError:  # renewed between the two requests
            continue
        try:
            holder = json.loads(data)
        except ValueError:
            holder = {}
        age = datetime.now(timezone.utc) - stat.updated_at
        return _Found(holder if isinstance(holder, dict) else {}, stat.generation, age)
    return None


def _is_gone(found: _Found) -> bool:
    holder = found.holder
    if holder.get("released") or found.age > timedelta(seconds=EXPIRES_S):
        return True
    here = _machine()
    if not here or holder.get("machine") != here:
        return False
    pid = holder.get("pid")
    return isinstance(pid, int) and _process_start(pid) != holder.get("process_start")


def _decision_in(holder: dict[str, Any]) -> Decision | None:
    fields = holder.get("decision")
    return Decision(*fields) if isinstance(fields, list) and len(fields) == len(Decision._fields) else None


def _myself() -> dict[str, Any]:
    return {
        "token": uuid.uuid4().hex,
        "nonce": uuid.uuid4().hex,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started_at": _now_text(),
        "machine": _machine(),
        "process_start": _process_start(os.getpid()),
    }


def _who(holder: dict[str, Any]) -> str:
    pid, host, started_at = (holder.get(name) for name in ("pid", "host", "started_at"))
    return f"process {pid} on {host}, which started at {started_at}," if pid and host else "another process"


def _machine() -> str:
    """This boot of this machine and its space of process ids; empty where Linux is not."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _process_start(pid: int) -> str:
    """When a process was started, in ticks since boot; empty if there is none, or it has ended (a zombie)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _now_text() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _bytes(holder: dict[str, Any]) -> bytes:
    return json.dumps(holder).encode() + b"\n"
