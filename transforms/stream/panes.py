"""The committer of a stream: each pane, and each poll in the spool, becomes part of a small committed run. No Beam.

One committer works at a time, under the lock of the dataset. What a pane brings that is committed already is dropped,
and what it brings too early is kept back: both happen when a runner goes back to a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.dedupe import history
from transforms.dedupe.snapshot import State, runs_of
from transforms.dedupe.state import KnownState
from transforms.records import Alias, RunContext
from transforms.stream.account import Ended, balance, work_tallies
from transforms.stream.spool import Spool, Spooled, is_told
from transforms.urls import url_key
from transforms.write.commit import recover
from transforms.write.committer import RunParts, commit_run, gather, stage_file
from transforms.write.lock import acquire
from transforms.write.manifest import committed_runs, manifest_path, read_manifest
from transforms.write.rows import fetch_row, ingest_date, reject_row
from transforms.write.settle import ArticleItem, FetchItem, Item, RejectItem, Settled, settle
from transforms.write.storage import Storage, storage_of

UNDER_WAY = "under_way"  # of a manifest's inputs: items that came in and have not ended
_SNAPSHOT_EVERY = 50
_MOST_WAITING = 10_000


class _Intake(NamedTuple):
    """The rows of the polls in the spool that are not committed yet."""

    items: list[Item]
    reject_ids: frozenset[str]


class PaneCommitter:
    """Commits the panes of one stream as runs of their own, ``<run_id>.<number>``.

    Args:
        root: The dataset; the spool lies beside it.
        store_text: ``full``, ``excerpt`` or ``none``.
        facts: For the manifests.
        run: The stream.
    """

    def __init__(self, root: str, store_text: str, facts: Mapping[str, Any], run: RunContext) -> None:
        self._root = root
        self._store_text = store_text
        self._facts = facts
        self._run = run
        self._spool = Spool(root)
        self._state: State | None = None
        # Both are lost with the worker: what they stand for is then looked at once more.
        self._waiting_aliases: list[Alias] = []
        self._waiting_pages: list[FetchItem] = []

    def commit(self, elements: Iterable[object]) -> Iterator[str]:
        """Commits what has come, if there is anything; yields the path of the manifest.

        Raises:
            DatasetError: If something cannot be written.
        """
        elements = list(elements)
        items = [element for element in elements if isinstance(element, (ArticleItem, RejectItem, FetchItem))]
        parts = gather(elements)
        storage = storage_of(self._root)
        with acquire(self._root, wait=True):
            recover(storage)
            self._state = state = history.newest_state(storage, self._state)
            known = KnownState(state)
            # Read after the pane has come: the poll of whatever it holds is among them.
            polls = self._spool.read()
            intake = self._take_in(polls, known)
            parts = parts._replace(aliases=self._grounded_aliases(parts.aliases, items, known))
            items = [*intake.items, *self._grounded_pages(items, known)]
            if items or parts.aliases or work_tallies(parts.tallies) or not runs_of(state):
                yield self._commit(storage, parts, items, known, polls, intake.reject_ids)

    def _take_in(self, polls: Sequence[Spooled], known: KnownState) -> _Intake:
        items: list[Item] = []
        reject_ids: set[str] = set()
        for spooled in polls:
            if is_told(spooled, known):
                continue
            items += [FetchItem(fetch_row(row, self._run)) for row in spooled.rows]
            rejects = [RejectItem(reject_row(reject, self._run, self._store_text)) for reject in spooled.result.rejects]
            items += rejects
            reject_ids.update(reject.row["reject_id"] for reject in rejects)
        return _Intake(items, frozenset(reject_ids))

    def _commit(
        self,
        storage: Storage,
        parts: RunParts,
        items: Sequence[Item],
        known: KnownState,
        polls: Sequence[Spooled],
        poll_reject_ids: frozenset[str],
    ) -> str:
        number = 1 + sum(run_id.rpartition(".")[0] == self._run.run_id for run_id in committed_runs(storage))
        run_id, now = f"{self._run.run_id}.{number:06d}", self._run.now()
        settled = settle(items, known, ingest_date(now), f"{run_id}.00000", run_id)
        aliases = [*parts.aliases, *settled.aliases]
        ended = _ended(settled, aliases, poll_reject_ids)
        balanced = balance(polls, known, ended, self._under_way(storage, number - 1))
        whole = RunParts(
            [stage_file(storage, run_id, file) for file in settled.files],
            aliases,
            [
                *work_tallies(parts.tallies),
                # Its other counts are of rows that may have come before.
                *(tally for tally in settled.tallies if tally.outcome not in ("known", "refused", "duplicate")),
                *balanced.tallies,
            ],
            [settled.summary],
        )
        facts = {**self._facts, "inputs": {**self._facts.get("inputs", {}), UNDER_WAY: balanced.under_way}}
        keep = number % _SNAPSHOT_EVERY == 1
        commit_run(storage, whole, known, run_id, now, now, facts, keep_snapshot=keep)
        return manifest_path(run_id)

    def _under_way(self, storage: Storage, number: int) -> int:
        last = read_manifest(storage, f"{self._run.run_id}.{number:06d}")
        return int(last.inputs.get(UNDER_WAY, 0)) if last else 0

    def _grounded_aliases(self, aliases: Sequence[Alias], items: Sequence[Item], known: KnownState) -> list[Alias]:
        """Keeps aliases back until their page is committed.

        A duplicate overtakes the page that it is one of, which comes in a later pane. Were it committed alone and
        the page then lost, the entry would be known and the page never asked for again.
        """
        here = {item.row["url_key"] for item in items if isinstance(item, ArticleItem)}
        grounded: list[Alias] = []
        waiting: list[Alias] = []
        for alias in dict.fromkeys([*self._waiting_aliases, *aliases]):
            has_page = alias.article_id or alias.url_key in here or known.is_committed(alias.url_key, None)
            (grounded if has_page else waiting).append(alias)
        self._waiting_aliases = waiting[-_MOST_WAITING:]
        return grounded

    def _grounded_pages(self, items: Sequence[Item], known: KnownState) -> list[Item]:
        """Keeps back the row by which a page is no longer due, until what became of the page is there too.

        Were it committed alone and the rest then lost, nothing would ask for the page again.
        """
        here = {_key_of(item) for item in items}
        grounded: list[Item] = []
        waiting: list[FetchItem] = []
        for item in [*self._waiting_pages, *items]:
            page = known.due_entry(item.row["url_key"]) if _ends_page(item) else None
            if page is None or page.entry.url_key in here or known.is_known(page.entry):
                grounded.append(item)
            else:
                assert isinstance(item, FetchItem)
                waiting.append(item)
        self._waiting_pages = waiting[-_MOST_WAITING:]
        return grounded


def _ends_page(item: Item) -> bool:
    return isinstance(item, FetchItem) and item.row["kind"] == "page" and item.row["entry_json"] is None


def _key_of(item: Item) -> str:
    """The page that an article or a refusal is of; empty for all else."""
    if isinstance(item, ArticleItem):
        return str(item.row["url_key"])
    return url_key(item.row["url"]) if isinstance(item, RejectItem) and item.row["url"] else ""


def _ended(settled: Settled, aliases: Sequence[Alias], poll_reject_ids: frozenset[str]) -> Ended:
    rejects = [row for row in settled.rows["rejects"] if row["reject_id"] not in poll_reject_ids]
    return Ended(
        settled.rows["articles"],
        rejects,
        len(settled.rows["rejects"]) - len(rejects),
        [row for row in settled.rows["fetches"] if row["kind"] == "page" and row["url_key"]],
        aliases,
    )
