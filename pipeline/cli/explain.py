"""``newsbeam explain``: shows what each stage makes of one document, or why an address has its article id."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pipeline.cli.output import err, out, printable, styled
from pipeline.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from pipeline.explain import Explained
    from transforms.records import Article, Match
    from transforms.tag.explain import TopicExplanation

_FIELDS = (
    ("title", "title"),
    ("authors", "authors"),
    ("published_at", "published_at"),
    ("modified_at", "modified_at"),
    ("language", "language"),
    ("section", "section"),
    ("description", "description"),
    ("url", "url"),
    ("canonical_url", "canonical_url"),
    ("article_id", "article_id"),
    ("access", "access"),
    ("warnings", "warnings"),
)
_MOST_HITS = 8


def run(args: argparse.Namespace) -> int:
    """Explains the document or the addresses.

    Returns:
        1 if every record of the document is refused, or if one of the addresses is none.

    Raises:
        ConfigError: If neither or both are given, or the document cannot be read.
    """
    if (args.document is None) == (args.url is None):
        raise ConfigError("explain wants a FILE_OR_URL, or addresses after --url")
    if args.url is not None:
        return _explain_urls(args.url, args.json)
    # Heavy: extraction and tagging.
    from pipeline.config.load import load_setup
    from pipeline.explain import MOST_DOCUMENTS, as_json, explain_input

    explained = explain_input(args.document, load_setup(args.config, vars(args) | {"seeds": None, "feeds": []}))
    if args.json:
        for item in explained:
            out(json.dumps(as_json(item), ensure_ascii=False))
    else:
        out("\n\n".join("\n".join(_lines(item)) for item in explained))
    if len(explained) == MOST_DOCUMENTS:
        err(f"newsbeam: note: only the first {MOST_DOCUMENTS} records are shown")
    refused = bool(explained) and all(item.refused for item in explained)
    return int(ExitCode.FAILED if refused else ExitCode.DONE)


def _explain_urls(urls: Sequence[str], wants_json: bool) -> int:
    """Shows the normal form, the id and the rules of each address; nothing is asked."""
    from pipeline.explain_url import RULES, as_json, explain_url

    explained = [explain_url(url) for url in urls]
    for item in explained:
        if item.error:
            err(f"newsbeam: {printable(_short(item.url, 200) or '(empty)')}: {item.error}")
        if wants_json:
            out(json.dumps(as_json(item), ensure_ascii=False))
        elif not item.error:
            out(styled(printable(item.url), "bold", sys.stdout))
            out(f"  {'canonical':<12} {item.canonical_form}")
            out(f"  {'article id':<12} {item.article_id}")
            width = max((len(rule) for rule in item.rules), default=0)
            for number, rule in enumerate(item.rules or ("none: it is its own canonical form",)):
                why = RULES.get(rule.partition(":")[0], "")
                out(f"  {'' if number else 'rules':<12} {printable(rule):<{width}}   {why}".rstrip())
    return int(ExitCode.FAILED if any(item.error for item in explained) else ExitCode.DONE)


def _lines(item: Explained) -> Iterator[str]:
    stream = sys.stdout
    yield styled(printable(item.name), "bold", stream)
    if item.refused:
        yield f"  refused by {item.refused.stage}: {item.refused.reason}: {printable(item.refused.detail)}"
        return
    if item.fetch_only:
        yield "  an address without text; newsbeam run would fetch it"
        return
    assert item.article
    assert item.trace
    article, trace = item.article, item.trace
    for label, name in _FIELDS:
        value = getattr(article, name)
        shown = ", ".join(value) if isinstance(value, tuple) else value
        source = trace.sources.get(name)
        yield f"  {label:<14} {printable(shown) if shown else '-'}" + (f"   [{source}]" if source and shown else "")
    made = f"{article.word_count:,} words by {article.extractor}, confidence {article.extraction_confidence:.2f}"
    yield f"  {'text':<14} {made}"
    if trace.escalation:
        yield f"  {'':<14} extracted a second time, with care: {trace.escalation}"
    yield from _dropped(item)
    yield ""
    yield from _text_lines(article, item.tags.matches if item.tags else ())
    yield ""
    if not item.topics:
        yield "  no topic"
    for topic in item.topics:
        yield from _topic_lines(topic, article)
    steps = " · ".join(f"{name} {ms:.1f} ms" for name, ms in trace.steps_ms.items())
    yield f"  time: {steps}" if steps else ""


def _dropped(item: Explained) -> Iterator[str]:
    assert item.trace
    for label, lines in (
        ("teasers", item.trace.teasers),
        ("credits", item.trace.credits),
        ("notices", item.trace.notices),
        ("boilerplate", item.trace.boilerplate),
    ):
        for line in lines:
            yield f"  {label:<14} {printable(_short(line, 100))}"


def _text_lines(article: Article, matches: Sequence[Match]) -> Iterator[str]:
    """The title and the text, each hit in brackets (in colour on a terminal)."""
    from transforms.tag.explain import segments

    for field, content in (("title", article.title), ("text", article.text)):
        if not content:
            continue
        parts = segments(content, [match for match in matches if match.field == field])
        marked = "".join(
            styled(f"[{printable(part.text)}]", "hit", sys.stdout) if part.topics else printable(part.text)
            for part in parts
        )
        for line in marked.split("\n"):
            yield f"  | {line}"
        if field == "title":
            yield "  |"


def _topic_lines(topic: TopicExplanation, article: Article) -> Iterator[str]:
    head = styled(f"{topic.topic}: {topic.level}", "bold", sys.stdout)
    implied = f" (implied by {', '.join(topic.implied_by)})" if topic.implied_by else ""
    yield f"  {head}{implied}   {topic.arithmetic}"
    for match in topic.matches[:_MOST_HITS]:
        content = article.title if match.field == "title" else article.text
        place = f"{match.field} {match.start}-{match.end}"
        mark = " (boilerplate, no weight)" if match.in_boilerplate else ""
        yield f"    {match.term_id:<24} {place:<16} {_around(content or '', match)}{mark}"
    if len(topic.matches) > _MOST_HITS:
        yield f"    and {len(topic.matches) - _MOST_HITS} more"


def _around(content: str, match: Match, width: int = 40) -> str:
    before = content[max(0, match.start - width) : match.start].replace("\n", " ")
    after = content[match.end : match.end + width].replace("\n", " ")
    hit = styled(f"[{printable(match.surface)}]".replace("\n", " "), "hit", sys.stdout)
    return f"...{printable(before)}{hit}{printable(after)}..."


def _short(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."
