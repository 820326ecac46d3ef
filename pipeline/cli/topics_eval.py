"""``newsbeam topics eval``: precision and recall of the topics on labelled texts, and the worst mistakes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import err, out, plural, printable, shown_path, styled, table
from pipeline.errors import ConfigError, ExitCode

if TYPE_CHECKING:
    from transforms.tag.labelled import LabelledText
    from transforms.tag.measure import Evidence, Measured, Mistake
    from transforms.tag.model import Taxonomy
    from transforms.yaml_file import Problem

_MOST_PROBLEMS = 20
_HEADER = ("topic", "labelled", "level", "precision", "recall", "F1", "right", "wrong", "missed")


def evaluate(args: argparse.Namespace) -> int:
    """Measures the taxonomy on labelled files and shows the figures.

    Raises:
        ConfigError: If a file is missing or damaged or holds no labelled text.
        ProblemsError: With all mistakes of configuration and taxonomy, or with all labels that are no topics.
    """
    from pipeline.config.load import load_topics
    from transforms.tag.measure import measure
    from transforms.tag.tagger import Tagger

    if args.worst < 0:
        raise ConfigError("--worst must be 0 or more")
    for path in args.files:
        if Path(path).is_dir():
            raise ConfigError(f"{path} is a directory; name a file in it")
        if not Path(path).is_file():
            raise ConfigError(f"no such file: {path}")
    taxonomy = load_topics(args.config, vars(args))
    topics = _topics_to_measure(args, taxonomy)
    measured = measure(Tagger(taxonomy), _texts(args.files, taxonomy), topics, args.level, args.worst)
    if args.json:
        out(json.dumps(_as_json(measured, taxonomy, args.level), ensure_ascii=False, indent=2))
    else:
        _show(measured, args.level)
    return int(ExitCode.DONE)


def _topics_to_measure(args: argparse.Namespace, taxonomy: Taxonomy) -> list[str]:
    """Reads all files once, tells the lines that cannot be used, and returns the topics that a label names."""
    from transforms.yaml_file import suggest

    known = [topic.id for topic in taxonomy.topics]
    for topic in args.topic or ():
        if topic not in known:
            hint = suggest(topic, known) or f"; topics are: {', '.join(known)}"
            raise ConfigError(f'--topic: there is no topic "{topic}"{hint}')
    labelled, bad = _read_labels(args.files, known)
    for problem in bad[:_MOST_PROBLEMS]:
        err(printable(problem._replace(mark=problem.mark._replace(file=shown_path(problem.mark.file)))))
    if bad:
        more = f", {len(bad) - _MOST_PROBLEMS:,} of them not shown" if len(bad) > _MOST_PROBLEMS else ""
        what = "1 line is" if len(bad) == 1 else f"{len(bad):,} lines are"
        err(f"newsbeam: {what} left out{more}")
    if labelled is None:
        raise ConfigError(f"{', '.join(args.files)}: no labelled text; see {args.parser.prog} --help for the format")
    if args.topic:
        return list(dict.fromkeys(args.topic))
    left = [topic for topic in known if topic not in labelled]
    if labelled and left:
        err(f"newsbeam: note: no text is labelled {', '.join(left)}: not measured; --topic measures it all the same")
    return [topic for topic in known if topic in labelled] or known


def _read_labels(paths: list[str], known: list[str]) -> tuple[set[str] | None, list[Problem]]:
    """Returns the topics that labels name, ``None`` if there is no text at all, and the lines that cannot be used.

    Raises:
        ProblemsError: With all labels that are no topics.
    """
    from transforms.tag.labelled import LabelledText
    from transforms.yaml_file import ProblemsError

    labelled: set[str] | None = None
    bad: list[Problem] = []
    for found in (found for path in paths for found in _read(path, known)):
        if isinstance(found, LabelledText):
            labelled = (labelled or set()) | found.topics | (found.judged or frozenset())
        else:
            bad.append(found)
    unknown = [problem for problem in bad if problem.key]
    if unknown:
        raise ProblemsError(unknown)
    return labelled, bad


def _read(path: str, known: list[str]) -> Iterator[LabelledText | Problem]:
    from transforms.tag.labelled import read_labelled

    try:
        yield from read_labelled(path, known)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def _texts(paths: list[str], taxonomy: Taxonomy) -> Iterator[LabelledText]:
    from transforms.tag.labelled import LabelledText

    known = [topic.id for topic in taxonomy.topics]
    for path in paths:
        for found in _read(path, known):
            if isinstance(found, LabelledText):
                yield found


def _show(measured: Measured, level: str) -> None:
    rows: list[list[object]] = []
    for figures in measured.figures:
        is_first = not rows or rows[-1][2] == "primary"
        labelled = figures.right + figures.missed
        shares = ["-" if share is None else f"{share:.3f}" for share in (figures.precision, figures.recall, figures.f1)]
        head: list[object] = [figures.topic, labelled] if is_first else ["", None]
        rows.append([*head, figures.level, *shares, figures.right, figures.wrong, figures.missed])
    out(table(_HEADER, rows, sys.stdout))
    reached = "without any hit that counts" if level == "mention" else f"not {level}"
    for mistakes, heading in (
        (measured.misses, f"worst misses: labelled {{}}, {reached}"),
        (measured.false_hits, f"worst false hits: not labelled {{}}, at least {level}"),
    ):
        for topic, group in groupby(mistakes, key=lambda mistake: mistake.topic):
            out(f"\n{styled(heading.format(topic), 'bold', sys.stdout)}")
            for mistake in group:
                _show_mistake(mistake)
    err(f"{plural(measured.texts, 'text')} judged")


def _show_mistake(mistake: Mistake) -> None:
    place = f"{shown_path(mistake.mark.file)}:{mistake.mark.line}"
    out(printable(f"  {place}  {mistake.level or 'nothing'}  {mistake.reason}"))
    out(printable(f"    {mistake.language}  {mistake.excerpt}"))
    for evidence in mistake.evidence:
        out(f"    {printable(evidence.term_id)}: {_in_place(evidence)}")


def _in_place(evidence: Evidence) -> str:
    from transforms.tag.evidence import REFUSALS

    before, surface, after = (
        printable(" ".join(part.split("\n"))) for part in (evidence.before, evidence.surface, evidence.after)
    )
    why = f"  (does not count: {REFUSALS[evidence.refusal]})" if evidence.refusal else ""
    return f"…{before}{styled(f'[{surface}]', 'hit', sys.stdout)}{after}…{why}"


def _as_json(measured: Measured, taxonomy: Taxonomy, level: str) -> dict[str, Any]:
    topics: dict[str, dict[str, Any]] = {}
    for figures in measured.figures:
        shares = {"precision": figures.precision, "recall": figures.recall, "f1": figures.f1}
        counts = {"right": figures.right, "wrong": figures.wrong, "missed": figures.missed}
        topics.setdefault(figures.topic, {})[figures.level] = shares | counts
    return {
        "taxonomy": {"id": taxonomy.id, "version": taxonomy.version, "sha256": taxonomy.sha256},
        "texts": measured.texts,
        "topics": topics,
        "level": level,
        "misses": [_mistake(mistake) for mistake in measured.misses],
        "false_hits": [_mistake(mistake) for mistake in measured.false_hits],
    }


def _mistake(mistake: Mistake) -> dict[str, Any]:
    facts = mistake._asdict()
    mark = facts.pop("mark")
    facts["evidence"] = [evidence._asdict() for evidence in mistake.evidence]
    return {"file": mark.file, "line": mark.line} | facts
