"""Posts of a live blog from the page's structured data (schema.org ``liveBlogUpdate``), kept apart from the text."""

from __future__ import annotations

from datetime import datetime

from transforms.dates import parse_date
from transforms.extract.headline import plain
from transforms.extract.jsonld import Graph, Node, types_of
from transforms.records import LivePost
from transforms.text import clean_text

POST_LIMIT = 500
_TEXT_LIMIT_CHARS = 50_000
_OWN_TEXT_MIN_CHARS = 200
_QUOTED_MIN_CHARS = 40


def is_live_blog(node: Node | None) -> bool:
    """Tells whether an object is a live blog."""
    return node is not None and ("LiveBlogPosting" in types_of(node) or bool(node.get("liveBlogUpdate")))


def read_live_posts(graph: Graph, fetched_at: datetime) -> tuple[LivePost, ...]:
    """Returns the posts in the page's order, each once; posts without text are left out."""
    posts: dict[tuple[str | None, str], LivePost] = {}
    for node in graph.articles():
        for update in graph.values(node, "liveBlogUpdate"):
            if not isinstance(update, dict) or len(posts) >= POST_LIMIT:
                continue
            text = clean_text(_paragraphs(graph.text(update, "articleBody") or graph.text(update, "description") or ""))
            title = plain(graph.text(update, "headline") or graph.text(update, "name")) or None
            date = parse_date(graph.text(update, "datePublished") or "", now=fetched_at)
            if text:
                posts.setdefault((title, text), LivePost(date.instant if date else None, title, text))
    return tuple(posts.values())


def _paragraphs(raw: str) -> str:
    lines = (plain(line) for line in raw[:_TEXT_LIMIT_CHARS].replace("</p>", "\n").replace("<br", "\n<br").split("\n"))
    return "\n".join(line for line in lines if line)


def without_posts(text: str, posts: tuple[LivePost, ...]) -> str:
    """Returns the text without the lines that stand in the posts; all of it, if hardly anything else is there."""
    if not posts:
        return text
    said = {line for post in posts for line in (*post.text.split("\n"), post.title or "") if line}
    whole = "\n".join(post.text for post in posts)
    kept = [
        line for line in text.split("\n") if line not in said and (len(line) < _QUOTED_MIN_CHARS or line not in whole)
    ]
    own = "\n".join(kept)
    return own if len(own) >= _OWN_TEXT_MIN_CHARS else text
