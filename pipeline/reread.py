"""Topics and lists of feeds that are changed while ``newsbeam watch`` works: read again before the next cycle."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from typing import Any

from pipeline.cli.output import plural
from pipeline.config.load import load_feeds
from pipeline.plan import Plan
from transforms.remote.bucket import has_store
from transforms.remote.files import read_file
from transforms.tag.taxonomy import load_taxonomy
from transforms.yaml_file import ProblemsError


class Reread:
    """Looks for changed files, by what is in them; while they have mistakes, what was read before stays in use.

    Args:
        plan: As it was made from the files.
        tell: Called with a line for each change and each mistake.
    """

    def __init__(self, plan: Plan, tell: Callable[[str], None]) -> None:
        self._topics = plan.config.topics
        self._feeds = tuple(feed for feed in plan.config.feeds if isinstance(feed, str) and _is_file(feed))
        self._tell = tell
        self._seen = {files: _digest(files) for files in (self._topics, self._feeds)}

    def apply(self, plan: Plan) -> Plan:
        """Returns the plan with the topics and feeds as they are now."""
        if self._has_changed(self._topics):
            taxonomy = self._read(lambda: load_taxonomy(self._topics), "topics")
            if taxonomy is not None:
                self._tell(f"read again: {taxonomy.id} {taxonomy.version}, {plural(len(taxonomy.topics), 'topic')}")
                plan = plan._replace(taxonomy=taxonomy)
        if self._feeds and self._has_changed(self._feeds):
            feeds = self._read(lambda: load_feeds(plan.config), "feeds")
            if feeds is not None:
                self._tell(f"read again: {plural(len(feeds), 'feed')}")
                plan = plan._replace(feeds=tuple(feeds))
        return plan

    def _has_changed(self, files: tuple[str, ...]) -> bool:
        now = _digest(files)
        has_changed = now is not None and now != self._seen[files]
        if has_changed:
            self._seen[files] = now
        return has_changed

    def _read(self, read: Callable[[], Any], what: str) -> Any:
        try:
            return read()
        except ProblemsError as error:
            first = error.problems[0] if error.problems else ""
            self._tell(f"the {what} have mistakes, those read before stay in use: {first}")
            return None


def _digest(files: Iterable[str]) -> str | None:
    """A hash of all contents; ``None`` if one cannot be read now, as while an editor replaces it."""
    try:
        return hashlib.sha256(b"".join(hashlib.sha256(read_file(path)).digest() for path in files)).hexdigest()
    except OSError:
        return None


def _is_file(feed: str) -> bool:
    return has_store(feed) or os.path.isfile(feed)
