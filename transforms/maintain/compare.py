"""What another taxonomy would change: stored articles are tagged by both, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow.parquet as pq

from transforms.maintain.contents import Contents
from transforms.maintain.retag import article_of, is_whole
from transforms.maintain.tables import read_table
from transforms.tag.tagger import Tagger

_COLUMNS = ("title", "text", "language", "boilerplate", "word_count", "article_id", "revision", "url")


class ChangedTags(NamedTuple):
    """An article whose tags differ.

    Attributes:
        gained: Topics that only the new taxonomy gives; ``lost`` those that only the old one gives.
    """

    article_id: str
    url: str
    title: str | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]


class Looked(NamedTuple):
    """How many articles a comparison has looked at, and how many it could not: their text is not stored."""

    articles: int = 0
    without_text: int = 0


def changed_tags(contents: Contents, old: Tagger, new: Tagger) -> Iterator[ChangedTags | Looked]:
    """Yields the articles (newest revisions) whose tags differ, and at the end how many were looked at.

    Raises:
        DatasetError: If a file cannot be read.
    """
    newest = _newest_revisions(contents)
    articles = without_text = 0
    for file in contents.files("articles"):
        with contents.storage.open(file.path) as source:
            batches = pq.ParquetFile(source).iter_batches(batch_size=1_000, columns=list(_COLUMNS), use_threads=False)
            for batch in batches:
                for row in batch.to_pylist():
                    if newest[row["article_id"]] != row["revision"]:
                        continue
                    articles += 1
                    if not is_whole(row):
                        without_text += 1
                        continue
                    article = article_of(row)
                    before, after = old.tag(article).topics, new.tag(article).topics
                    if set(before) != set(after):
                        gained = tuple(topic for topic in after if topic not in before)
                        lost = tuple(topic for topic in before if topic not in after)
                        yield ChangedTags(row["article_id"], row["url"], row["title"], gained, lost)
    yield Looked(articles, without_text)


def _newest_revisions(contents: Contents) -> dict[str, int]:
    newest: dict[str, int] = {}
    for file in contents.files("articles"):
        rows = read_table(contents.storage, file.path, "articles", ["article_id", "revision"])
        for article_id, revision in zip(rows["article_id"].to_pylist(), rows["revision"].to_pylist(), strict=True):
            newest[article_id] = max(revision, newest.get(article_id, 0))
    return newest
