"""What a watch does for its dataset between two cycles: stories of new articles, small files of past days."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date

from pipeline.cli.output import plural
from pipeline.dataset.opening import locked
from transforms.write.manifest import Manifest
from transforms.write.storage import DatasetError

# Grouping looks at the articles of several days each time: it may take this share of the time, not more.
_STORIES_SHARE = 0.2
_MIN_FILES = 2


class Upkeep:
    """Keeps a dataset in order while it grows; what fails is told and tried again later.

    Args:
        root: The dataset.
        tell: Called with a line for what was done.
    """

    def __init__(self, root: str, tell: Callable[[str], None]) -> None:
        self._root = root
        self._tell = tell
        self._has_news = False
        self._stories_from_s = 0.0
        self._compacted_on: date | None = None

    def after(self, manifests: Sequence[Manifest]) -> None:
        """Does what is due after a cycle; takes the lock for it.

        Args:
            manifests: Of the runs of the cycle.
        """
        self._has_news |= any(m.items.get("new", 0) or m.items.get("revised", 0) for m in manifests)
        try:
            if self._has_news and time.monotonic() >= self._stories_from_s:
                self._group()
            if manifests:
                self._compact()
        except DatasetError as error:
            self._tell(f"{error}; newsbeam dataset verify tells more")

    def _group(self) -> None:
        # Heavy: Beam.
        from pipeline.dataset.stories import run_stories

        began_s = time.monotonic()
        with locked(self._root, wait=True):
            found = run_stories(self._root)
        self._has_news = False
        ended_s = time.monotonic()
        self._stories_from_s = ended_s + (ended_s - began_s) * (1 / _STORIES_SHARE - 1)
        if found.copies:
            self._tell(
                f"{plural(found.articles, 'article')} of the last days, {found.copies:,} of them copies of another"
            )

    def _compact(self) -> None:
        # Heavy: pyarrow.
        from transforms.maintain.compact import compact, today
        from transforms.maintain.contents import read_contents

        if self._compacted_on == today():
            return
        self._compacted_on = today()
        with locked(self._root, wait=True) as storage:
            compact(read_contents(storage), today(), _MIN_FILES, self._tell)
