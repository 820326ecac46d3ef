"""``newsbeam check``: is everything that is configured right? Asks no server and imports no Beam."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pipeline.cli.output import out, plural, printable, problem_facts, shown_path


def run(args: argparse.Namespace) -> int:
    """Checks configuration, feeds, topics and inputs, and shows what is configured.

    Raises:
        ConfigError: If an input is missing.
        ProblemsError: With all mistakes of all files.
    """
    from pipeline.config.load import load_setup
    from transforms.yaml_file import ProblemsError

    if args.runner is not None:
        return _check_runner(args)
    try:
        setup = load_setup(args.config, vars(args))
    except ProblemsError as error:
        if args.json:
            out(json.dumps({"problems": problem_facts(error.problems)}, ensure_ascii=False, indent=2))
        raise
    plan = None
    if setup.config.seeds or setup.config.urls or setup.feeds:
        from pipeline.plan import make_plan

        plan = make_plan(setup)
    facts = facts_of(setup, plan)
    if args.json:
        out(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        out("\n".join(_lines(facts)))
    return 0


def _check_runner(args: argparse.Namespace) -> int:
    """Tells what a runner needs and whether it is here; exit 2 if a run would fail."""
    # With another runner than the default this imports Beam, a second or two.
    from pipeline.options import beam_arguments
    from pipeline.runners.check import check_runner

    found = check_runner(beam_arguments(args.runner, args.beam_flags))
    if args.json:
        out(json.dumps([finding._asdict() for finding in found], ensure_ascii=False, indent=2))
    else:
        out("\n".join(map(str, found)))
    return 2 if any(finding.is_needed and not finding.is_there for finding in found) else 0


def facts_of(setup: Any, plan: Any) -> dict[str, Any]:
    """Returns what is configured, without secrets, ready for JSON.

    Args:
        setup: Configuration, feeds and topics.
        plan: The input files that were found; ``None`` if no input is configured.
    """
    from pipeline.config.load import config_sha256
    from transforms.urls import host_of

    config, taxonomy = setup.config, setup.taxonomy
    return {
        "config": setup.file,
        "config_sha256": config_sha256(config),
        "dataset": config.dataset,
        "seed_files": plan.seed_count if plan else 0,
        "url_files": len(plan.url_paths) if plan else 0,
        "feeds": len(setup.feeds),
        "feed_hosts": len({host_of(feed.url) for feed in setup.feeds}),
        "topics": [topic.id for topic in taxonomy.topics],
        "terms": sum(len(topic.terms) for topic in taxonomy.topics),
        "taxonomy": f"{taxonomy.id} {taxonomy.version}",
        "contact": config.contact or None,
        "unmatched": list(plan.unmatched) if plan else [],
        "notes": [str(note) for note in taxonomy.notes],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    shown = {
        "config": shown_path(facts["config"] or "none; defaults only"),
        "dataset": shown_path(facts["dataset"]),
        "inputs": ", ".join(
            plural(facts[name], word)
            for name, word in (("seed_files", "seed file"), ("feeds", "feed"), ("url_files", "address list"))
        ),
        "topics": f"{', '.join(facts['topics'])} ({facts['taxonomy']}, {plural(facts['terms'], 'term')})",
        "contact": facts["contact"] or "none; needed before feeds or pages are read",
    }
    lines = [f"{name:<8} {printable(value)}" for name, value in shown.items()]
    lines += [f"note     no seed file matches {printable(shown_path(pattern))}" for pattern in facts["unmatched"]]
    lines += [f"note     {printable(note)}" for note in facts["notes"]]
    return [*lines, "all right"]
