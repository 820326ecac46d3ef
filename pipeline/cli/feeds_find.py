"""``newsbeam feeds discover`` and ``add``: from the address of a site to the feed that is polled."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from pipeline.cli.feeds import shown_address, uncollected
from pipeline.cli.output import err, out, plural, printable, shown_path, table
from pipeline.errors import ConfigError, ExitCode, RunError


def discover(args: argparse.Namespace) -> int:
    """Shows the feeds that a site announces; exit 1 if there are none.

    Raises:
        ConfigError: If the address is none.
        ProblemsError: With the mistakes of the configuration, a missing contact too.
        RunError: If the site could not be looked at, or announces nothing.
    """
    from pipeline.feeds.asking import address_of

    url = address_of(args.site)
    found = _look(url, _loaded(args, url))
    if found.refusal and found.feeds:
        err(f"newsbeam: the page itself could not be looked at: {_why(url, found)}")
    elif not found.feeds:
        raise RunError(_why(url, found))
    _show(found.feeds, as_json=args.json)
    return int(ExitCode.DONE)


def add(args: argparse.Namespace) -> int:
    """Adds a feed to a feeds file and says at which line; exit 2 if it is listed or a person has to choose.

    Raises:
        ConfigError: If the address is none, is listed already, or leads to several feeds.
        ProblemsError: With the mistakes of the configuration and the lists.
        RunError: If the address could not be asked, or leads to no feed.
    """
    from pipeline.feeds.asking import address_of
    from pipeline.feeds.feeds_file import append, find_target

    url = address_of(args.address)
    with uncollected():
        loaded = _loaded(args, None if args.unchecked else url)
        target = find_target(args.file, loaded)
    _refuse_listed(url, target)
    feed, said = (_item(url, None, args), "not asked") if args.unchecked else _found_feed(url, loaded, target, args)
    with uncollected():
        (line,) = append(target.path, [feed])
    out(f"{printable(shown_path(target.path))}:{line}: {printable(shown_address(feed.url))}")
    err(f"added {printable(feed.name or shown_address(feed.url))}: {said}")
    return int(ExitCode.DONE)


def _loaded(args: argparse.Namespace, url: str | None) -> Any:
    """The configuration; if an address is given it is about to be asked."""
    from pipeline.config.load import read_config
    from pipeline.feeds.asking import contact_problems
    from transforms.yaml_file import ProblemsError

    loaded = read_config(args.config, vars(args))
    if problems := contact_problems(loaded, [url] if url else []):
        raise ProblemsError(problems)
    return loaded


def _look(url: str, loaded: Any) -> Any:
    from pipeline.feeds.asking import open_desk
    from transforms.feeds.discover import discover_site

    desk = open_desk(loaded.config)
    return discover_site(url, desk.asker, desk.run)


def _why(url: str, found: Any) -> str:
    shown = printable(shown_address(url))
    if found.refusal == "robots":
        return f"robots.txt asks robots not to fetch {shown}; a feed that you know can be added with --unchecked"
    if found.refusal:
        detail = found.exchange.detail if found.exchange else "robots.txt could not be read"
        return f"{shown} could not be had: {found.refusal}" + (f" ({printable(detail)})" if detail else "")
    return f"{shown} is {_what(found)} and announces no feed; a feed that you know can be added by its own address"


def _what(found: Any) -> str:
    from datetime import datetime, timezone

    from transforms.feeds.ask import judge_answer
    from transforms.records import FeedSource

    return (
        judge_answer(found.exchange, FeedSource(found.exchange.url, ""), datetime.now(timezone.utc)).note or "no feed"
    )


def _found_feed(url: str, loaded: Any, target: Any, args: argparse.Namespace) -> tuple[Any, str]:
    """Returns the feed that an address leads to, and what is known of it, in words."""
    from pipeline.feeds.choice import clearly_best, name_of

    found = _look(url, loaded)
    if found.refusal or not found.feeds:
        raise RunError(_why(url, found))
    if found.is_feed:
        moved = found.exchange.moved_to
        address = moved if moved and "@" not in url else url
        _refuse_listed(address, target)
        _refuse_listed(found.exchange.final_url, target)
        return _item(address, found.feeds[0].title, args), _first_check(found.exchange, url, address)
    best = clearly_best(found.feeds)
    if best is None:
        _show(found.feeds, as_json=False)
        raise ConfigError(f"{shown_address(url)} announces {len(found.feeds)} feeds; name one of them: feeds add URL")
    _refuse_listed(best.url, target)
    others = f", one of {len(found.feeds)}" if len(found.feeds) > 1 else ""
    return _item(best.url, name_of(best.title), args), f"{best.kind}, announced by the page{others}; not asked yet"


def _first_check(exchange: Any, url: str, address: str) -> str:
    from datetime import datetime, timezone

    from transforms.feeds.ask import judge_answer
    from transforms.records import FeedSource

    feed = judge_answer(exchange, FeedSource(url, ""), datetime.now(timezone.utc)).feed
    dates = [item.published.instant for item in feed.items if item.published] if feed else []
    said = f"{feed.kind}, {plural(len(feed.items), 'entry')}" if feed else "a feed"
    said += f", newest {max(dates):%Y-%m-%d}" if dates else ""
    return said if address == url else f"{said}; the server moved it for good, so this address is listed"


def _refuse_listed(url: str, target: Any) -> None:
    from transforms.urls import url_key

    mark = target.listed.get(url_key(url))
    if mark is not None:
        place = mark._replace(file=shown_path(mark.file))
        raise ConfigError(f"{shown_address(url)} is listed already: {place}")


def _item(url: str, title: str | None, args: argparse.Namespace) -> Any:
    from pipeline.config.model import FeedItem
    from pipeline.feeds.feeds_file import clean_name

    tags = tuple(filter(None, map(clean_name, args.tag)))
    return FeedItem(url=url, name=clean_name(args.name or title), tags=tags)


def _show(feeds: Any, as_json: bool) -> None:
    if as_json:
        for feed in feeds:
            out(json.dumps({"url": feed.url, "title": feed.title, "kind": feed.kind}, ensure_ascii=False))
        return
    out(table(("kind", "title", "url"), [(feed.kind, feed.title, feed.url) for feed in feeds], sys.stdout))
