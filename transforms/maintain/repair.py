"""What of ``verify``'s findings can be mended without a loss, and is with ``--repair``.

Interrupted runs are finished or undone, as the next run would do it. Files that no run knows are moved to
``_orphans/`` below the root, out of the sight of readers, since they may hold rows of a lost manifest. Files that
a run has removed already are removed. A snapshot that is wrong is written anew. Nothing else is touched: a file
that is missing or damaged has to come from a backup.
"""

from __future__ import annotations

from transforms.dedupe import history
from transforms.maintain.contents import Tell, remove_empty_folders
from transforms.maintain.findings import Finding
from transforms.maintain.verify import Report, verify
from transforms.write.commit import recover
from transforms.write.storage import DatasetError, Storage

ORPHANS = "_orphans"


def repair(storage: Storage, report: Report, tell: Tell) -> tuple[list[str], Report]:
    """Mends what can be mended.

    Args:
        storage: The dataset; the caller holds its lock.
        report: What ``verify`` found.
        tell: Gets a line now and then.

    Returns:
        A line for each thing that was done, and what ``verify`` finds after it.
    """
    done: list[str] = []
    if any(finding.kind == "unfinished" for finding in report.findings):
        try:
            found = recover(storage)
        except DatasetError:
            return done, report  # a journal that cannot be followed; verify tells of it
        done += [f"finished the run {run_id}" for run_id in found.finished]
        done += [f"removed what the interrupted run {run_id} had staged" for run_id in found.discarded]
        report = verify(storage, tell)
    for finding in report.findings:
        done += _mend(storage, finding, report.is_told_whole)
    return done, verify(storage, tell) if done else report


def _mend(storage: Storage, finding: Finding, is_told_whole: bool) -> list[str]:
    if finding.kind == "orphan" and is_told_whole:
        target = _free_name(storage, f"{ORPHANS}/{finding.path}")
        storage.move(finding.path, target)
        remove_empty_folders(storage, [finding.path])
        return [f"moved {finding.path} to {target}"]
    if finding.kind == "leftover" and is_told_whole:
        storage.delete(finding.path)
        remove_empty_folders(storage, [finding.path])
        return [f"removed {finding.path}"]
    if finding.kind == "snapshot":
        state = history.rebuild(storage)
        storage.delete(finding.path)
        path = history.write_snapshot(storage, state)
        history.prune_snapshots(storage, path)
        return [f"wrote {path} anew"]
    return []


def _free_name(storage: Storage, path: str) -> str:
    number, free = 1, path
    while storage.exists(free):
        number += 1
        free = f"{path}.{number}"
    return free
