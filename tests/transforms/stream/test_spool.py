"""The spool keeps what polls brought, byte for byte, until all of it is committed."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from transforms.dedupe.state import KnownState
from transforms.feeds.poll import PollResult
from transforms.records import Entry, Fetch, Reject, Tally
from transforms.stream.spool import SPOOL, Spool, feed_state, from_json, is_told, open_entries, to_json

NOW = datetime(2026, 11, 30, 10, 15, 2, 345678, tzinfo=timezone.utc)
ROW = Fetch("feed", "https://vale-post.example/feed", "vale-post.example", NOW, "ok", etag='"a"', next_due_at=NOW)


def _entry(number: int, title: str = "A bridge") -> Entry:
    url = f"https://vale-post.example/{number}"
    return Entry(url, f"{number:032x}", "v1", "vale", "feed", title=title, published_at=NOW, authors=("Ruth Abara",))


def _result(title: str = "A bridge", payload: bytes = b"<item>") -> PollResult:
    put_off = Fetch("page", "https://vale-post.example/9", "vale-post.example", NOW, "deferred", entry_json="{}")
    reject = Reject("poll", "no_url", "no link", NOW, payload=payload)
    return PollResult(ROW, (_entry(1, title), _entry(2)), (put_off,), (reject,), (Tally("poll", "item", 4),))


@given(st.text(), st.binary())
def test_what_is_written_is_read_again(title: str, payload: bytes) -> None:
    result = _result(title, payload)
    assert from_json(to_json("vale-post.example", result)) == ("vale-post.example", result)


def test_polls_come_out_oldest_first_and_another_process_sees_them(tmp_path: Path) -> None:
    first, second = Spool(str(tmp_path)), Spool(str(tmp_path))
    later = _result()._replace(row=ROW._replace(started_at=NOW.replace(hour=11)))
    first.add("vale-post.example", later)
    first.add("vale-post.example", _result())

    assert [spooled.result for spooled in second.read()] == [_result(), later]

    second.remove(second.read()[0].name)
    assert [spooled.result for spooled in first.read()] == [later]


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.add("vale-post.example", _result())
    (file,) = (tmp_path / SPOOL).iterdir()
    file.write_text(file.read_text()[:40])

    assert Spool(str(tmp_path)).read() == []
    assert [path.name for path in (tmp_path / SPOOL).iterdir()] == [file.name + ".damaged"]


def test_without_a_commit_everything_is_open(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.add("vale-post.example", _result())
    (spooled,) = spool.read()

    assert open_entries(spooled, KnownState(), NOW) == [_entry(1), _entry(2)]
    assert open_entries(spooled, KnownState(), NOW + timedelta(days=8)) == []
    assert not is_told(spooled, KnownState())


def test_a_row_stands_for_the_state_of_its_feed() -> None:
    state = feed_state(ROW)
    assert (state.url, state.started_at, state.etag, state.next_due_at) == (ROW.url, NOW, '"a"', NOW)
