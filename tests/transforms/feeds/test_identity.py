from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.feeds.identity import ItemFacts, entry_version, item_keys, revision_of
from transforms.urls import normal_form

MORNING = datetime(2026, 3, 2, 7, 30, tzinfo=timezone.utc)


def facts(guid: str | None, url: str | None, title: str = "", date: str = "") -> ItemFacts:
    return ItemFacts(guid, url, normal_form(url) if url else None, title, date)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://Gull.Example/n/7", "https://gull.example/n/7/"),
        ("https://gull.example/n/7?utm_source=rss", "https://gull.example/n/7"),
        ("urn:uuid:6E8BC430-9C3A-11D9-9669-0800200C9A66", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66"),
        ("  kb 17\n", "kb 17"),
        ("https://gull.example/n/7#0", "https://gull.example/n/7#12"),
    ],
)
def test_spellings_and_revisions_of_a_guid_are_one_key(one: str, other: str) -> None:
    page = "https://gull.example/story"
    assert item_keys([facts(one, page)]) == item_keys([facts(other, page)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://gull.example/?p=7", "https://gull.example/?p=8"),
        ("https://gull.example/n/Seven", "https://gull.example/n/seven"),
        ("https://gull.example/day#morning", "https://gull.example/day#evening"),
        ("KB17", "kb17"),
    ],
)
def test_different_guids_are_different_keys(one: str, other: str) -> None:
    page = "https://gull.example/story"
    assert item_keys([facts(one, page)]) != item_keys([facts(other, page)])


def test_keys_do_not_depend_on_the_rest_of_the_document() -> None:
    first = facts("kb1", "https://gull.example/1")
    second = facts(None, "https://gull.example/2")
    assert item_keys([first, second]) == item_keys([second, first])[::-1]
    assert item_keys([first]) == item_keys([first, second])[:1]


def test_a_changed_title_keeps_the_key_and_changes_the_version() -> None:
    before, after = (
        facts("kb1", "https://gull.example/1", "Pier shut"),
        facts("kb1", "https://gull.example/1", "Pier open"),
    )
    assert item_keys([before]) == item_keys([after])
    assert entry_version("Pier shut", None, None) != entry_version("Pier open", None, None)


def test_dates_tell_entries_apart_that_share_all_else() -> None:
    items = [facts(None, "https://status.gull.example/", "Ferry late", date) for date in ("1 March", "2 March")]
    assert len(set(item_keys(items))) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("12 comments", "13 comments"),
        ("Ferry late (12 comments)", "Ferry late (340 comments)"),
        ("Ferry late. 3 hours ago", "Ferry late. 4 hours ago"),
        ("Ferry late - an hour ago", "Ferry late - 2 hours ago"),
        ("Barco tarde · hace 3 horas", "Barco tarde · hace 5 horas"),
        ("Fähre spät, vor 3 Stunden", "Fähre spät, vor 4 Stunden"),
        ("Views: 1,204 Ferry late", "Views: 2,871 Ferry late"),
        ("FERRY  late", "Ferry\nlate"),
    ],
)
def test_counters_ages_and_white_space_are_no_edit(before: str, after: str) -> None:
    assert entry_version(before, before, MORNING) == entry_version(after, after, MORNING)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("12 dead in ferry fire", "13 dead in ferry fire"),
        ("Storm 3 hours away", "Storm 2 hours away"),
        ("Section 1", "Section 2"),
    ],
)
def test_figures_of_the_story_are_an_edit(before: str, after: str) -> None:
    assert entry_version(before, None, None) != entry_version(after, None, None)


def test_an_update_time_is_an_edit() -> None:
    assert entry_version("A", None, MORNING) != entry_version("A", None, MORNING.replace(hour=8))
    assert len(entry_version("A", None, None)) == 32


def test_title_and_summary_are_not_run_together() -> None:
    assert entry_version("ab", "c", None) != entry_version("a", "bc", None)


@pytest.mark.parametrize(("guid", "revision"), [("https://gull.example/n#12", 12), ("kb", 0), (None, 0), ("x#y", 0)])
def test_revision_of_a_guid(guid: str | None, revision: int) -> None:
    assert revision_of(guid) == revision


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "", "g", "h#1", "h#2"]),
            st.sampled_from([None, "https://a.example/1", "https://a.example/2"]),
            st.text(max_size=3),
        ),
        max_size=8,
    )
)
def test_every_entry_gets_a_key_and_unequal_ones_unequal_keys(rows: list[tuple[str | None, str | None, str]]) -> None:
    items = [facts(guid, url, title) for guid, url, title in rows]
    keys = item_keys(items)
    assert len(keys) == len(items)
    assert all(0 < len(key) <= 500 for key in keys)
    different_pages = {key: set() for key in keys}
    for key, item in zip(keys, items, strict=True):
        different_pages[key].add(item.page)
    assert all(len(pages) == 1 for pages in different_pages.values())
