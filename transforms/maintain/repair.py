"""What of ``verify``'s findings can be mended without a loss, and is with ``--repair``.

Interrupted runs are finished or undone, as the next run would do it; one whose journal is damaged is undone where it
has replaced and removed nothing. A damaged manifest is written anew where that can be done (``salvage``). Files that
no run knows are moved to ``_orphans/`` below the root, out of the sight of readers, since they may hold rows of a lost
manifest; so are files among the manifests that are none of newsbeam's. Files that a run has removed already are
removed. A snapshot that is wrong is written anew. Nothing else is touched: a file that is missing or damaged has to
come from a backup.
"""

from __future__ import annotations

from transforms.dedupe import history
from transforms.maintain.contents import Tell, remove_empty_folders
from transforms.maintain.findings import Finding
from transforms.maintain.salvage import rebuild_manifest, set_aside
from transforms.maintain.salvage_change import traces_of
from transforms.maintain.verify import Report, read_all_manifests, verify, walk
from transforms.schema import TABLES
from transforms.write.commit import journal_path, journaled_runs, recover
from transforms.write.manifest import RUNS
from transforms.write.storage import STAGING, DatasetError, Storage


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
        except DatasetError as error:
            if not _can_be_undone(report, error):
                return done, report  # a journal that cannot be followed; verify tells of it
            done += _undo(storage)
            found = recover(storage)
        done += [f"finished the run {run_id}" for run_id in found.finished]
        done += [f"removed what the interrupted run {run_id} had staged" for run_id in found.discarded]
        report = verify(storage, tell)
    if any(finding.kind == "manifest" for finding in report.findings):
        rebuilt = _rebuild_manifests(storage, report)
        done += rebuilt
        report = verify(storage, tell) if rebuilt else report
    for finding in report.findings:
        done += _mend(storage, finding, report.is_told_whole)
    return done, verify(storage, tell) if done else report


def _mend(storage: Storage, finding: Finding, is_told_whole: bool) -> list[str]:
    if finding.kind == "stranger":
        return [f"moved {finding.path} to {set_aside(storage, finding.path)}"]
    if finding.kind == "orphan" and is_told_whole:
        target = set_aside(storage, finding.path)
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


def _can_be_undone(report: Report, error: DatasetError) -> bool:
    """Tells whether a journal is damaged, and all files are as the runs before it have left them."""
    harmed = any(finding.kind in ("missing", "damaged", "manifest") for finding in report.findings)
    return error.path.endswith(".journal") and not harmed


def _undo(storage: Storage) -> list[str]:
    """Sets the journals that cannot be read aside, with all that was staged; the next run does the work again."""
    paths = [journal_path(run_id) for run_id in journaled_runs(storage)]
    return [f"moved {path} to {set_aside(storage, path)}" for path in [*paths, *walk(storage, STAGING)]]


def _rebuild_manifests(storage: Storage, report: Report) -> list[str]:
    """Writes anew the manifests that are damaged, the earliest first."""
    broken = sorted(
        finding.path for finding in report.findings if finding.kind == "manifest" and finding.path.endswith(".json")
    )
    files = [path for table in TABLES for path in walk(storage, table)]
    traces = traces_of(report.findings) if len(broken) == 1 else None
    done = []
    for path in broken:
        run_id = path.removeprefix(f"{RUNS}/").removesuffix(".json")
        said = rebuild_manifest(storage, run_id, read_all_manifests(storage)[0], files, traces)
        done += [said] if said else []
    return done
