"""A dataset whose older files are of a minor version before: they lack a column that the newer ones have."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.rows import data_files
from tests.transforms.write.make_items import START, fetch, reject, run_at, tagged, tags
from transforms.dedupe.history import newest_state
from transforms.dedupe.state import KnownState
from transforms.records import LivePost
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.encode import data_path, encode
from transforms.write.rows import checked_article_row, fetch_row, ingest_date, reject_row
from transforms.write.settle import ArticleItem, FetchItem, RejectItem, settle
from transforms.write.storage import LocalStorage

ADDED = {"articles": "section", "article_topics": "title"}
"""The column that the older files of a table do not have."""

DAY = timedelta(days=1)
BOTH = tags(deportation="primary", immigration="relevant")
POST = LivePost(START, "The mayor speaks", "“We stay open,” said Odile Fenwick.")


def item(*words, **changes):
    article = tagged(*words, **changes)
    row, _ = checked_article_row(article, run_at())
    return ArticleItem(row, len(article.article.text), article.tags.snippets)


def commit(root, items, number, at):
    storage = LocalStorage(str(root))
    run_id = f"20261130T101502Z-000{number}"
    known = KnownState(newest_state(storage))
    settled = settle(items, known, ingest_date(at), f"{run_id}.00000", run_id)
    files = [stage_file(storage, run_id, file) for file in settled.files]
    parts = RunParts(files, settled.aliases, settled.tallies, [settled.summary])
    commit_run(storage, parts, known, run_id, at, at, {"taxonomy": {"topics": ["deportation", "immigration"]}})


def without(root, table, column):
    """Writes the files of a table anew as the version before ``column`` would have."""
    for file in data_files(root, table):
        rows = pq.ParquetFile(file).read()
        pq.write_table(rows.drop_columns([column]), file, compression="zstd")


@pytest.fixture(scope="session")
def two_versions(tmp_path_factory) -> Path:
    """Three articles in four revisions over two days; only those of the second day have the newer columns."""
    root = tmp_path_factory.mktemp("two versions") / "news"
    first = [
        item(
            "https://a.example/1", "Two hurt.", topics=BOTH, published_at=START, section="Harbor", authors=("Ann", "Bo")
        ),
        item("https://b.example/1", "No vote.", topics=tags(immigration="relevant"), section="Town"),
        RejectItem(reject_row(reject(), run_at())),
        FetchItem(fetch_row(fetch(entries_new=2, etag='"a"'), run_at())),
    ]
    second = [
        item("https://a.example/1", "Three hurt.", "v2", topics=BOTH, section="Harbor", published_at=START),
        item("https://c.example/1", "Rain: ä, 新聞, 🌊.", topics=tags(), section="Weather", live_posts=(POST,)),
        FetchItem(fetch_row(fetch(outcome="timeout", started_at=START + DAY, failures=1), run_at())),
    ]
    commit(root, first, 1, START)
    for table, column in ADDED.items():
        without(root, table, column)
    commit(root, second, 2, START + DAY)
    leader, copy = (item(f"https://{letter}.example/1").row["article_id"] for letter in "ab")
    stories = [
        {
            "article_id": article_id,
            "story_id": leader,
            "duplicate_of": duplicate_of,
            "similarity": 0.97,
            "as_of": START + DAY,
        }
        for article_id, duplicate_of in ((leader, None), (copy, leader))
    ]
    path = data_path("stories", {"ingest_date": "2026-12-01"}, "20261201T101502Z-0003.00000.0")
    LocalStorage(str(root)).write(path, encode("stories", stories))
    return root
