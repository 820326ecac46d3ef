"""``newsbeam feeds check``: asks each configured feed once, or shows documents; writes nothing."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.cli.feeds import configured, shown_address
from pipeline.cli.output import err, out, plural, printable, styled
from pipeline.errors import ConfigError, ExitCode

_THREADS = 16


def run(args: argparse.Namespace) -> int:
    """Asks the feeds side by side, each host in turn; shows the documents instead if some are named.

    Returns:
        Exit 1 if none of them can be used, 3 if some fail in a way that does not go away by itself.

    Raises:
        ConfigError: If there is nothing to check.
        ProblemsError: With all mistakes of configuration and feeds, a missing contact too.
    """
    if args.documents and args.feeds and all("://" in word for word in args.documents):
        args.feeds, args.documents = [*args.feeds, *args.documents], []  # as they stand behind --feeds
    if args.documents:
        from pipeline.cli.feeds_document import run as show

        return show(args)
    if args.base or args.content_type:
        raise ConfigError("--base and --content-type are for a document; name a file or an address")
    config, items = configured(args, needs_contact=True)
    if not items:
        raise ConfigError("there are no feeds; name them with --feeds FILE_OR_URL, or in the config under feeds")
    outcomes = []
    for row in _answers(config, items):
        outcomes.append(row["outcome"])
        out(json.dumps(row, ensure_ascii=False) if args.json else _line(row))
        sys.stdout.flush()
    err(f"{outcomes.count('ok')} of {plural(len(items), 'feed')} can be used")
    return int(exit_code_of(outcomes))


def exit_code_of(outcomes: Iterable[str]) -> ExitCode:
    """Returns the exit code for the outcomes of what was checked, each once."""
    from pipeline.feeds.asking import TEMPORARY

    found = set(outcomes)
    if "ok" not in found:
        return ExitCode.FAILED
    return ExitCode.TOO_MANY_REJECTS if found - TEMPORARY - {"ok"} else ExitCode.DONE


def _answers(config: Any, items: list[Any]) -> Iterator[dict[str, Any]]:
    """Yields a row for each feed as soon as its answer is here."""
    from pipeline.config.feeds import source_of
    from pipeline.feeds.asking import open_desk
    from transforms.feeds.ask import ask

    desk = open_desk(config)
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    done: queue.SimpleQueue[dict[str, Any] | BaseException] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)

    def work() -> None:
        try:
            while True:
                item = waiting.get_nowait()
                source = source_of(item, config)
                done.put(_row(source, ask(source, None, desk.asker, desk.run)))
        except queue.Empty:
            return
        except BaseException as error:  # a bug: shown by the main thread instead of lost in this one
            done.put(error)

    for _ in range(min(_THREADS, len(items))):
        # Daemons, so that Ctrl-C need not wait for slow servers.
        threading.Thread(target=work, daemon=True).start()
    for _ in items:
        row = done.get()
        if isinstance(row, BaseException):
            raise row
        yield row


def _row(source: Any, answer: Any) -> dict[str, Any]:
    feed, exchange = answer.feed, answer.exchange
    dates = [item.published.instant for item in feed.items if item.published] if feed else []
    return {
        "id": source.source_id,
        "url": shown_address(source.url),
        "outcome": answer.outcome,
        "http_status": exchange.http_status,
        "kind": feed.kind if feed else None,
        "entries": len(feed.items) if feed else None,
        "newest": max(dates).isoformat() if dates else None,
        "redirected_to": shown_address(exchange.final_url) if exchange.redirects else None,
        "note": answer.note,
    }


def _line(row: dict[str, Any]) -> str:
    is_usable = row["outcome"] == "ok"
    outcome = styled(f"{row['outcome']:<14}", "green" if is_usable else "red", sys.stdout)
    what = f"{row['kind']}, {plural(row['entries'], 'entry')}" if is_usable else row["note"] or row["http_status"] or ""
    if row["newest"]:
        what += f", newest {row['newest'][:10]}"
    if row["redirected_to"]:
        what += f"; redirected to {row['redirected_to']}"
    return f"{outcome} {printable(row['id'])}  {printable(row['url'])}  {printable(what)}"
