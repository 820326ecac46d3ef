"""Whether a dataset is whole: what its manifests promise is there, and nothing else.

Everything is looked at that can be told without another copy; each thing that is wrong is a ``Finding``. Reads
all files; changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from transforms.dedupe import history
from transforms.dedupe.snapshot import RELATIONS, SnapshotError, State
from transforms.maintain.check_files import check_file, check_topics, doubled
from transforms.maintain.contents import Contents, Tell
from transforms.maintain.findings import Finding
from transforms.schema import TABLES
from transforms.write.commit import journal_path, journaled_runs, sha256_of
from transforms.write.manifest import (
    RUNS,
    Manifest,
    committed_runs,
    live_files,
    manifest_path,
    read_manifest,
    wrong_order,
)
from transforms.write.storage import STAGING, DatasetError, Storage

_EVERY_FILES = 500


class Report(NamedTuple):
    """What was looked at and found.

    Attributes:
        findings: In the order in which they are told.
        runs: Manifests.
        files: Data files that belong to the dataset; ``rows`` and ``size_bytes`` of these.
        is_told_whole: Whether all manifests could be read, so that it is known which files belong to it.
    """

    findings: tuple[Finding, ...]
    runs: int
    files: int
    rows: int
    size_bytes: int
    is_told_whole: bool


def verify(storage: Storage, tell: Tell) -> Report:
    """Looks at everything.

    Args:
        storage: The dataset; the caller holds its lock.
        tell: Gets a line now and then.
    """
    findings: list[Finding] = list(_unfinished(storage))
    manifests, wrong = read_all_manifests(storage)
    findings += [*wrong, *_strangers(storage)]
    contents = Contents(storage, tuple(manifests), live_files(manifests))
    keys = []
    for number, (path, live) in enumerate(sorted(contents.live.items())):
        if number and number % _EVERY_FILES == 0:
            tell(f"verified {number:,} of {len(contents.live):,} files")
        found, of_file = check_file(storage, live.record)
        findings += [finding._replace(path=path) for finding in found]
        if of_file is not None:
            keys.append(of_file)
    findings += check_topics(keys)
    findings += doubled(keys)
    findings += _kept(storage, manifests)
    findings += _orphans(storage, contents)
    if not wrong and not any(finding.kind in ("missing", "damaged") for finding in findings):
        findings += _snapshot(storage)
    records = [live.record for live in contents.live.values()]
    return Report(
        tuple(findings),
        len(manifests),
        len(records),
        sum(file.rows for file in records),
        sum(file.bytes for file in records),
        not wrong,
    )


def _unfinished(storage: Storage) -> Iterator[Finding]:
    for run_id in journaled_runs(storage):
        yield Finding("unfinished", journal_path(run_id), "a commit was interrupted; the next run finishes it")
    for name in storage.names(STAGING):
        yield Finding("unfinished", f"{STAGING}/{name}", "left by an interrupted run; the next run removes it")


def _strangers(storage: Storage) -> Iterator[Finding]:
    own = {manifest_path(run_id) for run_id in committed_runs(storage)} | set(
        map(journal_path, journaled_runs(storage))
    )
    for name in storage.names(RUNS):
        path = f"{RUNS}/{name}"
        if name.endswith((".json", ".journal")) and path not in own and storage.exists(path):
            yield Finding("stranger", path, "is no file of newsbeam; nothing uses it")


def read_all_manifests(storage: Storage) -> tuple[list[Manifest], list[Finding]]:
    """Returns the manifests that can be read, in order, and what is wrong with them."""
    manifests, wrong = [], []
    for run_id in committed_runs(storage):
        path = f"{RUNS}/{run_id}.json"
        try:
            manifest = read_manifest(storage, run_id)
        except DatasetError as error:
            wrong.append(Finding("manifest", path, str(error)))
            continue
        if manifest is not None:
            manifests.append(manifest)
            if manifest.run_id != run_id:
                wrong.append(Finding("manifest", path, f"is the manifest of {manifest.run_id}"))
    manifests.sort(key=lambda manifest: manifest.sequence)
    wrong += [Finding("manifest", RUNS, problem) for problem in wrong_order(manifests, may_have_gaps=bool(wrong))]
    return manifests, wrong


def _kept(storage: Storage, manifests: list[Manifest]) -> Iterator[Finding]:
    """Checks the file that keeps what was known before the last prune."""
    removed = {path for manifest in manifests for path in manifest.removes}
    for manifest in manifests:
        file = manifest.known
        if file is None or file.path in removed:
            continue
        if not storage.exists(file.path):
            yield Finding("missing", file.path, "is missing; without it pruned articles would be fetched again")
        elif sha256_of(storage.read(file.path)) != file.sha256:
            yield Finding("damaged", file.path, "is not the file that its manifest means")


def _orphans(storage: Storage, contents: Contents) -> Iterator[Finding]:
    """Finds what lies below the tables and belongs to no run."""
    removed = {path for manifest in contents.manifests for path in manifest.removes}
    for table in TABLES:
        for path in walk(storage, table):
            if path not in contents.live:
                said = "was removed by a run" if path in removed else "belongs to no run"
                yield Finding("leftover" if path in removed else "orphan", path, f"{said}, but readers see it")


def walk(storage: Storage, folder: str) -> Iterator[str]:
    """Yields the files below a folder, sorted."""
    for name in storage.names(folder):
        path = f"{folder}/{name}"
        if storage.exists(path):
            yield path
        else:
            yield from walk(storage, path)


def _snapshot(storage: Storage) -> Iterator[Finding]:
    """Compares the newest snapshot with the state that the tables give."""
    for name in storage.names(history.STATE_FOLDER):
        damage = _damage_of(storage, f"{history.STATE_FOLDER}/{name}")
        if damage:
            yield Finding("snapshot", f"{history.STATE_FOLDER}/{name}", f"is damaged ({damage})")
    try:
        grown, path = history.newest_snapshot(storage)
        if path is not None and not same_state(history.newest_state(storage, grown), history.rebuild(storage)):
            yield Finding("snapshot", path, "differs from what manifests and tables say")
    except DatasetError as error:
        yield Finding("damaged", error.path.removeprefix(f"{storage.root}/"), str(error))


def _damage_of(storage: Storage, path: str) -> str:
    try:
        history.read_snapshot(storage, path)
    except (DatasetError, SnapshotError) as error:
        return str(error) or type(error).__name__
    return ""


def same_state(a: State, b: State) -> bool:
    """Tells whether two states hold the same, in whatever order."""
    return all(a[name].equals(b[name]) or _texts(a[name]) == _texts(b[name]) for name in RELATIONS)


def _texts(relation: Any) -> list[str]:
    return sorted(map(str, relation.to_pylist()))
