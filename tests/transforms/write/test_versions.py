"""Several texts of one article in one run: which are versions of it, which are poor copies, and in which order."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.dedupe.make_runs import commit
from tests.transforms.maintain.make_dataset import findings_of
from tests.transforms.write.make_items import START, sha, tagged, tags
from tests.transforms.write.test_settle import counts, item, known_after, rows_of, write
from transforms.records import TaggedArticle
from transforms.write.settle import ArticleItem

URL = "https://harrow-bay.example/ferry-fire"
MAY = datetime(2026, 5, 4, 9, tzinfo=timezone.utc)
TWO = "Two people died in the ferry fire off Port Amsel on Monday night."
THREE = "Three people died in the ferry fire off Port Amsel on Monday night, the harbor board said."
WHOLE = f"{THREE} Nobody could say what had caused it. The board meets again on Thursday at ten."


def archived(text: str, place: str, **changes: Any) -> TaggedArticle:
    """A record of a seed file that holds this text under the one address."""
    values: dict[str, Any] = {"text_source": "seed", "raw_uri": place, "fetched_at": START}
    return tagged(URL, text, sha(place + text), **values | changes)


def texts_of(*articles: TaggedArticle, known: Any = None) -> list[str]:
    """The texts that are written, by revision."""
    settled = write([item(article) for article in articles], known)
    rows = sorted(rows_of(settled, "articles"), key=lambda row: row["revision"])
    first = known.revision_of(rows[0]["article_id"]).revision + 1 if known and rows else 1
    assert [row["revision"] for row in rows] == list(range(first, first + len(rows)))
    assert sum(counts(settled).values()) == len(articles), "every item ends in one way"
    return [row["text"] for row in rows]


def test_archived_versions_are_revisions_in_the_order_of_their_dates() -> None:
    old = archived(WHOLE, "b.jsonl#L1", modified_at=MAY)
    new = archived(TWO, "a.jsonl#L1", modified_at=MAY + timedelta(days=1))
    for order in ([old, new], [new, old]):
        assert texts_of(*order) == [WHOLE, TWO]
    settled = write([item(new), item(old)])
    assert counts(settled) == {"new": 1, "revised": 1}
    assert settled.aliases == ()


def test_the_date_of_publication_counts_where_no_change_is_told() -> None:
    first = archived(THREE, "z.html", published_at=MAY)
    second = archived(TWO, "y.html", published_at=MAY, modified_at=MAY + timedelta(hours=1))
    assert texts_of(second, first) == [THREE, TWO]


def test_without_dates_the_place_in_the_seeds_decides() -> None:
    records = [archived(f"{number} people died in the fire.", f"a.jsonl#L{number}") for number in (2, 10, 9)]
    assert texts_of(*records) == [f"{number} people died in the fire." for number in (2, 9, 10)]


def test_a_text_that_comes_back_later_is_a_revision_as_it_is_from_run_to_run() -> None:
    texts = enumerate((TWO, THREE, TWO))
    records = [archived(text, f"{day}.txt", modified_at=MAY + timedelta(days=day)) for day, text in texts]
    assert texts_of(*records) == [TWO, THREE, TWO]


def test_the_same_text_under_two_dates_is_a_duplicate() -> None:
    records = [archived(THREE, f"{day}.txt", modified_at=MAY + timedelta(days=day)) for day in range(3)]
    settled = write([item(record) for record in records])
    assert counts(settled) == {"new": 1, "duplicate": 2}
    assert len(settled.aliases) == 2


def test_pages_of_one_run_are_views_of_one_state_and_never_revisions() -> None:
    short = tagged(URL, TWO, "v1")
    long = tagged(URL + "/amp", WHOLE, "v2", article_id=short.article.article_id)
    assert texts_of(short, long) == [WHOLE]


def test_two_feeds_with_one_article_give_one_row_though_one_has_only_its_own_content() -> None:
    page = tagged(URL, WHOLE, "v1")
    teaser = tagged(URL, TWO, "v2", text_source="feed_content")
    settled = write([item(teaser), item(page)])
    assert [row["text"] for row in rows_of(settled, "articles")] == [WHOLE]
    assert counts(settled) == {"new": 1, "duplicate": 1}
    assert [alias.entry_version for alias in settled.aliases] == ["v2"]


def test_what_a_page_says_now_comes_after_what_was_archived() -> None:
    page = tagged(URL, TWO, "v1", published_at=MAY)
    assert texts_of(page, archived(WHOLE, "a.jsonl#L1", published_at=MAY)) == [WHOLE, TWO]


def test_a_poor_copy_is_a_duplicate_whatever_its_date() -> None:
    whole = archived(WHOLE, "a.jsonl#L1", modified_at=MAY)
    later = MAY + timedelta(days=1)
    assert texts_of(whole, archived(TWO, "b.html", is_truncated=True, modified_at=later)) == [WHOLE]
    assert texts_of(whole, archived(TWO, "b.xml#1", text_source="feed_content", modified_at=later)) == [WHOLE]
    assert texts_of(whole, tagged(URL, TWO, "v1", text_source="feed_content")) == [WHOLE]


def test_a_teaser_beside_the_whole_text_is_a_duplicate_unless_its_own_date_says_otherwise() -> None:
    teaser, whole = archived(WHOLE[:70], "b.jsonl#L1"), archived(WHOLE, "a.jsonl#L1")
    assert texts_of(teaser, whole) == [WHOLE]
    dated = archived(WHOLE[:70], "b.jsonl#L1", modified_at=MAY)
    assert texts_of(dated, whole) == [WHOLE]
    assert texts_of(dated, archived(WHOLE, "a.jsonl#L1", modified_at=MAY + timedelta(days=1))) == [WHOLE[:70], WHOLE]


def test_an_article_to_which_a_correction_was_added_has_both_versions() -> None:
    corrected = WHOLE + " Correction: an earlier version named another port."
    assert texts_of(archived(corrected, "b.jsonl#L1"), archived(WHOLE, "a.jsonl#L1")) == [WHOLE, corrected]


def test_teasers_alone_are_revisions_only_by_their_dates() -> None:
    def teaser(text: str, place: str, day: int) -> TaggedArticle:
        return archived(text, place, text_source="feed_content", modified_at=MAY + timedelta(days=day))

    assert texts_of(teaser(TWO, "main.xml#1", 0), teaser(THREE, "world.xml#1", 0)) == [THREE]
    assert texts_of(teaser(TWO, "main.xml#1", 1), teaser(THREE, "world.xml#1", 0)) == [THREE, TWO]


def test_versions_follow_what_is_committed_and_the_last_of_them_is_the_newest() -> None:
    known = known_after(item(archived(TWO, "a.jsonl#L1", modified_at=MAY)))
    two_again = archived(TWO, "b.jsonl#L1", modified_at=MAY + timedelta(days=1))
    three = archived(THREE, "b.jsonl#L2", modified_at=MAY + timedelta(days=2))
    assert texts_of(three, two_again, known=known) == [THREE]


def test_given_again_together_or_alone_versions_are_known() -> None:
    records = [archived(TWO, "a.jsonl#L1"), archived(THREE, "a.jsonl#L2")]
    known = known_after(*map(item, records))
    for again in (records, records[:1], records[1:]):
        settled = write(map(item, again), known)
        assert settled.files == ()
        assert counts(settled) == {"known": len(again)}


def test_each_version_has_its_own_topics_and_the_dataset_is_whole(tmp_path) -> None:
    first = archived(TWO, "a.jsonl#L1")
    second = archived(THREE, "a.jsonl#L2")._replace(tags=tags(immigration="primary"))
    manifest = commit(tmp_path, "20261130T101502Z-0001", first, second)
    assert findings_of(tmp_path) == []
    assert {file.table for file in manifest.files} >= {"articles", "article_topics"}
    again = commit(tmp_path, "20261130T111502Z-0002", second, first)
    assert (again.files, again.aliases) == ((), ())


def test_without_stored_text_only_dates_and_lengths_tell_versions() -> None:
    def unstored(article: TaggedArticle) -> ArticleItem:
        return item(article)._replace(row=item(article).row | {"text": None})

    teaser, whole = archived(TWO, "a.jsonl#L1"), archived(WHOLE, "a.jsonl#L2")
    assert counts(write([unstored(teaser), unstored(whole)])) == {"new": 1, "duplicate": 1}
    dated = [archived(TWO, "a.jsonl#L1", modified_at=MAY), archived(WHOLE, "a.jsonl#L2", modified_at=START)]
    assert counts(write([unstored(article) for article in dated])) == {"new": 1, "revised": 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from((TWO, THREE, WHOLE)),
            st.sampled_from((None, MAY, START)),
            st.sampled_from(("seed", "page", "feed_content")),
            st.booleans(),
        ),
        min_size=1,
        max_size=7,
    ),
    st.randoms(use_true_random=False),
)
def test_the_sum_holds_the_order_does_not_matter_and_a_second_time_brings_no_seed_again(
    given_ones: list[Any], rng: random.Random
) -> None:
    records = [
        archived(text, f"a.jsonl#L{number}", modified_at=at, is_truncated=cut)
        if source == "seed"
        else tagged(URL, text, f"v{number}", text_source=source, modified_at=at, is_truncated=cut)
        for number, (text, at, source, cut) in enumerate(given_ones)
    ]
    items = [item(record) for record in records]
    shuffled = items[:]
    rng.shuffle(shuffled)
    settled = write(items)
    assert settled == write(shuffled)
    assert sum(counts(settled).values()) == len(items)
    assert counts(settled)["new"] == 1
    known = known_after(*items)
    assert all(
        known.is_committed(record.article.entry.url_key, record.article.entry.entry_version) for record in records
    )
    seeds = [item(record) for record in records if record.article.text_source == "seed"]
    assert write(seeds, known).files == ()
