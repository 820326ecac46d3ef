"""Other extractors under one form: page -> text, or page -> metadata. Absent ones are left out."""

from __future__ import annotations

import importlib
import logging
import socket
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from extract_pages import Gold

from transforms.extract.article import Extraction, extract
from transforms.records import Document, Entry, Reject

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


def _refuse(*address: object, **options: object) -> list[object]:
    raise OSError("extraction needs no network")


# Some of them look for lists of domains on the network at each page, and wait for it.
socket.getaddrinfo = _refuse  # type: ignore[assignment]

TextOf = Callable[[Gold], str]


class Told(NamedTuple):
    """What an extractor says of a page; ``published`` may lack a zone."""

    title: str | None
    authors: tuple[str, ...]
    published: datetime | None


MetadataOf = Callable[[Gold], Told]


def document_of(page: Gold) -> Document:
    """Returns a saved page as if it had been fetched when it was saved."""
    assert page.crawled_at is not None
    entry = Entry(page.url, "key", None, "eval", "urls")
    return Document(entry, "page", page.body, "0" * 64, page.crawled_at, http_status=200)


def newsbeam(page: Gold) -> str:
    """The text that this project stores."""
    result = extract(document_of(page))
    return "" if isinstance(result, Reject) else result.text


def newsbeam_metadata(page: Gold) -> Told:
    """What this project stores of title, authors and date."""
    result = extract(document_of(page))
    if not isinstance(result, Extraction):
        return Told(None, (), None)
    return Told(result.title, result.authors, result.published_at)


def _trafilatura(**options: bool) -> TextOf:
    import trafilatura

    def text_of(page: Gold) -> str:
        found = trafilatura.bare_extraction(page.body, include_comments=False, **options)
        return found.text or "" if found is not None else ""

    return text_of


def _trafilatura_metadata(page: Gold) -> Told:
    import trafilatura

    found = trafilatura.bare_extraction(page.body, url=page.url, include_comments=False, with_metadata=True)
    if found is None:
        return Told(None, (), None)
    authors = tuple(part.strip() for part in (found.author or "").split(";") if part.strip())
    return Told(found.title, authors, datetime.fromisoformat(found.date) if found.date else None)


def _readability() -> TextOf:
    from lxml.html import document_fromstring, fromstring

    document = importlib.import_module("readability").Document

    def text_of(page: Gold) -> str:
        html = page.body.decode("utf-8", "replace")
        summary = document(html).summary() if document_fromstring(page.body) is not None else ""
        return "\n".join(part.strip() for part in fromstring(summary).itertext() if part.strip())

    return text_of


def _newspaper_article(page: Gold) -> object:
    article = importlib.import_module("newspaper").Article(page.url)
    article.download(input_html=page.body.decode("utf-8", "replace"))
    article.parse()
    return article


def _newspaper() -> TextOf:
    importlib.import_module("newspaper")
    return lambda page: _newspaper_article(page).text  # type: ignore[attr-defined, no-any-return]


def _newspaper_metadata(page: Gold) -> Told:
    article = _newspaper_article(page)
    return Told(article.title, tuple(article.authors), article.publish_date or None)  # type: ignore[attr-defined]


def _newsplease_article(page: Gold) -> object:
    return importlib.import_module("newsplease").NewsPlease.from_html(
        page.body.decode("utf-8", "replace"), url=page.url
    )


def _newsplease() -> TextOf:
    importlib.import_module("newsplease")
    return lambda page: _newsplease_article(page).maintext or ""  # type: ignore[attr-defined, no-any-return]


def _newsplease_metadata(page: Gold) -> Told:
    article = _newsplease_article(page)
    return Told(article.title, tuple(article.authors or ()), article.date_publish)  # type: ignore[attr-defined]


def _resiliparse() -> TextOf:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda page: extract_plain_text(page.body.decode("utf-8", "replace"), main_content=True)


_TEXT_MAKERS: dict[str, Callable[[], TextOf]] = {
    "trafilatura": _trafilatura,
    "trafilatura + metadata": lambda: _trafilatura(with_metadata=True),
    "trafilatura fast": lambda: _trafilatura(fast=True),
    "trafilatura precision": lambda: _trafilatura(favor_precision=True),
    "resiliparse": _resiliparse,
    "readability-lxml": _readability,
    "newspaper4k": _newspaper,
    "news-please": _newsplease,
}
_METADATA_OF: dict[str, MetadataOf] = {
    "trafilatura + metadata": _trafilatura_metadata,
    "newspaper4k": _newspaper_metadata,
    "news-please": _newsplease_metadata,
}


def text_peers() -> dict[str, TextOf]:
    """Returns the extractors that can be imported here."""
    found = {}
    for name, make in _TEXT_MAKERS.items():
        try:
            found[name] = make()
        except ImportError:
            print(f"left out, not installed: {name}")
    return found


def metadata_peers(names: set[str]) -> dict[str, MetadataOf]:
    """Returns those of ``names`` that tell metadata."""
    return {name: told for name, told in _METADATA_OF.items() if name in names}
