"""What a run takes in once more although it was refused: the one exception to what is known.

The file lies in the staging folder of the run and goes with it; the state of the dataset stays as it is.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from transforms.dedupe.snapshot import key_of
from transforms.fetch.due import entry_from_json, entry_to_json
from transforms.records import Entry
from transforms.write.storage import Storage


class Replay(NamedTuple):
    """What is to be tried again.

    Attributes:
        entries: Pages that are fetched again; no other page is due in the run.
        bodies: Hex sha256 of refused records of seed files that pass as if they had not been refused.
        rows: Rows of rejects that this stands for, for the manifest.
    """

    entries: tuple[Entry, ...] = ()
    bodies: frozenset[str] = frozenset()
    rows: int = 0

    def lifted(self) -> frozenset[int]:
        """Returns the keys of the relation ``refused`` that do not count in the run."""
        pages = (key_of("url", entry.url_key) for entry in self.entries)
        return frozenset((*pages, *(key_of("body", body) for body in self.bodies)))


def write_replay(storage: Storage, path: str, replay: Replay) -> None:
    """Writes the file.

    Raises:
        DatasetError: If it cannot be written.
    """
    found = {"entries": [entry_to_json(entry) for entry in replay.entries], "bodies": sorted(replay.bodies)}
    storage.write(path, json.dumps(found).encode())


def read_replay(storage: Storage, path: str) -> Replay:
    """Reads what ``write_replay`` wrote.

    Raises:
        DatasetError: If it cannot be read.
    """
    found = json.loads(storage.read(path))
    return Replay(tuple(entry_from_json(text) for text in found["entries"]), frozenset(found["bodies"]))
