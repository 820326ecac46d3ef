"""Which rows were tagged by which taxonomy, told by the manifests and, where these cannot, by the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow.compute as pc

from transforms.maintain.contents import Contents
from transforms.maintain.tables import read_table
from transforms.write.manifest import FileRecord, LiveFile, live_files, read_outlines
from transforms.write.storage import Storage, storage_of

_COLUMN = "taxonomy_sha256"


def older_taxonomy_count(root: str | Storage, sha256: str) -> int:
    """Returns how many rows of articles were tagged by another taxonomy than this and not checked with it since.

    Reads the manifests that this process has not read yet, and one column of the files in which rows of several
    runs meet.

    Args:
        root: The dataset; one that does not exist has none.
        sha256: Of the taxonomy that is used now.

    Raises:
        DatasetError: If a manifest or such a file is damaged.
    """
    storage = storage_of(root) if isinstance(root, str) else root
    manifests = tuple(read_outlines(storage))
    contents = Contents(storage, manifests, live_files(manifests))
    return sum(rows for _, rows in files_of_older_taxonomy(contents, sha256))


def files_of_older_taxonomy(contents: Contents, sha256: str) -> Iterator[tuple[FileRecord, int]]:
    """Yields the files of articles that hold rows of another taxonomy, with the number of these rows."""
    checked = checked_taxonomies(contents)
    for file in contents.files("articles"):
        current = checked.get(file.path, {}).get("sha256") == sha256
        rows = 0 if current else _rows_of_other(contents.storage, contents.live[file.path], sha256)
        if rows:
            yield file, rows


def checked_taxonomies(contents: Contents) -> dict[str, Mapping[str, Any]]:
    """Returns by path the taxonomy with which a file of articles was last checked and left as it was.

    Its rows still name the taxonomy that tagged them; this one gives the same tags.
    """
    checked: dict[str, Mapping[str, Any]] = {}
    for manifest in contents.manifests:
        if manifest.kind == "retag":
            for path, sha256 in manifest.checked:
                live = contents.live.get(path)
                if live is not None and live.record.sha256 == sha256:
                    checked[path] = manifest.taxonomy
    return checked


def _rows_of_other(storage: Storage, file: LiveFile, sha256: str) -> int:
    taxonomy = file.writer.taxonomy.get("sha256")
    if file.writer.kind in ("run", "retag") and taxonomy:  # one taxonomy a run
        return 0 if taxonomy == sha256 else file.record.rows
    if not file.record.rows:
        return 0
    column = read_table(storage, file.record.path, "articles", [_COLUMN])[_COLUMN]
    return int(pc.sum(pc.not_equal(column, sha256)).as_py() or 0)
