"""``newsbeam feeds``: the commands that look after feeds, and ``list``, which shows those that are configured."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from pipeline.cli.output import out, table
from pipeline.cli.parser import Commands, GivesBack, Parser, add_config, add_dataset, add_several
from pipeline.cli.run_flags import moment


def add_to(commands: Commands) -> None:
    """Adds ``feeds`` and its commands."""
    examples = (
        "newsbeam feeds list\nnewsbeam feeds add https://example.org/ --file feeds.yaml --contact you@example.org"
    )
    below = Commands(commands.add("feeds", "Looks after feeds: lists, checks, finds, adds, exchanges them.", examples))
    does = "Lists the feeds with all that is configured for them."
    listing = below.add("list", does, "newsbeam feeds list --json", f"{__name__}:list_feeds")
    _add_common(listing)
    _add_json(listing)
    _add_check(below)
    _add_discover(below)
    _add_add(below)
    _add_transfer(below)
    _add_health(below)


def _add_common(parser: Parser) -> None:
    add_config(parser)
    add_several(parser, "--feeds", metavar="FILE_OR_URL", help="feeds instead of those of the config")


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="a JSON object a line")


def _add_manners(parser: Parser) -> None:
    parser.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    parser.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")
    parser.add_argument("--host-gap", metavar="TIME", help="least time between two requests to a host (5s)")


def _add_target(parser: Parser) -> None:
    add_config(parser)
    help_text = "the YAML file to add to, made if it is not there (default: the one that the config names)"
    parser.add_argument("--file", metavar="FEEDS.yaml", help=help_text)


def _add_check(below: Commands) -> None:
    check = below.add(
        "check",
        "Shows what documents are and their entries as parsed; without one, asks each configured feed once. "
        "Exit 1 if none can be used, 3 if some want a person to look. Needs a contact for any host but loopback.",
        "newsbeam feeds check saved.xml --base https://example.org/feed --json\n"
        "newsbeam feeds check https://example.org/feed --contact you@example.org\n"
        "newsbeam feeds check --contact you@example.org",
        "pipeline.cli.feeds_check:run",
    )
    check.add_argument("documents", nargs="*", metavar="FILE_OR_URL", help="a saved document or its address")
    check.add_argument("--content-type", metavar="TYPE", help="read it as if the server had said so")
    check.add_argument("--base", metavar="URL", help="address that relative links are relative to")
    _add_common(check)
    _add_json(check)
    _add_manners(check)


def _add_discover(below: Commands) -> None:
    discover = below.add(
        "discover",
        "Finds the feeds that a site announces: links of the page and its headers, news sitemaps of robots.txt. "
        "Asks robots.txt and the one page, nothing else.",
        "newsbeam feeds discover https://example.org/ --contact you@example.org",
        "pipeline.cli.feeds_find:discover",
    )
    discover.add_argument("site", metavar="SITE", help="address of a page")
    add_config(discover)
    _add_json(discover)
    _add_manners(discover)


def _add_add(below: Commands) -> None:
    add = below.add(
        "add",
        "Adds a feed to a YAML file, whose comments and order stay. Takes the address of the feed or of its site; "
        "asks that address once, and the answer counts as the first check.",
        "newsbeam feeds add https://example.org/feed --contact you@example.org\n"
        "newsbeam feeds add https://example.org/ --file feeds.yaml --name 'The Example' --tag local",
        "pipeline.cli.feeds_find:add",
    )
    add.add_argument("address", metavar="URL", help="address of a feed or a site")
    _add_target(add)
    add.add_argument("--name", metavar="NAME", help="what the source is called (default: as the feed says)")
    add.add_argument("--tag", action="append", default=[], metavar="TAG", help="a label; may be given several times")
    add.add_argument("--unchecked", action="store_true", help="add the address as it is, and ask no server")
    _add_manners(add)


def _add_transfer(below: Commands) -> None:
    take = below.add(
        "import",
        "Adds the feeds of a list from elsewhere to a YAML file: OPML, CSV, text, YAML. Folders become tags; "
        "what is listed already stays as it is; what cannot be used is said, and the rest goes in.",
        "newsbeam feeds import subscriptions.opml --file feeds.yaml",
        "pipeline.cli.feeds_transfer:take_in",
    )
    take.add_argument("source", metavar="FILE", help="the list; .csv and .yaml by the ending, else by the content")
    _add_target(take)
    take.add_argument("--tag", action="append", default=[], metavar="TAG", help="a label for all of them")
    give = below.add(
        "export",
        "Writes the configured feeds as OPML, CSV, text or YAML. Feeds whose address holds a password or token are "
        "left out.",
        "newsbeam feeds export subscriptions.opml\nnewsbeam feeds export - --format csv",
        "pipeline.cli.feeds_transfer:give_out",
    )
    give.add_argument("destination", nargs="?", metavar="FILE", help="ends in .opml, .csv, .txt or .yaml; - for stdout")
    give.set_defaults(gives_back=GivesBack("feeds", "destination", _is_new_file))
    help_text = "opml, csv, txt or yaml (default: by the ending; for -: opml)"
    give.add_argument("--format", choices=("opml", "csv", "txt", "yaml"), metavar="FORMAT", help=help_text)
    give.add_argument("--with-secrets", action="store_true", help="write addresses with passwords and tokens too")
    _add_common(give)


def _is_new_file(word: str) -> bool:
    """A list that is there is meant as one, and is not written over by mistake."""
    return "://" not in word and not os.path.exists(word)


def _add_health(below: Commands) -> None:
    health = below.add(
        "health",
        "Shows how each feed is doing, from the polls in the dataset; asks no server. "
        "Exit 3 if something wants a person to look.",
        "newsbeam feeds health -d out\nnewsbeam feeds health --json",
        "pipeline.cli.feeds_health:run",
    )
    _add_common(health)
    add_dataset(health)
    _add_json(health)
    health.add_argument("--now", type=moment, metavar="TIME", help="judge as of this time")


def list_feeds(args: argparse.Namespace) -> int:
    """Lists the feeds.

    Raises:
        ProblemsError: With all mistakes of configuration and feeds.
    """
    with uncollected():
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

    with uncollected():
        loaded = read_config(args.config, vars(args))
        listed, problems = listed_feeds(loaded.config, loaded.layers.place)
    problems = [*loaded.problems, *problems]
    if needs_contact and not problems:
        problems += missing_contact(loaded, listed)
    if problems:
        raise ProblemsError(problems)
    return loaded.config, [feed.item for feed in listed]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Reading a long list makes a million small objects that all stay: looking for garbage would double the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def row_of(item: Any, config: Any) -> dict[str, Any]:
    """Returns a feed as it will be asked, ready for JSON, without secrets."""
    from pipeline.config.feeds import source_of
    from pipeline.config.values import duration_text

    source = source_of(item, config)
    return {
        "id": source.source_id,
        "url": shown_address(source.url),
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


def shown_address(url: str) -> str:
    """Returns an address without what is secret in it."""
    from pipeline.config.values import without_secrets

    return without_secrets(url) if "@" in url or "?" in url else url  # the common case is worth a short way


def _flat(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
