"""``newsbeam topics diff``: which stored articles would gain or lose which topic. Writes nothing."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from pipeline.cli.output import err, out, plural, printable
from pipeline.errors import ConfigError, ExitCode


def diff(args: argparse.Namespace) -> int:
    """Tags the stored articles with two taxonomies and tells the difference, a line a tag.

    Raises:
        ConfigError: If a file or the dataset is missing.
        ProblemsError: With all mistakes of a taxonomy.
    """
    from pipeline.dataset.opening import dataset_root
    from transforms.maintain.compare import Looked, changed_tags
    from transforms.maintain.contents import read_contents
    from transforms.tag.tagger import Tagger

    old, new = (Tagger(_taxonomy(path)) for path in (args.old, args.new))
    contents = read_contents(dataset_root(args))
    gained: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    looked = Looked()
    for found in changed_tags(contents, old, new):
        if isinstance(found, Looked):
            looked = found
            continue
        gained.update(found.gained)
        lost.update(found.lost)
        _show(found, args.json)
    for topic in sorted({*gained, *lost}):
        err(f"{topic}: {gained[topic]:,} would gain it, {lost[topic]:,} would lose it")
    err(f"{plural(looked.articles, 'article')} looked at")
    if looked.without_text:
        err(f"{looked.without_text:,} of them could not be tagged: their text is not stored")
    return int(ExitCode.DONE)


def _taxonomy(path: str) -> Any:
    from transforms.remote.files import is_file
    from transforms.tag.taxonomy import load_taxonomy

    if not is_file(path):
        raise ConfigError(f"no such file: {path}")
    return load_taxonomy([path])


def _show(found: Any, as_json: bool) -> None:
    if as_json:
        out(json.dumps(found._asdict(), ensure_ascii=False))
        return
    title = printable(found.title or "(untitled)").replace("\n", " ")
    for sign, topics in (("+", found.gained), ("-", found.lost)):
        for topic in topics:
            out(f"{sign}{topic}  {title}  {printable(found.url)}")
