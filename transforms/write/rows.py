"""From the records of the stages to rows of the tables: dicts with the columns of the schema, in its order.

Rows of articles are made without what only the writer can know (revision, first_seen_at, duplicate_of):
they hold 0, the fetch time and null until ``settle`` decides.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from transforms.records import Alias, Article, Fetch, Reject, RunContext, TaggedArticle
from transforms.rejects import reason_of
from transforms.schema import ARTICLE_TOPICS, ARTICLES, FETCHES, REJECTS
from transforms.write.validate import fit_row, mend_row

STORE_TEXT = ("full", "excerpt", "none")
EXCERPT_LETTERS = 600
SNIPPET_LETTERS = 300
EXCERPT_SNIPPET_LETTERS = 160
PAYLOAD_BYTES = 64 * 1024
EXCERPT_PAYLOAD_BYTES = 600

Row = dict[str, Any]


def article_row(tagged: TaggedArticle, run: RunContext, store_text: str = "full") -> Row:
    """Returns the row of an article in the order of the schema; nothing is checked yet.

    Args:
        tagged: The article with its topics.
        run: The run that writes it.
        store_text: ``full``, ``excerpt`` (the beginning, ``EXCERPT_LETTERS`` long) or ``none``.
    """
    article, tags = tagged
    entry = article.entry
    values: Row = {name: getattr(article, name) for name in _SAME_IN_ARTICLE}
    values |= {name: getattr(tags, name) for name in _SAME_IN_TAGS}
    values |= {
        "text": _stored(article.text, store_text),
        "revision": 0,
        "url_key": entry.url_key,
        "entry_version": entry.entry_version,
        "source_id": entry.source_id,
        "source_name": entry.source_name,
        "feed_url": entry.feed_url,
        "entry_id": entry.entry_id,
        "discovered_via": entry.discovered_via,
        # A page tells when it was changed; of a record of a seed only the record can.
        "modified_at": article.modified_at or (entry.updated_at if article.text_source == "seed" else None),
        "feed_published_at": entry.published_at if entry.feed_url else None,
        "ingested_at": run.now(),
        "first_seen_at": article.fetched_at,
        "live_posts": [post._asdict() for post in article.live_posts] if store_text == "full" else [],
        "notices": article.notices if store_text == "full" else (),
        "boilerplate": [part._asdict() for part in article.boilerplate],
        "topic_scores": [score._asdict() for score in tags.scores],
        "matches": [match._asdict() for match in tags.matches],
        "entities": [
            {"text": entity.text, "label": entity.label, "start": entity.start, "count": entity.occurrences}
            for entity in tags.entities
        ],
        "duplicate_of": None,
        "run_id": run.run_id,
        "extra": None,
    }
    return {name: values[name] for name in ARTICLES.names}


_SAME_IN_ARTICLE = tuple(name for name in ARTICLES.names if name in Article._fields and name != "entry")
_SAME_IN_TAGS = ("topics", "matches_truncated", "taxonomy_id", "taxonomy_version", "taxonomy_sha256")


def _stored(text: str, store_text: str) -> str | None:
    if store_text == "none":
        return None
    return text if store_text == "full" else shortened(text, EXCERPT_LETTERS)


def shortened(text: str, letters: int) -> str:
    """Returns the beginning of a text, cut between words, with an ellipsis if something was cut."""
    if len(text) <= letters:
        return text
    cut = text[:letters]
    at = cut.rfind(" ", letters // 2)
    return (cut[:at] if at > 0 else cut).rstrip() + "…"


def checked_article_row(
    tagged: TaggedArticle, run: RunContext, store_text: str = "full"
) -> tuple[Row | None, Reject | None]:
    """Returns the row of an article as it can be written, or the reject that takes its place."""
    row, problems = fit_row(article_row(tagged, run, store_text), ARTICLES)
    if not problems:
        return row, None
    article = tagged.article
    reject = Reject(
        "write",
        "bad_row",
        "; ".join(problems)[:500],
        failed_at=run.now(),
        retryable=reason_of("write", "bad_row").retryable,
        source_id=article.entry.source_id,
        feed_url=article.entry.feed_url,
        url=article.entry.url,
        input_uri=article.raw_uri,
        http_status=article.http_status,
        body_sha256=article.body_sha256,
    )
    return None, reject


def snippets_to_store(snippets: Mapping[str, str], store_text: str = "full") -> dict[str, str]:
    """Returns the sentences of the best hits by topic, as far as text may be stored."""
    if store_text == "none":
        return {}
    letters = SNIPPET_LETTERS if store_text == "full" else EXCERPT_SNIPPET_LETTERS
    fitting = {topic: text.encode("utf-8", "replace").decode("utf-8") for topic, text in snippets.items()}
    return {topic: shortened(text, letters) for topic, text in fitting.items()}


def topic_rows(article: Row, snippets: Mapping[str, str]) -> list[tuple[str, Row]]:
    """Returns (topic, row of article_topics) for each topic of an article row, in their order."""
    terms: dict[str, Counter[str]] = {}
    for match in article["matches"]:
        if not match["in_boilerplate"]:
            terms.setdefault(match["topic"], Counter())[match["term_id"]] += 1
    scores = {score["topic"]: score for score in article["topic_scores"]}
    same = {name: article[name] for name in _SAME_IN_TOPICS}
    rows = []
    for topic in article["topics"]:
        score = scores.get(topic, _NO_SCORE)
        counted = terms.get(topic, Counter())
        own = {
            "level": score["level"],
            "score": score["score"],
            "match_count": score["match_count"],
            "terms": sorted(counted, key=lambda term: (-counted[term], term)),
            "snippet": snippets.get(topic),
        }
        rows.append((topic, {name: own[name] if name in own else same[name] for name in ARTICLE_TOPICS.names}))
    return rows


_NO_SCORE = {"level": "relevant", "score": 0.0, "match_count": 0}
_SAME_IN_TOPICS = tuple(name for name in ARTICLE_TOPICS.names if name in ARTICLES.names)


def reject_id(reject: Reject) -> str:
    """Returns the identity of a refusal: 32 hex digits of the hash of stage, reason, address and body.

    Of a seed file that is refused whole the name counts, not its folder (folders are moved); of a line of one
    only the bytes do, so that a file may be cut.
    """
    address = reject.url or ""
    if not address and reject.input_uri and "#" not in reject.input_uri:
        address = reject.input_uri.rpartition("/")[2]
    if not address and not reject.body_sha256:
        address = reject.input_uri or f"{reject.feed_url or ''}\n{reject.detail}"
    parts = (reject.stage, reject.reason, address, reject.body_sha256 or "")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def reject_row(reject: Reject, run: RunContext, store_text: str = "full") -> Row:
    """Returns the row of a refusal, mended so that it always fits."""
    limit = {"full": PAYLOAD_BYTES, "excerpt": EXCERPT_PAYLOAD_BYTES}.get(store_text, 0)
    payload = reject.payload
    row = reject._asdict() | {
        "reject_id": reject_id(reject),
        "payload": payload[:limit] if payload is not None and limit else None,
        "payload_truncated": payload is not None and len(payload) > limit,
        "run_id": run.run_id,
    }
    return mend_row(row, REJECTS)


def fetch_row(fetch: Fetch, run: RunContext) -> Row:
    """Returns the row of an HTTP exchange, mended so that it always fits."""
    return mend_row(fetch._asdict() | {"run_id": run.run_id}, FETCHES)


def alias_of(article: Row, outcome: str, article_id: str | None = None) -> Alias:
    """Returns the alias that makes the entry of an article row known without writing the row."""
    return Alias(article["url_key"], article["entry_version"], article_id or article["article_id"], outcome)


def ingest_date(at: datetime) -> str:
    """Returns the value of the partition of rows of a run that began at this time, its day in UTC.

    Raises:
        ValueError: If the time has no zone.
    """
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return f"{at.astimezone(timezone.utc):%Y-%m-%d}"
