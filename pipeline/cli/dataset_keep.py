"""``newsbeam dataset verify``, ``compact`` and ``prune``: thin, the work is done in ``transforms.maintain``."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from typing import Any

from pipeline.cli.output import err, is_terminal, out, plural, printable
from pipeline.dataset.opening import dataset_root, locked, readable
from pipeline.errors import ConfigError, ExitCode

_MENDED = ("unfinished", "stranger", "orphan", "leftover", "snapshot")


def verify(args: argparse.Namespace) -> int:
    """Checks a dataset; exit 1 if something is wrong that was not mended.

    Raises:
        ConfigError: If there is none.
    """
    from transforms.maintain.repair import repair
    from transforms.maintain.verify import verify as look

    tell = _teller(args)
    repaired: list[str] = []
    root = dataset_root(args)
    with locked(root, args.wait, recovers=False) if args.repair else readable(root, args.wait) as storage:
        report = look(storage, tell)
        if args.repair:
            repaired, report = repair(storage, report, tell)
    code = ExitCode.FAILED if report.findings else ExitCode.DONE
    if args.json:
        found = [finding._asdict() for finding in report.findings]
        facts = report._asdict() | {"findings": found, "repaired": repaired, "exit_code": int(code)}
        out(json.dumps(facts, ensure_ascii=False))
        return int(code)
    for line in [*repaired, *report.findings]:
        out(printable(line))
    what = f"{plural(report.runs, 'run')}, {plural(report.files, 'file')}, {plural(report.rows, 'row')}"
    verdict = plural(len(report.findings), "finding") if report.findings else "clean"
    out(f"{verdict}: {what}, {_size(report.size_bytes)}")
    if any(finding.kind in _MENDED for finding in report.findings):
        err("newsbeam: newsbeam dataset verify --repair mends what can be mended without a loss")
    return int(code)


def compact(args: argparse.Namespace) -> int:
    """Merges small files of closed days.

    Raises:
        ConfigError: If there is no dataset.
        DatasetError: If a file cannot be read or written.
    """
    from transforms.maintain.compact import compact as merge
    from transforms.maintain.compact import today
    from transforms.maintain.contents import read_contents

    with locked(dataset_root(args), args.wait) as storage:
        done = merge(read_contents(storage), args.before or today(), args.min_files, _teller(args))
    if args.json:
        out(json.dumps(done._asdict()))
    elif not done.days:
        out("nothing to compact")
    else:
        sizes = f"{_size(done.bytes_before)} before, {_size(done.bytes_after)} now"
        files = f"{plural(done.files_before, 'file')} became {done.files_after:,}"
        out(f"{plural(done.days, 'day')}: {files}; {plural(done.rows, 'row')}; {sizes}")
    return int(ExitCode.DONE)


def prune(args: argparse.Namespace) -> int:
    """Deletes old days after asking.

    Raises:
        ConfigError: If there is no dataset, the day is in the future, or nobody can be asked.
        DatasetError: If a file cannot be written.
    """
    from transforms.maintain.compact import today
    from transforms.maintain.contents import read_contents
    from transforms.maintain.prune import plan_prune
    from transforms.maintain.prune import prune as delete

    if args.before > today():
        raise ConfigError(f"--before {args.before}: is in the future; today is {today()} in UTC")
    with locked(dataset_root(args), args.wait) as storage:
        contents = read_contents(storage)
        plan = plan_prune(contents, args.before)
        facts: dict[str, Any] = {"days": plan.days, "files": len(plan.files), "bytes": plan.size_bytes}
        facts |= {"rows": plan.rows, "run_id": None}
        if plan.files and (args.yes or _agreed(plan, args.before)):
            facts["run_id"] = delete(contents, plan, args.before).run_id
    if args.json:
        out(json.dumps(facts))
    elif not plan.files:
        out(f"nothing lies before {args.before}")
    elif facts["run_id"] is None:
        out("nothing was deleted")
    else:
        out(f"deleted {_told(plan)}; what was known is kept")
    return int(ExitCode.DONE)


def _agreed(plan: Any, before: date) -> bool:
    if not is_terminal(sys.stdin):
        raise ConfigError(f"{_told(plan)} before {before} would be deleted; say so with --yes")
    sys.stderr.write(f"Delete {_told(plan)} before {before}? There is no way back. [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _told(plan: Any) -> str:
    rows = ", ".join(f"{count:,} of {table}" for table, count in plan.rows.items() if count)
    return f"{plural(plan.days, 'day')}, {plural(len(plan.files), 'file')}, {_size(plan.size_bytes)} ({rows})"


def _size(size_bytes: int) -> str:
    if size_bytes < 1 << 20:
        return f"{size_bytes / 1024:.1f} KB"
    return f"{size_bytes / (1 << 20):,.1f} MB"


def _teller(args: argparse.Namespace) -> Any:
    return (lambda line: None) if args.quiet else err
