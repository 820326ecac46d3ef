"""Maintenance of a dataset of two minor versions: verified as it is, compacted into files of the newer one."""

from __future__ import annotations

import json
import shutil
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.readers.conftest import ADDED, DAY, START, commit, item
from tests.rows import data_files, read_rows
from tests.transforms.maintain.make_dataset import findings_of, quiet
from transforms.maintain import compact as compaction
from transforms.maintain.contents import read_contents
from transforms.maintain.tables import is_of_version
from transforms.schema import ARTICLES
from transforms.write.commit import sha256_of


@pytest.fixture
def root(two_versions, tmp_path):
    """The dataset without its story file, which no run wrote, and with manifests that know the older files."""
    shutil.copytree(two_versions, tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "stories" / "ingest_date=2026-12-01")
    for path in (tmp_path / "out" / "_runs").glob("*.json"):
        found = json.loads(path.read_bytes())
        for file in found["files"]:
            data = (tmp_path / "out" / file["path"]).read_bytes()
            file |= {"bytes": len(data), "sha256": sha256_of(data)}
        path.write_text(json.dumps(found))
    return tmp_path / "out"


def test_verify_takes_the_older_files_for_what_they_are(root):
    assert findings_of(root) == []


def test_compaction_brings_all_rows_into_files_of_the_newer_version(root, monkeypatch):
    monkeypatch.setattr(compaction, "today", lambda: (START + 3 * DAY).date())
    before = read_rows(root, "articles")
    commit(root, [item("https://d.example/1", "Late.", section="Harbor")], 4, START)
    compaction.compact(read_contents(str(root)), (START + DAY).date(), 2, quiet)
    assert findings_of(root) == []
    older = [file for file in data_files(root, "articles") if "section" not in pq.read_schema(file).names]
    assert older == []
    rows = {(row["url"], row["revision"]): row for row in read_rows(root, "articles")}
    assert len(rows) == len(before) + 1
    assert rows["https://b.example/1", 1]["section"] is None
    assert rows["https://d.example/1", 1]["section"] == "Harbor"
    assert rows["https://a.example/1", 1]["ingest_date"] == str(date(2026, 11, 30))


def test_only_a_nullable_column_may_be_absent():
    def dropped(name):
        return ARTICLES.remove(ARTICLES.get_field_index(name))

    assert is_of_version(ARTICLES, ARTICLES)
    assert is_of_version(dropped(ADDED["articles"]), ARTICLES)
    assert not is_of_version(dropped("url"), ARTICLES)
    assert not is_of_version(ARTICLES.append(pa.field("byline", pa.string())), ARTICLES)
    assert not is_of_version(dropped("section").append(ARTICLES.field("section")), ARTICLES)
    wider = ARTICLES.set(ARTICLES.get_field_index("revision"), pa.field("revision", pa.int64(), nullable=False))
    assert not is_of_version(wider, ARTICLES)
