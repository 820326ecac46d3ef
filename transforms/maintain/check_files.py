"""The checks of ``verify`` that look into data files: one by one, and articles against their topics."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from transforms.dedupe.snapshot import key_of
from transforms.maintain.contents import parse_path
from transforms.maintain.findings import Finding
from transforms.maintain.tables import is_of_version
from transforms.schema import TABLES
from transforms.write.commit import sha256_of
from transforms.write.manifest import FileRecord
from transforms.write.storage import DatasetError, Storage

_KEYS = {
    "articles": ("article_id", "revision"),
    "article_topics": ("article_id", "revision"),
    "rejects": ("reject_id",),
}


class FileKeys(NamedTuple):
    """Which rows a file holds, as hashes.

    Attributes:
        table: ``articles``, ``article_topics`` or ``rejects``.
        path: Below the root.
        keys: A hash a row, sorted.
        by_topic: Of ``articles``: the hashes of the rows with each topic, sorted.
    """

    table: str
    path: str
    keys: npt.NDArray[np.uint64]
    by_topic: dict[str, npt.NDArray[np.uint64]]


def check_file(storage: Storage, file: FileRecord) -> tuple[list[Finding], FileKeys | None]:
    """Returns what is wrong with a file of a manifest, and its keys if it can be read."""
    found = parse_path(file.path)
    findings = []
    if found is None or found.table != file.table:
        findings.append(Finding("folder", file.path, "lies in a folder that readers cannot take for a partition"))
    if not storage.exists(file.path):
        return [*findings, Finding("missing", file.path, "is missing; restore it from a backup")], None
    try:
        data = storage.read(file.path)
    except DatasetError as error:
        return [*findings, Finding("damaged", file.path, str(error))], None
    if len(data) != file.bytes:
        findings.append(Finding("damaged", file.path, f"has {len(data):,} bytes instead of {file.bytes:,}"))
    elif sha256_of(data) != file.sha256:
        findings.append(Finding("damaged", file.path, "has other content than its manifest says (sha256)"))
    try:
        more, keys = _check_content(file, data)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        return [*findings, Finding("damaged", file.path, f"cannot be read as Parquet: {words}")], None
    return findings + more, keys


def _check_content(file: FileRecord, data: bytes) -> tuple[list[Finding], FileKeys | None]:
    parquet = pq.ParquetFile(io.BytesIO(data))
    findings = []
    if parquet.metadata.num_rows != file.rows:
        message = f"has {parquet.metadata.num_rows:,} rows instead of {file.rows:,}"
        findings.append(Finding("schema", file.path, message))
    contract = TABLES.get(file.table)
    if contract is None or not is_of_version(parquet.schema_arrow, contract):
        return [*findings, Finding("schema", file.path, f"has other columns than the table {file.table}")], None
    return findings, _keys_of(file, parquet)


def _keys_of(file: FileRecord, parquet: pq.ParquetFile) -> FileKeys | None:
    names = _KEYS.get(file.table)
    if names is None:
        return None
    columns = [*names, "topics"] if file.table == "articles" else list(names)
    rows = parquet.read(columns=columns, use_threads=False).to_pydict()
    keys = [key_of(*map(str, values)) for values in zip(*(rows[name] for name in names), strict=True)]
    by_topic: dict[str, list[int]] = {}
    for key, topics in zip(keys, rows.get("topics", ()), strict=False):
        for topic in topics:
            by_topic.setdefault(topic, []).append(key)
    return FileKeys(file.table, file.path, _sorted(keys), {topic: _sorted(found) for topic, found in by_topic.items()})


def _sorted(keys: list[int]) -> npt.NDArray[np.uint64]:
    return np.sort(np.array(keys, dtype=np.uint64))


def check_topics(files: Iterable[FileKeys]) -> Iterator[Finding]:
    """Compares each file of articles with the files of article_topics under its stem."""
    wanted: dict[str, dict[str, npt.NDArray[np.uint64]]] = {}
    found: dict[str, dict[str, FileKeys]] = {}
    article_paths = {}
    for file in files:
        path = parse_path(file.path)
        if path is None:
            continue
        if file.table == "articles":
            wanted[path.stem] = file.by_topic
            article_paths[path.stem] = file.path
        elif file.table == "article_topics" and len(file.keys):
            found.setdefault(path.stem, {})[path.partition["topic"]] = file
    for stem in sorted({*wanted, *found}):
        of_articles, of_topics = wanted.get(stem, {}), found.get(stem, {})
        for topic in sorted({*of_articles, *of_topics}):
            if topic not in of_topics:
                rows = len(of_articles[topic])
                message = f"has {rows:,} rows with the topic {topic}, article_topics has no file for them"
                yield Finding("topics", article_paths[stem], message)
            elif topic not in of_articles or not np.array_equal(of_articles[topic], of_topics[topic].keys):
                rows = len(of_articles.get(topic, ()))
                message = f"{len(of_topics[topic].keys):,} rows do not agree with {rows:,} rows of articles"
                yield Finding("topics", of_topics[topic].path, message)


def doubled(files: Sequence[FileKeys]) -> Iterator[Finding]:
    """Finds rows of articles and rejects that stand in the dataset twice."""
    for table in ("articles", "rejects"):
        of_table = [file for file in files if file.table == table and len(file.keys)]
        if not of_table:
            continue
        keys = np.concatenate([file.keys for file in of_table])
        order = np.argsort(keys, kind="stable")
        again = order[1:][keys[order][1:] == keys[order][:-1]]
        ends = np.cumsum([len(file.keys) for file in of_table])
        places = np.searchsorted(ends, again, side="right")
        for place, rows in zip(*np.unique(places, return_counts=True), strict=True):
            message = f"{int(rows):,} of its rows stand elsewhere in {table} too"
            yield Finding("doubled", of_table[int(place)].path, message)
