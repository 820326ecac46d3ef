"""The last step of a run: from staged files, aliases and tallies to a committed run with its manifest.

One committer works at a time, under the lock of the dataset. No Beam here: ``stage.py`` gathers the parts.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from transforms.dedupe import history
from transforms.dedupe.fold import additions_of, brings_news, merge
from transforms.dedupe.snapshot import last_sequence
from transforms.dedupe.state import KnownState
from transforms.records import Alias, Tally
from transforms.schema import PARTITIONS, TABLES
from transforms.write.commit import Action, commit, sha256_of, staging_folder
from transforms.write.encode import data_path, encode
from transforms.write.manifest import FileRecord, Manifest, TopicCount, items_of, sum_tallies
from transforms.write.meta import write_meta
from transforms.write.rows import ingest_date
from transforms.write.settle import DataFile, Summary, TopicTally
from transforms.write.storage import Storage


class StagedFile(NamedTuple):
    """A whole file in the staging folder, on its way to ``path``."""

    table: str
    path: str
    staged: str
    rows: int
    bytes: int
    sha256: str


class RunParts(NamedTuple):
    """All that a run hands to its commit, in any order."""

    files: Sequence[StagedFile] = ()
    aliases: Sequence[Alias] = ()
    tallies: Sequence[Tally] = ()
    summaries: Sequence[Summary] = ()


def stage_file(storage: Storage, run_id: str, file: DataFile) -> StagedFile:
    """Writes a file below the staging folder of its run, under a name that no other attempt uses.

    Raises:
        DatasetError: If it cannot be written.
    """
    staged = f"{staging_folder(run_id)}/{uuid.uuid4().hex}.parquet"
    storage.write(staged, file.data)
    return StagedFile(file.table, file.path, staged, file.rows, len(file.data), sha256_of(file.data))


def gather(elements: Iterable[object]) -> RunParts:
    """Sorts what arrives at the commit step by kind; anything else (the heartbeat) is left out."""
    found: dict[type, list[Any]] = {StagedFile: [], Alias: [], Tally: [], Summary: []}
    for element in elements:
        if type(element) in found:
            found[type(element)].append(element)
    return RunParts(*found.values())


def commit_run(
    storage: Storage,
    parts: RunParts,
    known: KnownState,
    run_id: str,
    started_at: datetime,
    ended_at: datetime,
    facts: Mapping[str, Any],
    keep_snapshot: bool = True,
) -> Manifest:
    """Commits a run.

    Args:
        storage: The dataset; the caller holds its lock.
        parts: What the run made.
        known: What is known before it.
        run_id: Name of the run.
        started_at: Its start by its own clock; gives the partition of schema-only files.
        ended_at: Its end by the same clock.
        facts: ``versions``, ``config_sha256``, ``taxonomy``, ``inputs`` of the manifest. ``taxonomy`` may
            name its ``topics``, the first of which is the folder of an empty ``article_topics``.
        keep_snapshot: Whether a snapshot of the state is written if the run adds to it.

    Raises:
        DatasetError: If something cannot be written.
    """
    state = history.newest_state(storage, known.state)  # runs that brought nothing are in no snapshot yet
    aliases = [alias for alias in parts.aliases if not known.is_committed(alias.url_key, alias.entry_version)]
    parts = parts._replace(aliases=aliases)
    files = list({file.path: file for file in parts.files}.values())
    files += _schema_files(storage, files, run_id, ingest_date(started_at), facts)
    files.sort(key=lambda file: file.path)
    manifest = _manifest(parts, files, run_id, started_at, ended_at, facts)
    manifest = manifest._replace(sequence=1 + last_sequence(state))
    actions = [Action("add", file.path, file.staged, "", file.sha256) for file in files]

    def before_manifest() -> None:
        write_meta(storage)
        additions = additions_of(manifest, history.read_tables(storage, manifest))
        if keep_snapshot and brings_news(additions):
            history.prune_snapshots(storage, history.write_snapshot(storage, merge(state, [additions])))

    commit(storage, manifest, actions, before_manifest)
    return manifest


def _schema_files(
    storage: Storage, files: Sequence[StagedFile], run_id: str, day: str, facts: Mapping[str, Any]
) -> list[StagedFile]:
    """A file without rows for each table that has none yet, so that an empty dataset opens in every reader."""
    present = {file.table for file in files}
    topics = facts.get("taxonomy", {}).get("topics") or ["none"]
    made = []
    for table in TABLES:
        if table in present or storage.names(table):
            continue
        partition = {"ingest_date": day, "topic": topics[0]}
        path = data_path(table, {name: partition[name] for name in PARTITIONS[table]}, f"{run_id}.schema.0")
        made.append(stage_file(storage, run_id, DataFile(table, path, 0, encode(table, []))))
    return made


def _manifest(
    parts: RunParts,
    files: Sequence[StagedFile],
    run_id: str,
    started_at: datetime,
    ended_at: datetime,
    facts: Mapping[str, Any],
) -> Manifest:
    tallies = sum_tallies(parts.tallies)
    feeds: Counter[str] = Counter(dict.fromkeys(("polled", "ok", "not_modified", "failed"), 0))
    rejects: Counter[str] = Counter()
    for summary in parts.summaries:
        feeds.update(summary.feeds)
        rejects.update(summary.rejects)
    return Manifest(
        run_id=run_id,
        sequence=0,
        started_at=started_at,
        ended_at=ended_at,
        versions=facts.get("versions", {}),
        config_sha256=facts.get("config_sha256", ""),
        taxonomy={name: value for name, value in facts.get("taxonomy", {}).items() if name != "topics"},
        inputs=facts.get("inputs", {}),
        items=items_of(tallies),
        feeds=dict(feeds),
        stages=tallies,
        topics=_topic_counts([topic for summary in parts.summaries for topic in summary.topics]),
        no_topic=sum(summary.no_topic for summary in parts.summaries),
        rejects=dict(sorted(rejects.items())),
        files=tuple(FileRecord(file.table, file.path, file.rows, file.bytes, file.sha256) for file in files),
        aliases=tuple(sorted(set(parts.aliases), key=lambda alias: tuple(field or "" for field in alias))),
    )


def _topic_counts(tallies: Sequence[TopicTally]) -> tuple[TopicCount, ...]:
    """Adds up the shards; most frequent first."""
    counts = []
    for topic in {tally.topic for tally in tallies}:
        of_topic = [tally for tally in tallies if tally.topic == topic]
        best = max(of_topic, key=lambda tally: tally.rank)
        primary, relevant = sum(t.primary for t in of_topic), sum(t.relevant for t in of_topic)
        counts.append(TopicCount(topic, primary, relevant, best.example))
    return tuple(sorted(counts, key=lambda count: (-(count.primary + count.relevant), count.topic)))
