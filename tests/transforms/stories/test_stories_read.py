from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.stories.make_stories import report
from tests.transforms.write.make_items import START, tagged
from transforms.stories.read import Grouped, TextReader, first_day, read_grouped, read_window
from transforms.write.encode import data_path, encode
from transforms.write.storage import DatasetError, LocalStorage

DAY = START.date()
HOUR = timedelta(hours=1)


def write_stories(root: Path, day: str, *rows: tuple[str, str, int]) -> None:
    made = [
        {"article_id": a, "story_id": s, "duplicate_of": None, "similarity": 1.0, "as_of": START + hours * HOUR}
        for a, s, hours in rows
    ]
    LocalStorage(str(root)).write(data_path("stories", {"ingest_date": day}, "r.00000.0"), encode("stories", made))


def test_a_window_goes_back_whole_days_in_utc() -> None:
    assert first_day(START, 3) == date(2026, 11, 27)


def test_articles_are_numbered_as_they_appeared_and_the_newest_revision_counts(tmp_path: Path) -> None:
    early, late = "https://a.example/1", "https://b.example/2"
    commit(tmp_path, "r1", tagged(late, report(1)), tagged(early, report(2), published_at=START - HOUR))
    commit(tmp_path, "r2", tagged(late, report(3), "v2"))
    storage = LocalStorage(str(tmp_path))
    window = read_window(storage, DAY)

    assert window.article_ids == [tagged(early).article.article_id, tagged(late).article.article_id]
    assert window.appeared_at == [START - HOUR, START + timedelta(seconds=5)]
    texts = dict(found for part in window.parts for found in TextReader(storage).texts(part))
    assert len(texts) == 2
    reader = TextReader(storage)
    assert texts[1].runs.tolist() == reader.text_of(row(report(3))).runs.tolist()


def test_older_days_are_left_out(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged())
    assert read_window(LocalStorage(str(tmp_path)), DAY + timedelta(days=1)).article_ids == []


def test_a_publication_after_the_first_sight_does_not_count(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged(published_at=START + 30 * HOUR))
    assert read_window(LocalStorage(str(tmp_path)), DAY).appeared_at == [START + timedelta(seconds=5)]


def row(text: str | None, **changes: Any) -> dict[str, Any]:
    return {"title": "Vote", "domain": "", "text": text, "boilerplate": [], "word_count": 90} | changes


def test_what_is_no_part_of_the_story_is_not_compared() -> None:
    reader = TextReader(LocalStorage("/nowhere"))
    text = report(1)
    around = "Sign up for our letter. "
    ranges = [{"start": 0, "end": len(around), "kind": "teaser"}]
    assert (
        reader.text_of(row(around + text, boilerplate=ranges)).runs.tolist() == reader.text_of(row(text)).runs.tolist()
    )


def test_short_texts_are_known_by_title_and_words() -> None:
    reader = TextReader(LocalStorage("/nowhere"))
    text = reader.text_of(row("Rain in the hills."))
    assert text.exact == reader.text_of(row("RAIN in the hills")).exact != 0
    assert text.exact != reader.text_of(row("Rain in the hills.", title="Weather")).exact
    assert reader.text_of(row("")).exact == 0
    assert reader.sketch_of(row("")).size == 0


def test_texts_that_are_not_stored_are_known_by_their_fingerprint() -> None:
    reader = TextReader(LocalStorage("/nowhere"))
    one, other = (reader.text_of(row(None, text_fingerprint=print_)) for print_ in ("aa", "bb"))
    assert one.exact != other.exact
    assert one.exact == reader.text_of(row(None, text_fingerprint="aa", title="Another")).exact
    short = reader.text_of(row(None, text_fingerprint="aa", word_count=5))
    assert short.exact != reader.text_of(row(None, text_fingerprint="aa", word_count=5, title="Another")).exact


def test_the_newest_row_of_an_article_counts_and_links_are_followed(tmp_path: Path) -> None:
    write_stories(tmp_path, "2026-11-30", ("a", "a", 0), ("b", "b", 0), ("c", "b", 0), ("b", "a", 2))
    write_stories(tmp_path, "2026-12-01", ("a", "z", 3))
    grouped = read_grouped(LocalStorage(str(tmp_path)), DAY)
    assert {name: found.story_id for name, found in grouped.items()} == {"a": "z", "b": "z", "c": "z"}
    assert grouped["b"] == Grouped("z", START + 2 * HOUR)


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    write_stories(tmp_path, "2026-11-30", ("a", "b", 0), ("b", "a", 0))
    assert set(read_grouped(LocalStorage(str(tmp_path)), DAY)) == {"a", "b"}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    commit(tmp_path, "r1", tagged())
    file = next((tmp_path / "articles").glob("*/r1.00000.*.parquet"))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DatasetError, match=file.name):
        read_window(LocalStorage(str(tmp_path)), DAY)
