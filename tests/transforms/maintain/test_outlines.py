"""Of what a process asks again of its manifests, each is read once; one that was written anew is read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import quiet
from tests.transforms.write.make_items import sha, tagged
from transforms.maintain.compact import compact, today
from transforms.maintain.contents import read_contents
from transforms.maintain.taxonomy import files_of_older_taxonomy, older_taxonomy_count
from transforms.write.manifest import read_manifests, read_outlines
from transforms.write.storage import DatasetError, LocalStorage


class Counting(LocalStorage):
    """A dataset on disk that counts the manifests that are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root))
        self.manifests_read = 0

    def read(self, path: str) -> bytes:
        self.manifests_read += path.startswith("_runs/") and path.endswith(".json")
        return super().read(path)


def test_a_run_reads_each_manifest_once_for_its_check_and_the_line_of_older_tags(root: Path) -> None:
    storage = Counting(root)
    read_manifests(storage)  # as a run does before it begins
    commit(root, "20260903T100000Z-0001", tagged("https://paper1.example/new", "It is new."))
    assert older_taxonomy_count(storage, sha("another")) == 9
    assert storage.manifests_read == 5 + 1, "the five of before, and the one that the run has made"


def test_the_count_is_that_of_the_whole_manifests(root: Path) -> None:
    read_outlines(str(root))
    compact(read_contents(str(root)), today(), 2, quiet)
    for taxonomy in ("taxonomy", "another"):
        told = sum(rows for _, rows in files_of_older_taxonomy(read_contents(str(root)), sha(taxonomy)))
        assert older_taxonomy_count(str(root), sha(taxonomy)) == told


def test_a_manifest_that_was_written_anew_is_read_again(root: Path) -> None:
    read_outlines(str(root))
    path = sorted((root / "_runs").glob("*.json"))[1]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DatasetError, match="is damaged"):
        read_outlines(str(root))
    path.unlink()
    assert [manifest.sequence for manifest in read_outlines(str(root))] == [1, 3, 4, 5]
