"""The transforms that read seeds: thin hulls around ``formats`` and ``urls_file``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from transforms import meter
from transforms.records import Document, Entry, Reject, RunContext, Tally
from transforms.remote.bucket import has_store
from transforms.remote.files import read_file
from transforms.seeds.common import FILE_BYTES_LIMIT, Place, reject
from transforms.seeds.expand import local_path
from transforms.seeds.formats import read_seed_file
from transforms.seeds.urls_file import read_urls

_LOG = logging.getLogger("newsbeam.seeds")
_STAGE = "read"
_Reader = Callable[..., Iterator[Document | Entry | Reject]]


class SeedRecords(NamedTuple):
    """What ``ReadSeeds`` yields: PCollections of ``Document``, ``Entry`` and ``Side``."""

    documents: Any
    entries: Any
    side: Any


class ListedEntries(NamedTuple):
    """What ``ReadUrls`` yields: PCollections of ``Entry`` and ``Side``."""

    entries: Any
    side: Any


class ReadSeeds(beam.PTransform):
    """Reads seed files whole and yields their records.

    In: paths, local or of any file system that Beam knows. Out: ``SeedRecords``.
    Guaranteed: every record of every file comes out exactly once, as document, entry or ``Reject``, and is
    counted so; no file raises. Records of one run come in no order.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__()
        self._run = run

    def expand(self, pcoll: Any) -> SeedRecords:
        """Joins the steps."""
        read = _read(pcoll, self._run, read_seed_file)
        return SeedRecords(read.documents, read.entries, read.side)


class ReadUrls(beam.PTransform):
    """Reads lists of page addresses.

    In: paths. Out: ``ListedEntries``. Guaranteed: as for ``ReadSeeds``.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__()
        self._run = run

    def expand(self, pcoll: Any) -> ListedEntries:
        """Joins the steps."""
        read = _read(pcoll, self._run, read_urls)
        return ListedEntries(read.entries, read.side)


def _read(paths: Any, run: RunContext, reader: _Reader) -> Any:
    """Opening a file is a side effect of some length: the paths are spread over the workers first."""
    step = beam.ParDo(_ReadFile(run, reader)).with_outputs("entries", "side", main="documents")
    return paths | "Spread paths" >> beam.Reshuffle() | "Read" >> step


class _ReadFile(beam.DoFn):
    """Reads one file and tells its records apart."""

    def __init__(self, run: RunContext, reader: _Reader) -> None:
        self._run = run
        self._reader = reader

    def start_bundle(self) -> None:
        self._passed = self._rejected = 0

    def process(self, path: str) -> Iterator[Any]:
        for record in self._records(path):
            meter.add("read")
            if isinstance(record, Reject):
                self._rejected += 1
                yield TaggedOutput("side", record)
                continue
            self._passed += 1
            yield record if isinstance(record, Document) else TaggedOutput("entries", record)

    def finish_bundle(self) -> Iterator[TaggedOutput]:
        counts = {"item": self._passed + self._rejected, "passed": self._passed, "rejected": self._rejected}
        for outcome, items in counts.items():
            if items:
                yield TaggedOutput("side", GlobalWindows.windowed_value_at_end_of_window(Tally(_STAGE, outcome, items)))

    def _records(self, path: str) -> Iterator[Document | Entry | Reject]:
        now = self._run.started_at  # one clock for all files, so that any split into bundles gives the same rows
        try:
            data = read_whole(path)
        except Exception as error:  # each file system of Beam raises its own; all mean that it cannot be read
            words = getattr(error, "strerror", None) or (str(error).splitlines() or ["no reason given"])[0][:300]
            yield reject(Place(path, now), "unreadable", f"cannot be read: {words}", b"")
            return
        if len(data) > FILE_BYTES_LIMIT:
            yield reject(Place(path, now), "too_big", f"more than {FILE_BYTES_LIMIT:,} bytes; cut the file", data)
            return
        yield from self._reader(path, data, now=now)


def read_whole(path: str) -> bytes:
    """Returns the bytes of a file as they are, at most one more than ``FILE_BYTES_LIMIT``.

    Raises:
        OSError: If it cannot be read; file systems of Beam raise errors of their own besides.
    """
    if has_store(path):
        return read_file(path, FILE_BYTES_LIMIT + 1)
    with FileSystems.open(local_path(path), compression_type=CompressionTypes.UNCOMPRESSED) as file:
        parts, size = [], 0
        while size <= FILE_BYTES_LIMIT and (part := file.read(min(16 << 20, FILE_BYTES_LIMIT + 1 - size))):
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def match_remote(pattern: str) -> list[str]:
    """Returns the files of a remote file system that match a pattern."""
    return [found.path for result in FileSystems.match([pattern]) for found in result.metadata_list]
