from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.write.make_items import START, entry, fetch, reject, sha, tagged
from transforms.dedupe import history, state
from transforms.dedupe.state import NEWEST, KnownState, StateLocation, latest_state, open_state
from transforms.fetch.due import entry_to_json
from transforms.records import Alias
from transforms.urls import url_key
from transforms.write.rows import reject_id

STORY = "https://harrow-bay.example/council-vote"


def known_of(root: Path) -> KnownState:
    return open_state(latest_state(str(root)))


def test_nothing_is_known_of_an_empty_dataset(tmp_path: Path) -> None:
    assert latest_state(str(tmp_path)) == StateLocation(str(tmp_path), None)
    known = known_of(tmp_path)
    assert not known.is_known(entry())
    assert known.article_id_for([url_key(STORY)]) is None
    assert known.revision_of("1-" + "0" * 32) is None
    assert known.duplicate_of(sha("words")) is None
    assert not known.has_reject("0" * 32)
    assert known.due_entries(START) == []
    assert dict(known.feeds()) == {}
    assert dict(known.hosts()) == {}


def test_an_entry_is_known_in_the_version_that_is_committed(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged(STORY, version="v1"))
    known = known_of(tmp_path)
    assert known.is_known(entry(STORY, "v1"))
    assert not known.is_known(entry(STORY, "v2"))
    assert not known.is_known(entry("https://harrow-bay.example/other", "v1"))


def test_a_bare_address_is_known_in_any_version_and_any_spelling(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged(STORY, version="v1"))
    known = known_of(tmp_path)
    assert known.is_known(entry(STORY, None))
    assert known.is_known(entry("http://www.harrow-bay.example/council-vote?utm_source=mail", None))
    assert not known.is_known(entry("https://harrow-bay.example/other", None))


def test_the_article_is_found_by_announced_final_and_canonical_address(tmp_path: Path) -> None:
    final, canonical = "https://harrow-bay.example/2026/vote", "https://news.harrow-bay.example/vote"
    article = tagged(STORY, final_url=final, canonical_url=canonical)
    commit(tmp_path, "r1", article)
    known = known_of(tmp_path)
    for url in (STORY, final, canonical):
        assert known.article_id_for(["unknown", url_key(url)]) == article.article.article_id
    assert known.article_id_for(["unknown"]) is None
    assert known.article_id_for([]) is None


def test_the_newest_revision_counts_and_keeps_the_first_time(tmp_path: Path) -> None:
    first = tagged(STORY, "Two hurt.")
    second = tagged(STORY, "Three hurt.", "v2", fetched_at=START + timedelta(hours=1))
    commit(tmp_path, "r1", first)
    commit(tmp_path, "r2", second)
    found = known_of(tmp_path).revision_of(first.article.article_id)
    assert found == (2, second.article.content_sha256, first.article.fetched_at, False)
    assert found is not None
    assert found.first_seen_at.tzinfo is not None


def test_an_alias_is_known_like_an_article(tmp_path: Path) -> None:
    article = tagged(STORY)
    mirror = "https://mirror.example/council-vote"
    commit(tmp_path, "r1", article, Alias(url_key(mirror), "v9", article.article.article_id, "duplicate"))
    known = known_of(tmp_path)
    assert known.is_known(entry(mirror, "v9"))
    assert not known.is_known(entry(mirror, "v8"))
    assert known.article_id_for([url_key(mirror)]) == article.article.article_id


def test_the_earliest_article_with_the_same_words_is_the_original(tmp_path: Path) -> None:
    words = sha("words")
    early = tagged("https://b.example/1", text_fingerprint=words, fetched_at=START)
    late = tagged("https://a.example/1", text_fingerprint=words, fetched_at=START + timedelta(minutes=1))
    commit(tmp_path, "r1", late, early)
    assert known_of(tmp_path).duplicate_of(words) == early.article.article_id


def test_a_final_refusal_of_a_page_makes_its_address_known(tmp_path: Path) -> None:
    gone, hung = (
        reject("https://a.example/gone"),
        reject("https://a.example/hung", "timeout", stage="extract", retryable=True),
    )
    commit(tmp_path, "r1", gone, hung)
    known = known_of(tmp_path)
    assert known.is_known(entry("https://a.example/gone", "v7"))
    assert known.is_known(entry("https://a.example/gone", None))
    assert not known.is_known(entry("https://a.example/hung", "v7"))
    assert known.has_reject(reject_id(gone))
    assert known.has_reject(reject_id(hung))


def test_a_refused_seed_is_known_by_its_bytes_and_not_by_its_address(tmp_path: Path) -> None:
    bad, better = sha("empty record"), sha("record with text")
    refused = reject(STORY, "no_text", stage="extract", input_uri="a.jsonl#L1", body_sha256=bad)
    commit(tmp_path, "r1", refused)
    known = known_of(tmp_path)
    seed = entry(STORY, bad, discovered_via="seed_jsonl")
    assert known.is_known_content(seed, bad)
    assert not known.is_known_content(seed._replace(entry_version=better), better)
    assert not known.is_known(entry(STORY, "v1"))


def test_a_seed_may_bring_the_text_of_a_page_that_was_refused(tmp_path: Path) -> None:
    commit(tmp_path, "r1", reject(STORY))
    seed = entry(STORY, sha("record"), discovered_via="seed_jsonl")
    assert not known_of(tmp_path).is_known_content(seed, sha("record"))


def test_feeds_have_the_state_of_their_newest_poll(tmp_path: Path) -> None:
    url = "https://harrow-bay.example/feed"
    due = START + timedelta(minutes=15)
    commit(tmp_path, "r1", fetch(url, etag='"a"', body_sha256=sha("a"), next_due_at=due, entry_json='{"seen": "x"}'))
    later = START + timedelta(hours=1)
    commit(tmp_path, "r2", fetch(url, outcome="not_modified", started_at=later, http_status=304, etag='"b"'))
    found = known_of(tmp_path).feeds()[url]
    assert (found.started_at, found.outcome, found.http_status, found.etag) == (later, "not_modified", 304, '"b"')
    assert (found.next_due_at, found.failures) == (None, 0)


def test_a_poll_without_an_answer_does_not_lose_the_validators(tmp_path: Path) -> None:
    url = "https://harrow-bay.example/feed"
    commit(tmp_path, "r1", fetch(url, etag='"a"', last_modified="Mon", entry_json='{"seen": "x"}'))
    for number in (2, 3):
        at = START + timedelta(hours=number)
        commit(tmp_path, f"r{number}", fetch(url, outcome="timeout", started_at=at, failures=number - 1))
    found = known_of(tmp_path).feeds()[url]
    assert (found.outcome, found.failures) == ("timeout", 2)
    assert (found.etag, found.last_modified, found.entry_json) == ('"a"', "Mon", '{"seen": "x"}')
    commit(tmp_path, "r4", fetch(url, started_at=START + timedelta(hours=4)))
    assert known_of(tmp_path).feeds()[url].etag is None


def test_a_page_is_due_until_its_newest_row_has_no_entry(tmp_path: Path) -> None:
    page = entry("https://a.example/slow", attempts=1, published_at=START)
    due_at = START + timedelta(minutes=15)
    row = fetch(page.url, "page", "timeout", next_due_at=due_at, entry_json=entry_to_json(page))
    commit(tmp_path, "r1", row)
    known = known_of(tmp_path)
    assert known.due_entries(START) == []
    assert known.due_entries(due_at) == [page]
    found = known.due_entry(page.url_key)
    assert found is not None
    assert (found.entry, found.is_due(START), found.is_due(due_at)) == (page, False, True)
    commit(tmp_path, "r2", fetch(page.url, "page", "ok", started_at=due_at))
    assert known_of(tmp_path).due_entry(page.url_key) is None


def test_those_that_wait_longest_come_first(tmp_path: Path) -> None:
    pages = [entry(f"https://a.example/{n}") for n in range(3)]
    rows = [
        fetch(
            page.url, "page", "deferred", next_due_at=START + timedelta(minutes=shift), entry_json=entry_to_json(page)
        )
        for page, shift in zip(pages, (9, 1, 5), strict=True)
    ]
    commit(tmp_path, "r1", *rows)
    assert known_of(tmp_path).due_entries(START + timedelta(hours=1)) == [pages[1], pages[2], pages[0]]


def test_a_due_entry_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    commit(tmp_path, "r1", fetch("https://a.example/odd", "page", "timeout", next_due_at=START, entry_json="{"))
    assert known_of(tmp_path).due_entries(START) == []


def test_hosts_that_asked_for_patience(tmp_path: Path) -> None:
    until = START + timedelta(hours=2)
    commit(tmp_path, "r1", fetch(outcome="rate_limited", retry_after_until=until), fetch("https://b.example/feed"))
    commit(tmp_path, "r2", fetch(started_at=START + timedelta(minutes=1), retry_after_until=START + timedelta(hours=1)))
    assert dict(known_of(tmp_path).hosts()) == {"harrow-bay.example": until}


def test_only_a_stream_remembers_its_exchanges(tmp_path: Path) -> None:
    commit(tmp_path, "batch", fetch("https://a.example/feed"))
    commit(tmp_path, "stream.000001", fetch("https://b.example/feed"))
    known = known_of(tmp_path)
    assert known.has_fetch("feed", "https://b.example/feed", START)
    assert not known.has_fetch("feed", "https://b.example/feed", START + timedelta(seconds=1))
    assert not known.has_fetch("feed", "https://a.example/feed", START)


def test_one_copy_a_process(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged())
    location = latest_state(str(tmp_path))
    assert open_state(location) is open_state(StateLocation(*location))


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"no parquet at all"])
def test_a_damaged_snapshot_is_made_good(tmp_path: Path, damage: bytes) -> None:
    commit(tmp_path, "r1", tagged(STORY), reject())
    (snapshot,) = (tmp_path / history.STATE_FOLDER).iterdir()
    snapshot.write_bytes(damage)
    location = StateLocation(str(tmp_path), f"{history.STATE_FOLDER}/r1.parquet")
    assert open_state(location).is_known(entry(STORY, "v1"))  # a worker only reads
    assert snapshot.read_bytes() == damage
    assert known_of(tmp_path).is_known(entry(STORY, "v1"))  # the launcher mends
    assert len(snapshot.read_bytes()) > 100


def test_every_single_damaged_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    article = tagged(STORY)
    commit(tmp_path, "r1", article)
    (snapshot,) = (tmp_path / history.STATE_FOLDER).iterdir()
    whole = snapshot.read_bytes()
    for place in range(0, len(whole), 61):
        snapshot.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        known = known_of(tmp_path)
        assert known.is_known(entry(STORY, "v1"))
        assert known.revision_of(article.article.article_id) is not None
        snapshot.write_bytes(whole)


def test_a_snapshot_of_runs_that_the_dataset_does_not_have_is_not_believed(tmp_path: Path) -> None:
    commit(tmp_path / "a", "r1", tagged("https://a.example/1"))
    commit(tmp_path / "b", "r2", tagged("https://b.example/1"))
    (foreign,) = (tmp_path / "b" / history.STATE_FOLDER).iterdir()
    foreign.rename(tmp_path / "a" / history.STATE_FOLDER / "r2.parquet")
    known = known_of(tmp_path / "a")
    assert known.is_known(entry("https://a.example/1", "v1"))
    assert not known.is_known(entry("https://b.example/1", "v1"))


def test_the_newest_state_is_read_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = StateLocation(str(tmp_path), NEWEST)
    assert not open_state(location).is_known(entry(STORY, "v1"))
    commit(tmp_path, "r1", tagged(STORY))
    assert not open_state(location).is_known(entry(STORY, "v1"))
    start = time.monotonic()
    monkeypatch.setattr(state.time, "monotonic", lambda: start + 601)
    assert open_state(location).is_known(entry(STORY, "v1"))
