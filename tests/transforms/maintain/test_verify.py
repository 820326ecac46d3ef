from __future__ import annotations

import io
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows import read_rows
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import findings_of, hashes, quiet, report_of
from tests.transforms.write.make_items import tagged
from transforms.dedupe.history import STATE_FOLDER, newest_snapshot, read_snapshot, rebuild, write_snapshot
from transforms.maintain.findings import KINDS
from transforms.maintain.repair import repair
from transforms.maintain.verify import same_state
from transforms.write.commit import Recovery, journal_path, recover, sha256_of
from transforms.write.encode import encode_table
from transforms.write.manifest import read_manifests
from transforms.write.storage import DatasetError, LocalStorage

FIRST = "20260901T100000Z-0000.00000.0.parquet"
ARTICLES = f"articles/ingest_date=2026-09-01/{FIRST}"
DEPORTATION = f"article_topics/topic=deportation/ingest_date=2026-09-01/{FIRST}"


def mended(root):
    """What --repair does, and what is left."""
    storage = LocalStorage(str(root))
    done, report = repair(storage, report_of(root), quiet)
    return done, [finding.kind for finding in report.findings]


def change_manifest(root, path, **facts):
    """Lets the manifest of a file tell something else of it."""
    for file in (root / "_runs").glob("*.json"):
        found = json.loads(file.read_bytes())
        for record in found["files"]:
            if record["path"] == path:
                record.update(facts)
                record["path"] = facts.get("new_path", path)
                record.pop("new_path", None)
                file.write_text(json.dumps(found))


def write_as_told(root, path, data):
    """Writes other bytes and makes the manifest agree with them."""
    (root / path).write_bytes(data)
    change_manifest(root, path, bytes=len(data), sha256=sha256_of(data))


def test_a_whole_dataset_is_clean(root):
    report = report_of(root)
    assert report.findings == ()
    assert (report.runs, report.is_told_whole) == (5, True)
    assert report.rows == 8 + 9 + 2 + 4  # articles, their topics, refusals, exchanges
    assert mended(root) == ([], [])


def test_a_file_that_is_gone_is_told_and_cannot_be_mended(root):
    (root / DEPORTATION).unlink()
    assert findings_of(root) == [f"missing {DEPORTATION}", f"topics {ARTICLES}"]
    assert mended(root) == ([], ["missing", "topics"])


@pytest.mark.parametrize("damage", ["a byte", "cut", "longer"])
def test_a_damaged_file_is_told(root, damage):
    data = bytearray((root / ARTICLES).read_bytes())
    data[40] ^= 1
    (root / ARTICLES).write_bytes({"a byte": data, "cut": data[:-9], "longer": data + b"x"}[damage])
    kinds = {finding.split()[0] for finding in findings_of(root)}
    assert "damaged" in kinds
    assert "orphan" not in kinds


def test_other_columns_or_rows_than_the_contract_are_told(root):
    table = pq.ParquetFile(io.BytesIO((root / ARTICLES).read_bytes())).read()
    sink = pa.BufferOutputStream()
    pq.write_table(table.drop_columns(["url"]), sink)
    write_as_told(root, ARTICLES, bytes(sink.getvalue()))
    change_manifest(root, ARTICLES, rows=3)
    report = report_of(root)
    messages = [finding.message for finding in report.findings if finding.kind == "schema"]
    assert messages == ["has 2 rows instead of 3", "has other columns than the table articles"]


def test_topics_that_do_not_agree_with_their_articles_are_told(root):
    table = pq.ParquetFile(io.BytesIO((root / DEPORTATION).read_bytes())).read()
    write_as_told(root, DEPORTATION, encode_table("article_topics", pa.concat_tables([table, table])))
    change_manifest(root, DEPORTATION, rows=2)
    assert findings_of(root) == [f"topics {DEPORTATION}"]


def test_a_row_that_stands_there_twice_is_told(root):
    again = "articles/ingest_date=2026-09-01/20260901T120000Z-0002.00000.0.parquet"
    write_as_told(root, again, (root / ARTICLES).read_bytes())
    change_manifest(root, again, rows=2)
    findings = findings_of(root)
    assert f"doubled {again}" in findings


def test_a_folder_that_is_no_partition_is_told(root):
    wrong = ARTICLES.replace("2026-09-01", "yesterday")
    (root / wrong).parent.mkdir()
    (root / ARTICLES).rename(root / wrong)
    change_manifest(root, ARTICLES, new_path=wrong)
    assert f"folder {wrong}" in findings_of(root)


def test_a_file_that_no_run_knows_is_moved_out_of_sight(root):
    before = read_rows(root, "articles")
    for name in ("stray.00000.0.parquet", ".part.tmp"):
        shutil.copy(root / ARTICLES, root / ARTICLES.replace(FIRST, name))
    folder = "articles/ingest_date=2026-09-01"
    assert findings_of(root) == [f"orphan {folder}/.part.tmp", f"orphan {folder}/stray.00000.0.parquet"]
    done, left = mended(root)
    assert left == []
    assert done[1] == f"moved {folder}/stray.00000.0.parquet to _orphans/{folder}/stray.00000.0.parquet"
    assert (root / "_orphans" / folder / "stray.00000.0.parquet").exists(), "it may be the last copy of something"
    assert read_rows(root, "articles") == before


def test_without_all_manifests_no_file_is_taken_for_a_stranger(root):
    (root / "_runs" / "20260901T110000Z-0001.json").write_text('{"kind": "retag",')  # could not be told again
    files = hashes(root)
    done, left = mended(root)
    assert done == []
    assert "manifest" in left
    assert hashes(root) == files


def test_a_manifest_that_is_gone_is_told(root):
    (root / "_runs" / "20260901T110000Z-0001.json").unlink()
    report = report_of(root)
    assert report.findings[0].message == "commit 2 has no manifest any more; restore it"
    assert mended(root)[0] == []


def test_interrupted_runs_are_finished_or_undone(root):
    data = (root / ARTICLES).read_bytes()
    (root / "_staging" / "dead").mkdir(parents=True)
    (root / "_staging" / "dead" / "x.parquet").write_bytes(data)
    assert findings_of(root) == ["unfinished _staging/dead"]
    assert mended(root) == (["removed what the interrupted run dead had staged"], [])


def test_a_journal_that_cannot_be_followed_is_told_where_a_file_was_replaced_perhaps(root):
    (root / journal_path("20260903T100000Z-dead")).write_bytes(b"0\n{}")
    (root / ARTICLES).unlink()
    done, left = mended(root)
    assert done == []
    assert left[:2] == ["unfinished", "missing"]


@pytest.mark.parametrize("name", ["zz.json", "zz.journal", "._20260901T100000Z-0000.json", "{} (copy).json"])
@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[1]", b"\xff\xfe", None], ids=repr)
def test_a_stranger_among_the_manifests_stops_nobody_and_is_moved_away(root, caplog, name, content):
    whole = next((root / "_runs").glob("*.json"))
    path = root / "_runs" / name.format(whole.stem)
    path.write_bytes(whole.read_bytes() if content is None else content)
    before = read_rows(root, "articles")

    assert recover(str(root)) == Recovery()
    run = commit(root, "20260903T100000Z-0001", tagged("https://paper1.example/new", "It is new."))

    assert run.sequence == 6
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} is no file of newsbeam and is not used; newsbeam dataset verify --repair moves it away"
    ]
    assert len(read_rows(root, "articles")) == len(before) + 1
    assert findings_of(root) == [f"stranger _runs/{path.name}"]
    assert mended(root) == ([f"moved _runs/{path.name} to _orphans/_runs/{path.name}"], [])
    assert (root / "_orphans" / "_runs" / path.name).exists()
    assert len(list((root / "_runs").glob("*.json"))) == 6


def test_other_files_beside_the_manifests_are_not_minded(root):
    for name in (".DS_Store", "notes.txt", "zz.known.parquet"):
        (root / "_runs" / name).write_bytes(b"x")
    assert findings_of(root) == []


def test_a_damaged_manifest_of_a_run_stops_writers_as_before(root):
    (root / "_runs" / "20260901T110000Z-0001.json").write_text('{"kind": "retag",')
    (root / "_runs" / "desk.000001.json").write_text("{")
    with pytest.raises(DatasetError, match="is damaged"):
        read_manifests(str(root))
    assert "manifest _runs/desk.000001.json" in findings_of(root)


def test_a_wrong_or_damaged_snapshot_is_written_anew(root):
    storage = LocalStorage(str(root))
    state, path = newest_snapshot(storage)
    assert path
    write_snapshot(storage, {**state, "refused": state["refused"].slice(0, 1)})
    assert findings_of(root) == [f"snapshot {path}"]
    assert mended(root) == ([f"wrote {path} anew"], [])
    assert same_state(read_snapshot(storage, path), rebuild(storage))
    (root / STATE_FOLDER / "20260901T130000Z-0003.parquet").write_bytes(b"PAR1")
    assert mended(root)[1] == []


def test_every_kind_of_finding_is_explained():
    assert all(KINDS.values())
