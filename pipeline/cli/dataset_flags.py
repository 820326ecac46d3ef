"""The flags of the commands that look after a dataset: verify, compact, prune, retag, replay."""

from __future__ import annotations

import argparse
from datetime import date

from pipeline.cli.parser import Commands, Parser, add_config, add_dataset, add_topics
from pipeline.cli.run_flags import whole_number

_KEEP = "pipeline.cli.dataset_keep"
_AGAIN = "pipeline.cli.dataset_again"


def day(word: str) -> date:
    """Reads a day such as ``2026-11-30``."""
    try:
        if len(word) != len("2026-11-30"):
            raise ValueError
        return date.fromisoformat(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{word}" is not a day such as 2026-11-30') from None


def add_to(below: Commands) -> None:
    """Adds the commands to those of ``dataset``."""
    _add_verify(below)
    _add_compact(below)
    _add_prune(below)
    _add_retag(below)
    _add_replay(below)


def _add_common(parser: Parser) -> None:
    add_config(parser)
    add_dataset(parser)
    parser.add_argument("--wait", action="store_true", help="wait if the dataset is busy, instead of exit 4")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("-q", "--quiet", action="store_true", help="no words of progress")


def _add_verify(below: Commands) -> None:
    does = "Checks that every file of every run is there and whole, and nothing else. Exit 1 if something is wrong."
    examples = "newsbeam dataset verify\nnewsbeam dataset verify --repair --json"
    parser = below.add("verify", does, examples, f"{_KEEP}:verify")
    _add_common(parser)
    parser.add_argument("--repair", action="store_true", help="mend what can be mended without a loss")


def _add_compact(below: Commands) -> None:
    does = "Makes few big files of the small files of each day that is over (UTC). The rows stay as they are."
    examples = "newsbeam dataset compact\nnewsbeam dataset compact --before 2026-11-01 --min-files 10"
    parser = below.add("compact", does, examples, f"{_KEEP}:compact")
    _add_common(parser)
    parser.add_argument("--before", type=day, metavar="DATE", help="only days before this one (default: today)")
    parser.add_argument(
        "--min-files", type=whole_number, default=2, metavar="N", help="leave a day's table with fewer small files (2)"
    )


def _add_prune(below: Commands) -> None:
    does = "Deletes the rows of all days before a day. What is known of them is kept: nothing is fetched again."
    examples = "newsbeam dataset prune --before 2026-06-01\nnewsbeam dataset prune --before 2026-06-01 --yes"
    parser = below.add("prune", does, examples, f"{_KEEP}:prune")
    _add_common(parser)
    parser.add_argument("--before", type=day, required=True, metavar="DATE", help="days before this one go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_retag(below: Commands) -> None:
    does = "Tags the stored articles with the topics as they are now. Nothing is fetched."
    examples = (
        "newsbeam dataset retag --plan\nnewsbeam dataset retag\nnewsbeam dataset retag --topics topics.yaml local.yaml"
    )
    parser = below.add("retag", does, examples, f"{_AGAIN}:retag")
    parser.set_defaults(takes_beam_flags=True)
    _add_common(parser)
    add_topics(parser)
    parser.add_argument("--plan", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--runner", metavar="NAME", help="direct (default), a preset, or a runner of Beam")


def _add_replay(below: Commands) -> None:
    does = (
        "Takes refused items in once more: pages by their address, records of seed files that are still there. "
        "Without --stage and --reason those whose reason is called retryable in docs/rejects.md."
    )
    examples = (
        "newsbeam dataset replay --plan\n"
        "newsbeam dataset replay --stage extract --reason timeout\n"
        "newsbeam dataset replay --stage fetch --reason not_found --contact you@example.org"
    )
    parser = below.add("replay", does, examples, f"{_AGAIN}:replay")
    _add_common(parser)
    add_topics(parser)
    parser.add_argument("--stage", metavar="NAME", help="refused by this stage")
    parser.add_argument("--reason", metavar="NAME", help="refused for this reason")
    parser.add_argument("--retryable", action="store_true", help="only where another try may succeed")
    parser.add_argument("--plan", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    parser.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")
