"""``newsbeam feeds import`` and ``export``: lists of feeds from and for other programs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pipeline.cli.feeds import configured, shown_address, uncollected
from pipeline.cli.output import err, out, printable, shown_path
from pipeline.errors import ConfigError, ExitCode, RunError

_MOST_PROBLEMS = 20
_PROBLEM_LETTERS = 300


def take_in(args: argparse.Namespace) -> int:
    """Adds the feeds of a list to a feeds file; what is left out is said line by line.

    Raises:
        ConfigError: If there is no such file, or it is not clear where to add its feeds.
        ProblemsError: With the mistakes of the configuration and the lists.
        RunError: If the list has no feed that can be used.
    """
    from pipeline.config.load import read_config
    from pipeline.feeds.asking import contact_problems
    from pipeline.feeds.feeds_file import append, find_target
    from pipeline.feeds.transfer import read_feeds
    from transforms.urls import url_key
    from transforms.yaml_file import ProblemsError

    if not os.path.exists(args.source):
        raise ConfigError(f"no such file: {args.source}")
    if os.path.isdir(args.source):
        raise ConfigError(f"{args.source} is a directory; name a file in it")
    loaded = read_config(args.config, vars(args))
    if problems := contact_problems(loaded, ()):
        raise ProblemsError(problems)
    with uncollected():
        target = find_target(args.file, loaded)
        taken = read_feeds(args.source, args.tag)
    for problem in taken.problems[:_MOST_PROBLEMS]:
        err(f"{printable(shown_path(_short(problem)))}; left out")
    if len(taken.problems) > _MOST_PROBLEMS:
        err(f"{len(taken.problems) - _MOST_PROBLEMS:,} more left out, for reasons like these")
    if not taken.items:
        raise RunError(f"{args.source}: no feed in it can be used")
    new = [item for item in taken.items if url_key(item.url) not in target.listed]
    with uncollected():
        lines = append(target.path, new) if new else ()
    file = printable(shown_path(target.path))
    for item, line in zip(new, lines, strict=True):
        out(f"{file}:{line}: {printable(shown_address(item.url))}")
    known, bad = len(taken.items) - len(new), len(taken.problems)
    err(f"{file}: {len(new)} added, {known} listed already, {taken.repeated} repeated, {bad} left out")
    return int(ExitCode.DONE)


def _short(problem: str) -> str:
    return problem if len(problem) <= _PROBLEM_LETTERS else f"{problem[:_PROBLEM_LETTERS]}…"


def give_out(args: argparse.Namespace) -> int:
    """Writes the configured feeds to a file or stdout.

    Raises:
        ConfigError: If the format is unknown, there are no feeds, or the file is one that lists them.
        ProblemsError: With the mistakes of the configuration and the lists.
    """
    from pipeline.feeds.feeds_file import replace_file
    from pipeline.feeds.transfer import has_secret, write_feeds

    form = _format(args)
    config, items = configured(args)
    if not items:
        raise ConfigError("there are no feeds; name them with --feeds FILE_OR_URL, or in the config under feeds")
    secret = [] if args.with_secrets else list(filter(has_secret, items))
    for item in secret:
        err(f"{printable(shown_address(item.url))}: holds a password or token; left out (--with-secrets writes it)")
    written = [item for item in items if item not in secret]
    data = write_feeds(written, form)
    if args.destination == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)  # UTF-8 in any locale
    else:
        _refuse_own(args.destination, config)
        replace_file(args.destination, data)
    err(f"{printable(args.destination)}: {len(written)} written as {form}, {len(secret)} left out")
    return int(ExitCode.DONE)


def _format(args: argparse.Namespace) -> str:
    from pipeline.feeds.transfer import FORMATS

    if args.format or args.destination == "-":
        return str(args.format or "opml")
    form = FORMATS.get(Path(args.destination).suffix.lower())
    if form is None:
        raise ConfigError(f"{args.destination}: end it in .opml, .csv, .txt or .yaml, or name a --format")
    return form


def _refuse_own(destination: str, config: Any) -> None:
    """An export over the list itself would lose its comments."""
    sources = [entry for entry in config.feeds if isinstance(entry, str) and os.path.exists(entry)]
    if os.path.exists(destination) and any(os.path.samefile(destination, source) for source in sources):
        raise ConfigError(f"{destination} lists the feeds itself; export to another file")
