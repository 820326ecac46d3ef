"""Articles, refusals and exchanges of invented papers, for the tests of the writer."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone
from typing import Any

from transforms.records import (
    Article,
    Entry,
    Fetch,
    Match,
    Reject,
    RunContext,
    TaggedArticle,
    Tags,
    TopicScore,
)
from transforms.urls import article_id_of_url, domain_of, host_of, url_key

START = datetime(2026, 11, 30, 10, 15, 2, tzinfo=timezone.utc)


def run_at(run_id: str = "20261130T101502Z-0001", started_at: datetime = START, **changes: Any) -> RunContext:
    return RunContext(run_id, started_at, datetime.now(timezone.utc).timestamp())._replace(**changes)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def entry(url: str = "https://harrow-bay.example/council-vote", version: str | None = "v1", **changes: Any) -> Entry:
    return Entry(url, url_key(url), version, host_of(url), "feed")._replace(**changes)


def match(topic: str, surface: str, start: int, term_id: str = "t1") -> Match:
    return Match(topic, term_id, surface, "text", start, start + len(surface), 1.0, False, "en")


def tags(**levels: str) -> Tags:
    """Tags with the given topics, ``deportation="primary"``."""
    topics = tuple(topic for topic, level in levels.items() if level != "mention")
    scores = tuple(TopicScore(topic, level, 3.5, 2, 0, 1, 1, False) for topic, level in levels.items())
    matches = tuple(match(topic, topic, 10 * place) for place, topic in enumerate(levels))
    snippets = {topic: f"The council spoke of {topic} again." for topic in topics}
    return Tags(topics, scores, matches, False, snippets, "news", "1", sha("taxonomy"))


def tagged(
    url: str = "https://harrow-bay.example/council-vote",
    text: str = "The council of Harrow Bay voted on Monday.",
    version: str | None = "v1",
    topics: Tags | None = None,
    **changes: Any,
) -> TaggedArticle:
    announced = entry(url, version)
    article = Article(
        article_id=article_id_of_url(url),
        url=url,
        domain=domain_of(url),
        entry=announced,
        text=text,
        title="Council votes",
        title_source="h1",
        text_source="page",
        body_sha256=sha("body" + text),
        content_sha256=sha("content" + text),
        text_fingerprint=sha("words" + text),
        fetched_at=START + timedelta(seconds=5),
        word_count=len(text.split()),
        extractor="made 1",
    )
    return TaggedArticle(article._replace(**changes), topics or tags(deportation="primary"))


def reject(url: str = "https://harrow-bay.example/gone", reason: str = "not_found", **changes: Any) -> Reject:
    return Reject("fetch", reason, "404", START, url=url, http_status=404)._replace(**changes)


def fetch(
    url: str = "https://harrow-bay.example/feed", kind: str = "feed", outcome: str = "ok", **changes: Any
) -> Fetch:
    return Fetch(kind, url, host_of(url), START, outcome, url_key=url_key(url))._replace(**changes)
