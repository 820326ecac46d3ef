"""``newsbeam run``: plan, launch, summary, exit code."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from pipeline.cli.output import err, out
from pipeline.cli.topics_older import older_taxonomy_line
from pipeline.errors import ExitCode
from pipeline.summary import Summary, as_json, as_text


def run(args: argparse.Namespace) -> int:
    """Runs the pipeline as the command line and the configuration say; returns the exit code."""
    began = time.monotonic()
    # Heavy: pydantic, pyarrow and the readers come with the plan, Beam with the launch.
    from pipeline.config.load import load_setup, loopback_note
    from pipeline.options import beam_arguments
    from pipeline.plan import make_plan, size_line

    flags = beam_arguments(args.runner, args.beam_flags)
    setup = load_setup(args.config, vars(args))
    plan = make_plan(setup)
    if note := loopback_note(setup):
        err(note)
    for pattern in plan.unmatched:
        err(f"newsbeam: note: no seed file matches {pattern}")
    stream = _stream_options(args, plan, flags)
    if args.plan:
        return _show_plan(args, plan, flags, stream)
    if args.runner is not None:
        from pipeline.runners.check import require_local

        require_local(flags)
    if stream is not None:
        from pipeline.stream import run_stream

        return int(run_stream(plan, stream, lambda line: None if args.quiet else err(line)))

    from transforms.write.lock import acquire

    # Before Beam is imported, so that a second run is told at once that the dataset is busy.
    with acquire(plan.config.dataset, wait=args.wait):
        if not args.quiet and (size := size_line(plan, args.now, args.due_now)):
            err(size)
        from pipeline.launch import RunOptions, execute, held_by

        options = RunOptions(
            beam_flags=tuple(flags),
            now=args.now,
            due_now=args.due_now,
            limit=args.limit,
            show_progress=not (args.quiet or args.json or args.log_format == "json"),
        )
        manifests = execute(plan, options)
        held = held_by(plan.config.dataset)
        older = older_taxonomy_line(args, plan.config, plan.taxonomy)
    from pipeline.summary import summarise

    summary = summarise(_shown_path(plan.config.dataset), manifests, held, time.monotonic() - began)
    code = exit_code_of(summary, args.max_rejects)
    if args.json:
        out(json.dumps(as_json(summary, int(code)), ensure_ascii=False))
    elif not args.quiet:
        out(as_text(summary, sys.stdout))
    if older and not args.quiet:
        err(older)
    _tell_failure(summary, code)
    return int(code)


def _stream_options(args: argparse.Namespace, plan: Any, flags: list[str]) -> Any:
    """Returns the checked options of a stream, ``None`` for a run that ends."""
    if not (args.streaming or args.stream_id):
        return None
    from pipeline.stream import StreamOptions, check_stream

    options = StreamOptions(tuple(flags), args.stream_id, args.tick, args.detach)
    check_stream(plan, options)
    return options


def _show_plan(args: argparse.Namespace, plan: Any, flags: list[str], stream: Any) -> int:
    from pipeline.preview import plan_facts, plan_lines

    facts = plan_facts(plan, flags, args.now, args.due_now)
    lines = plan_lines(facts)
    if flags[0] == "--runner=DataflowRunner":
        from pipeline.runners import dataflow

        job = dataflow.build_job(plan, flags, stream)
        facts["dataflow"] = job._asdict()
        lines += dataflow.lines_of(job)
    if args.json:
        out(json.dumps(facts, ensure_ascii=False))
    else:
        out("\n".join([*lines, "nothing was done; leave out --plan to do it"]))
    return int(ExitCode.DONE)


def exit_code_of(summary: Summary, max_rejects: object = None) -> ExitCode:
    """Returns the exit code that a summary deserves.

    Args:
        summary: Of the runs of the command.
        max_rejects: A ``RejectLimit``, ``None`` for no limit.
    """
    feeds = summary.feeds
    all_feeds_failed = bool(feeds.get("polled")) and feeds.get("failed", 0) >= feeds["polled"]
    items = summary.items
    nothing_read = _count(summary, ("read",), "item") > 0 and _count(summary, ("read",), "passed") == 0
    # What was left out because the user asked for it (keep: tagged) is no mishap.
    mishaps = items["rejected"] - summary.rejects.get("tag:untagged", 0)
    # One new page of a feed may be gone; seeds or addresses of which none is of use are a failure.
    nothing_used = 0 < items["in"] == mishaps and not feeds.get("polled")
    if not summary.adds_up or all_feeds_failed or nothing_read or nothing_used:
        return ExitCode.FAILED
    if max_rejects is not None and max_rejects.is_exceeded(mishaps, items["in"]):  # type: ignore[attr-defined]
        return ExitCode.TOO_MANY_REJECTS
    return ExitCode.DONE


def _count(summary: Summary, stages: Sequence[str], outcome: str) -> int:
    return sum(tally.items for tally in summary.stages if tally.stage in stages and tally.outcome == outcome)


def _tell_failure(summary: Summary, code: ExitCode) -> None:
    if not summary.adds_up:
        err("newsbeam: the sum of the items does not add up; please report this with the manifest of the run", "error")
    elif code is ExitCode.FAILED:
        what = "every feed" if summary.feeds.get("polled") else "every seed and address"
        err(f"newsbeam: failed: {what} failed; the tables fetches and rejects say why", "error")
    elif code is ExitCode.TOO_MANY_REJECTS:
        err(f"newsbeam: {summary.items['rejected']:,} items were rejected, more than --max-rejects allows", "error")


def _shown_path(path: str) -> str:
    """The dataset as people would name it: relative if it lies below the working directory."""
    relative = os.path.relpath(path) if "://" not in path else path
    return path if relative.startswith("..") else relative
