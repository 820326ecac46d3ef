from __future__ import annotations

import os
import random
from datetime import date

import pytest

from tests.rows import data_files, read_rows
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import (
    DAY_1,
    contents_of,
    findings_of,
    hashes,
    kinds,
    order_of,
    quiet,
    two_days,
)
from tests.transforms.write.make_items import tagged, tags
from transforms.dedupe.history import newest_state, rebuild
from transforms.maintain.compact import compact, today
from transforms.maintain.contents import stem_of
from transforms.maintain.tables import encoded_parts, sorted_table
from transforms.maintain.verify import same_state
from transforms.schema import TABLES
from transforms.write.commit import recover
from transforms.write.encode import sort_rows, to_table
from transforms.write.manifest import read_manifests
from transforms.write.storage import DatasetError, LocalStorage


@pytest.fixture
def root(tmp_path):
    two_days(tmp_path)
    return tmp_path


def rows_of(root):
    return {table: read_rows(root, table) for table in TABLES}


def merge(root, before="2026-11-30", min_files=2):
    return compact(contents_of(root), date.fromisoformat(before), min_files, quiet)


def test_the_same_rows_lie_in_fewer_files(root):
    before = rows_of(root)
    done = merge(root)
    assert rows_of(root) == before
    day = "ingest_date=2026-09-01"
    assert len(data_files(root / "articles", day)) == 1
    assert len(data_files(root / "rejects", day)) == 1
    # Four files of articles, of fetches three; two of rejects; deportation in two, immigration in three of them.
    assert (done.days, done.files_before, done.files_after) == (1, 4 + 3 + 2 + 5, 5)
    assert findings_of(root) == []


def test_a_topic_keeps_the_stem_of_its_articles(root):
    merge(root)
    (articles,) = data_files(root / "articles", "ingest_date=2026-09-01")
    for topic in ("deportation", "immigration"):
        (file,) = data_files(root / "article_topics", f"topic={topic}/ingest_date=2026-09-01")
        assert file.name == articles.name


def test_rows_lie_in_the_order_of_the_writer(root):
    merge(root)
    (file,) = data_files(root / "articles", "ingest_date=2026-09-01")
    # With topics first, by the first of them, then domain and time.
    assert order_of(file, "topics", "domain", "url") == [
        (["deportation", "immigration"], "paper1.example", "https://paper1.example/story/1"),
        (["deportation", "immigration"], "paper1.example", "https://paper1.example/story/4"),
        (["immigration"], "paper0.example", "https://paper0.example/story/3"),
        (["immigration"], "paper1.example", "https://paper1.example/story/1"),
        (["immigration"], "paper1.example", "https://paper1.example/story/7"),
        ([], "paper2.example", "https://paper2.example/story/2"),
        ([], "paper2.example", "https://paper2.example/story/5"),
    ]


def test_a_second_time_there_is_nothing_to_do(root):
    merge(root)
    files = hashes(root)
    assert merge(root).days == 0
    assert hashes(root) == files
    assert kinds(root) == ["run"] * 5 + ["compact"]


def test_the_manifest_names_what_it_removes_and_its_rows_keep_their_run(root):
    small = {path for path in hashes(root) if "2026-09-01" in path and ".schema." not in path}
    merge(root)
    manifest = read_manifests(str(root))[-1]
    assert set(manifest.removes) == small
    assert manifest.sequence == 6
    runs = {row["run_id"] for row in read_rows(root, "articles") if row["ingest_date"] == "2026-09-01"}
    assert runs == {f"20260901T1{number}0000Z-000{number}" for number in range(4)}


def test_what_is_known_stays_what_it_was(root):
    storage = LocalStorage(str(root))
    before = rebuild(storage)
    merge(root)
    after = rebuild(storage)
    assert same_state({**after, "run": before["run"]}, before)
    assert same_state(newest_state(storage), after)


def test_days_from_before_on_and_the_present_day_are_left(root):
    commit(root, "20260903T000000Z-0001", tagged("https://a.example/1"), at=DAY_1.replace(day=3))
    assert merge(root, "2026-09-01").days == 0
    assert merge(root, "2999-01-01").days == 1
    assert today() < date(2999, 1, 1)


def test_a_day_with_fewer_files_than_asked_for_is_left(root):
    done = merge(root, min_files=4)
    assert done.files_before == 4 + 5, "only the articles have four files"
    assert findings_of(root) == []


STEPS = ("move", "write", "delete", "delete_tree", "sync")


@pytest.mark.parametrize("calls", [2, 5, 6, 7, 9, 12, 13, 20, 26, 27, 28, 29])
def test_ended_at_any_step_and_recovered_nothing_is_lost_or_doubled(root, monkeypatch, calls):
    """Each change of the disk but the first ``calls`` fails; the next command recovers and compacts again."""
    before = rows_of(root)
    left = [calls]

    def counted(name):
        real = getattr(LocalStorage, name)

        def wrapped(self, *args):
            if left[0] <= 0:
                raise DatasetError("the power went", "")
            left[0] -= 1
            return real(self, *args)

        return wrapped

    contents = contents_of(root)
    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(LocalStorage, name, counted(name))
        with pytest.raises(DatasetError, match="the power went"):
            compact(contents, date(2026, 11, 30), 2, quiet)
    recover(str(root))
    merge(root)
    assert rows_of(root) == before
    assert findings_of(root) == []
    assert kinds(root) == ["run"] * 5 + ["compact"]


def test_articles_that_disagree_with_their_topics_are_not_touched(root):
    path = next(iter(data_files(root / "article_topics", "topic=deportation/ingest_date=2026-09-01")))
    os.remove(path)
    files = hashes(root)
    with pytest.raises(DatasetError):
        merge(root)
    recover(str(root))
    assert hashes(root) == files


@pytest.mark.parametrize("table", ["articles", "article_topics", "rejects", "fetches"])
def test_arrow_sorts_as_the_writer_does(root, table):
    rows = [{name: row[name] for name in TABLES[table].names} for row in read_rows(root, table)]
    if table == "rejects":
        rows += [row | {"url": None, "reject_id": "z"} for row in rows]
    random.Random(3).shuffle(rows)
    assert sorted_table(table, to_table(table, rows)).to_pylist() == sort_rows(table, rows)


def test_a_file_that_would_be_too_big_is_cut(root):
    data = to_table("articles", sort_rows("articles", read_rows(root, "articles")))
    parts = list(encoded_parts("articles", data, max_bytes=1))
    assert [part.num_rows for part, _ in parts] == [1] * 8
    assert [part["url"][0].as_py() for part, _ in parts] == data["url"].to_pylist()


def test_an_id_is_the_same_whichever_file_holds_its_row(root):
    """Two articles of one run claim one address: which one it leads to must not hang on the order of rows."""
    shared = "https://wire.example/shared"
    topic = tags(deportation="primary")
    for number, levels in ((1, None), (2, topic), (3, None)):
        commit(
            root,
            f"20260901T200000Z-010{number}",
            tagged(f"https://x{number}.example/1", f"A{number}", final_url=shared, topics=levels or tags()),
            tagged(f"https://y{number}.example/1", f"B{number}", final_url=shared, topics=topic),
            at=DAY_1,
        )
    storage = LocalStorage(str(root))
    before = newest_state(storage)
    merge(root)
    assert same_state({**rebuild(storage), "run": before["run"]}, before)
    (stem,) = {stem_of(str(path)) for path in data_files(root / "articles", "ingest_date=2026-09-01")}
    assert stem.endswith(".00000.0")
