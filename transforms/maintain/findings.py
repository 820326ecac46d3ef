"""What ``dataset verify`` can find."""

from __future__ import annotations

from typing import NamedTuple

KINDS = {
    "unfinished": "a run was interrupted; it is finished or undone by the next one",
    "manifest": "a manifest is damaged, missing or doubled",
    "stranger": "a file among the manifests is none of newsbeam's",
    "missing": "a file of a manifest is not there",
    "damaged": "a file is not the one that its manifest means, or cannot be read",
    "schema": "a file has other columns than the contract, or another number of rows",
    "folder": "a file lies in a folder of a wrong name",
    "topics": "article_topics does not agree with articles",
    "doubled": "a row stands in the dataset twice",
    "orphan": "a file below a table belongs to no run",
    "leftover": "a file that a run has removed is still there",
    "snapshot": "the snapshot of what is known differs from the tables",
}


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes:
        kind: One of ``KINDS``.
        path: Below the root.
        message: What is wrong with it.
    """

    kind: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"
