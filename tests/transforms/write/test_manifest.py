from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.records import Alias, Tally
from transforms.write.manifest import (
    FileRecord,
    Manifest,
    TopicCount,
    check_sum,
    from_json,
    items_of,
    read_manifest,
    read_manifests,
    run_of_file,
    sum_tallies,
    to_json,
)
from transforms.write.storage import DatasetError

AT = datetime(2026, 11, 30, 10, 15, 2, 123456, tzinfo=timezone.utc)
WHOLE = Manifest(
    run_id="20261130T101502Z-7f3a",
    sequence=3,
    started_at=AT,
    ended_at=AT,
    versions={"newsbeam": "0.1.0"},
    items={"in": 1, "new": 1},
    stages=(Tally("poll", "item", 1),),
    topics=(TopicCount("deportation", 1, 0, {"snippet": "Sie blieben – vorerst.", "hit": "blieben", "source": "x"}),),
    rejects={"fetch:not_found": 2},
    files=(FileRecord("articles", "articles/ingest_date=2026-11-30/a.0.0.parquet", 1, 2, "ab"),),
    aliases=(Alias("k", None, "1-a", "duplicate"),),
    removes=("articles/b",),
)


def test_what_is_written_is_read() -> None:
    assert from_json(to_json(WHOLE)) == WHOLE


def test_keys_of_a_later_version_are_passed_over() -> None:
    assert from_json(to_json(WHOLE).replace(b'"sequence"', b'"mood": "good",\n "sequence"')) == WHOLE


def test_undecodable_names_of_input_files_still_give_valid_utf8() -> None:
    to_json(WHOLE._replace(inputs={"seeds": "caf\udce9.txt"})).decode("utf-8")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"run_id": "a"}', b"\xff"])
def test_a_damaged_manifest_is_told_with_its_path(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "_runs").mkdir()
    (tmp_path / "_runs" / "a.json").write_bytes(data)
    with pytest.raises(DatasetError, match=r"_runs/a\.json is damaged"):
        read_manifest(str(tmp_path), "a")


def test_manifests_come_in_the_order_of_the_commits(tmp_path: Path) -> None:
    (tmp_path / "_runs").mkdir()
    for run_id, sequence in (("a", 3), ("b", 1), ("c", 2)):
        data = to_json(WHOLE._replace(run_id=run_id, sequence=sequence))
        (tmp_path / "_runs" / f"{run_id}.json").write_bytes(data)
    assert [manifest.run_id for manifest in read_manifests(str(tmp_path))] == ["b", "c", "a"]
    assert read_manifest(str(tmp_path), "d") is None


def test_each_item_is_counted_once_when_it_enters_and_once_when_it_ends() -> None:
    # Ten entries of a feed: two known, one put off, one 404, six articles of which one repeats another,
    # one is unchanged, one changed; the refusal of a page that was refused in an earlier run is known.
    tallies = [
        Tally("poll", "item", 10),
        Tally("known", "in", 10),
        Tally("known", "known", 2),
        Tally("known", "passed", 8),
        Tally("fetch", "deferred", 1),
        Tally("fetch", "rejected", 1),
        Tally("write", "in", 7),
        Tally("write", "new", 3),
        Tally("write", "revised", 1),
        Tally("write", "known", 1),
        Tally("write", "duplicate", 1),
        Tally("write", "rejected", 1),
    ]
    items = items_of(tallies)
    assert items == {"in": 10, "new": 3, "revised": 1, "known": 3, "duplicates": 1, "deferred": 1, "rejected": 1}
    assert check_sum(items)
    assert not check_sum(items | {"known": 2})


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["poll", "known", "write"]), st.sampled_from(["item", "in", "known"]), st.integers(0, 9)
        )
    )
)
def test_the_sum_does_not_depend_on_how_tallies_are_cut(counts: list[tuple[str, str, int]]) -> None:
    tallies = [Tally(*count) for count in counts]
    assert items_of(sum_tallies(tallies)) == items_of(tallies)
    assert sum_tallies(sum_tallies(tallies[::2]) + sum_tallies(tallies[1::2])) == sum_tallies(tallies)


def test_stages_come_in_the_order_of_the_flow() -> None:
    tallies = [Tally("write", "new", 1), Tally("known", "known", 1), Tally("known", "in", 2), Tally("other", "in", 1)]
    assert [(t.stage, t.outcome) for t in sum_tallies(tallies)] == [
        ("known", "in"),
        ("known", "known"),
        ("write", "new"),
        ("other", "in"),
    ]


def test_the_run_of_a_file_is_its_whole_name_before_shard_and_part() -> None:
    assert (
        run_of_file("articles/ingest_date=2026-11-30/20261130T101502Z-7f3a.00001.0.parquet") == "20261130T101502Z-7f3a"
    )
    assert run_of_file("x/20261130T101502Z-7f3a.000012.00000.3.parquet") == "20261130T101502Z-7f3a.000012"
