from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.write.make_items import START, entry, fetch, match, reject, run_at, sha, tagged, tags
from transforms.records import Boilerplate, Entity, LivePost
from transforms.schema import ARTICLE_TOPICS, ARTICLES, FETCHES, REJECTS
from transforms.write.rows import (
    EXCERPT_LETTERS,
    article_row,
    checked_article_row,
    fetch_row,
    ingest_date,
    reject_id,
    reject_row,
    shortened,
    snippets_to_store,
    topic_rows,
)
from transforms.write.validate import problems_of

RUN = run_at()


def test_an_article_fills_every_column_in_the_order_of_the_schema() -> None:
    row = article_row(
        tagged(
            live_posts=(LivePost(START, None, "It began."),),
            boilerplate=(Boilerplate(0, 4, "teaser"),),
            topics=tags(deportation="primary")._replace(entities=(Entity("Harrow Bay", "GPE", 15, 2),)),
        ),
        RUN,
    )
    assert list(row) == ARTICLES.names
    assert problems_of(row, ARTICLES) == []
    assert row["live_posts"] == [{"at": START, "title": None, "text": "It began."}]
    assert row["boilerplate"] == [{"start": 0, "end": 4, "kind": "teaser"}]
    assert row["entities"] == [{"text": "Harrow Bay", "label": "GPE", "start": 15, "count": 2}]
    assert row["url_key"] == tagged().article.entry.url_key
    assert row["source_id"] == "harrow-bay.example"


def test_publication_by_the_feed_has_its_own_column() -> None:
    article = tagged()
    at = datetime(2026, 11, 29, 8, tzinfo=timezone.utc)
    entry = article.article.entry._replace(published_at=at, feed_url="https://harrow-bay.example/feed")
    row = article_row(article._replace(article=article.article._replace(entry=entry)), RUN)
    assert (row["feed_published_at"], row["published_at"]) == (at, None)


def test_store_text_decides_on_text_snippets_and_payloads() -> None:
    long = "The council met. " * 100
    article = tagged(text=long, live_posts=(LivePost(None, None, "x"),), notices=("Subscribe to read on.",))
    full, excerpt, none = (article_row(article, RUN, store) for store in ("full", "excerpt", "none"))
    assert full["text"] == long
    assert excerpt["text"].endswith("…")
    assert long.startswith(excerpt["text"][:-1])
    assert len(excerpt["text"]) <= EXCERPT_LETTERS + 1
    assert none["text"] is None
    assert (none["live_posts"], none["notices"], len(full["live_posts"])) == ([], (), 1)
    snippets = {"deportation": "A sentence. " * 50}
    assert snippets_to_store(snippets, "none") == {}
    assert len(snippets_to_store(snippets, "excerpt")["deportation"]) < 170
    refused = reject(payload=b"<html>" * 1000)
    assert reject_row(refused, RUN, "full")["payload"] == refused.payload
    assert len(reject_row(refused, RUN, "excerpt")["payload"]) == 600
    assert reject_row(refused, RUN, "excerpt")["payload_truncated"]
    assert reject_row(refused, RUN, "none")["payload"] is None


@given(st.text(max_size=80), st.integers(1, 60))
def test_shortened_is_the_beginning_and_never_longer(text: str, letters: int) -> None:
    short = shortened(text, letters)
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]) and len(short) <= letters + 1)


def test_a_row_that_does_not_fit_becomes_a_reject_of_the_writer() -> None:
    row, refused = checked_article_row(tagged(title="Harrow \ud83d Bay"), RUN)
    assert row is None
    assert refused is not None
    assert (refused.stage, refused.reason) == ("write", "bad_row")
    assert "title: a lone surrogate" in refused.detail
    assert refused.url == tagged().article.url


def test_each_topic_at_level_relevant_or_primary_is_a_row_with_its_terms() -> None:
    levels = tags(immigration="primary", deportation="relevant", sanctuary_city="mention")
    matches = (
        match("immigration", "migrants", 0, "migrant"),
        match("immigration", "asylum", 20, "asylum"),
        match("immigration", "asylum", 40, "asylum"),
        match("deportation", "removal", 60, "removal")._replace(in_boilerplate=True),
    )
    article = tagged(topics=levels._replace(matches=matches))
    rows = dict(topic_rows(article_row(article, RUN), {"immigration": "They sought asylum."}))
    assert list(rows) == ["immigration", "deportation"]
    assert list(rows["immigration"]) == ARTICLE_TOPICS.names
    assert rows["immigration"]["terms"] == ["asylum", "migrant"]
    assert rows["immigration"]["snippet"] == "They sought asylum."
    assert (rows["deportation"]["terms"], rows["deportation"]["snippet"]) == ([], None)
    assert [row["level"] for row in rows.values()] == ["primary", "relevant"]
    assert all(problems_of(row, ARTICLE_TOPICS) == [] for row in rows.values())


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"failed_at": START + timedelta(days=1), "attempts": 3, "detail": "again"}, True),
        ({"input_uri": "/other/place.txt"}, True),
        ({"reason": "gone"}, False),
        ({"url": "https://harrow-bay.example/other"}, False),
        ({"body_sha256": sha("other")}, False),
    ],
)
def test_a_refusal_is_the_same_by_stage_reason_address_and_body(change: dict[str, object], same: bool) -> None:
    assert (reject_id(reject(**change)) == reject_id(reject())) is same


def test_without_address_and_body_the_place_tells_refusals_apart() -> None:
    a, b = (reject(url=None, stage="read", reason="unreadable", input_uri=name) for name in ("a.txt", "b.txt"))
    assert reject_id(a) != reject_id(b)
    moved = [reject(url=None, body_sha256=sha("x"), input_uri=name) for name in ("old/a.txt", "new/a.txt", "new/b.txt")]
    assert reject_id(moved[0]) == reject_id(moved[1]) != reject_id(moved[2])
    lines = [reject(url=None, body_sha256=sha("x"), input_uri=name) for name in ("a.jsonl#L2", "b.jsonl#L9")]
    assert reject_id(lines[0]) == reject_id(lines[1])


def test_side_rows_fit_whatever_they_hold() -> None:
    assert problems_of(reject_row(reject(detail="caf\udce9", payload=b"\xff\x00"), RUN), REJECTS) == []
    row = fetch_row(fetch(etag='"\udcff"', next_due_at=datetime.max.replace(tzinfo=timezone.utc)), RUN)
    assert problems_of(row, FETCHES) == []
    assert row["next_due_at"] is None
    json.dumps(row["etag"])


def test_the_partition_is_the_utc_day() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert ingest_date(late) == "2026-12-01"


def test_the_record_of_a_seed_may_say_when_its_text_was_changed() -> None:
    changed = START - timedelta(days=9)
    announced = entry(updated_at=changed)
    assert article_row(tagged(text_source="seed", entry=announced), RUN)["modified_at"] == changed
    assert article_row(tagged(text_source="page", entry=announced), RUN)["modified_at"] is None
    assert article_row(tagged(text_source="seed", entry=announced, modified_at=START), RUN)["modified_at"] == START
