"""A dataset in an object store: the same commit protocol over requests to a bucket.

What differs from a disk: an object appears whole by itself; a rename is a copy and a removal; there are no folders;
and the one writer holds a lease that another may take over when it seems dead (``lease.py``). A process that was
taken for dead may wake up at any line of the protocol, and must then do no harm:

- It may stage. Its staged files have names of their own, and the next holder removes them.
- ``decide`` is the point from which a run counts. It is a conditional write of the lease, which fails for everybody
  but its holder. Before it nothing but staging was touched.
- After it anybody may carry the run through: each step is the same whoever does it, and how often.
- What a holder removes it has listed before it made sure that the lease was still its own; what a journal removes
  goes only in the generation whose hash was compared.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO

from transforms.remote.bucket import ChangedError, StoreSetupError, bucket_of
from transforms.remote.reader import open_object
from transforms.write import lease
from transforms.write.manifest import manifest_path
from transforms.write.storage import STAGING, DatasetError

_THREADS = 8
_CHECKED: set[str] = set()


class ObjectStorage:
    """See ``Storage``."""

    def __init__(self, root: str) -> None:
        """Takes the address of the root, ``gs://bucket`` or ``gs://bucket/path``.

        Raises:
            StoreSetupError: If the bucket cannot be used.
        """
        self.root = root.rstrip("/")
        self._bucket, prefix = bucket_of(self.root)
        self._prefix = f"{prefix}/" if prefix else ""
        if self._bucket.address not in _CHECKED:
            self._bucket.check()
            _CHECKED.add(self._bucket.address)

    def full_path(self, path: str) -> str:
        """See ``Storage``."""
        return f"{self.root}/{path}" if path else self.root

    def exists(self, path: str) -> bool:
        """See ``Storage``."""
        with self._told("read", path):
            return self._bucket.stat(self._name(path)) is not None

    def read(self, path: str) -> bytes:
        """See ``Storage``."""
        with self._told("read", path):
            return self._bucket.read(self._name(path))

    def open(self, path: str) -> IO[bytes]:
        """See ``Storage``."""
        with self._told("read", path):
            return open_object(self._bucket, self._name(path))

    def write(self, path: str, data: bytes) -> None:
        """See ``Storage``."""
        with self._told("write", path):
            if not path.startswith(f"{STAGING}/"):
                self._still_ours()
            self._bucket.write(self._name(path), data)

    def move(self, source: str, target: str) -> None:
        """See ``Storage``; over a crash between copy and removal the file is in both places."""
        with self._told("write", target):
            self._still_ours()
            self._bucket.copy(self._name(source), self._name(target))
            self._bucket.delete(self._name(source))

    def delete(self, path: str) -> None:
        """See ``Storage``."""
        with self._told("remove", path):
            self._still_ours()
            self._bucket.delete(self._name(path))

    def delete_exactly(self, path: str, sha256: str) -> bool:
        """See ``Storage``: the very generation whose hash was compared is removed, and no later one."""
        name = self._name(path)
        with self._told("remove", path):
            stat = self._bucket.stat(name)
            if stat is None:
                return True
            try:
                if hashlib.sha256(self._bucket.read(name, generation=stat.generation)).hexdigest() != sha256:
                    return False
                self._still_ours()
                self._bucket.delete(name, if_generation=stat.generation)
            except (FileNotFoundError, ChangedError):
                held = lease.held(self.root)
                if held is not None:
                    held.confirm()
                return self._bucket.stat(name) is None
        return True

    def names(self, folder: str) -> list[str]:
        """See ``Storage``."""
        with self._told("read", folder):
            return self._bucket.folder(self._name(f"{folder}/" if folder else ""))

    def stamps(self, folder: str) -> dict[str, str]:
        """See ``Storage``: the generations, all in the pages of one listing."""
        prefix = self._name(f"{folder}/")
        with self._told("read", folder):
            found = [(stat.name[len(prefix) :], stat.generation) for stat in self._bucket.all_below(prefix)]
        return {name: str(generation) for name, generation in found if name and "/" not in name}

    def delete_tree(self, folder: str) -> None:
        """See ``Storage``."""
        with self._told("remove", folder):
            names = [stat.name for stat in self._bucket.all_below(self._name(folder) + "/")]
            held = lease.held(self.root)
            if names and held is not None:
                held.confirm()
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(self._bucket.delete, names))

    def sync(self, folders: set[str]) -> None:
        """See ``Storage``: a store has written what it has answered to."""

    def begin(self, run_id: str) -> None:
        """See ``Storage``."""
        held = lease.held(self.root)
        if held is not None:
            held.name_run(run_id)

    def decide(self, run_id: str, path: str, data: bytes) -> None:
        """See ``Storage``: the lease names a staged copy of the file, by which the file can be made again."""
        staged = f"{STAGING}/{run_id}/{uuid.uuid4().hex}.decision"
        with self._told("write", path):
            self._bucket.write(self._name(staged), data)
            decision = lease.Decision(run_id, path, staged)
            held = lease.held(self.root)
            if held is not None:
                held.decide(decision)
            else:
                lease.decide_for(self.root, decision)
            self._bucket.write(self._name(path), data)
            if held is not None:
                held.forget_decision()

    def carry_through(self) -> None:
        """See ``Storage``."""
        held = lease.held(self.root)
        decision = held.decision if held is not None else lease.decision_of(self.root)
        if decision is None:
            return
        with self._told("read", decision.path):
            done = self._bucket.stat(self._name(manifest_path(decision.run_id)))
            if done is None and self._bucket.stat(self._name(decision.path)) is None:
                self._bucket.write(self._name(decision.path), self._bucket.read(self._name(decision.staged)))
        if held is not None:
            held.forget_decision()

    def _name(self, path: str) -> str:
        return f"{self._prefix}{path}"

    def _still_ours(self) -> None:
        held = lease.held(self.root)
        if held is not None:
            held.check()

    @contextmanager
    def _told(self, verb: str, path: str) -> Iterator[None]:
        """Turns what the store says into one line with the address."""
        try:
            yield
        except (DatasetError, StoreSetupError):
            raise
        except OSError as error:
            full = self.full_path(path)
            raise DatasetError(f"cannot {verb} {full}: {error.strerror or error}", full) from error
