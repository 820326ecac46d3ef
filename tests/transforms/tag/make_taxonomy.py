"""Small taxonomies and taggers for tests."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from transforms.records import Article, Entry
from transforms.tag.tagger import Tagger
from transforms.tag.taxonomy import Taxonomy, load_taxonomy
from transforms.text import word_count

SHIPPED = Path(__file__).resolve().parents[3] / "configs" / "topics.yaml"
NOW = datetime(2026, 3, 10, 6, 0, tzinfo=timezone.utc)


def load(folder: Path, *files: str) -> Taxonomy:
    """Writes each text as a file and loads them all."""
    paths = []
    for number, text in enumerate(files):
        path = folder / f"topics{number}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return load_taxonomy(paths)


def tagger(folder: Path, *files: str) -> Tagger:
    return Tagger(load(folder, *files))


def surfaces(tagger: Tagger, text: str, language: str | None = "en", title: str | None = None) -> list[str]:
    """The surfaces that are found, in order; each must stand where the match says."""
    found = []
    for match in tagger.tag_text(title, text, language).matches:
        source = title if match.field == "title" else text
        assert source is not None
        assert source[match.start : match.end] == match.surface
        found.append(match.surface)
    return found


def article(text: str, title: str | None = None, language: str | None = "en", number: int = 1) -> Article:
    url = f"https://harbour-post.example/{number}"
    entry = Entry(url, f"key-{number}", None, "harbour-post", "feed", feed_url="https://harbour-post.example/feed")
    return Article(
        article_id=f"1-{number:032x}",
        url=url,
        domain="harbour-post.example",
        entry=entry,
        text=text,
        title=title,
        title_source="h1",
        text_source="page",
        body_sha256="ab" * 32,
        content_sha256="cd" * 32,
        text_fingerprint="",
        fetched_at=NOW,
        word_count=word_count(text),
        language=language,
    )
