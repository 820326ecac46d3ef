"""From a document to an article: what happens to every page, every seed and every feed entry's own content.

``extract`` is a pure function of the document: no clock, no network, no memory between pages. It runs in
child processes; what it returns is small and plain. ``to_article`` adds identity, which needs the state
of the dataset, in the parent. ``extract_traced`` is ``extract`` with an account of every decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transforms import urls
from transforms.extract.assemble import assemble
from transforms.extract.extraction import Body, Extraction, fallback_document, refuse
from transforms.extract.lines import sort_text_lines
from transforms.extract.trace import Recorder, Trace
from transforms.records import Article, Document, Reject
from transforms.text import clean_text

__all__ = ["Extraction", "Trace", "extract", "extract_traced", "fallback_document", "refuse", "to_article"]


def extract(document: Document) -> Extraction | Reject:
    """Extracts text and metadata; the same document gives the same answer whenever and wherever it is asked."""
    return extract_traced(document)[0]


def extract_traced(document: Document) -> tuple[Extraction | Reject, Trace]:
    """Extracts as ``extract`` does and says what was dropped, where each field comes from and what took how long."""
    recorder = Recorder()
    try:
        result = _extract(document, recorder)
    except MemoryError:
        raise  # the process is of no use any more; whoever runs it says so
    except Exception as error:  # libraries on arbitrary bytes: one page must not cost the others
        result = refuse(document, "crash", f"{type(error).__name__}: {error}"[:500])
    substitute = fallback_document(document, result.reason) if isinstance(result, Reject) else None
    if substitute is not None:
        second = _extract(substitute, recorder)
        result = result if isinstance(second, Reject) else second
    return result, recorder.trace()


def _extract(document: Document, recorder: Recorder) -> Extraction | Reject:
    if document.kind == "text":
        return _extract_text(document, recorder)
    from transforms.extract import pages  # loads the HTML libraries, which texts do without

    if document.kind == "feed_content":
        return pages.extract_feed_content(document, recorder)
    return pages.extract_page(document, recorder)


def _extract_text(document: Document, recorder: Recorder) -> Extraction | Reject:
    with recorder.step("text"):
        placed = sort_text_lines(clean_text(document.body.decode("utf-8", "replace")))
    if not placed.text:
        return refuse(document, "no_text", "no text is left after cleaning")
    return assemble(document, placed, None, Body(placed.text, "text", 1.0), "seed", recorder)


def to_article(
    document: Document, extraction: Extraction, resolve_id: Callable[[Sequence[str]], str | None]
) -> Article:
    """Gives an extraction its identity.

    Args:
        document: Where it came from.
        extraction: What was made of it.
        resolve_id: Gets the url_keys of url, final_url and canonical_url and returns the id of a committed
            article that is known by one of them, or ``None``.
    """
    entry = document.entry
    addresses = [address for address in (entry.url, document.final_url, extraction.canonical_url) if address]
    article_id = resolve_id([urls.url_key(address) for address in addresses]) if addresses else None
    if article_id is None:
        # Without an address title and text say which article it is: two headlines over one text are two articles.
        content = f"{extraction.title}\n\n{extraction.text}" if extraction.title else extraction.text
        article_id = urls.article_id_of_url(addresses[-1]) if addresses else urls.article_id_of_text(content)
    url = entry.url or document.final_url or extraction.canonical_url or f"urn:newsbeam:{article_id}"
    if entry.source_name is None and extraction.source_name:
        entry = entry._replace(source_name=extraction.source_name)
    fields = extraction._asdict()
    del fields["source_name"]
    return Article(
        article_id=article_id,
        url=url,
        domain=urls.domain_of(url),
        entry=entry,
        body_sha256=document.body_sha256,
        fetched_at=document.fetched_at,
        final_url=document.final_url,
        http_status=document.http_status,
        content_type=document.content_type,
        raw_uri=document.raw_uri,
        **fields,
    )
