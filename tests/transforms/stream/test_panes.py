"""The committer of a stream: the sum holds at each commit, whatever comes twice, too early or not at all."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rows import assert_sound, read_rows
from tests.transforms.write.make_items import entry, fetch, run_at, tagged
from transforms.feeds.poll import PollResult
from transforms.fetch.due import entry_to_json
from transforms.records import Alias, Entry, Fetch, Reject, TaggedArticle, Tally
from transforms.stream.panes import UNDER_WAY, PaneCommitter
from transforms.stream.spool import Spool
from transforms.write.manifest import ITEM_OUTCOMES, Manifest, read_manifests
from transforms.write.rows import checked_article_row, fetch_row, reject_row
from transforms.write.settle import ArticleItem, FetchItem, RejectItem

RUN = run_at("desk")
NOW = datetime(2026, 11, 30, 10, 15, 2, tzinfo=timezone.utc)
HOST = "https://harrow-bay.example"


def _url(number: int) -> str:
    return f"{HOST}/{number}"


def _poll(root: Path, *numbers: int, version: str = "v1", minute: int = 0, refused: int = 0) -> None:
    """A poll that brought these entries comes into the spool."""
    at = NOW + timedelta(minutes=minute)
    row = Fetch("feed", f"{HOST}/feed", "harrow-bay.example", at, "ok")
    rejects = tuple(Reject("poll", "no_link", f"item {n}", at, feed_url=row.url) for n in range(refused))
    tallies = (Tally("poll", "polled", 1), Tally("poll", "item", len(numbers) + refused))
    entries = tuple(entry(_url(number), version) for number in numbers)
    Spool(str(root)).add("harrow-bay.example", PollResult(row, entries, (), rejects, tallies))


def _article(number: int, version: str = "v1", text: str = "") -> ArticleItem:
    made: TaggedArticle = tagged(_url(number), text or f"The council met for the {number}th time.", version)
    row, _ = checked_article_row(made, RUN)
    assert row is not None
    return ArticleItem(row, len(made.article.text), {})


def _page(number: int, outcome: str, minute: int, again: Entry | None = None) -> FetchItem:
    at = NOW + timedelta(minutes=minute)
    url = _url(number)
    row = Fetch("page", url, "harrow-bay.example", at, outcome, url_key=entry(url).url_key)
    return FetchItem(fetch_row(row._replace(entry_json=entry_to_json(again) if again else None), RUN))


def _refusal(number: int, reason: str = "no_text", retryable: bool = False) -> RejectItem:
    refused = Reject("extract", reason, "nothing there", NOW, retryable, url=_url(number))
    return RejectItem(reject_row(refused, RUN))


class Stream:
    """A stream whose committer may be lost at any time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lose_worker()

    def lose_worker(self) -> None:
        self.committer = PaneCommitter(str(self.root), "full", {}, RUN)

    def commit(self, *elements: object) -> dict[str, int]:
        """Commits a pane; returns what its manifest counts, without zeros."""
        before = len(self.manifests)
        list(self.committer.commit(elements))
        if len(self.manifests) == before:
            return {}
        manifest = self.manifests[-1]
        self.check()
        found = {name: items for name, items in manifest.items.items() if items}
        return found | ({UNDER_WAY: manifest.inputs[UNDER_WAY]} if manifest.inputs[UNDER_WAY] else {})

    @property
    def manifests(self) -> list[Manifest]:
        return read_manifests(str(self.root))

    def check(self) -> None:
        """Under way before + in = what became of them + under way after, for each commit."""
        under_way = 0
        for manifest in self.manifests:
            items = manifest.items
            ended = sum(items[outcome] for outcome in ITEM_OUTCOMES)
            assert under_way + items["in"] == ended + manifest.inputs[UNDER_WAY], manifest
            under_way = manifest.inputs[UNDER_WAY]
        rows = len(read_rows(self.root, "articles"))
        assert rows == sum(manifest.items["new"] + manifest.items["revised"] for manifest in self.manifests)


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    return Stream(tmp_path)


def test_a_poll_comes_in_once_and_its_entries_end_with_their_rows(stream: Stream) -> None:
    _poll(stream.root, 1, 2, 3, refused=1)
    assert stream.commit() == {"in": 4, "rejected": 1, UNDER_WAY: 3}
    assert stream.commit(_article(1), _article(2)) == {"new": 2, UNDER_WAY: 1}
    assert stream.commit() == {}
    assert stream.commit(_refusal(3)) == {"rejected": 1}
    assert stream.manifests[0].feeds["polled"] == 1


def test_what_comes_again_after_a_rollback_is_not_counted_again(stream: Stream) -> None:
    _poll(stream.root, 1, 2)
    pane = (_article(1), _refusal(2), fetch(), Tally("fetch", "in", 2))
    assert stream.commit(*pane) == {"in": 2, "new": 1, "rejected": 1}
    stream.lose_worker()
    stream.commit(*pane)
    assert sum(manifest.items["in"] for manifest in stream.manifests) == 2
    assert_sound(stream.root)


def test_a_page_that_changed_before_it_was_looked_at_again_comes_in_again(stream: Stream) -> None:
    _poll(stream.root, 1)
    stream.commit(_article(1))
    assert stream.commit(_article(1, text="It met a second time.")) == {"in": 1, "revised": 1}


def test_the_same_entry_of_two_polls_ends_once_as_a_row_and_once_as_known(stream: Stream) -> None:
    _poll(stream.root, 1)
    _poll(stream.root, 1, minute=1)
    assert stream.commit(_article(1)) == {"in": 2, "new": 1, "known": 1}


def test_two_versions_of_an_entry_that_meet_are_one_row_and_a_duplicate(stream: Stream) -> None:
    _poll(stream.root, 1)
    _poll(stream.root, 1, version="v2", minute=1)
    other = Alias(entry(_url(1)).url_key, "v2", "", "duplicate")
    assert stream.commit(_article(1), other) == {"in": 2, "new": 1, "duplicates": 1}


def test_a_page_put_off_is_deferred_and_comes_in_again_when_it_is_due(stream: Stream) -> None:
    _poll(stream.root, 1)
    again = entry(_url(1), attempts=1)
    assert stream.commit(_page(1, "timeout", 1, again)) == {"in": 1, "deferred": 1}
    assert stream.commit(_page(1, "timeout", 2, again)) == {"in": 1, "deferred": 1}
    assert stream.commit(_page(1, "ok", 3), _article(1)) == {"in": 1, "new": 1}


def test_a_page_is_due_until_what_became_of_it_is_committed(stream: Stream) -> None:
    _poll(stream.root, 1)
    stream.commit(_page(1, "timeout", 1, entry(_url(1), attempts=1)))
    assert stream.commit(_page(1, "ok", 2)) == {}  # too early: were it committed and the article lost ...
    assert stream.commit(_article(1)) == {"in": 1, "new": 1}


def test_an_edit_whose_page_was_due_in_an_older_version_goes_on_after_it(stream: Stream) -> None:
    _poll(stream.root, 1)
    stream.commit(_page(1, "timeout", 1, entry(_url(1), attempts=1)))
    _poll(stream.root, 1, version="v2", minute=2)
    assert stream.commit() == {"in": 1, "deferred": 1}
    assert stream.commit(_page(1, "ok", 3), _article(1)) == {"in": 2, "new": 1, UNDER_WAY: 1}
    assert stream.commit(_article(1, "v2", "It met again.")) == {"revised": 1}


def test_a_refusal_that_may_pass_leaves_its_entry_under_way(stream: Stream) -> None:
    _poll(stream.root, 1)
    assert stream.commit(_refusal(1, "timeout", retryable=True)) == {"in": 2, "rejected": 1, UNDER_WAY: 1}
    assert stream.commit(_article(1)) == {"new": 1}


def test_what_another_command_committed_ends_as_known(stream: Stream) -> None:
    _poll(stream.root, 1, 2)
    assert stream.commit() == {"in": 2, UNDER_WAY: 2}
    list(PaneCommitter(str(stream.root), "full", {}, run_at("other")).commit([_article(1)]))
    _poll(stream.root, 3, minute=1)
    list(stream.committer.commit([_article(2)]))
    found = stream.manifests[-1]
    assert (found.items["known"], found.items["new"], found.inputs[UNDER_WAY]) == (1, 1, 1)


def test_rows_of_seeds_come_in_with_their_commit(stream: Stream) -> None:
    pane = (_article(1), Tally("read", "item", 1), Tally("read", "passed", 1), Tally("known", "known", 3))
    assert stream.commit(*pane) == {"in": 1, "new": 1}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("poll", "edit", "article", "refuse", "fail", "replay", "lose", "idle")), st.integers(0, 4)
    ),
    max_size=8,
)


@given(STEPS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_sum_holds_at_each_commit(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]) -> None:
    stream = Stream(tmp_path_factory.mktemp("stream"))
    panes: list[tuple[object, ...]] = []
    for minute, (step, number) in enumerate(steps):
        pane: tuple[object, ...] = ()
        if step in ("poll", "edit"):
            _poll(stream.root, number, number + 1, version="v2" if step == "edit" else "v1", minute=minute)
        elif step == "article":
            pane = (_article(number), _page(number, "ok", minute))
        elif step == "refuse":
            pane = (_refusal(number), _page(number, "ok", minute))
        elif step == "fail":
            pane = (_page(number, "timeout", minute, entry(_url(number), attempts=1)),)
        elif step == "replay" and panes:
            pane = panes[number % len(panes)]
        elif step == "lose":
            stream.lose_worker()
        panes.append(pane)
        list(stream.committer.commit(pane))
    stream.check()
    assert_sound(stream.root)
