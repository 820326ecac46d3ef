"""Which of the feeds that a site announces is meant, when a person names only the site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from transforms.feeds.discover import FoundFeed

_COMMENTS = re.compile(r"comment|kommentar|comentario|commentaire|/replies(?:/|$)", re.IGNORECASE)
_FORM = re.compile(
    r"\b(?:rss|atom|rdf|json|xml|feeds?|feedjson|alt|type|format|index|php|html?|v?[0-9](?:\.[0-9]+)?)\b|[\W_]+",
    re.IGNORECASE,
)


def clearly_best(found: Sequence[FoundFeed]) -> FoundFeed | None:
    """Returns the one that anybody would take, or ``None`` if a person has to choose.

    Feeds of comments count only if there are no others, then sitemaps. Several remain one choice if they are the same
    feed in several forms (RSS and Atom, say), which their titles and addresses show; the first is taken then.

    Args:
        found: Best first.
    """
    feeds = [feed for feed in found if feed.kind != "sitemap"]
    stories = [feed for feed in feeds if not _COMMENTS.search(f"{feed.url} {feed.title or ''}")]
    usable = stories or [feed for feed in found if feed.kind == "sitemap"] or feeds
    return usable[0] if len({_without_form(feed) for feed in usable}) == 1 else None


def _without_form(feed: FoundFeed) -> tuple[str, str, str]:
    parts = urlsplit(feed.url)
    named = f"{parts.path} {parts.query}"
    return (parts.netloc, _FORM.sub(" ", named).strip().lower(), _FORM.sub(" ", feed.title or "").strip().lower())


def name_of(title: str | None) -> str | None:
    """Returns the name that an announced title holds: ``Harbour Post » Feed`` names Harbour Post."""
    name = re.sub(r"(?i)\s*[»|:–—-]\s*(?:rss|atom|feeds?|rss[ -]?feeds?)(?:\s*[0-9.]*)\s*$", "", title or "").strip()
    return None if re.fullmatch(r"(?i)(?:rss|atom|json|xml|feeds?|[0-9.\s])*", name) else name
