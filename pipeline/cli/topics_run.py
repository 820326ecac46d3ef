"""What the ``topics`` commands do. Thin: the taxonomy, the search and the checks live in ``transforms.tag``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from pipeline.cli.output import err, out, plural, printable, problem_facts, styled
from pipeline.errors import ExitCode


def list_topics(args: argparse.Namespace) -> int:
    """Lists the topics with their terms.

    Raises:
        ProblemsError: With all mistakes of configuration and taxonomy.
    """
    taxonomy = _taxonomy(args)
    if args.json:
        out(json.dumps([_topic(topic) for topic in taxonomy.topics], ensure_ascii=False, indent=2))
        return int(ExitCode.DONE)
    out(f"{taxonomy.id} {taxonomy.version}")
    for topic in taxonomy.topics:
        facts = _topic(topic)
        implied = f", implies {', '.join(facts['implies'])}" if facts["implies"] else ""
        out(f"\n{styled(topic.id, 'bold', sys.stdout)}: {facts['label']}{implied}")
        for language, terms in facts["terms"].items():
            out(f"  {language}  {', '.join(terms)}")
    return int(ExitCode.DONE)


def lint(args: argparse.Namespace) -> int:
    """Checks the taxonomy and tries its examples; exit 2 if something deserves a look.

    Raises:
        ProblemsError: With all mistakes of configuration and taxonomy.
    """
    from transforms.tag.lint import lint as problems_of
    from transforms.yaml_file import ProblemsError

    try:
        taxonomy = _taxonomy(args)
    except ProblemsError as error:
        if args.json:
            out(json.dumps({"examples": 0, "problems": problem_facts(error.problems)}, indent=2))
        raise
    problems = problems_of(taxonomy)
    examples = sum(len(topic.examples) for topic in taxonomy.topics)
    if args.json:
        out(json.dumps({"examples": examples, "problems": problem_facts(problems)}, indent=2))
    else:
        for problem in problems:
            out(printable(problem))
        tried = f"{plural(len(taxonomy.topics), 'topic')}, {plural(examples, 'example')} tried"
        err(f"{tried}, {plural(len(problems), 'remark')}")
    return int(ExitCode.USAGE if problems else ExitCode.DONE)


def _taxonomy(args: argparse.Namespace) -> Any:
    from pipeline.config.load import load_topics

    return load_topics(args.config, vars(args))


def _topic(topic: Any) -> dict[str, Any]:
    terms: dict[str, list[str]] = {}
    for term in topic.terms:
        terms.setdefault(term.language, []).append(term.text)
    label = topic.label.get("en") or next(iter(topic.label.values()), topic.id)
    return {"id": topic.id, "label": label, "implies": list(topic.implies), "terms": terms}
