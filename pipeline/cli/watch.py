"""``newsbeam watch``: flags, and the loop in ``pipeline.watch``."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timezone

from pipeline.cli.output import err, plural
from pipeline.cli.parser import Commands, add_config, add_dataset, add_log_format, add_several
from pipeline.errors import ConfigError

_EXAMPLES = """
newsbeam watch --contact you@example.org
newsbeam watch --feeds configs/feeds.yaml --every 5m --until 2h --contact you@example.org
"""


def add_to(commands: Commands) -> None:
    """Adds ``watch``."""
    does = "Runs again and again over the feeds and pages that are due, until it is stopped."
    parser = commands.add("watch", does, _EXAMPLES, f"{__name__}:run")
    parser.set_defaults(takes_beam_flags=True)
    add_config(parser)
    add_dataset(parser, "-o", "--output")
    add_several(parser, "--feeds", metavar="FILE_OR_URL", help="feeds, or files that list them")
    add_several(parser, "--urls", metavar="FILE", help="text files with a page address a line")
    add_several(parser, "--topics", metavar="FILE", help="taxonomy files")
    parser.add_argument("--every", default="1m", metavar="TIME", help="from one look for what is due to the next (1m)")
    parser.add_argument("--until", metavar="TIME", help="stop then: an instant, or a time from now such as 2h")
    parser.add_argument("--host-gap", metavar="TIME", help="least time between two requests to a host (5s)")
    parser.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    parser.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")
    parser.add_argument(
        "--no-upkeep", action="store_true", help="between two looks, neither group stories nor merge small files"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="errors only")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="say more")
    add_log_format(parser)


def run(args: argparse.Namespace) -> int:
    """Watches; returns the exit code."""
    # Heavy: pydantic, pyarrow.
    from pipeline.config import values
    from pipeline.config.load import load_setup, loopback_note
    from pipeline.options import beam_arguments
    from pipeline.plan import make_plan
    from pipeline.watch import WatchOptions, until_time, watch

    now = datetime.now(timezone.utc)
    try:
        every_s = values.duration(args.every)
    except ValueError as error:
        raise ConfigError(f"--every: {error}") from error
    try:
        until = until_time(args.until, now) if args.until else None
    except ValueError as error:
        raise ConfigError(f"--until: {error}") from error
    if every_s < 1:
        raise ConfigError("--every must be at least 1s")
    flags = beam_arguments(None, args.beam_flags)
    setup = load_setup(args.config, vars(args))
    if note := loopback_note(setup):
        err(note)
    if not (setup.feeds or setup.config.urls):
        raise ConfigError("nothing to watch: name --feeds, or set feeds in the config file")
    plan = make_plan(setup._replace(config=setup.config.model_copy(update={"seeds": ()})))
    if sys.stderr.isatty() and not args.quiet:
        err(f"watching {plural(len(plan.feeds), 'feed')} into {plan.config.dataset}; Ctrl-C stops, nothing is lost")
    options = WatchOptions(every_s, until, tuple(flags), not args.no_upkeep, args.quiet or args.log_format == "json")
    return int(watch(plan, options, lambda line: None if args.quiet else _tell(line, args.log_format == "json")))


def _tell(line: str, as_json: bool) -> None:
    """Writes a line with the time in front, which JSON has in a field of its own."""
    err(line if as_json else f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%SZ}  {line}")
    sys.stderr.flush()
