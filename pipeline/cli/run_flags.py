"""The flags of ``newsbeam run``. Those that are keys of the configuration are judged there, in one way."""

from __future__ import annotations

import argparse
import re
from datetime import datetime, timezone
from typing import NamedTuple

from pipeline.cli.parser import Commands, Parser, add_config, add_dataset, add_log_format, add_several

_EXAMPLES = """
newsbeam run
newsbeam run --seeds 'archive/**/*.txt' -d out
newsbeam run --feeds configs/feeds.yaml --contact you@example.org
newsbeam run --plan
newsbeam run --json > summary.json
newsbeam run --runner flink --streaming --stream-id desk --contact you@example.org
"""


class RejectLimit(NamedTuple):
    """``--max-rejects``: a number of items, or a share of those that came in."""

    items: int | None = None
    share: float | None = None

    def is_exceeded(self, rejected: int, taken_in: int) -> bool:
        """Tells whether more was rejected than is allowed."""
        if self.items is not None:
            return rejected > self.items
        return self.share is not None and taken_in > 0 and rejected / taken_in > self.share


def reject_limit(word: str) -> RejectLimit:
    """Reads ``20`` or ``5%``."""
    if re.fullmatch(r"[0-9]{1,9}", word):
        return RejectLimit(items=int(word))
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?%", word) and float(word[:-1]) <= 100:
        return RejectLimit(share=float(word[:-1]) / 100)
    raise argparse.ArgumentTypeError(f'"{word}" is neither a number such as 20 nor a share such as 5%')


def whole_number(word: str) -> int:
    """Reads a whole number from 1 on."""
    if not (word.isascii() and word.isdecimal()) or int(word) < 1:
        raise argparse.ArgumentTypeError(f'"{word}" is not a whole number from 1 on')
    return int(word)


def moment(word: str) -> datetime:
    """Reads an instant such as ``2026-11-30T10:15:02Z``; a day alone means its start in UTC."""
    try:
        found = datetime.fromisoformat(word.replace("Z", "+00:00").replace("z", "+00:00"))
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{word}" is not a time such as 2026-11-30T10:15:02Z') from None
    if found.tzinfo is None:
        if len(word) > 10:
            raise argparse.ArgumentTypeError(f'"{word}" has no time zone; write {word}Z for UTC')
        found = found.replace(tzinfo=timezone.utc)
    return found.astimezone(timezone.utc)


def add_to(commands: Commands) -> None:
    """Adds ``run``."""
    parser = commands.add(
        "run",
        "Reads what is new, tags it and adds it to the dataset. "
        "Any of --seeds, --feeds, --urls replaces all inputs of the config. "
        "Flags that newsbeam does not know are passed on to Beam, if Beam knows them.",
        _EXAMPLES,
        "pipeline.cli.run:run",
    )
    parser.set_defaults(takes_beam_flags=True)
    add_config(parser)
    add_dataset(parser, "-o", "--output")
    _add_inputs(parser)
    _add_limits(parser)
    _add_ways(parser)


def _add_inputs(parser: Parser) -> None:
    inputs = parser.add_argument_group("inputs")
    add_several(inputs, "--seeds", metavar="FILE", help="seed files: .txt .html .jsonl .xml; ** works")
    add_several(inputs, "--feeds", metavar="FILE_OR_URL", help="feeds, or files that list them")
    add_several(inputs, "--urls", metavar="FILE", help="text files with a page address a line")
    add_several(inputs, "--topics", metavar="FILE", help="taxonomy files")


def _add_limits(parser: Parser) -> None:
    limits = parser.add_argument_group("limits and manners")
    limits.add_argument("--keep", metavar="all|tagged", help="tagged: store only articles with a topic")
    limits.add_argument("--limit", type=whole_number, metavar="N", help="take in at most N items")
    limits.add_argument("--max-age", metavar="TIME", help="refuse feed entries older than this (7d; 0: no limit)")
    limits.add_argument("--max-items-per-feed", metavar="N", help="newest first, the rest later (0: no limit)")
    limits.add_argument("--max-pages-per-host", metavar="N", help="of feed entries, a run (0: no limit)")
    limits.add_argument("--max-rejects", type=reject_limit, metavar="N|N%", help="exit 3 if more is rejected")
    limits.add_argument("--host-gap", metavar="TIME", help="least time between two requests to a host (5s)")
    limits.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    limits.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")


def _add_ways(parser: Parser) -> None:
    ways = parser.add_argument_group("the run")
    ways.add_argument("--plan", action="store_true", help="show what would be done, and do nothing")
    ways.add_argument("--wait", action="store_true", help="wait if the dataset is busy, instead of exit 4")
    ways.add_argument("--now", type=moment, metavar="TIME", help="the clock that schedules are judged by")
    ways.add_argument("--due-now", action="store_true", help="treat every feed and page as due")
    ways.add_argument("--runner", metavar="NAME", help="direct (default), a preset, or a runner of Beam")
    ways.add_argument("--streaming", action="store_true", help="follow the feeds without end; needs --stream-id")
    ways.add_argument("--stream-id", metavar="ID", help="name of the stream, always the same for one dataset")
    ways.add_argument("--tick", default="5s", metavar="TIME", help="how often a stream looks what is due (5s)")
    ways.add_argument("--detach", action="store_true", help="leave a stream to its cluster once it is sent there")
    ways.add_argument("--json", action="store_true", help="the summary (or the plan) as one JSON object on stdout")
    ways.add_argument("-q", "--quiet", action="store_true", help="errors only")
    ways.add_argument("-v", "--verbose", action="count", default=0, help="say more; -vv: everything")
    add_log_format(parser)
