"""The manifest of a run: what it took in, what became of each item, which files it wrote.

``_runs/<run_id>.json`` is the last file that a commit writes; a run without it has not happened. A run that
brings nothing new has one too, without files.

The sum
-------
An *item* is one announced piece of news. It is counted when it enters and when it ends:

- It enters with a tally ``(stage, "item")`` of a source: ``poll`` (an entry of a feed), ``read`` (a record of
  a seed file, an address of a list, a file that is refused whole) or ``due`` (a page put off earlier).
- It ends in exactly one way:

  - It reaches the writer, as an article or as a ``Reject``; the writer's own tallies say what it became:
    ``("write", "new" | "revised" | "known" | "duplicate" | "rejected")``.
  - Or a stage drops it and says so with a tally ``known``, ``duplicate`` or ``deferred`` of its own.

Therefore ``items_of`` takes ``new``, ``revised`` and ``rejected`` from the writer alone. A stage before it
may tally ``rejected`` for the picture stage by stage; the same item is a ``Reject`` that the writer counts
(as ``known`` if an earlier run wrote that very refusal). A ``Fetch`` and an ``Alias`` are no items.

A row that the writer itself refuses (``write:bad_row``) was an article, and is counted once, as rejected.

A stream counts its items at each commit, off what is committed (``stream/account.py``); those that have come in and
not ended are ``inputs.under_way``: under way before + in = what became of them + under way after.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from transforms.records import Alias, Tally
from transforms.write.storage import DatasetError, Storage, storage_of

RUNS = "_runs"
_OURS = re.compile(r"\d{8}T\d{6}Z-[0-9a-z]+|[a-z0-9][a-z0-9-]{0,39}\.\d+")
_LOG = logging.getLogger("newsbeam.dataset")
SOURCE_STAGES = ("poll", "read", "due")
STAGE_ORDER = ("poll", "read", "due", "known", "take", "fetch", "extract", "tag", "write")
_DROPPED = {"known": "known", "duplicate": "duplicates", "deferred": "deferred"}
_WRITTEN = {"new": "new", "revised": "revised", "rejected": "rejected"}
ITEM_OUTCOMES = ("new", "revised", "known", "duplicates", "deferred", "rejected")


class FileRecord(NamedTuple):
    """A data file: its table, path below the root, rows, size and hex sha256."""

    table: str
    path: str
    rows: int
    bytes: int
    sha256: str


class TopicCount(NamedTuple):
    """How many rows of the run have a topic at which level, and one sentence that shows it.

    Attributes:
        example: ``snippet``, ``hit`` (the words within it) and ``source``; ``None`` if no text is stored.
    """

    topic: str
    primary: int
    relevant: int
    example: Mapping[str, str] | None = None


class Manifest(NamedTuple):
    """What stands in ``_runs/<run_id>.json``.

    Attributes:
        sequence: Place among the commits of the dataset, from 1.
        kind: ``run`` for new rows, else the name of the maintenance that rewrote files.
        started_at: By the run's clock; ``ended_at`` when its files were complete.
        taxonomy: ``id``, ``version``, ``sha256``.
        inputs: What was given: numbers of seed files, feeds, lists; of a stream also ``under_way``.
        items: ``in`` and ``ITEM_OUTCOMES``, see above.
        feeds: Feed documents: ``polled``, ``ok``, ``not_modified``, ``failed``.
        stages: All tallies, summed by stage and outcome.
        no_topic: Rows of articles without a topic.
        rejects: Rows written, by ``stage:reason``.
        aliases: Entries that led to an article that was there already.
        removes: Files that this run deleted (maintenance).
        checked: Path and sha256 of files that this run looked at and left as they were (``retag``).
        known: The file that keeps all that was known before this run, if the run deleted rows (``prune``).
    """

    run_id: str
    sequence: int
    started_at: datetime
    ended_at: datetime
    state: str = "committed"
    kind: str = "run"
    versions: Mapping[str, str] = {}
    config_sha256: str = ""
    taxonomy: Mapping[str, Any] = {}
    inputs: Mapping[str, Any] = {}
    items: Mapping[str, int] = {}
    feeds: Mapping[str, int] = {}
    stages: tuple[Tally, ...] = ()
    topics: tuple[TopicCount, ...] = ()
    no_topic: int = 0
    rejects: Mapping[str, int] = {}
    files: tuple[FileRecord, ...] = ()
    aliases: tuple[Alias, ...] = ()
    removes: tuple[str, ...] = ()
    checked: tuple[tuple[str, str], ...] = ()
    known: FileRecord | None = None


class LiveFile(NamedTuple):
    """A data file that is part of the dataset, and the run that wrote it last."""

    record: FileRecord
    writer: Manifest


def items_of(tallies: Iterable[Tally]) -> dict[str, int]:
    """Returns what came in and what became of it, as the module's text defines it.

    Args:
        tallies: Of all stages, in any order, the same stage and outcome any number of times.

    Returns:
        ``in`` and each of ``ITEM_OUTCOMES``, zeros too.
    """
    items = dict.fromkeys(("in", *ITEM_OUTCOMES), 0)
    for tally in tallies:
        if tally.outcome == "item" and tally.stage in SOURCE_STAGES:
            items["in"] += tally.items
        elif tally.outcome in _DROPPED:
            items[_DROPPED[tally.outcome]] += tally.items
        elif tally.stage == "write" and tally.outcome in _WRITTEN:
            items[_WRITTEN[tally.outcome]] += tally.items
    return items


def check_sum(items: Mapping[str, int]) -> bool:
    """Tells whether in = new + revised + known + duplicates + deferred + rejected."""
    return items.get("in", 0) == sum(items.get(outcome, 0) for outcome in ITEM_OUTCOMES)


def sum_tallies(tallies: Iterable[Tally]) -> tuple[Tally, ...]:
    """Adds tallies of the same stage and outcome; in the order of the stages, ``item`` and ``in`` first."""
    sums: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        sums[tally.stage, tally.outcome] += tally.items

    def place(key: tuple[str, str]) -> tuple[int, bool, str, str]:
        stage, outcome = key
        rank = STAGE_ORDER.index(stage) if stage in STAGE_ORDER else len(STAGE_ORDER)
        return rank, outcome not in ("item", "in"), stage, outcome

    return tuple(Tally(*key, sums[key]) for key in sorted(sums, key=place))


def manifest_path(run_id: str) -> str:
    """Returns the path of a run's manifest below the root."""
    return f"{RUNS}/{run_id}.json"


def run_of_file(path: str) -> str:
    """Returns the run that wrote a data file ``.../<run_id>.<shard>.<part>.parquet``.

    The id is compared whole, never as a prefix: a run's id may begin with that of another.
    """
    return path.rpartition("/")[2].removesuffix(".parquet").rsplit(".", 2)[0]


def is_name_of_run(run_id: str) -> bool:
    """Tells whether newsbeam gives its runs names of this form: batches, and commits of a stream."""
    return bool(_OURS.fullmatch(run_id))


def committed_runs(storage: Storage) -> list[str]:
    """Returns the ids of all runs that have a manifest, sorted by name; files of strangers are told and left aside."""
    return list(_own_manifests(storage, storage.names(RUNS)))


def _own_manifests(storage: Storage, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        run_id = name.removesuffix(".json")
        if run_id != name and (is_name_of_run(run_id) or _is_manifest_of(storage, run_id)):
            yield run_id
        elif run_id != name:
            warn_of_stranger(storage, f"{RUNS}/{name}")


def _is_manifest_of(storage: Storage, run_id: str) -> bool:
    try:
        found = read_manifest(storage, run_id)
    except DatasetError:
        return False
    return found is not None and found.run_id == run_id


_WARNED: set[str] = set()


def warn_of_stranger(storage: Storage, path: str) -> None:
    """Says once a process that a file among the manifests is none of newsbeam's."""
    full = storage.full_path(path)
    if full not in _WARNED:
        _WARNED.add(full)
        _LOG.warning("%s is no file of newsbeam and is not used; newsbeam dataset verify --repair moves it away", full)


def read_manifest(root: str | Storage, run_id: str) -> Manifest | None:
    """Reads the manifest of a run; ``None`` if the run is not committed.

    Raises:
        DatasetError: If it cannot be read or is damaged.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    path = manifest_path(run_id)
    if not storage.exists(path):
        return None
    return from_json(storage.read(path), storage.full_path(path))


def read_manifests(root: str | Storage) -> list[Manifest]:
    """Reads all manifests, in the order of the commits.

    Raises:
        DatasetError: If one cannot be read or is damaged.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    stamps = storage.stamps(RUNS)
    found = (_read_noted(storage, run_id, stamps) for run_id in _own_manifests(storage, sorted(stamps)))
    return sorted((manifest for manifest in found if manifest), key=lambda manifest: manifest.sequence)


def read_outlines(root: str | Storage) -> list[Manifest]:
    """Returns what ``read_manifests`` does, but of each manifest only its outline: runs, articles, taxonomies.

    A process reads a manifest once for it, however often it asks. Files of other tables, aliases and counts are
    left out.

    Raises:
        DatasetError: If one cannot be read or is damaged.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    stamps, outlines = storage.stamps(RUNS), _outlines_of(storage)
    own = list(_own_manifests(storage, sorted(stamps)))
    for run_id in own:
        if run_id not in outlines or outlines[run_id][0] != stamps[f"{run_id}.json"]:
            _read_noted(storage, run_id, stamps)
    found = (outlines[run_id][1] for run_id in own if run_id in outlines)
    return sorted(found, key=lambda manifest: manifest.sequence)


def _read_noted(storage: Storage, run_id: str, stamps: Mapping[str, str]) -> Manifest | None:
    """Reads a manifest and notes its outline; one that is gone meanwhile is forgotten."""
    manifest = read_manifest(storage, run_id)
    if manifest is None:
        _outlines_of(storage).pop(run_id, None)
    else:
        _outlines_of(storage)[run_id] = (stamps[f"{run_id}.json"], _outline(manifest))
    return manifest


def wrong_order(manifests: Iterable[Manifest], may_have_gaps: bool = False) -> list[str]:
    """Returns in words what is wrong with the sequence of the manifests of a dataset; they are never removed.

    Args:
        manifests: All of it.
        may_have_gaps: Whether some could not be read, so that a gap says nothing.
    """
    counts = Counter(manifest.sequence for manifest in manifests)
    problems = []
    for number in range(1, max(counts, default=0) + 1):
        if not counts[number] and not may_have_gaps:
            problems.append(f"commit {number} has no manifest any more; restore it")
        elif counts[number] > 1:
            problems.append(f"{counts[number]} manifests say that they are commit {number}")
    return problems


def require_order(storage: Storage, manifests: Iterable[Manifest]) -> None:
    """Keeps writers from a dataset that has forgotten a commit: they would take its articles in a second time.

    Raises:
        DatasetError: If a manifest is missing or there twice.
    """
    problems = wrong_order(manifests)
    if problems:
        where = storage.full_path(RUNS)
        raise DatasetError(f"{where}: {problems[0]} (newsbeam dataset verify -d {storage.root} tells more)", where)


_OUTLINES: dict[str, dict[str, tuple[str, Manifest]]] = {}


def _outlines_of(storage: Storage) -> dict[str, tuple[str, Manifest]]:
    """What this process remembers of the manifests of a dataset, by run: stamp of the file and outline."""
    if storage.root not in _OUTLINES:
        _OUTLINES.clear()  # a process works for one dataset at a time
        _OUTLINES[storage.root] = {}
    return _OUTLINES[storage.root]


def _outline(manifest: Manifest) -> Manifest:
    articles = tuple(file for file in manifest.files if file.table == "articles")
    small = Manifest(manifest.run_id, manifest.sequence, manifest.started_at, manifest.ended_at, manifest.state)
    return small._replace(
        kind=manifest.kind,
        taxonomy=manifest.taxonomy,
        files=articles,
        removes=tuple(path for path in manifest.removes if path.startswith("articles/")),
        checked=manifest.checked,
    )


def live_files(manifests: Iterable[Manifest]) -> dict[str, LiveFile]:
    """Returns by path the files that remain after these runs, given in the order of their commits.

    A run may write over a file of an earlier one, remove it, and a later one may bring its path back.
    """
    live: dict[str, LiveFile] = {}
    for manifest in manifests:
        for path in manifest.removes:
            live.pop(path, None)
        live |= {file.path: LiveFile(file, manifest) for file in manifest.files}
    return live


def to_json(manifest: Manifest) -> bytes:
    """Returns the manifest as the bytes of its file: JSON, a line a key and a line an element of a list."""
    data = manifest._asdict() | {
        "started_at": time_text(manifest.started_at),
        "ended_at": time_text(manifest.ended_at),
        "stages": [{"stage": t.stage, "outcome": t.outcome, "n": t.items} for t in manifest.stages],
        "topics": [topic._asdict() for topic in manifest.topics],
        "files": [file._asdict() for file in manifest.files],
        "aliases": [list(alias) for alias in manifest.aliases],
        "known": manifest.known._asdict() if manifest.known else None,
    }
    lines = ",\n ".join(f"{json.dumps(key)}: {_lines(value)}" for key, value in data.items())
    # Names of input files need not be valid text; readers of the manifest need valid UTF-8.
    return ("{\n " + lines + "\n}\n").encode("utf-8", "replace")


def _lines(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n  " + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n ]"


def from_json(data: bytes, name: str = "manifest") -> Manifest:
    """Reads what ``to_json`` wrote; keys that a later version added are left out.

    Args:
        data: The file.
        name: Its path, for the error.

    Raises:
        DatasetError: If it is no manifest.
    """
    try:
        found = json.loads(data)
        fields = {key: value for key, value in found.items() if key in Manifest._fields}
        return Manifest(
            **fields
            | {
                "started_at": datetime.fromisoformat(found["started_at"].replace("Z", "+00:00")),
                "ended_at": datetime.fromisoformat(found["ended_at"].replace("Z", "+00:00")),
                "stages": tuple(Tally(s["stage"], s["outcome"], s["n"]) for s in found["stages"]),
                "topics": tuple(TopicCount(**topic) for topic in found["topics"]),
                "files": tuple(FileRecord(**file) for file in found["files"]),
                "aliases": tuple(Alias(*alias) for alias in found["aliases"]),
                "removes": tuple(found["removes"]),
                "checked": tuple((path, sha256) for path, sha256 in found.get("checked", ())),
                "known": FileRecord(**found["known"]) if found.get("known") else None,
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        mend = "newsbeam dataset verify --repair writes it anew if that can be done; else restore it from a backup"
        raise DatasetError(f"{name} is damaged ({error}); {mend}", name) from error


def time_text(at: datetime) -> str:
    """Returns an instant as ISO 8601 in UTC with microseconds."""
    return at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
