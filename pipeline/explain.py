"""One document through every stage, without a dataset: what each stage makes of it, as plain data."""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.config.load import Setup, is_loopback
from pipeline.errors import ConfigError
from transforms.extract.article import extract_traced, to_article
from transforms.extract.trace import Trace
from transforms.extract.worker import warm_up
from transforms.records import Article, Document, Entry, Reject, Tags
from transforms.remote.files import is_file, read_file
from transforms.tag.explain import TopicExplanation, explain
from transforms.tag.tagger import Tagger
from transforms.urls import host_of, to_fetchable, url_key

MOST_DOCUMENTS = 20


class Explained(NamedTuple):
    """What became of one record of the input.

    Attributes:
        refused: Set if a stage refused it; then the rest is empty.
        fetch_only: The record is a mere address; ``run`` would fetch it.
    """

    name: str
    refused: Reject | None = None
    fetch_only: Entry | None = None
    article: Article | None = None
    trace: Trace | None = None
    tags: Tags | None = None
    topics: tuple[TopicExplanation, ...] = ()


def explain_input(document: str, setup: Setup) -> list[Explained]:
    """Explains a seed file or the page at an address.

    Args:
        document: A path, or an http(s) address.
        setup: Configuration and topics.

    Raises:
        ConfigError: If there is no such file, or an address is to be asked and no contact is set.
    """
    tagger = Tagger(setup.taxonomy)
    records = _fetched(document, setup) if document.startswith(("http://", "https://")) else _read(document)
    return [_explain(record, setup, tagger) for record in records[:MOST_DOCUMENTS]]


def _read(path: str) -> list[Document | Entry | Reject]:
    from transforms.seeds.formats import read_seed_file

    if not is_file(path):
        what = "is a directory; name a file in it" if Path(path).is_dir() else "does not exist"
        raise ConfigError(f"{path} {what}; explain takes a seed file or an http(s) address")
    return list(read_seed_file(path, read_file(path), now=datetime.now(timezone.utc)))


def _fetched(url: str, setup: Setup) -> list[Document | Entry | Reject]:
    from pipeline.settings import client_settings
    from transforms.fetch.addresses import Target, check_url
    from transforms.fetch.client import HttpClient
    from transforms.fetch.pages import PAGE_HEADERS
    from transforms.fetch.robots import RobotsCache

    address = to_fetchable(url)
    if address is None:
        raise ConfigError(f"{url} is not an address that can be asked")
    if not setup.config.contact and not is_loopback(address):
        raise ConfigError(
            f"contact is not set; add --contact you@example.org, so that {host_of(address)} knows who asks"
        )
    settings, rules = client_settings(setup.config), RobotsCache()
    client = HttpClient(settings, lambda: datetime.now(timezone.utc))

    def outcome_of_robots(target: Target) -> str | None:
        return rules.check(client, target, settings.user_agent, datetime.now(timezone.utc)).refusal

    try:
        target = check_url(address, settings.allow_loopback)
        outcome = outcome_of_robots(target) if isinstance(target, Target) else None
        if outcome is not None:
            return [Reject("fetch", outcome, "robots.txt", datetime.now(timezone.utc), url=address)]
        exchange = client.get(address, PAGE_HEADERS, may_follow=outcome_of_robots)
    finally:
        client.close()
    now = exchange.started_at
    if exchange.outcome != "ok":
        return [Reject("fetch", exchange.outcome, exchange.detail, now, url=address, http_status=exchange.http_status)]
    entry = Entry(address, url_key(address), None, host_of(address), "urls")
    final_url = exchange.final_url if exchange.final_url != address else None
    digest = hashlib.sha256(exchange.body).hexdigest()
    content_type = exchange.headers.get("content-type")
    return [
        Document(entry, "page", exchange.body, digest, now, content_type, exchange.http_status, final_url=final_url)
    ]


def _explain(record: Document | Entry | Reject, setup: Setup, tagger: Tagger) -> Explained:
    if isinstance(record, Reject):
        return Explained(record.url or record.input_uri or "", refused=record)
    if isinstance(record, Entry):
        return Explained(record.url or "", fetch_only=record)
    name = record.raw_uri or record.entry.url or ""
    warm_up()  # the times of the steps are those of a run
    extraction, trace = extract_traced(record)
    if isinstance(extraction, Reject):
        return Explained(name, refused=extraction, trace=trace)
    article = to_article(record, extraction, lambda keys: None)
    tags = tagger.tag(article)
    return Explained(name, None, None, article, trace, tags, explain(setup.taxonomy, tags, article.word_count))


def as_json(explained: Explained) -> dict[str, Any]:
    """Returns it as plain data, times as ISO 8601."""
    if explained.refused:
        refused = explained.refused
        return {"document": explained.name, "refused": [refused.stage, refused.reason, refused.detail]}
    if explained.fetch_only:
        return {"document": explained.name, "fetch": explained.fetch_only.url}
    assert explained.article
    assert explained.trace
    assert explained.tags
    article = _plain(explained.article)
    del article["entry"]
    return {
        "document": explained.name,
        "article": article,
        "sources": explained.trace.sources,
        "extraction": {key: value for key, value in _plain(explained.trace).items() if key != "sources"},
        "topics": [_plain(topic) for topic in explained.topics],
        "matches": [_plain(match) for match in explained.tags.matches],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
