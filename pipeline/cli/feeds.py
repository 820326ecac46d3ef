"""``newsbeam feeds``: looks at the configured feeds. Further commands are added to ``add_to``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from pipeline.cli.output import out, table
from pipeline.cli.parser import Commands, Parser, add_config


def add_to(commands: Commands) -> None:
    """Adds ``feeds`` and its commands."""
    examples = "newsbeam feeds list\nnewsbeam feeds check --contact you@example.org"
    below = Commands(commands.add("feeds", "Shows and checks the configured feeds.", examples))
    does = "Lists the feeds with all that is configured for them."
    _add_common(below.add("list", does, "newsbeam feeds list --json", f"{__name__}:list_feeds"))
    does = "Asks each feed once and says what came. Needs a contact for any host but loopback."
    examples = "newsbeam feeds check --contact you@example.org\nnewsbeam feeds check --feeds https://example.org/feed"
    check = below.add("check", does, examples, "pipeline.cli.feeds_check:run")
    _add_common(check)
    check.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    check.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")


def _add_common(parser: Parser) -> None:
    add_config(parser)
    parser.add_argument("--feeds", nargs="+", metavar="FILE_OR_URL", help="feeds instead of those of the config")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")


def list_feeds(args: argparse.Namespace) -> int:
    """Lists the feeds.

    Raises:
        ProblemsError: With all mistakes of configuration and feeds.
    """
    config, items = configured(args)
    rows = [row_of(item, config) for item in items]
    if args.json:
        for row in rows:
            out(json.dumps(row, ensure_ascii=False))
        return 0
    shown = ("id", "url", "interval", "language", "country", "state", "tags")
    out(table(shown, [[_flat(row[name]) for name in shown] for row in rows], sys.stdout))
    return 0


def configured(args: argparse.Namespace, needs_contact: bool = False) -> tuple[Any, list[Any]]:
    """Returns the configuration and its feeds as listed, each once.

    Raises:
        ProblemsError: With all mistakes of configuration and feeds; a missing contact is one if it is needed.
    """
    from pipeline.config.feeds import list_feeds as listed_feeds
    from pipeline.config.load import missing_contact, read_config
    from transforms.yaml_file import ProblemsError

    loaded = read_config(args.config, vars(args))
    listed, problems = listed_feeds(loaded.config, loaded.layers.place)
    problems = [*loaded.problems, *problems]
    if needs_contact and not problems:
        problems += missing_contact(loaded, listed)
    if problems:
        raise ProblemsError(problems)
    return loaded.config, [feed.item for feed in listed]


def row_of(item: Any, config: Any) -> dict[str, Any]:
    """Returns a feed as it will be asked, ready for JSON, without secrets."""
    from pipeline.config.feeds import source_of
    from pipeline.config.values import duration_text, without_secrets

    source = source_of(item, config)
    return {
        "id": source.source_id,
        "url": without_secrets(source.url),
        "name": source.source_name,
        "interval": duration_text(source.interval_s),
        "language": source.language,
        "time_zone": source.time_zone,
        "conditional": source.conditional,
        "robots": source.robots,
        "tags": list(source.tags),
        "country": item.country,
        "state": item.state,
        "note": item.note,
    }


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
