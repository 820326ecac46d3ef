"""Cut manifests of maintenance: written anew where all that the run did can be seen, else left with a clear line."""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.rows import assert_same_rows, assert_sound, data_files
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import DAY_1, MARSH, contents_of, findings_of, quiet, tagged_story, taxonomy
from tests.transforms.maintain.test_retag import BREAD, HARBOR, HERONS
from tests.transforms.maintain.test_retag import retag as run_retag
from tests.transforms.maintain.test_salvage import mend
from tests.transforms.write.make_items import tagged
from transforms.dedupe.history import STATE_FOLDER, rebuild
from transforms.maintain.compact import compact
from transforms.maintain.prune import plan_prune, prune
from transforms.maintain.verify import same_state
from transforms.tag.tagger import Tagger

SIZES = (0, 40, 420, -3)  # nothing, without its kind, in the middle, almost whole


def harmed(root: Path, kind: str, size: int) -> tuple[Path, dict[str, object]]:
    """Cuts the manifest of the one run of a kind; returns its path and what it said."""
    (path,) = [path for path in (root / "_runs").glob("*.json") if f'"kind": "{kind}"' in path.read_text()]
    said = json.loads(path.read_bytes())
    path.write_bytes(path.read_bytes()[:size])
    return path, said


def assert_written_anew(root: Path, path: Path, said: dict[str, object]) -> None:
    done, findings = mend(root)
    assert findings == []
    assert done[0].startswith(f"wrote _runs/{path.name} anew from ")
    found = json.loads(path.read_bytes())
    same = ("run_id", "sequence", "kind", "files", "removes", "taxonomy", "known")
    assert [found[name] for name in same] == [said[name] for name in same]
    assert found["inputs"]["rebuilt"] is True


@pytest.fixture
def compacted(root: Path) -> Path:
    compact(contents_of(root), date(2026, 9, 2), 2, quiet)
    return root


@pytest.mark.parametrize("size", SIZES)
def test_a_compaction(compacted: Path, made: Path, size: int) -> None:
    before = rebuild(str(compacted))
    assert_written_anew(compacted, *harmed(compacted, "compact", size))
    assert_same_rows(made, compacted)
    assert_sound(compacted)
    assert same_state(rebuild(str(compacted)), before)


def test_a_compaction_and_a_run_after_it(compacted: Path) -> None:
    commit(compacted, "20260903T100000Z-0001", tagged("https://paper1.example/new", "It is new."), at=DAY_1)
    assert_written_anew(compacted, *harmed(compacted, "compact", 420))


@pytest.mark.parametrize("size", SIZES)
def test_a_prune(root: Path, size: int) -> None:
    contents = contents_of(root)
    prune(contents, plan_prune(contents, date(2026, 9, 2)), date(2026, 9, 2))
    before = rebuild(str(root))
    assert_written_anew(root, *harmed(root, "prune", size))
    assert same_state(rebuild(str(root)), before)


def test_a_second_prune_that_took_all(root: Path) -> None:
    for day in (date(2026, 9, 2), date(2026, 9, 3)):
        contents = contents_of(root)
        run = prune(contents, plan_prune(contents, day), day)
    path = root / "_runs" / f"{run.run_id}.json"
    said = json.loads(path.read_bytes())
    path.write_bytes(b"")
    assert_written_anew(root, path, said)


@pytest.mark.parametrize("size", SIZES)
def test_a_retag(tmp_path: Path, size: int) -> None:
    root, by = tmp_path / "out", Tagger(taxonomy(tmp_path))
    texts = enumerate((HARBOR, HERONS, BREAD), 1)
    stories = [tagged_story(f"https://vale.example/{n}", "Vale", text, by) for n, text in texts]
    commit(root, "20260901T100000Z-0001", *stories, at=DAY_1)
    run_retag(root, taxonomy(tmp_path, "2", MARSH))
    assert_written_anew(root, *harmed(root, "retag", size))


def test_with_a_file_missing_besides_nothing_is_guessed(compacted: Path) -> None:
    kept = next(file for file in data_files(compacted, "articles") if "2026-09-02" in str(file))
    kept.unlink()
    path, _ = harmed(compacted, "compact", 420)
    assert_left(compacted, path)


def test_with_a_new_file_missing_or_damaged_nothing_is_guessed(compacted: Path) -> None:
    path, _ = harmed(compacted, "compact", 420)
    new = next(file for file in data_files(compacted, "articles") if path.stem in file.name)
    whole = new.read_bytes()
    new.write_bytes(whole[:-90])
    assert_left(compacted, path)
    new.unlink()
    assert_left(compacted, path)
    new.write_bytes(whole)
    assert mend(compacted)[1] == []


def test_a_file_that_was_damaged_besides_is_not_taken_for_a_retagged_one(root: Path) -> None:
    path = sorted((root / "_runs").glob("*.json"))[1]
    path.write_bytes(b"")
    file = data_files(root, "articles")[0]
    data = bytearray(file.read_bytes())
    data[60] ^= 255
    file.write_bytes(data)
    assert_left(root, path)


def test_of_two_lost_manifests_that_of_the_compaction_is_left(compacted: Path) -> None:
    shutil.rmtree(compacted / STATE_FOLDER)
    run = commit(compacted, "20260903T100000Z-0001", tagged("https://paper1.example/new", "It is new."), at=DAY_1)
    path, _ = harmed(compacted, "compact", 420)
    (compacted / "_runs" / f"{run.run_id}.json").write_bytes(b"{")
    files = {file: file.read_bytes() for file in data_files(compacted, "articles")}
    findings = mend(compacted)[1]
    assert any(path.name in finding for finding in findings)
    assert {file: file.read_bytes() for file in data_files(compacted, "articles")} == files


def assert_left(root: Path, path: Path) -> None:
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    done, findings = mend(root)
    assert done == []
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before
    (line,) = [finding for finding in findings if path.name in finding]
    assert "is damaged" in line


def test_what_was_mended_takes_further_runs_and_compactions(compacted: Path) -> None:
    harmed(compacted, "compact", 0)
    mend(compacted)
    for number in range(2):
        story = tagged(f"https://paper1.example/new/{number}", "It is new.")
        commit(compacted, f"20260903T100000Z-000{number}", story, at=DAY_1 + timedelta(days=2))
    assert compact(contents_of(compacted), date(2026, 9, 9), 2, quiet).days == 1
    assert findings_of(compacted) == []
