from __future__ import annotations

from pathlib import Path

import pytest

from transforms.remote.bucket import StoreSetupError
from transforms.write.storage import DatasetError, LocalStorage, storage_of


def test_a_file_is_there_whole_and_no_draft_is_left(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.write("articles/day=1/a.parquet", b"one")
    storage.write("articles/day=1/a.parquet", b"two")
    assert storage.read("articles/day=1/a.parquet") == b"two"
    assert storage.names("_staging") == []
    assert storage.names("nowhere") == []


def test_delete_forgives_what_is_gone(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.write("a/b/c", b"")
    storage.delete_tree("a")
    storage.delete_tree("a")
    storage.delete("a/b/c")
    assert not (tmp_path / "a").exists()


def test_links_in_staging_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    (tmp_path / "root" / "_staging").mkdir(parents=True)
    (tmp_path / "root" / "_staging" / "link").symlink_to(outside)
    LocalStorage(str(tmp_path / "root")).delete_tree("_staging")
    assert (outside / "kept").exists()
    assert not (tmp_path / "root" / "_staging").exists()


@pytest.mark.parametrize("what", ["write", "read", "move", "names"])
def test_errors_are_one_line_with_the_path(tmp_path: Path, what: str) -> None:
    (tmp_path / "root").write_text("a file where the dataset should be")
    storage = LocalStorage(str(tmp_path / "root"))
    calls = {
        "write": lambda: storage.write("_runs/a.json", b"x"),
        "read": lambda: storage.read("_runs/a.json"),
        "move": lambda: storage.move("a", "b"),
        "names": lambda: storage.names("_runs"),
    }
    with pytest.raises(DatasetError) as raised:
        calls[what]()
    assert str(tmp_path / "root") in str(raised.value)
    assert raised.value.path.startswith(str(tmp_path / "root"))
    assert "\n" not in str(raised.value)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    (tmp_path / "_runs" / "a.json").mkdir(parents=True)  # a folder where the file should go
    with pytest.raises(DatasetError, match="cannot write"):
        storage.write("_runs/a.json", b"x")
    assert storage.names("_staging") == []


def test_a_full_disk_is_told_and_nothing_half_written_is_visible() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(DatasetError, match="No space left"), LocalStorage("/dev")._told("write", "full"):
        full.write_bytes(b"x" * 100_000)


def test_other_file_systems_are_refused_by_name() -> None:
    with pytest.raises(StoreSetupError, match=r"s3:// is not supported; name a local path or gs://"):
        storage_of("s3://bucket/news")
