from __future__ import annotations

import io
import random
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.transforms.write.make_items import START, fetch, reject, run_at, sha, tagged, tags
from transforms.dedupe.fold import fold
from transforms.dedupe.snapshot import EMPTY
from transforms.dedupe.state import KnownState
from transforms.records import Alias, TaggedArticle
from transforms.schema import TABLES
from transforms.urls import article_id_of_url
from transforms.write.encode import to_table
from transforms.write.manifest import Manifest
from transforms.write.rows import checked_article_row, fetch_row, reject_row
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, Settled, settle

RUN = run_at()
STEM = f"{RUN.run_id}.00000"


def item(article: TaggedArticle) -> ArticleItem:
    row, refused = checked_article_row(article, RUN)
    assert row is not None, refused
    return ArticleItem(row, len(article.article.text), article.tags.snippets)


def rows_of(settled: Settled, table: str) -> list[dict[str, Any]]:
    files = [file for file in settled.files if file.table == table]
    return [row for file in files for row in pq.ParquetFile(io.BytesIO(file.data)).read().to_pylist()]


def counts(settled: Settled) -> dict[str, int]:
    return {tally.outcome: tally.items for tally in settled.tallies}


def known_after(*items: Item) -> KnownState:
    """The state after a run that wrote these items."""
    settled = settle(items, KnownState(), "2026-11-29", "before.00000")
    tables = {name: to_table(name, rows_of(settled, name)) for name in TABLES}
    return KnownState(fold(EMPTY, Manifest("before", 1, START, START, aliases=settled.aliases), tables))


def write(items: Iterable[Item], known: KnownState | None = None) -> Settled:
    return settle(items, known or KnownState(), "2026-11-30", STEM)


def test_of_several_texts_of_an_article_the_longest_wins_then_the_smallest_address() -> None:
    same = article_id_of_url("https://a.example/story")
    short = item(tagged("https://a.example/story?p=1", "Short.", article_id=same))
    long_b = item(tagged("https://b.example/story", "Rather a long text.", article_id=same))
    long_a = item(tagged("https://a.example/story", "Another long text..", article_id=same))
    for order in ([short, long_b, long_a], [long_a, short, long_b], [long_b, long_a, short]):
        settled = write(order)
        assert [row["text"] for row in rows_of(settled, "articles")] == ["Another long text.."]
        assert counts(settled) == {"new": 1, "duplicate": 2}
        assert {(alias.url_key, alias.article_id, alias.outcome) for alias in settled.aliases} == {
            (short.row["url_key"], same, "duplicate"),
            (long_b.row["url_key"], same, "duplicate"),
        }


def test_a_record_given_twice_is_a_duplicate_without_an_alias() -> None:
    settled = write([item(tagged()), item(tagged())])
    assert counts(settled) == {"new": 1, "duplicate": 1}
    assert settled.aliases == ()


def test_a_change_is_the_next_revision_and_keeps_first_seen_at() -> None:
    known = known_after(item(tagged(text="Two people were hurt.")))
    later = START + timedelta(hours=3)
    settled = write([item(tagged(text="Three people were hurt.", version="v2", fetched_at=later))], known)
    (row,) = rows_of(settled, "articles")
    assert (row["revision"], row["first_seen_at"], row["fetched_at"]) == (2, tagged().article.fetched_at, later)
    assert counts(settled) == {"revised": 1}


def test_unchanged_content_is_an_alias_of_the_new_version() -> None:
    known = known_after(item(tagged(version="v1")))
    settled = write([item(tagged(version="v2"))], known)
    assert rows_of(settled, "articles") == []
    assert settled.files == ()
    assert counts(settled) == {"known": 1}
    assert settled.aliases == (Alias(tagged().article.entry.url_key, "v2", tagged().article.article_id, "unchanged"),)


@pytest.mark.parametrize("poor", [{"is_truncated": True}, {"text_source": "feed_content"}])
def test_a_poor_copy_never_follows_the_whole_text(poor: dict[str, Any]) -> None:
    whole, copy = item(tagged()), item(tagged(text="The council ...", version="v2", **poor))
    settled = write([copy], known_after(whole))
    assert settled.files == ()
    assert counts(settled) == {"known": 1}
    assert [alias.entry_version for alias in settled.aliases] == ["v2"]


def test_a_poor_text_is_followed_by_the_whole_one_and_by_other_poor_ones() -> None:
    known = known_after(item(tagged(text="The council ...", is_truncated=True)))
    assert counts(write([item(tagged(version="v2"))], known)) == {"revised": 1}
    assert counts(write([item(tagged(text="The council of ...", version="v2", is_truncated=True))], known)) == {
        "revised": 1
    }


def test_copies_of_a_committed_text_name_the_earliest_article() -> None:
    words = sha("the same words")
    known = known_after(
        item(tagged("https://b.example/1", text_fingerprint=words, fetched_at=START + timedelta(minutes=5))),
        item(tagged("https://a.example/1", text_fingerprint=words, fetched_at=START + timedelta(minutes=9))),
    )
    copy = item(tagged("https://c.example/1", text_fingerprint=words))
    first_again = item(tagged("https://b.example/1", "New title.", "v2", text_fingerprint=words))
    rows = {row["url"]: row for row in rows_of(write([copy, first_again], known), "articles")}
    assert rows["https://c.example/1"]["duplicate_of"] == article_id_of_url("https://b.example/1")
    assert rows["https://b.example/1"]["duplicate_of"] is None


def test_a_refusal_is_written_once() -> None:
    row = RejectItem(reject_row(reject(), RUN))
    again = RejectItem(reject_row(reject(failed_at=START + timedelta(hours=1)), RUN))
    settled = write([again, row])
    assert [found["failed_at"] for found in rows_of(settled, "rejects")] == [START]
    assert counts(settled) == {"rejected": 1, "duplicate": 1}
    assert counts(write([row], known_after(row))) == {"known": 1, "refused": 1}
    assert settled.summary.rejects == {"fetch:not_found": 1}


def test_every_exchange_is_a_row_and_no_item() -> None:
    rows = [
        FetchItem(fetch_row(fetch(outcome=outcome), RUN)) for outcome in ("ok", "not_modified", "timeout", "deferred")
    ]
    settled = write([*rows, FetchItem(fetch_row(fetch(kind="page"), RUN))])
    assert len(rows_of(settled, "fetches")) == 5
    assert counts(settled) == {}
    assert settled.summary.feeds == {"polled": 3, "ok": 1, "not_modified": 1, "failed": 1}


def test_articles_and_their_topics_share_a_stem() -> None:
    both = tags(deportation="primary", immigration="relevant")
    settled = write([item(tagged(topics=both)), item(tagged("https://a.example/plain", topics=tags()))])
    assert [file.path for file in settled.files] == [
        f"articles/ingest_date=2026-11-30/{STEM}.0.parquet",
        f"article_topics/topic=deportation/ingest_date=2026-11-30/{STEM}.0.parquet",
        f"article_topics/topic=immigration/ingest_date=2026-11-30/{STEM}.0.parquet",
    ]
    summary = settled.summary
    assert [(topic.topic, topic.primary, topic.relevant) for topic in summary.topics] == [
        ("deportation", 1, 0),
        ("immigration", 0, 1),
    ]
    assert summary.no_topic == 1
    assert summary.topics[0].example == {
        "snippet": "The council spoke of deportation again.",
        "hit": "deportation",
        "source": "harrow-bay.example",
    }


def test_the_bytes_do_not_depend_on_the_order_of_arrival() -> None:
    items: list[Item] = [item(tagged(f"https://a.example/{n % 40}", f"Text {n}.")) for n in range(60)]
    items += [RejectItem(reject_row(reject(f"https://a.example/{n}"), RUN)) for n in range(5)]
    items += [FetchItem(fetch_row(fetch(f"https://a.example/{n}"), RUN)) for n in range(5)]
    shuffled = items[:]
    random.Random(3).shuffle(shuffled)
    assert write(items) == write(shuffled)
