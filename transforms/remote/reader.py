"""Objects as files: a seekable reader for PyArrow, and a file system for DuckDB.

A reader keeps to the generation that it opened, so that it never mixes an object with the one that replaced it.
"""

from __future__ import annotations

import importlib
import io
from typing import IO, Any

from transforms.remote.bucket import Bucket, ObjectStat, bucket_of

# Footer, page index and a column of a common file fit into one or two requests.
BUFFER_BYTES = 1 << 20


class _RangeReader(io.RawIOBase):
    """Reads an object by ranges."""

    def __init__(self, bucket: Bucket, stat: ObjectStat) -> None:
        self._bucket = bucket
        self._stat = stat
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._stat.size_bytes}[whence]
        self._place = max(0, start + offset)
        return self._place

    def readall(self) -> bytes:
        """Returns the rest in one request."""
        rest = bytearray(max(0, self._stat.size_bytes - self._place))
        del rest[self.readinto(rest) :]
        return bytes(rest)

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._stat.size_bytes - self._place)
        if size <= 0:
            return 0
        data = self._bucket.read(self._stat.name, self._place, size, self._stat.generation)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def open_object(bucket: Bucket, name: str) -> IO[bytes]:
    """Opens an object for reading in parts.

    Raises:
        OSError: If it is not there or cannot be read.
    """
    stat = bucket.stat(name)
    if stat is None:
        raise FileNotFoundError(2, "no such file", f"{bucket.address}/{name}")
    return io.BufferedReader(_RangeReader(bucket, stat), min(BUFFER_BYTES, max(1, stat.size_bytes)))


def file_system(scheme: str) -> Any:
    """Returns a read-only fsspec file system over the buckets of a scheme, for DuckDB's ``register_filesystem``.

    Raises:
        ImportError: If fsspec is not installed (extra ``gcp``).
    """
    spec = importlib.import_module("fsspec.spec")
    stats: dict[str, ObjectStat] = {}

    def info_of(stat: ObjectStat, address: str) -> dict[str, Any]:
        path = f"{address}/{stat.name}"
        stats[path] = stat
        return {"name": path, "size": stat.size_bytes, "type": "file", "mtime": stat.updated_at}

    class BucketFileSystem(spec.AbstractFileSystem):  # type: ignore[misc, name-defined]
        protocol = scheme

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return f"{scheme}://" + path.removeprefix(f"{scheme}://").lstrip("/")

        def find(self, path: str, *_: Any, **how: Any) -> Any:
            bucket, name = bucket_of(self._strip_protocol(path))
            prefix = f"{name.rstrip('/')}/" if name.rstrip("/") else ""
            found = {}
            for stat in bucket.all_below(prefix):
                info = info_of(stat, bucket.address)
                found[info["name"]] = info
            return found if how.get("detail") else sorted(found)

        def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
            return list(self.find(path, detail=True).values()) if detail else self.find(path)

        def info(self, path: str, **_: Any) -> Any:
            path = self._strip_protocol(path)
            if path in stats:
                return info_of(stats[path], path[: -len(stats[path].name) - 1])
            bucket, name = bucket_of(path)
            stat = bucket.stat(name) if name else None
            if stat is None:
                raise FileNotFoundError(2, "no such file", path)
            return info_of(stat, bucket.address)

        def modified(self, path: str) -> Any:
            return self.info(path)["mtime"]

        def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
            if mode != "rb":
                raise PermissionError(13, "is only read from here", path)
            bucket, _name = bucket_of(self._strip_protocol(path))
            self.info(path)
            stat = stats[self._strip_protocol(path)]
            return io.BufferedReader(_RangeReader(bucket, stat), min(BUFFER_BYTES, max(1, stat.size_bytes)))

    return BucketFileSystem(skip_instance_cache=True)
