"""Many small files of a closed day become few: same rows, same order within a file, same contract.

A day is closed when it is over in UTC, since rows go to the day on which their run began. Each day is a run of
its own, so that a day's files are the most that lies on the disk twice. The files of article_topics follow the
articles: what they say of the rows of one file of articles lies under its stem. Files that compaction wrote are
not compacted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from transforms.maintain.contents import Change, Contents, Tell, commit_change, new_run_id, parse_path, stem_of
from transforms.maintain.tables import encoded_parts, read_table, revision_keys, sorted_table, with_columns
from transforms.maintain.taxonomy import checked_taxonomies
from transforms.write.committer import stage_file
from transforms.write.encode import data_path, encode_table
from transforms.write.manifest import FileRecord, run_of_file
from transforms.write.settle import DataFile
from transforms.write.storage import DatasetError

MIN_FILES = 2
# Sizes of the compressed files: what is merged at once must fit into memory, about twenty times as big.
GROUP_BYTES = 64 << 20
SMALL_BYTES = GROUP_BYTES // 2


class Group(NamedTuple):
    """Files that become one.

    Attributes:
        table: ``articles`` or a table on its own.
        day: Their ingest date.
        files: At least two.
        topics: Of ``articles``: the files of article_topics with the same stems, by topic.
    """

    table: str
    day: str
    files: tuple[FileRecord, ...]
    topics: dict[str, list[FileRecord]]

    def all_files(self) -> list[FileRecord]:
        """Returns all files that go."""
        return [*self.files, *(file for files in self.topics.values() for file in files)]


class Compacted(NamedTuple):
    """What was done: days, files and bytes before and after, rows."""

    days: int = 0
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    rows: int = 0


def today() -> date:
    """Returns the day that is not over yet, UTC."""
    return datetime.now(timezone.utc).date()


def plan_groups(contents: Contents, before: date, min_files: int = MIN_FILES) -> dict[str, list[Group]]:
    """Returns what can be merged, by day.

    Args:
        contents: The dataset.
        before: Days before this one are looked at.
        min_files: A table's day with fewer small files is left as it is.
    """
    compacted = {manifest.run_id for manifest in contents.manifests if manifest.kind == "compact"}
    small: dict[tuple[str, str], list[FileRecord]] = {}
    topics: dict[str, dict[str, list[FileRecord]]] = {}
    for path in sorted(contents.live):
        file, found = contents.live[path].record, parse_path(path)
        if found is None or date.fromisoformat(found.day) >= before or not file.rows:
            continue
        if file.table == "article_topics":
            topics.setdefault(found.stem, {}).setdefault(found.partition["topic"], []).append(file)
        elif file.bytes < SMALL_BYTES and run_of_file(path) not in compacted:
            small.setdefault((found.day, file.table), []).append(file)
    days: dict[str, list[Group]] = {}
    for (day, table), files in sorted(small.items()):
        if len(files) >= max(2, min_files):
            days.setdefault(day, []).extend(_groups(table, day, files, topics if table == "articles" else {}))
    return {day: groups for day, groups in days.items() if groups}


def _groups(
    table: str, day: str, files: Sequence[FileRecord], topics: dict[str, dict[str, list[FileRecord]]]
) -> Iterator[Group]:
    bins: list[list[FileRecord]] = [[]]
    for file in files:
        if bins[-1] and sum(other.bytes for other in bins[-1]) + file.bytes > GROUP_BYTES:
            bins.append([])
        bins[-1].append(file)
    for chosen in bins:
        if len(chosen) > 1:
            below: dict[str, list[FileRecord]] = {}
            for file in chosen:
                for topic, found in topics.get(stem_of(file.path), {}).items():
                    below.setdefault(topic, []).extend(found)
            yield Group(table, day, tuple(chosen), below)


def compact(contents: Contents, before: date, min_files: int, tell: Tell) -> Compacted:
    """Compacts all closed days, each in a committed run. The caller holds the lock and has recovered.

    Args:
        contents: The dataset.
        before: Days before this one; the present day is never touched.
        min_files: See ``plan_groups``.
        tell: Gets a line a day.

    Raises:
        DatasetError: If a file is damaged or cannot be written; days that are done stay done.
    """
    done = Compacted()
    for day, groups in plan_groups(contents, min(before, today()), min_files).items():
        before_files = [file for group in groups for file in group.all_files()]
        tell(f"compacting {day}: {len(before_files):,} files")
        after = _compact_day(contents, day, groups)
        done = Compacted(
            done.days + 1,
            done.files_before + len(before_files),
            done.files_after + len(after),
            done.bytes_before + sum(file.bytes for file in before_files),
            done.bytes_after + sum(file.bytes for file in after),
            done.rows + sum(file.rows for file in after),
        )
    return done


def _compact_day(contents: Contents, day: str, groups: Sequence[Group]) -> tuple[FileRecord, ...]:
    storage = contents.storage
    started_at = datetime.now(timezone.utc)
    run_id = new_run_id(started_at)
    staged = [
        stage_file(storage, run_id, file)
        for number, group in enumerate(groups)
        for file in _merged(contents, group, f"{run_id}.{number:05d}")
    ]
    removed = [file for group in groups for file in group.all_files()]
    rows = sum(file.rows for file in removed)
    if rows != sum(file.rows for file in staged):
        raise DatasetError(f"{storage.root}: the files of {day} hold other rows than their manifests say; run verify")
    manifest = commit_change(
        storage,
        "compact",
        run_id,
        started_at,
        datetime.now(timezone.utc),
        Change(added=staged, removed=removed),
        {"ingest_date": day, "files": len(removed), "rows": rows},
    )
    return manifest.files


def _merged(contents: Contents, group: Group, stem: str) -> Iterator[DataFile]:
    """Yields the files that take the place of a group."""
    checked = checked_taxonomies(contents) if group.table == "articles" else {}
    tables = []
    for file in group.files:
        data = read_table(contents.storage, file.path, group.table)
        # Checked with a newer taxonomy, which a new file cannot show otherwise.
        tables.append(with_columns(data, _taxonomy_columns(checked[file.path])) if file.path in checked else data)
    whole = sorted_table(group.table, pa.concat_tables(tables))
    del tables
    renewed = {stem_of(path): taxonomy["sha256"] for path, taxonomy in checked.items()}
    topics = {topic: _topic_rows(contents, files, renewed) for topic, files in group.topics.items()}
    for number, (part, encoded) in enumerate(encoded_parts(group.table, whole)):
        part_stem = f"{stem}.{number}"
        path = data_path(group.table, {"ingest_date": group.day}, part_stem)
        yield DataFile(group.table, path, part.num_rows, encoded)
        if group.table == "articles":
            yield from _topic_files(topics, part, group.day, part_stem)


def _taxonomy_columns(taxonomy: Mapping[str, Any]) -> dict[str, Any]:
    return {f"taxonomy_{name}": taxonomy[name] for name in ("id", "version", "sha256")}


def _topic_rows(contents: Contents, files: Sequence[FileRecord], renewed: dict[str, str]) -> pa.Table:
    tables = []
    for file in files:
        data = read_table(contents.storage, file.path, "article_topics")
        sha256 = renewed.get(stem_of(file.path))
        tables.append(with_columns(data, {"taxonomy_sha256": sha256}) if sha256 else data)
    return sorted_table("article_topics", pa.concat_tables(tables))


def _topic_files(topics: dict[str, pa.Table], part: pa.Table, day: str, stem: str) -> Iterator[DataFile]:
    """Yields the files of article_topics that belong to one file of articles."""
    keys = revision_keys(part).combine_chunks()
    for topic in sorted(topics):
        rows = topics[topic].filter(pc.is_in(revision_keys(topics[topic]), value_set=keys))
        if rows.num_rows:
            path = data_path("article_topics", {"topic": topic, "ingest_date": day}, stem)
            yield DataFile("article_topics", path, rows.num_rows, encode_table("article_topics", rows))
