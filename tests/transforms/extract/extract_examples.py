"""Pages and documents for the tests of extraction: invented places, people and papers."""

from __future__ import annotations

from datetime import datetime, timezone

from transforms.records import Document, Entry

FETCHED_AT = datetime(2026, 3, 4, 12, 0, tzinfo=timezone.utc)
URL = "https://www.brackwater-post.example/news/ferry-landing-reopens-after-storm"
HEADLINE = "Ferry landing reopens after winter storm"
PARAGRAPHS = (
    "The harbour council of Brackwater voted on Tuesday to reopen the ferry landing, two winters after a storm tore it away.",
    "Crossings to Oxmere will start before sunrise on Monday, when commuters have waited longest for the replacement bus.",
    "“We had stopped counting the delays,” said Ada Quennell, who has sold bread beside the quay for thirty years.",
    "Divers set forty new piles and lifted the deck by half a metre, work that the council had put off three times.",
    "The opposition called the bill a scandal and asked for an audit of every contract signed since the autumn.",
    "Fares will stay as they were before the closure, the transport board said, at least until the next spring session.",
)


def entry(**fields: object) -> Entry:
    """Returns an announced page."""
    defaults: dict[str, object] = {
        "url": URL,
        "url_key": "k",
        "entry_version": None,
        "source_id": "brackwater",
        "discovered_via": "feed",
    }
    return Entry(**(defaults | fields))  # type: ignore[arg-type]


def page_document(html: str | bytes, entry_fields: dict[str, object] | None = None, **fields: object) -> Document:
    """Returns a fetched page."""
    body = html if isinstance(html, bytes) else html.encode()
    defaults: dict[str, object] = {
        "entry": entry(**(entry_fields or {})),
        "kind": "page",
        "body": body,
        "body_sha256": "0" * 64,
        "fetched_at": FETCHED_AT,
        "content_type": "text/html",
        "http_status": 200,
    }
    return Document(**(defaults | fields))  # type: ignore[arg-type]


def text_document(text: str, entry_fields: dict[str, object] | None = None) -> Document:
    """Returns a seed text without address."""
    seed = {"url": None, "entry_version": "v", "source_id": "seeds", "discovered_via": "seed_text"}
    return Document(
        entry(**(seed | (entry_fields or {}))), "text", text.encode(), "0" * 64, FETCHED_AT, raw_uri="seeds/a.txt"
    )


def article_html(
    paragraphs: tuple[str, ...] = PARAGRAPHS,
    head: str = "",
    headline: str = HEADLINE,
    inside: str = "",
    after: str = "",
) -> str:
    """Returns a page with an article: ``inside`` goes between its third and fourth paragraph, ``after`` behind it."""
    marked = [f"<p>{text}</p>" for text in paragraphs]
    body = "\n".join([*marked[:3], inside, *marked[3:]])
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{headline} | Brackwater Post</title>{head}</head>'
        f"<body><nav><a href='/'>Home</a> <a href='/sport'>Sport</a></nav><article><h1>{headline}</h1>{body}</article>{after}"
        "</body></html>"
    )
