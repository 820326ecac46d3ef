from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.write.make_items import START, entry, fetch, reject, sha, tagged
from transforms.dedupe.fold import additions_of, brings_news, fold, merge
from transforms.dedupe.history import (
    STATE_FOLDER,
    newest_snapshot,
    newest_state,
    prune_snapshots,
    read_tables,
    rebuild,
)
from transforms.dedupe.snapshot import (
    EMPTY,
    FORMAT,
    RELATIONS,
    SnapshotError,
    State,
    from_file,
    key_of,
    runs_of,
    to_bytes,
)
from transforms.dedupe.state import latest_state
from transforms.fetch.due import entry_to_json
from transforms.records import Alias
from transforms.schema import FETCHES
from transforms.write.commit import Action, sha256_of
from transforms.write.commit import commit as commit_files
from transforms.write.encode import encode_table
from transforms.write.manifest import FileRecord, Manifest, read_manifests
from transforms.write.storage import DatasetError, LocalStorage


def plain(state: State) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in state.items()}


def three_runs(root: Path) -> None:
    page = entry("https://a.example/slow")
    due = fetch(page.url, "page", "timeout", next_due_at=START, entry_json=entry_to_json(page))
    commit(root, "r1", tagged("https://a.example/1", "Two hurt."), reject(), fetch(etag='"a"'), due)
    commit(root, "r2", tagged("https://a.example/1", "Three hurt.", "v2", fetched_at=START + timedelta(hours=1)))
    commit(
        root,
        "r3",
        tagged("https://b.example/1", "Two hurt.", fetched_at=START + timedelta(hours=2)),
        fetch(outcome="timeout", started_at=START + timedelta(hours=2)),
        fetch(page.url, "page", "ok", started_at=START + timedelta(hours=2)),
        Alias("k" * 32, None, "1-" + "a" * 32, "duplicate"),
    )


def test_the_snapshot_the_fold_and_the_rebuild_are_one(tmp_path: Path) -> None:
    three_runs(tmp_path)
    storage = LocalStorage(str(tmp_path))
    snapshot, path = newest_snapshot(storage)
    assert path == f"{STATE_FOLDER}/r3.parquet"
    folded: State = EMPTY
    for manifest in read_manifests(storage):
        folded = fold(folded, manifest, read_tables(storage, manifest))
    assert plain(snapshot) == plain(folded) == plain(rebuild(str(tmp_path)))
    assert runs_of(snapshot) == {"r1": 1, "r2": 2, "r3": 3}


def test_a_snapshot_that_is_behind_is_brought_up(tmp_path: Path) -> None:
    three_runs(tmp_path)
    (tmp_path / STATE_FOLDER / "r3.parquet").unlink()
    storage = LocalStorage(str(tmp_path))
    behind, path = newest_snapshot(storage)
    assert path == f"{STATE_FOLDER}/r2.parquet"
    assert plain(newest_state(storage, behind)) == plain(rebuild(storage))
    assert latest_state(str(tmp_path)).snapshot == f"{STATE_FOLDER}/r3.parquet"


def test_two_snapshots_are_kept(tmp_path: Path) -> None:
    three_runs(tmp_path)
    assert sorted(path.name for path in (tmp_path / STATE_FOLDER).iterdir()) == ["r2.parquet", "r3.parquet"]
    prune_snapshots(LocalStorage(str(tmp_path)), f"{STATE_FOLDER}/r2.parquet")
    assert len(list((tmp_path / STATE_FOLDER).iterdir())) == 2


def test_runs_that_bring_nothing_write_no_snapshot_until_there_are_many(tmp_path: Path) -> None:
    commit(tmp_path, "r00", tagged())
    for number in range(1, 52):
        commit(tmp_path, f"r{number:02}")
        expected = f"{STATE_FOLDER}/r00.parquet" if number <= 50 else f"{STATE_FOLDER}/r51.parquet"
        assert latest_state(str(tmp_path)).snapshot == expected
    assert [manifest.sequence for manifest in read_manifests(str(tmp_path))] == list(range(1, 53))


def test_compacted_files_give_the_same_state(tmp_path: Path) -> None:
    three_runs(tmp_path)
    storage = LocalStorage(str(tmp_path))
    before = rebuild(storage)
    # One big file takes the place of all of articles, as compaction does.
    small = [file for manifest in read_manifests(storage) for file in manifest.files if file.table == "articles"]
    small = [file for file in small if file.rows]
    tables = [pq.ParquetFile(io.BytesIO(storage.read(file.path))).read() for file in reversed(small)]
    data = encode_table("articles", pa.concat_tables(tables))
    storage.write("_staging/c/big.parquet", data)
    big = "articles/ingest_date=2026-11-30/c.00000.0.parquet"
    actions = [Action("add", big, "_staging/c/big.parquet", "", sha256_of(data))]
    actions += [Action("delete", file.path, "", file.sha256, "") for file in small]
    manifest = Manifest(
        "c",
        4,
        START,
        START,
        kind="compact",
        files=(FileRecord("articles", big, 3, len(data), sha256_of(data)),),
        removes=tuple(file.path for file in small),
    )
    commit_files(storage, manifest, actions)
    after, grown = rebuild(storage), newest_state(storage)
    for name in set(RELATIONS) - {"run"}:
        assert sorted(map(str, after[name].to_pylist())) == sorted(map(str, before[name].to_pylist())), name
        assert plain(grown)[name] == plain(before)[name], name


def test_a_lost_or_damaged_file_is_told_with_its_path(tmp_path: Path) -> None:
    three_runs(tmp_path)
    (file,) = (tmp_path / "articles").glob("**/r2.*.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with pytest.raises(DatasetError, match=f"{file} is damaged"):
        rebuild(str(tmp_path))
    file.unlink()
    with pytest.raises(DatasetError, match=f"cannot read {file}"):
        rebuild(str(tmp_path))
    latest_state(str(tmp_path))  # the snapshot holds what is needed


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    three_runs(tmp_path)
    state = rebuild(str(tmp_path))
    path = tmp_path / "state"
    path.write_bytes(to_bytes(state))
    with path.open("rb") as file:
        assert plain(from_file(file)) == plain(state)
    path.write_bytes(to_bytes(EMPTY))
    with path.open("rb") as file:
        assert plain(from_file(file)) == plain(EMPTY)


def test_a_snapshot_of_another_format_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(to_bytes(EMPTY).replace(f'"format": {FORMAT}'.encode(), b'"format": 1'))
    with path.open("rb") as file, pytest.raises(SnapshotError):
        from_file(file)


def test_a_run_without_rows_brings_no_news() -> None:
    empty = additions_of(Manifest("r", 1, START, START), {})
    assert not brings_news(empty)
    assert runs_of(merge(EMPTY, [empty])) == {"r": 1}


def test_keys_are_those_of_before() -> None:
    # A key that changes makes all that is known unknown; taken from b2sum -l 64 of "a<LF>b", little-endian.
    assert key_of("a", "b") == int.from_bytes(bytes.fromhex("a76de9f2d561975f"), "little")
    assert key_of("a", "b") != key_of("ab")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), max_size=8), st.data())
def test_adding_up_at_once_or_one_by_one_is_the_same(rows: list[tuple[int, int, int]], data: st.DataObject) -> None:
    found = []
    for number, (site, text, minute) in enumerate(rows):
        at = START + timedelta(minutes=minute)
        run = fetch(f"https://f{site}.example/", started_at=at, outcome=("ok", "timeout")[text % 2], etag=f'"{text}"')

        row = run._asdict() | {"run_id": f"s.{number}"}
        table = pa.Table.from_pylist([row], schema=FETCHES)
        alias = Alias(sha(str(site)), str(text), f"1-{minute}", "duplicate")
        found.append(
            additions_of(Manifest(f"s.{number}", number + 1, START, START, aliases=(alias,)), {"fetches": table})
        )
    cut = data.draw(st.integers(0, len(found)))
    at_once = merge(EMPTY, found)
    one_by_one: State = EMPTY
    for additions in found:
        one_by_one = merge(one_by_one, [additions])
    assert plain(at_once) == plain(one_by_one) == plain(merge(merge(EMPTY, found[:cut]), found[cut:]))


def test_the_snapshot_with_most_runs_is_the_newest_whatever_its_name(tmp_path: Path) -> None:
    commit(tmp_path, "20261130T101502Z-0001", tagged("https://a.example/1"))
    commit(tmp_path, "20260101T000000Z-0002", tagged("https://a.example/2"))  # a run with --now in the past
    storage = LocalStorage(str(tmp_path))
    state, path = newest_snapshot(storage)
    assert path == f"{STATE_FOLDER}/20260101T000000Z-0002.parquet"
    assert len(runs_of(state)) == 2
    assert latest_state(str(tmp_path)).snapshot == path
