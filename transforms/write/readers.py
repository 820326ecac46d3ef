"""Small questions to a dataset that need no query engine."""

from __future__ import annotations

from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.write.storage import DatasetError, Storage, storage_of


def topic_counts(root: str) -> dict[str, int]:
    """Returns the number of articles (not revisions) by topic, most first.

    Args:
        root: The dataset; one that does not exist has no topics.

    Raises:
        DatasetError: If a file cannot be read.
    """
    storage = storage_of(root)
    counts: dict[str, int] = {}
    for name in storage.names("article_topics"):
        days = [f"article_topics/{name}/{day}" for day in storage.names(f"article_topics/{name}")]
        columns = [_article_ids(storage, f"{day}/{file}") for day in days for file in storage.names(day)]
        found = pc.count_distinct(pa.chunked_array(columns, pa.string())).as_py()
        if found:
            counts[unquote(name.removeprefix("topic="))] = found
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _article_ids(storage: Storage, path: str) -> pa.Array:
    with storage.open(path) as file:
        try:
            return pq.ParquetFile(file).read(["article_id"], use_threads=False)["article_id"].combine_chunks()
        except (pa.ArrowException, OSError, KeyError) as error:
            full = storage.full_path(path)
            raise DatasetError(f"{full} is damaged ({error}); restore it from a backup", full) from error
