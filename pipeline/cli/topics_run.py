"""What the ``topics`` commands do. Thin: the taxonomy, the search and the checks live in ``transforms.tag``."""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from typing import Any

from pipeline.cli.output import err, out, printable, styled
from pipeline.errors import ConfigError, ExitCode

_TEXT_LIMIT = 1_000_000
_AROUND = 60


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


def try_text(args: argparse.Namespace) -> int:
    """Tags a text and shows each hit where it stands.

    Raises:
        ConfigError: If the text is too long.
        ProblemsError: With all mistakes of configuration and taxonomy.
    """
    from transforms.tag.explain import explain
    from transforms.tag.tagger import Tagger
    from transforms.text import word_count

    text = sys.stdin.read(_TEXT_LIMIT + 1) if args.text == "-" else args.text
    if len(text) > _TEXT_LIMIT:
        raise ConfigError(f"the text is longer than {_TEXT_LIMIT:,} characters; run it as a seed file instead")
    text = unicodedata.normalize("NFC", text)
    taxonomy = _taxonomy(args)
    found = explain(taxonomy, Tagger(taxonomy).tag_text(None, text, args.language), word_count(text))
    if args.json:
        out(json.dumps([_result(topic) for topic in found], ensure_ascii=False, indent=2))
        return int(ExitCode.DONE)
    if not found:
        out("no topic")
    for topic in found:
        how = f"implied by {', '.join(topic.implied_by)}" if topic.implied_by else topic.arithmetic
        out(f"{styled(topic.topic, 'bold', sys.stdout)}  {topic.level}  {how}")
        for match in topic.matches:
            out(f"  {printable(match.term_id)}: {_in_place(text, match)}")
    return int(ExitCode.DONE)


def lint(args: argparse.Namespace) -> int:
    """Checks the taxonomy and tries its examples; exit 2 if something deserves a look.

    Raises:
        ProblemsError: With all mistakes of configuration and taxonomy.
    """
    from transforms.tag.lint import lint as problems_of

    taxonomy = _taxonomy(args)
    problems = problems_of(taxonomy)
    examples = sum(len(topic.examples) for topic in taxonomy.topics)
    if args.json:
        out(json.dumps({"examples": examples, "problems": [str(problem) for problem in problems]}, indent=2))
    else:
        for problem in problems:
            out(printable(problem))
        err(f"{len(taxonomy.topics)} topics, {examples} examples tried, {len(problems)} remarks")
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


def _result(topic: Any) -> dict[str, Any]:
    facts = topic._asdict()
    facts["parts"] = [part._asdict() for part in topic.parts]
    facts["matches"] = [match._asdict() for match in topic.matches]
    return dict(facts)


def _in_place(text: str, match: Any) -> str:
    before = text[max(0, match.start - _AROUND) : match.start]
    after = text[match.end : match.end + _AROUND]
    left = "…" if match.start > _AROUND else ""
    right = "…" if match.end + _AROUND < len(text) else ""
    parts = [printable(part).replace("\n", " ") for part in (before, match.surface, after)]
    return f"{left}{parts[0]}{styled(f'[{parts[1]}]', 'hit', sys.stdout)}{parts[2]}{right}"
