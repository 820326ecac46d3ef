"""What ``newsbeam run`` says of stored articles that another taxonomy tagged than the one in use."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.config.model import Config
    from transforms.tag.model import Taxonomy


def older_taxonomy_line(args: argparse.Namespace, config: Config, taxonomy: Taxonomy) -> str:
    """Returns a line with the number of such articles and the command that mends it; empty if there are none.

    It costs about a millisecond, and 0.2 ms a run that the dataset holds. Where texts are not stored whole, retag
    could do nothing and nothing is said.

    Args:
        args: The command line; its ``-c``, ``-d`` and ``--topics`` become those of the command.
        config: Names the dataset.
        taxonomy: The one in use.

    Raises:
        DatasetError: If a manifest is damaged.
    """
    from transforms.maintain.taxonomy import older_taxonomy_count

    older = older_taxonomy_count(config.dataset, taxonomy.sha256) if config.store_text == "full" else 0
    if not older:
        return ""
    flags = {"-c": [args.config], "-d": [args.dataset], "--topics": args.topics or [None]}
    words = [word for flag, values in flags.items() if values[0] for word in (flag, *values)]
    what = "1 stored article was" if older == 1 else f"{older:,} stored articles were"
    command = shlex.join(["newsbeam", "dataset", "retag", *words])
    return f"newsbeam: note: {what} tagged with another taxonomy than {taxonomy.id} {taxonomy.version}; mend: {command}"
