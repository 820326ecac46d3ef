"""``newsbeam topics test``: tags a text or a file, shows each hit in its place and why others do not count."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.cli.output import err, out, printable, styled
from pipeline.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from transforms.records import Boilerplate, Match, Reject
    from transforms.tag.explain import TopicExplanation

_TEXT_LIMIT = 1_000_000
_NAME_LIMIT = 1_000
_AROUND = 60
_MOST_REFUSED = 20
_TOO_LONG = f"the text is longer than {_TEXT_LIMIT:,} characters; run it as a seed file instead"


class Tried(NamedTuple):
    """A text that is tried.

    Attributes:
        name: Of the file or record; empty for a text of the command line.
        language: ``None`` looks for the terms of all languages.
        words: Of the text.
    """

    name: str
    title: str | None
    text: str
    language: str | None
    words: int
    boilerplate: tuple[Boilerplate, ...] = ()


def try_text(args: argparse.Namespace) -> int:
    """Tags a text or a file; exit 1 if a file gives no text.

    Raises:
        ConfigError: If the text is empty or too long.
        ProblemsError: With all mistakes of configuration and taxonomy.
    """
    from pipeline.config.load import load_topics
    from transforms.tag.explain import explain
    from transforms.tag.tagger import Tagger

    _check_language(args.language)
    texts = list(_texts(args))
    taxonomy = load_topics(args.config, vars(args))
    tagger = Tagger(taxonomy)
    for text in texts:
        tags = tagger.tag_text(text.title, text.text, text.language, text.boilerplate)
        found = explain(taxonomy, tags, text.words)
        refused = tagger.refused(text.title, text.text, text.language, text.boilerplate)
        if args.json:
            topics = [_result(topic) for topic in found]
            whole = {"document": text.name, "title": text.title, "topics": topics} if text.name else topics
            out(json.dumps(whole, ensure_ascii=False, indent=None if text.name else 2))
        else:
            _show(text, found)
        _show_refused(text, refused, err if args.json else out)
        if tags.matches_truncated:
            err("newsbeam: note: the text is very long or has very many hits; not all are shown")
    return int(ExitCode.DONE if texts else ExitCode.FAILED)


def _texts(args: argparse.Namespace) -> Iterator[Tried]:
    given: str = args.text
    if given == "-":
        data = sys.stdin.buffer.read(4 * _TEXT_LIMIT + 1)
        if not _is_page(data):
            yield _plain(_decoded(data), args)
            return
        yield from _documents("stdin.html", data, args)
    elif _is_file(given):
        yield from _documents(given, Path(given).read_bytes(), args)
    else:
        _check_is_no_path(given)
        yield _plain(given, args)


def _check_language(given: str | None) -> None:
    from transforms.language import language_tag
    from transforms.tag.language_codes import is_language_code, nearest_language_code

    tag = language_tag(given)
    if given is not None and not (tag and is_language_code(tag.lower().partition("-")[0])):
        nearest = nearest_language_code(given)
        hint = f"did you mean {nearest}?" if nearest else "write it as en, es or pt-BR"
        raise ConfigError(f'--language: "{given}" is no language tag; {hint}')


def _check_is_no_path(given: str) -> None:
    """A text without blanks that ends like a seed file is the name of a file that is not there."""
    from transforms.seeds.formats import FORMATS

    if any(character.isspace() for character in given):
        return
    if given.endswith(tuple(FORMATS)):
        raise ConfigError(f"no such file: {given}")
    if "/" in given and Path(given[:_NAME_LIMIT]).is_dir():
        raise ConfigError(f"{given} is a directory; name a file in it")


def _is_file(given: str) -> bool:
    try:
        return len(given) <= _NAME_LIMIT and Path(given).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_page(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:100].lower().startswith((b"<!doctype html", b"<html", b"<?xml"))


def _decoded(data: bytes) -> str:
    from transforms.decoding import decode

    found = decode(data)
    if found is None:
        raise ConfigError("the standard input is no text; give a text, or the name of a seed file")
    return found[0]


def _plain(given: str, args: argparse.Namespace) -> Tried:
    from transforms.text import clean_text, word_count

    if len(given) > _TEXT_LIMIT:
        raise ConfigError(_TOO_LONG)
    text, title = clean_text(given), clean_text(args.title or "")
    if not text and not title:
        raise ConfigError(f"the text is empty; see {args.parser.prog} --help")
    return Tried("", title or None, text, args.language, word_count(text))


def _documents(name: str, data: bytes, args: argparse.Namespace) -> Iterator[Tried]:
    """Yields the texts of a seed file; what is refused is told on stderr."""
    from datetime import datetime, timezone

    from transforms.extract.article import extract_traced, to_article
    from transforms.records import Document, Reject
    from transforms.seeds.formats import read_seed_file

    for record in read_seed_file(name, data, now=datetime.now(timezone.utc)):
        if isinstance(record, Document):
            extraction = extract_traced(record)[0]
            if isinstance(extraction, Reject):
                _tell_refusal(extraction, name)
                continue
            article = to_article(record, extraction, lambda keys: None)
            title, language = args.title or article.title, args.language or article.language
            where = record.raw_uri or name
            yield Tried(where, title, article.text, language, article.word_count, article.boilerplate)
        elif isinstance(record, Reject):
            _tell_refusal(record, name)
        else:
            err(printable(f"newsbeam: {record.url} is an address without text; newsbeam run would fetch it"))


def _tell_refusal(reject: Reject, name: str) -> None:
    err(printable(f"newsbeam: {reject.input_uri or name} was refused: {reject.reason}: {reject.detail}"))


def _show(text: Tried, found: tuple[TopicExplanation, ...]) -> None:
    if text.name:
        out(styled(printable(f"{text.name}: {text.title or ''}".rstrip(": ")), "bold", sys.stdout))
    if not found:
        out("no topic")
    for topic in found:
        how = f"implied by {', '.join(topic.implied_by)}" if topic.implied_by else topic.arithmetic
        out(f"{styled(topic.topic, 'bold', sys.stdout)}  {topic.level}  {how}")
        for match in topic.matches:
            note = "  (no weight: boilerplate)" if match.in_boilerplate else ""
            out(f"  {printable(match.term_id)}: {_in_place(text, match)}{note}")


def _show_refused(text: Tried, refused: list[tuple[Match, str]], write: Any) -> None:
    from transforms.tag.evidence import REFUSALS

    told = [(match, reason) for match, reason in refused if reason != "longer_term"]
    if told:
        write("does not count:")
    for match, reason in told[:_MOST_REFUSED]:
        write(f"  {match.topic}  {printable(match.term_id)}: {_in_place(text, match)}  ({REFUSALS[reason]})")
    if len(told) > _MOST_REFUSED:
        write(f"  and {len(told) - _MOST_REFUSED:,} more")


def _result(topic: TopicExplanation) -> dict[str, Any]:
    facts = topic._asdict()
    facts["parts"] = [part._asdict() for part in topic.parts]
    facts["matches"] = [match._asdict() for match in topic.matches]
    return dict(facts)


def _in_place(tried: Tried, match: Match) -> str:
    text = (tried.title or "") if match.field == "title" else tried.text
    before = text[max(0, match.start - _AROUND) : match.start]
    after = text[match.end : match.end + _AROUND]
    left = "…" if match.start > _AROUND else ""
    right = "…" if match.end + _AROUND < len(text) else ""
    parts = [printable(part).replace("\n", " ") for part in (before, match.surface, after)]
    return f"{left}{parts[0]}{styled(f'[{parts[1]}]', 'hit', sys.stdout)}{parts[2]}{right}"
