"""Small questions to a dataset that need no query engine."""

from __future__ import annotations

import os
from urllib.parse import unquote

import pyarrow.compute as pc
import pyarrow.dataset as ds

from transforms.schema import ARTICLE_TOPICS


def topic_counts(root: str) -> dict[str, int]:
    """Returns the number of articles (not revisions) by topic, most first.

    Args:
        root: A local dataset; one that does not exist has no topics.
    """
    folder = os.path.join(root, "article_topics")
    counts: dict[str, int] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        files = ds.dataset(os.path.join(folder, name), schema=ARTICLE_TOPICS, format="parquet")
        found = pc.count_distinct(files.to_table(columns=["article_id"])["article_id"]).as_py()
        if found:
            counts[unquote(name.removeprefix("topic="))] = found
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
