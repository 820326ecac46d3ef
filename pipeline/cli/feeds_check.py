"""``newsbeam feeds check``: asks each feed once, shows what came, and writes nothing."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from pipeline.cli.feeds import configured
from pipeline.cli.output import err, out, printable, styled
from pipeline.errors import ConfigError, ExitCode

_THREADS = 16


def run(args: argparse.Namespace) -> int:
    """Asks the feeds side by side, each host in turn; exit 1 if none of them can be used.

    Raises:
        ConfigError: If no feed is configured.
        ProblemsError: With all mistakes of configuration and feeds, a missing contact too.
    """
    config, items = configured(args, needs_contact=True)
    if not items:
        raise ConfigError("there are no feeds; name them with --feeds FILE_OR_URL, or in the config under feeds")
    usable = 0
    for row in _answers(config, items):
        usable += row["outcome"] == "ok"
        out(json.dumps(row, ensure_ascii=False) if args.json else _line(row))
        sys.stdout.flush()
    err(f"{usable} of {len(items)} feeds can be used")
    return int(ExitCode.DONE if usable else ExitCode.FAILED)


def _answers(config: Any, items: list[Any]) -> Iterator[dict[str, Any]]:
    """Yields a row for each feed as soon as its answer is here."""
    from pipeline.config.feeds import source_of
    from pipeline.settings import client_settings
    from transforms.feeds.ask import Asker, ask
    from transforms.fetch.client import HttpClient
    from transforms.fetch.gate import HostGate
    from transforms.fetch.robots import RobotsCache
    from transforms.records import RunContext

    run_context = RunContext("check", datetime.now(timezone.utc), time.time())
    settings, gate = client_settings(config), HostGate(config.host_gap_s)
    asker = Asker(HttpClient(settings, run_context.now, gate), gate, RobotsCache(), settings)
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    done: queue.SimpleQueue[dict[str, Any] | BaseException] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)

    def work() -> None:
        try:
            while True:
                item = waiting.get_nowait()
                source = source_of(item, config)
                done.put(_row(source, ask(source, None, asker, run_context)))
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
    from pipeline.config.values import without_secrets

    feed, exchange = answer.feed, answer.exchange
    dates = [item.published.instant for item in feed.items if item.published] if feed else []
    moved = exchange.final_url if exchange.redirects else None
    return {
        "id": source.source_id,
        "url": without_secrets(source.url),
        "outcome": answer.outcome,
        "http_status": exchange.http_status,
        "kind": feed.kind if feed else None,
        "entries": len(feed.items) if feed else None,
        "newest": max(dates).isoformat() if dates else None,
        "redirected_to": without_secrets(moved) if moved else None,
        "note": answer.note,
    }


def _line(row: dict[str, Any]) -> str:
    is_usable = row["outcome"] == "ok"
    outcome = styled(f"{row['outcome']:<14}", "green" if is_usable else "red", sys.stdout)
    what = f"{row['kind']}, {row['entries']} entries" if is_usable else row["note"] or row["http_status"] or ""
    if row["newest"]:
        what += f", newest {row['newest'][:10]}"
    if row["redirected_to"]:
        what += f"; redirected to {row['redirected_to']}"
    return f"{outcome} {printable(row['id'])}  {printable(row['url'])}  {printable(what)}"
