"""The rows of ``stories`` become a committed run of the kind ``stories``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transforms.dedupe.history import newest_state
from transforms.dedupe.snapshot import last_sequence
from transforms.records import RunContext, Tally
from transforms.stories.group import Grouping
from transforms.write.commit import Action, commit
from transforms.write.committer import stage_file
from transforms.write.encode import cut_parts, data_path, encode, sort_rows
from transforms.write.manifest import FileRecord, Manifest
from transforms.write.meta import write_meta
from transforms.write.rows import ingest_date
from transforms.write.settle import DataFile
from transforms.write.storage import Storage

KIND = "stories"


def commit_stories(storage: Storage, grouping: Grouping, run: RunContext, facts: Mapping[str, Any]) -> str | None:
    """Commits the rows of a grouping; returns the path of the manifest, ``None`` if there is nothing to say.

    Args:
        storage: The dataset; the caller holds its lock.
        grouping: The rows and figures.
        run: Name and clock of the run.
        facts: ``versions``, ``config_sha256``, ``inputs`` of the manifest.

    Raises:
        DatasetError: If something cannot be written.
    """
    if not grouping.rows:
        return None
    day = ingest_date(run.started_at)
    files = []
    for number, rows in enumerate(cut_parts(sort_rows("stories", grouping.rows))):
        path = data_path("stories", {"ingest_date": day}, f"{run.run_id}.00000.{number}")
        files.append(stage_file(storage, run.run_id, DataFile("stories", path, len(rows), encode("stories", rows))))
    manifest = Manifest(
        run_id=run.run_id,
        sequence=1 + last_sequence(newest_state(storage)),
        started_at=run.started_at,
        ended_at=run.now(),
        kind=KIND,
        versions=facts.get("versions", {}),
        config_sha256=facts.get("config_sha256", ""),
        inputs=facts.get("inputs", {}),
        stages=tuple(Tally(KIND, name, count) for name, count in grouping._asdict().items() if name != "rows"),
        files=tuple(FileRecord(file.table, file.path, file.rows, file.bytes, file.sha256) for file in files),
    )
    actions = [Action("add", file.path, file.staged, "", file.sha256) for file in files]
    return commit(storage, manifest, actions, lambda: write_meta(storage))
