"""Tags stored articles with another taxonomy: one stem in, the same stem out.

A *stem* is one file of articles and the files of article_topics that tell of its rows. If a tag, score, hit or
snippet of any row changes, the whole stem is written anew, all its rows with the new taxonomy's name. Else its
files stay as they are, and the manifest notes the file of articles as checked. Texts are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.maintain.contents import Contents, parse_path, stem_of
from transforms.maintain.tables import read_table, sorted_table, with_columns
from transforms.maintain.taxonomy import files_of_older_taxonomy
from transforms.records import Article, Boilerplate, Entry, Tags
from transforms.schema import TABLES
from transforms.tag.tagger import Tagger
from transforms.text import word_count
from transforms.write.encode import data_path, encode_table, sort_rows, to_table
from transforms.write.manifest import FileRecord
from transforms.write.rows import snippets_to_store, topic_rows
from transforms.write.settle import DataFile
from transforms.write.storage import Storage

Row = dict[str, Any]

CHANGED, CHECKED, WITHOUT_TEXT = "changed", "checked", "without_text"
_BATCH_ROWS = 1_000
_NO_TIME = datetime.min.replace(tzinfo=timezone.utc)
_READ = ("title", "text", "language", "boilerplate", "word_count")
_TAGS = ("topics", "topic_scores", "matches", "matches_truncated", "entities")
_TAXONOMY = ("taxonomy_id", "taxonomy_version", "taxonomy_sha256")
_FOR_TOPICS = ("article_id", "revision", "url", "domain", "source_id", "published_at", "fetched_at", "run_id")


class Stem(NamedTuple):
    """A file of articles and its files of article_topics."""

    articles: FileRecord
    topics: tuple[FileRecord, ...]


class Retagged(NamedTuple):
    """What became of a stem.

    Attributes:
        stem: As it was.
        outcome: ``changed``, ``checked`` (all tags are as they were) or ``without_text``.
        changed_rows: Rows of articles whose tags changed.
        files: Of ``changed``: the files as they are to be.
    """

    stem: Stem
    outcome: str
    changed_rows: int = 0
    files: tuple[DataFile, ...] = ()


def stems_to_retag(contents: Contents, sha256: str) -> list[Stem]:
    """Returns the stems that hold rows of another taxonomy and were not checked with this one."""
    below: dict[str, list[FileRecord]] = {}
    for file in contents.files("article_topics"):
        below.setdefault(stem_of(file.path), []).append(file)
    files = (file for file, _ in files_of_older_taxonomy(contents, sha256))
    return [Stem(file, tuple(below.get(stem_of(file.path), ()))) for file in files]


def holds_text(storage: Storage, file: FileRecord) -> bool:
    """Tells whether any row of a file of articles has a text, by the statistics of the file."""
    with storage.open(file.path) as source:
        about = pq.ParquetFile(source).metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    place = TABLES["articles"].get_field_index("text")  # no column with parts comes before it but topics, which has one
    texts = [(group.column(place).statistics, group.num_rows) for group in groups]
    return any(found is None or not found.has_null_count or found.null_count < rows for found, rows in texts)


def retag(storage: Storage, stem: Stem, tagger: Tagger, store_text: str = "full") -> Retagged:
    """Tags the rows of a stem.

    Args:
        storage: The dataset.
        stem: The stem.
        tagger: With the new taxonomy.
        store_text: How much of a snippet is stored.

    Raises:
        DatasetError: If a file cannot be read.
    """
    table = read_table(storage, stem.articles.path, "articles")
    found: list[Tags] = []
    changed = 0
    for batch in table.select([*_READ, *_TAGS]).to_batches(max_chunksize=_BATCH_ROWS):
        for row in batch.to_pylist():
            if not is_whole(row):
                return Retagged(stem, WITHOUT_TEXT)
            tags = tagger.tag(article_of(row))
            found.append(tags)
            changed += any(row[name] != value for name, value in _tag_values(tags).items())
    old_topics = {str(file.path): read_table(storage, file.path, "article_topics") for file in stem.topics}
    new_topics = _topic_tables(table, found, store_text)
    if not changed and _same_topics(old_topics, new_topics):
        return Retagged(stem, CHECKED)
    return Retagged(stem, CHANGED, changed, tuple(_files(stem, table, found, new_topics)))


def is_whole(row: Mapping[str, Any]) -> bool:
    """Tells whether a row holds its whole text; a run may store none, or the beginning only."""
    text = row["text"]
    return text is not None and not (text.endswith("…") and word_count(text) < row["word_count"])


def article_of(row: Mapping[str, Any]) -> Article:
    """Returns as much of a stored article as tagging looks at."""
    return Article(
        article_id="",
        url="",
        domain="",
        entry=Entry(None, "", None, "", ""),
        text=row["text"],
        title=row["title"],
        title_source="",
        text_source="",
        body_sha256="",
        content_sha256="",
        text_fingerprint="",
        fetched_at=_NO_TIME,
        language=row["language"],
        word_count=row["word_count"],
        boilerplate=tuple(Boilerplate(**part) for part in row["boilerplate"]),
    )


def _tag_values(tags: Tags) -> dict[str, Any]:
    """Returns the columns of tags as they are stored."""
    return {
        "topics": list(tags.topics),
        "topic_scores": [score._asdict() for score in tags.scores],
        "matches": [match._asdict() for match in tags.matches],
        "matches_truncated": tags.matches_truncated,
        "entities": [
            {"text": entity.text, "label": entity.label, "start": entity.start, "count": entity.occurrences}
            for entity in tags.entities
        ],
    }


def _topic_tables(table: pa.Table, found: list[Tags], store_text: str) -> dict[str, pa.Table]:
    """Returns the rows of article_topics that new tags give, by topic, sorted."""
    rows: dict[str, list[Row]] = {}
    columns = table.select([*_FOR_TOPICS, "title"])
    start = 0
    for batch in columns.to_batches(max_chunksize=_BATCH_ROWS):
        for row, tags in zip(batch.to_pylist(), found[start : start + batch.num_rows], strict=True):
            if tags.topics:
                values = row | _tag_values(tags) | {"taxonomy_sha256": tags.taxonomy_sha256}
                for topic, topic_row in topic_rows(values, snippets_to_store(tags.snippets, store_text)):
                    rows.setdefault(topic, []).append(topic_row)
        start += batch.num_rows
    return {topic: to_table("article_topics", sort_rows("article_topics", rows[topic])) for topic in sorted(rows)}


def _same_topics(old: Mapping[str, pa.Table], new: Mapping[str, pa.Table]) -> bool:
    """Tells whether files of article_topics say what the new tags say, but for the name of the taxonomy."""

    def plain(table: pa.Table) -> pa.Table:
        return sorted_table("article_topics", table).drop_columns(["taxonomy_sha256"])

    by_topic = {_topic_of(path): table for path, table in old.items() if table.num_rows}
    return by_topic.keys() == new.keys() and all(plain(by_topic[topic]).equals(plain(new[topic])) for topic in new)


def _topic_of(path: str) -> str:
    found = parse_path(path)
    return found.partition["topic"] if found else ""


def _files(stem: Stem, table: pa.Table, found: list[Tags], topics: Mapping[str, pa.Table]) -> Iterator[DataFile]:
    """Yields the files of a stem as they are to be."""
    values: dict[str, list[Any]] = {name: [] for name in _TAGS}
    for tags in found:
        for name, value in _tag_values(tags).items():
            values[name].append(value)
    for name in _TAXONOMY:
        values[name] = [getattr(tags, name) for tags in found]
    articles = sorted_table("articles", with_columns(table, values))
    yield DataFile("articles", stem.articles.path, articles.num_rows, encode_table("articles", articles))
    place = parse_path(stem.articles.path)
    day = place.day if place else ""
    for topic, rows in topics.items():
        path = data_path("article_topics", {"topic": topic, "ingest_date": day}, stem_of(stem.articles.path))
        yield DataFile("article_topics", path, rows.num_rows, encode_table("article_topics", rows))
