"""Whatever ends a run, the next one completes the work: same rows, none doubled, nothing left over."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rows import assert_same_rows, assert_sound
from tests.transforms.write import crash_run
from tests.transforms.write.make_items import fetch, reject, run_at, tagged, tags
from transforms.dedupe.state import KnownState, latest_state, open_state
from transforms.records import RunContext, TaggedArticle
from transforms.write.commit import recover
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.manifest import read_manifests
from transforms.write.rows import checked_article_row, fetch_row, reject_row
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, settle
from transforms.write.storage import DatasetError, LocalStorage, Storage


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("undisturbed")
    crash_run.run_pipeline(str(root), "20261130T101502Z-0001")
    return root


@pytest.mark.parametrize("step", crash_run.STEPS)
def test_kill_9_at_a_step_of_the_pipeline_then_rerun(tmp_path: Path, undisturbed: Path, step: str) -> None:
    command = [sys.executable, crash_run.__file__, str(tmp_path), step]
    ended = subprocess.run(command, capture_output=True, timeout=100, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    crash_run.run_pipeline(str(tmp_path), "20261130T101702Z-0002")
    assert_same_rows(undisturbed, tmp_path)
    assert_sound(tmp_path)


class Crash(BaseException):
    """Ends a run in place of a kill; nothing in the product catches it."""


class FailingStorage(LocalStorage):
    """Crashes just before its n-th change of the disk."""

    def __init__(self, root: str, steps: int) -> None:
        super().__init__(root)
        self.left = steps

    def _step(self) -> None:
        if self.left == 0:
            raise Crash
        self.left -= 1

    def write(self, path: str, data: bytes) -> None:
        self._step()
        super().write(path, data)

    def move(self, source: str, target: str) -> None:
        self._step()
        super().move(source, target)

    def delete(self, path: str) -> None:
        self._step()
        super().delete(path)


def items_of(articles: list[TaggedArticle], run: RunContext, known: KnownState) -> Iterator[Item]:
    for article in articles:
        row, _ = checked_article_row(article, run)
        assert row is not None
        yield ArticleItem(row, len(article.article.text), article.tags.snippets)
    yield RejectItem(reject_row(reject(), run))
    if fetch().url not in known.feeds():  # polled only when due
        yield FetchItem(fetch_row(fetch(), run))


def run_once(root: Path, articles: list[TaggedArticle], run_id: str, storage: Storage | None = None) -> None:
    """A whole run without Beam."""
    run = run_at(run_id)
    storage = storage or LocalStorage(str(root))
    recover(storage)
    known = open_state(latest_state(str(root)))
    settled = settle(items_of(articles, run, known), known, "2026-11-30", f"{run_id}.00000")
    files = [stage_file(storage, run_id, file) for file in settled.files]
    parts = RunParts(files, settled.aliases, settled.tallies, [settled.summary])
    commit_run(storage, parts, known, run_id, run.started_at, run.now(), {})


FIRST = [tagged("https://a.example/1", "One."), tagged("https://a.example/2", "Two.")]
SECOND = [
    tagged("https://a.example/1", "One, corrected.", "v2"),
    tagged("https://a.example/3", "Three."),
    tagged("https://a.example/4", "Four.", topics=tags()),
]


@pytest.mark.parametrize("runs_before", [0, 1])
def test_a_crash_before_each_change_of_the_disk_then_rerun(tmp_path: Path, runs_before: int) -> None:
    before, crashing = ([], FIRST) if runs_before == 0 else ([FIRST], SECOND)
    for articles in [*before, crashing]:
        run_once(tmp_path / "whole", articles, f"20261130T101502Z-000{len(articles)}")
    for step in range(100):
        root = tmp_path / str(step)
        for articles in before:
            run_once(root, articles, "20261130T101502Z-0001")
        try:
            run_once(root, crashing, "20261130T111502Z-dead", FailingStorage(str(root), step))
        except Crash:
            run_once(root, crashing, "20261130T111602Z-0002")
        else:
            assert step >= 8  # stage two files, journal, two moves, snapshot, manifest, end of the journal
            break
        assert_same_rows(tmp_path / "whole", root)
        assert_sound(root)
        state = open_state(latest_state(str(root)))
        assert all(state.is_known(article.article.entry) for article in crashing)
    else:
        pytest.fail("the run never came to its end")


def test_recover_goes_by_the_exact_run_id(tmp_path: Path) -> None:
    run_once(tmp_path, FIRST, "20261130T101502Z-0001.000001")
    with pytest.raises(Crash):
        run_once(tmp_path, SECOND, "20261130T101502Z-0001", FailingStorage(str(tmp_path), 2))
    recovery = recover(str(tmp_path))
    assert recovery.discarded == ("20261130T101502Z-0001",)
    assert_sound(tmp_path)
    assert [manifest.run_id for manifest in read_manifests(str(tmp_path))] == ["20261130T101502Z-0001.000001"]


_LIMITED = """
import resource, sys
from pathlib import Path
from tests.transforms.write.test_write_crash import FIRST, run_once
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
run_once(Path(sys.argv[1]), FIRST, "20261130T101502Z-full")
"""


@pytest.mark.parametrize("limit", [2_000, 12_000])
def test_a_disk_that_takes_no_more_is_an_error_with_the_path_and_the_next_run_completes(
    tmp_path: Path, limit: int
) -> None:
    root = tmp_path / "limited"
    command = [sys.executable, "-c", _LIMITED, str(root), str(limit)]
    ended = subprocess.run(command, capture_output=True, timeout=100, check=False, cwd=Path(__file__).parents[3])
    assert ended.returncode == 1
    assert f"cannot write {root}/_staging" in ended.stderr.decode().splitlines()[-1]
    assert not list(root.glob("articles/**/*.parquet"))
    run_once(root, FIRST, "20261130T101602Z-0002")
    run_once(tmp_path / "whole", FIRST, "20261130T101502Z-0001")
    assert_same_rows(tmp_path / "whole", root)
    assert_sound(root)


def test_a_folder_in_place_of_a_file_stops_the_run_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "articles").write_text("no folder")
    with pytest.raises(DatasetError, match=f"cannot (read|write) {tmp_path}/articles"):
        run_once(tmp_path, FIRST, "20261130T101502Z-0001")
    assert read_manifests(str(tmp_path)) == []
