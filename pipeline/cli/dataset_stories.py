"""``newsbeam dataset stories``: flags and what is shown."""

from __future__ import annotations

import argparse
import json

from pipeline.cli.output import out, plural
from pipeline.cli.parser import Commands, add_config, add_dataset
from pipeline.cli.run_flags import moment, whole_number


def add_to(below: Commands) -> None:
    """Adds ``stories`` to the commands of ``dataset``."""
    parser = below.add(
        "stories",
        "Groups the articles of the last days into stories: copies and edited copies of one text. What was grouped"
        " before stays.",
        "newsbeam dataset stories\nnewsbeam dataset stories --days 7 --json",
        f"{__name__}:run",
    )
    add_config(parser)
    add_dataset(parser)
    parser.add_argument("--days", type=whole_number, default=3, metavar="N", help="days before today to look at (3)")
    parser.add_argument("--now", type=moment, metavar="TIME", help="the clock that days are counted from")
    parser.add_argument("--wait", action="store_true", help="wait if the dataset is busy, instead of exit 4")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Groups; returns the exit code.

    Raises:
        ConfigError: If there is no dataset.
    """
    from pipeline.dataset.opening import dataset_root, locked  # heavy: pydantic

    with locked(dataset_root(args), args.wait) as storage:
        from pipeline.dataset.stories import run_stories  # Beam: after the lock, which may be busy

        found = run_stories(storage.root, args.days, args.now)
    if args.json:
        out(json.dumps(found._asdict()))
        return 0
    out(f"{plural(found.articles, 'article')}, {found.stories:,} stories, {found.copies:,} are copies of another")
    news = f"{found.new:,} grouped for the first time, {found.linked:,} stories linked to an earlier one"
    out(news if found.run_id else "nothing new since the last time")
    return 0
