"""What is a revision and what is none: corrections are, counters, white space and known announcements are not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.write.make_items import START, entry, tagged
from transforms.dedupe.state import NEWEST, StateLocation, latest_state, open_state
from transforms.text import content_sha256
from transforms.write.manifest import read_manifests

URL = "https://a.example/ferry-fire"
A, B = "Two people died in the ferry fire.", "Three people died in the ferry fire."
STORY = "Two people died in the ferry fire off Port Amsel on Monday.\nThe harbor board meets on 3 December.\n{}"


def commit_texts(root, *texts):
    """Commits a run a text, each fetched after a new announcement."""
    for number, text in enumerate(texts):
        at = START + timedelta(hours=number)
        commit(root, f"20261130T1{number}0000Z-000{number}", tagged(URL, text, f"v{number}", fetched_at=at), at=at)


def revision(root):
    latest_state(str(root))
    found = open_state(StateLocation(str(root), NEWEST), 0).revision_of(tagged(URL).article.article_id)
    return found.revision, found.first_seen_at


def test_a_page_that_says_again_what_it_said_first_is_a_third_revision(tmp_path):
    commit_texts(tmp_path, A, B, A)
    assert revision(tmp_path) == (3, START)


def test_a_page_that_says_the_same_is_none_however_often_it_comes(tmp_path):
    commit_texts(tmp_path, A, A, A)
    assert revision(tmp_path) == (1, START)
    assert [len(manifest.aliases) for manifest in read_manifests(str(tmp_path))] == [0, 1, 1]


def test_an_announcement_or_seed_that_was_committed_before_is_known_after_a_later_one(tmp_path):
    commit_texts(tmp_path, A, B)
    known = open_state(latest_state(str(tmp_path)))
    assert [known.is_known(entry(URL, version)) for version in ("v0", "v1", "v2")] == [True, True, False]
    assert known.is_known_content(entry(URL, "v0"), "0" * 64)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("12 comments", "1,304 comments"),
        ("Shared 3 times. 4 shares", "Shared 3 times. 977 shares"),
        ("1.2K views | 3 min ago", "1.3K views | 2 hours ago"),
        ("Updated 3 minutes ago", "Updated 55 minutes ago"),
        ("Last updated: Nov. 30, 2026 at 9:05 a.m.", "Last updated: Dec. 1, 2026 at 11:40 p.m."),
        ("14 Kommentare", "15 Kommentare"),
        ("Hace 3 minutos", "Hace 2 horas"),
        ("", "7 comments"),
        ("It was late.", "It  was\tlate."),
        ("It was late.", "\nIt was late.\n\n"),
    ],
)
def test_what_changes_by_itself_is_no_revision(before, after):
    assert content_sha256("Ferry fire", STORY.format(before)) == content_sha256("Ferry fire", STORY.format(after))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Two people died", "Three people died"),
        ("Two people died", "12 people died"),
        ("on Monday", "on Tuesday"),
        ("3 December", "4 December"),
        ("Port Amsel", "Port Ansel"),
        ("The harbor board", "Correction: an earlier version named another port.\nThe harbor board"),
        ("Two people died in the ferry fire", "Two people died, 41 comments were read out"),
    ],
)
def test_what_the_story_says_otherwise_is_one(old, new):
    text = STORY.format("12 comments")
    assert old in text
    assert content_sha256("Ferry fire", text) != content_sha256("Ferry fire", text.replace(old, new))


def test_a_new_headline_is_one_and_its_spacing_is_none():
    assert content_sha256("Ferry fire", A) != content_sha256("Ferry fire: toll rises", A)
    assert content_sha256("Ferry fire", A) == content_sha256(" Ferry  fire ", A)
