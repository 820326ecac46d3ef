"""``newsbeam feeds check FILE_OR_URL``: what a document is, and its entries as parsed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from pipeline.cli.feeds import shown_address
from pipeline.cli.output import err, out, plural, printable, shown_path, styled, table
from pipeline.errors import ConfigError

_SUMMARY_LETTERS = 60


def run(args: argparse.Namespace) -> int:
    """Shows each document, as JSON or for people; exit codes as of ``feeds_check.run``.

    Raises:
        ConfigError: If the words of the command do not fit together.
        ProblemsError: If an address is to be asked and the configuration has mistakes or no contact.
    """
    from pipeline.cli.feeds_check import exit_code_of
    from pipeline.feeds.document import report

    _check_flags(args)
    outcomes = []
    for document in _documents(args):
        outcomes.append(document.outcome)
        if args.json:
            out(json.dumps(report(document), ensure_ascii=False))
            if document.note:
                err(f"{_name(document)}: {printable(document.note)}")
        else:
            out("\n".join(_lines(document, report(document))))
        sys.stdout.flush()
    if len(outcomes) > 1:
        err(f"{outcomes.count('ok')} of {len(outcomes)} documents are feeds")
    return int(exit_code_of(outcomes))


def _check_flags(args: argparse.Namespace) -> None:
    from pipeline.config.values import is_web_address

    if args.feeds:
        raise ConfigError("name either documents or --feeds, not both")
    if args.base and not is_web_address(args.base):
        raise ConfigError(f'--base: "{shown_address(args.base)}" is not an http:// or https:// address')


def _documents(args: argparse.Namespace) -> Iterator[Any]:
    from pipeline.feeds.asking import address_of, contact_problems, open_desk
    from pipeline.feeds.document import ask_document, read_document

    # Files need no configuration, so that its mistakes do not stand in the way.
    urls = {word: address_of(word) for word in args.documents if "://" in word or word.lower().startswith("feed:")}
    desk = None
    if urls:
        from pipeline.config.load import read_config
        from transforms.yaml_file import ProblemsError

        loaded = read_config(args.config, vars(args))
        if problems := contact_problems(loaded, urls.values()):
            raise ProblemsError(problems)
        desk = open_desk(loaded.config)
    for word in args.documents:
        if desk is not None and word in urls:
            yield ask_document(urls[word], args.content_type, args.base, desk)
        else:
            yield read_document(word, args.content_type, args.base)


def _name(document: Any) -> str:
    name = document.name
    return printable(shown_address(name) if "://" in name else shown_path(name))


def _lines(document: Any, shown: dict[str, Any]) -> Iterator[str]:
    if document.outcome != "ok":
        yield f"{_name(document)}: {styled(document.outcome, 'red', sys.stdout)}: {printable(document.note or '')}"
        if not shown["entries"]:
            return
    title = f"{printable(shown['title'])}, " if shown["title"] else ""
    yield f"{_name(document)}: {shown['kind']}, {title}{plural(len(shown['entries']), 'entry')}"
    if shown["warnings"]:
        yield f"  warnings: {', '.join(shown['warnings'])}"
    if rules := _rules(shown["next_due_rules"]):
        yield f"  asks not to be polled {rules} (GMT)"
    if shown["entries"]:
        header = ("published", "zone", "title", "url")
        yield table(header, [_row(entry) for entry in shown["entries"]], sys.stdout)


def _rules(rules: dict[str, Any]) -> str:
    parts = []
    if rules.get("min_interval_min"):
        parts.append(f"more often than every {rules['min_interval_min']} min")
    if rules.get("skip_hours_gmt"):
        parts.append("in the hours " + " ".join(map(str, rules["skip_hours_gmt"])))
    if rules.get("skip_days"):
        parts.append("on " + " ".join(rules["skip_days"]))
    return ", nor ".join(parts)


def _row(entry: dict[str, Any]) -> tuple[str | None, ...]:
    date = entry["published"] or entry["updated"]
    zone = "assumed" if entry["zone_assumed"] else None
    summary = entry["summary"] or ""
    start = summary if len(summary) <= _SUMMARY_LETTERS else f"{summary[:_SUMMARY_LETTERS]}…"
    title = entry["title"] or (f"[{start}]" if start else "(untitled)")
    return date or entry["published_raw"], zone, title, entry["url"]
