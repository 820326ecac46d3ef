"""A cut manifest and a damaged journal: mended from the files where that is sure, and nothing is lost."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.rows import assert_same_rows, assert_sound, data_files
from tests.transforms.maintain.make_dataset import findings_of, quiet, report_of
from tests.transforms.write.test_write_crash import FIRST, SECOND, Crash, FailingStorage, run_once
from transforms.maintain.repair import repair
from transforms.write.commit import recover
from transforms.write.manifest import read_manifests
from transforms.write.storage import DatasetError, LocalStorage


def mend(root):
    done, report = repair(LocalStorage(str(root)), report_of(root), quiet)
    return done, [str(finding) for finding in report.findings]


@pytest.mark.parametrize(("place", "size"), [(0, 0), (0, 150), (2, 900), (-1, -3)])
def test_a_cut_manifest_is_written_anew_from_the_files_of_its_run(made, root, place, size):
    path = sorted((root / "_runs").glob("*.json"))[place]
    before = json.loads(path.read_bytes())
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DatasetError, match=r"is damaged .* newsbeam dataset verify --repair"):
        read_manifests(str(root))

    done, findings = mend(root)

    assert findings == []
    assert done[0].startswith(f"wrote _runs/{path.name} anew from {len(before['files'])} files")
    assert_same_rows(made, root)
    assert_sound(root)
    after = json.loads(path.read_bytes())
    assert (after["sequence"], after["inputs"]) == (before["sequence"], {"rebuilt": True})
    assert after["items"]["in"] == sum(count for name, count in after["items"].items() if name != "in")
    assert (root / "_orphans" / "_runs" / path.name).exists()


def test_without_snapshot_the_one_gap_tells_the_place_of_an_empty_manifest(root):
    shutil.rmtree(root / "_meta" / "state")
    path = sorted((root / "_runs").glob("*.json"))[1]
    path.write_bytes(b"")
    assert mend(root)[1] == []
    assert [manifest.sequence for manifest in read_manifests(str(root))] == [1, 2, 3, 4, 5]


def test_a_manifest_is_not_rebuilt_over_a_file_that_is_damaged_too(root):
    manifest = sorted((root / "_runs").glob("*.json"))[0]
    run_id = manifest.stem
    manifest.write_bytes(b"{")
    file = next(file for file in data_files(root, "articles") if file.name.startswith(run_id))
    file.write_bytes(file.read_bytes()[:-100])
    done, findings = mend(root)
    assert done == []
    assert any(manifest.name in finding for finding in findings)
    assert file.exists(), "what is not understood is not touched"


@pytest.mark.parametrize("steps", [3, 5])
@pytest.mark.parametrize("damage", [lambda data: data[:200], lambda data: data.replace(b"add", b"bad")])
def test_a_run_with_a_damaged_journal_is_set_aside_and_done_again(tmp_path, steps, damage):
    root, whole = tmp_path / "out", tmp_path / "whole"
    for folder in (root, whole):
        run_once(folder, FIRST, "20261130T101502Z-0001")
    run_once(whole, SECOND, "20261130T111602Z-0002")
    with pytest.raises(Crash):
        run_once(root, SECOND, "20261130T111502Z-dead", FailingStorage(str(root), steps))
    journals = list((root / "_runs").glob("*.journal"))
    if not journals:
        pytest.skip("the journal was not written at this step")
    journals[0].write_bytes(damage(journals[0].read_bytes()))
    with pytest.raises(DatasetError, match=r"nothing was changed; .* verify --repair"):
        recover(str(root))

    done, findings = mend(root)

    assert findings == []
    assert any(line.startswith(f"moved _runs/{journals[0].name} to _orphans/") for line in done)
    run_once(root, SECOND, "20261130T111602Z-0002")
    assert_same_rows(whole, root)
    assert findings_of(root) == []
