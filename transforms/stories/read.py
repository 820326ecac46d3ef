"""What the stories job reads of a dataset: the articles of the last days, and how they are grouped already.

Of each article only the newest revision counts. All that is read twice is read alike: the caller holds the lock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transforms.stories.candidates import MIN_MEETINGS, SKETCH_WORDS, Numbers, sketch
from transforms.stories.compare import COMPARE_WORDS, Text
from transforms.stories.shingles import Hashes, Shingler, folded_words, runs_of
from transforms.write.storage import DatasetError, Storage

# Below this length texts are alike by chance ("Read the full story here"): only equal title and text count.
SHORT_WORDS = 25
_ID_COLUMNS = ["article_id", "revision", "published_at", "first_seen_at"]
_TEXT_COLUMNS = ["title", "domain", "text", "boilerplate", "word_count", "text_fingerprint"]
_READ_ROWS = 500


class Part(NamedTuple):
    """Rows of one row group of a file.

    Attributes:
        path: The file below the root.
        group: The row group.
        rows: Places in it, ascending.
        numbers: The number of the article in each.
    """

    path: str
    group: int
    rows: Numbers
    numbers: Numbers


class Window(NamedTuple):
    """The articles of some days, numbered in the order in which they appeared.

    Attributes:
        article_ids: By number.
        appeared_at: By number: published_at, else first_seen_at.
        parts: Where their texts lie.
    """

    article_ids: list[str]
    appeared_at: list[datetime]
    parts: list[Part]


class Grouped(NamedTuple):
    """The newest row of ``stories`` of an article, its story followed through links."""

    story_id: str
    as_of: datetime


def first_day(now: datetime, days: int) -> date:
    """Returns the first ``ingest_date`` of a window: that of ``days`` days before ``now``."""
    return now.astimezone(timezone.utc).date() - timedelta(days=days)


def read_window(storage: Storage, since: date) -> Window:
    """Finds the newest revision of each article that was taken in since a day.

    Raises:
        DatasetError: If a file cannot be read.
    """
    tables, places = [], []
    for path in _files(storage, "articles", since):
        with _Opened(storage, path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=_ID_COLUMNS)
                tables.append(table)
                places.append((path, group, table.num_rows))
    if not tables:
        return Window([], [], [])
    rows = pa.concat_tables(tables)
    ids = rows["article_id"].to_pylist()
    times = [
        min(published or seen, seen)  # what was published "later" than it was seen has a wrong clock
        for published, seen in zip(rows["published_at"].to_pylist(), rows["first_seen_at"].to_pylist(), strict=True)
    ]
    newest: dict[str, tuple[int, int]] = {}
    for row, (article_id, revision) in enumerate(zip(ids, rows["revision"].to_pylist(), strict=True)):
        newest[article_id] = max(newest.get(article_id, (0, 0)), (revision, row))
    chosen = sorted((row for _, row in newest.values()), key=lambda row: (times[row], ids[row]))
    numbers = np.full(len(ids), -1, dtype=np.int32)
    numbers[chosen] = np.arange(len(chosen), dtype=np.int32)
    return Window([ids[row] for row in chosen], [times[row] for row in chosen], list(_parts(places, numbers)))


def _parts(places: list[tuple[str, int, int]], numbers: Numbers) -> Iterator[Part]:
    start = 0
    for path, group, count in places:
        of_group = numbers[start : start + count]
        rows = np.flatnonzero(of_group >= 0).astype(np.int32)
        if rows.size:
            yield Part(path, group, rows, of_group[rows])
        start += count


def read_grouped(storage: Storage, since: date) -> dict[str, Grouped]:
    """Returns how articles are grouped by the rows that were written since a day.

    Raises:
        DatasetError: If a file cannot be read.
    """
    newest: dict[str, Grouped] = {}
    for path in _files(storage, "stories", since):
        with _Opened(storage, path) as file:
            columns = [column.to_pylist() for column in file.read(columns=["article_id", "story_id", "as_of"]).columns]
        for article_id, story_id, as_of in zip(*columns, strict=True):
            if article_id not in newest or as_of > newest[article_id].as_of:
                newest[article_id] = Grouped(story_id, as_of)
    return {article_id: row._replace(story_id=_followed(newest, row.story_id)) for article_id, row in newest.items()}


def _followed(newest: Mapping[str, Grouped], story_id: str) -> str:
    """A story that was linked to an earlier one is that one: the newest row of its leader says so."""
    seen = {story_id}
    while story_id in newest and newest[story_id].story_id not in seen:
        story_id = newest[story_id].story_id
        seen.add(story_id)
    return story_id


class SketchedPart(NamedTuple):
    """The sketches of the texts of a part: each hash beside the number of its text."""

    hashes: Hashes
    numbers: Numbers


class TextReader:
    """Reads the texts of parts; one object for many, since it remembers the hashes of words."""

    def __init__(self, storage: Storage) -> None:
        """Takes the dataset."""
        self._storage = storage
        self._shingler = Shingler()

    def sketches(self, part: Part) -> SketchedPart:
        """Returns the sketches of a part.

        Raises:
            DatasetError: If the file cannot be read.
        """
        hashes = [self.sketch_of(row) for row in self._rows(part)]
        numbers = np.repeat(part.numbers, [found.size for found in hashes])
        return SketchedPart(np.concatenate(hashes), numbers)

    def texts(self, part: Part) -> Iterator[tuple[int, Text]]:
        """Returns the texts of a part with their numbers.

        Raises:
            DatasetError: If the file cannot be read.
        """
        for number, row in zip(part.numbers.tolist(), self._rows(part), strict=True):
            yield number, self.text_of(row)

    def sketch_of(self, row: Mapping[str, Any]) -> Hashes:
        """Returns the sketch of an article; empty if it has nothing to be compared by."""
        exact, words = self._words(row)
        return _hashes_of(exact) if exact else sketch(runs_of(words, SKETCH_WORDS))

    def text_of(self, row: Mapping[str, Any]) -> Text:
        """Returns what an article is compared by."""
        exact, words = self._words(row)
        # Half of the bits are enough within one pair of texts, and half the memory of all that are compared.
        runs = runs_of(words, COMPARE_WORDS).astype(np.uint32)
        return Text(_hash_of(row["domain"]) if row["domain"] else 0, exact, runs)

    def _rows(self, part: Part) -> Iterator[dict[str, Any]]:
        with _Opened(self._storage, part.path) as file:
            table = file.read_row_group(part.group, columns=_TEXT_COLUMNS).take(pa.array(part.rows))
        for batch in table.to_batches(max_chunksize=_READ_ROWS):
            yield from batch.to_pylist()

    def _words(self, row: Mapping[str, Any]) -> tuple[int, Hashes]:
        """Returns what must be equal, 0 if texts are to be compared, and the hashes of the words, if they are."""
        nothing = np.empty(0, dtype=np.uint64)
        title = " ".join(folded_words(row["title"] or ""))
        if row["text"] is None:
            if not row["text_fingerprint"]:
                return 0, nothing
            is_short = row["word_count"] < SHORT_WORDS
            return _hash_of(row["text_fingerprint"], title if is_short else ""), nothing
        words = folded_words(_without(row["text"], row["boilerplate"]))
        if len(words) >= SHORT_WORDS:
            return 0, self._shingler.hashes(words)
        return (_hash_of(" ".join(words), title) if words else 0), nothing


def _without(text: str, boilerplate: list[dict[str, Any]]) -> str:
    """Returns a text without the ranges that are no part of the story."""
    for part in sorted(boilerplate, key=lambda part: -int(part["start"])):
        text = f"{text[: part['start']]} {text[part['end'] :]}"
    return text


def _hash_of(*texts: str) -> int:
    """Returns a hash that is never 0."""
    data = "\n".join(texts).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") or 1


def _hashes_of(exact: int) -> Hashes:
    """As many hashes as texts must share to be candidates."""
    hashes: Hashes = np.uint64(exact) ^ np.arange(MIN_MEETINGS, dtype=np.uint64)
    return hashes


def _files(storage: Storage, table: str, since: date) -> Iterator[str]:
    """The files of a table in the folders from a day on, sorted."""
    for folder in storage.names(table):
        if folder >= f"ingest_date={since.isoformat()}":
            for name in storage.names(f"{table}/{folder}"):
                if name.endswith(".parquet"):
                    yield f"{table}/{folder}/{name}"


class _Opened:
    """A Parquet file of the dataset; what it cannot read is told with its path."""

    def __init__(self, storage: Storage, path: str) -> None:
        self._full_path = storage.full_path(path)
        self._source = storage.open(path)

    def __enter__(self) -> Any:
        try:
            return pq.ParquetFile(self._source)
        except (pa.ArrowException, OSError) as error:
            self._source.close()
            raise self._damaged(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._source.close()
        if isinstance(error, (pa.ArrowException, OSError, KeyError)):
            raise self._damaged(error) from error

    def _damaged(self, error: BaseException) -> DatasetError:
        return DatasetError(f"{self._full_path} is damaged ({error}); restore it from a backup", self._full_path)
