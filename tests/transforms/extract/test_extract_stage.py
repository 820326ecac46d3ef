"""The Beam stage: every document comes out once, as an article or a reject, and the tallies add up."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.testing.test_pipeline import TestPipeline
from extract_examples import FETCHED_AT, HEADLINE, PARAGRAPHS, URL, article_html, page_document, text_document

from tests.collected import Collect
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.write.make_items import tagged
from transforms.dedupe.state import NEWEST, StateLocation
from transforms.extract import pool as pools
from transforms.extract.stage import ExtractArticles, ExtractSettings
from transforms.records import Article, Document, Reject, RunContext, Tally

RUN = RunContext("20260304T120000Z-0a0a", FETCHED_AT, FETCHED_AT.timestamp())
FAULTS = "worker_faults:extract_or_fail"
NOWHERE = StateLocation("no-dataset", None)


def page(number: int, **entry_fields: Any) -> Document:
    text = f"Boat number {number} was named by the children of the harbour school on the first day of spring."
    return page_document(article_html((*PARAGRAPHS, text)), {"url": f"{URL}-{number}", **entry_fields})


def run(
    documents: list[Document], settings: ExtractSettings, state: StateLocation = NOWHERE
) -> tuple[list[Article], list[Reject], dict[str, int]]:
    articles, side = Collect(), Collect()
    with TestPipeline(argv=[]) as pipeline:
        out = pipeline | beam.Create(documents, reshuffle=False) | ExtractArticles(settings, RUN, state)
        _ = out.articles | "Keep articles" >> articles
        _ = out.side | "Keep side" >> side
    tallies: Counter[str] = Counter()
    for record in side.items:
        if isinstance(record, Tally):
            assert record.stage == "extract"
            tallies[record.outcome] += record.items
    rejects = [record for record in side.items if isinstance(record, Reject)]
    assert tallies["in"] == tallies["passed"] + tallies["rejected"]
    assert (tallies["passed"], tallies["rejected"]) == (len(articles.items), len(rejects))
    return articles.items, rejects, dict(tallies)


@pytest.mark.parametrize("workers", [0, 2])
def test_every_document_comes_out_once(workers: int) -> None:
    documents = [page(i) for i in range(6)]
    documents += [text_document("The mayor of Oxmere opened the quay."), page_document("<html><body></body></html>")]
    articles, rejects, tallies = run(documents, ExtractSettings(workers))
    assert Counter(article.url for article in articles if article.entry.url) == Counter(f"{URL}-{i}" for i in range(6))
    assert [article.text for article in articles if not article.entry.url] == ["The mayor of Oxmere opened the quay."]
    assert [reject.reason for reject in rejects] == ["empty"]
    assert tallies == {"in": 8, "passed": 7, "rejected": 1}


def test_failing_pages_are_rejected_and_cost_no_other() -> None:
    documents = [page(i) for i in range(8)]
    for place, fault in enumerate(["hang", "kill", "allocate", "exit"]):
        documents.insert(2 * place, page(100 + place, title=fault))
    articles, rejects, tallies = run(documents, ExtractSettings(2, timeout_s=3.0, function=FAULTS))
    assert sorted(article.url for article in articles) == sorted(f"{URL}-{i}" for i in range(8))
    assert Counter(reject.reason for reject in rejects) == {"timeout": 1, "crash": 2, "memory": 1}
    assert tallies == {"in": 12, "passed": 8, "rejected": 4}
    assert pools._shared == {}


def test_a_page_that_hangs_falls_back_to_the_feeds_own_content() -> None:
    content = f"<p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p>"
    articles, rejects, _ = run(
        [page(1, title="hang", content_html=content)],
        ExtractSettings(1, timeout_s=2.0, function="worker_faults:hang_on_pages"),
    )
    assert rejects == []
    (article,) = articles
    assert article.text == "\n".join(PARAGRAPHS[:2])
    assert article.text_source == "feed_content"
    assert article.warnings == ("page_failed:timeout",)


def test_few_short_texts_need_no_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "acquire_pool", lambda settings: pytest.fail("a child process was asked for"))
    texts = [text_document(f"Oxmere opened quay number {i} on Monday.") for i in range(5)]
    articles, _, _ = run(texts, ExtractSettings(2))
    assert len(articles) == 5


def test_a_known_address_keeps_its_article_id(tmp_path: Path) -> None:
    committed = tagged(f"{URL}-1", final_url="https://brackwater-post.example/2026/03/04/ferry-old-address")
    commit(tmp_path, "20260303T120000Z-0001", committed)
    moved = page_document(article_html(), {"url": "https://brackwater-post.example/2026/03/04/ferry-old-address"})
    articles, _, _ = run([moved, page(2)], ExtractSettings(0), StateLocation(str(tmp_path), NEWEST))
    ids = {article.url: article.article_id for article in articles}
    assert ids[str(moved.entry.url)] == committed.article.article_id
    assert ids[f"{URL}-2"] != committed.article.article_id


def test_the_transform_pickles() -> None:
    transform = ExtractArticles(ExtractSettings(), RUN, NOWHERE)
    assert isinstance(pickle.loads(pickle.dumps(transform)), ExtractArticles)


def test_titles_are_those_of_the_pages() -> None:
    (article,), _, _ = run([page(1)], ExtractSettings(0))
    assert (article.title, article.title_source) == (HEADLINE, "h1")
