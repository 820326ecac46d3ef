from __future__ import annotations

from datetime import date

import pytest

from tests.rows import read_rows
from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import DAY_2, WET, contents_of, findings_of, kinds, two_days
from tests.transforms.write.make_items import START, entry, reject, tagged
from transforms.dedupe.history import STATE_FOLDER, newest_state, rebuild
from transforms.dedupe.snapshot import runs_of
from transforms.dedupe.state import KnownState, latest_state, open_state
from transforms.maintain.compact import compact
from transforms.maintain.prune import plan_prune, prune
from transforms.maintain.verify import same_state
from transforms.schema import TABLES
from transforms.write.manifest import read_manifests
from transforms.write.storage import DatasetError, LocalStorage


@pytest.fixture
def root(tmp_path):
    two_days(tmp_path)
    return tmp_path


def cut(root, day):
    contents, before = contents_of(root), date.fromisoformat(day)
    return prune(contents, plan_prune(contents, before), before)


def forget_snapshots(root):
    for path in (root / STATE_FOLDER).iterdir():
        path.unlink()


def known_of(root) -> KnownState:
    return KnownState(newest_state(LocalStorage(str(root))))


def test_the_plan_counts_what_lies_before_the_day(root):
    plan = plan_prune(contents_of(root), date(2026, 9, 2))
    # Articles of four runs; topics of stories 1 and 4 twice, of 3, 6 and 7 once; two refusals; three exchanges.
    assert plan.rows == {"articles": 7, "article_topics": 7, "rejects": 2, "fetches": 3, "stories": 0}
    assert plan.days == 1
    assert not plan_prune(contents_of(root), date(2026, 9, 1)).files


def test_old_rows_go_and_the_others_stay(root):
    cut(root, "2026-09-02")
    assert [row["url"] for row in read_rows(root, "articles")] == ["https://paper2.example/story/8"]
    assert {row["topic"] for row in read_rows(root, "article_topics")} == {"deportation", "immigration"}
    assert read_rows(root, "rejects") == []
    assert not (root / "articles" / "ingest_date=2026-09-01").exists()
    assert findings_of(root) == []


def test_a_table_without_rows_still_opens(root):
    cut(root, "2026-11-30")
    for table in TABLES:
        assert list((root / table).glob("**/*.parquet")), table
        assert read_rows(root, table) == []
    assert findings_of(root) == []


@pytest.mark.parametrize("snapshots", ["kept", "gone"])
def test_what_is_gone_is_still_known(root, snapshots):
    before = known_of(root)
    cut(root, "2026-09-02")
    if snapshots == "gone":
        forget_snapshots(root)
    after = known_of(root)
    for number in range(1, 6):
        announced = entry(f"https://paper{number % 3}.example/story/{number}", f"v{number}")
        assert after.is_known(announced), announced.url
        assert not after.is_known(announced._replace(entry_version="another"))
    assert after.is_known(entry("https://harrow-bay.example/gone"))
    assert after.feeds() == before.feeds()
    assert [page.url for page in after.due_entries(DAY_2)] == [WET]
    assert same_state({**after.state, "run": before.state["run"]}, before.state)


def test_a_revision_of_a_pruned_article_is_counted_on(root):
    cut(root, "2026-09-02")
    forget_snapshots(root)
    again = tagged("https://paper1.example/story/1", "Story 1, once more.", "v20")
    commit(root, "20260903T100000Z-0001", again, reject(), at=START)
    # Its revisions 1 and 2 are gone; a refusal that is known is not written again.
    assert [row["revision"] for row in read_rows(root, "articles") if row["url"].endswith("/story/1")] == [3]
    assert read_rows(root, "rejects") == []
    assert findings_of(root) == []


def test_a_snapshot_of_before_is_not_taken_for_the_present(root):
    """A state that lacks the runs whose files went must not be grown from these files."""
    storage = LocalStorage(str(root))
    early = rebuild(storage)
    commit(root, "20260901T230000Z-0001", tagged("https://late.example/1", version="v1"), at=DAY_2.replace(day=1))
    cut(root, "2026-09-02")
    assert KnownState(newest_state(storage, early)).is_known(entry("https://late.example/1", "v1"))
    assert open_state(latest_state(str(root))).is_known(entry("https://late.example/1", "v1"))


def test_a_second_prune_takes_the_kept_keys_over(root):
    cut(root, "2026-09-02")
    commit(root, "20260903T100000Z-0001", tagged("https://new.example/1", version="v1"), at=START)
    first = next(iter((root / "_runs").glob("*.known.parquet")))
    manifest = cut(root, "2026-09-03")
    assert f"_runs/{first.name}" in manifest.removes
    assert [path.name for path in (root / "_runs").glob("*.known.parquet")] == [f"{manifest.run_id}.known.parquet"]
    forget_snapshots(root)
    known = known_of(root)
    assert known.is_known(entry("https://paper1.example/story/1", "v1"))
    assert known.is_known(entry("https://new.example/1", "v1"))
    assert runs_of(known.state).keys() == {manifest.run_id for manifest in read_manifests(str(root))}
    assert findings_of(root) == []


def test_after_compaction_and_before_it(root):
    compact(contents_of(root), date(2026, 11, 30), 2, lambda line: None)
    cut(root, "2026-09-02")
    assert kinds(root) == ["run"] * 5 + ["compact", "prune"]
    assert len(read_rows(root, "articles")) == 1
    assert findings_of(root) == []


def test_a_lost_file_of_keys_is_told(root):
    manifest = cut(root, "2026-09-02")
    path = root / "_runs" / f"{manifest.run_id}.known.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    forget_snapshots(root)
    assert findings_of(root) == [f"damaged _runs/{path.name}"]
    with pytest.raises(DatasetError, match="damaged"):
        newest_state(LocalStorage(str(root)))
    path.unlink()
    assert findings_of(root) == [f"missing _runs/{path.name}"]
