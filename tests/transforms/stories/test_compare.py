from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.transforms.stories.make_stories import compared, edited, report
from transforms.stories.compare import Copy, Text, compare, copies_among, spread

TAIL = " Copyright Newswire. All rights reserved. Our reporter added that the valley has ten free rooms."


def found(*texts: Text) -> set[tuple[int, int]]:
    numbered = dict(enumerate(texts))
    pairs = [(a, b) for a in numbered for b in numbered if a < b]
    return {(copy.first, copy.second) for copy in copies_among(numbered, pairs)}


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2])
def test_an_edited_copy_with_another_dateline_and_tail_is_a_copy(share: float) -> None:
    for number in range(20):
        text = report(number, 30)
        assert found(compared(text), compared("VALE (NW) — " + edited(text, share, number) + TAIL)) == {(0, 1)}


def test_the_first_third_is_a_copy() -> None:
    text = report(4, 40)
    assert found(compared(text), compared(" ".join(text.split()[:140]) + TAIL)) == {(0, 1)}


def test_two_reports_that_quote_the_same_statement_are_two() -> None:
    statement = report(100, 8)
    a, b = (f"{report(number, 5)} {statement} {report(number + 50, 5)}" for number in (1, 2))
    assert found(compared(a), compared(b)) == set()


def test_what_a_site_puts_around_its_articles_makes_no_copies() -> None:
    around = report(100, 12)
    texts = [compared(f"{report(number, 8)} {around}", site=7) for number in (1, 2)]
    assert found(*texts) == set()


def test_on_one_site_more_is_asked_for() -> None:
    text = report(6, 30)
    changed = edited(text, 0.2)
    assert found(compared(text, site=7), compared(changed, site=8)) == {(0, 1)}
    assert found(compared(text, site=7), compared(changed, site=7)) == set()
    assert found(compared(text, site=7), compared(edited(text, 0.05), site=7)) == {(0, 1)}


def test_short_and_unstored_texts_are_copies_only_if_all_is_equal() -> None:
    nothing = np.empty(0, dtype=np.uint64)
    same, other = Text(1, 5, nothing), Text(2, 6, nothing)
    assert found(same, Text(2, 5, nothing), other, compared(report(1))) == {(0, 1)}
    assert compare(same, other, nothing, nothing) is None


def test_a_digest_does_not_make_its_stories_one() -> None:
    stories = [report(number, 20) for number in (1, 2, 3)]
    digest = " ".join(stories)
    joined_pairs = found(*map(compared, [*stories, digest]))
    assert len(joined_pairs) == 1
    assert next(iter(joined_pairs))[1] == 3


def test_two_copies_that_differ_much_are_both_copies_of_what_they_were_made_from() -> None:
    text = report(9, 30)
    made = [edited(text, 0.25, 1), text, edited(text, 0.25, 2)]
    assert found(*map(compared, made)) >= {(0, 1), (1, 2)}


def test_similarity_is_the_share_of_the_shorter_text() -> None:
    text = report(3, 20)
    texts = {4: compared(text), 9: compared(text + " " + report(8, 20))}
    assert copies_among(texts, [(4, 9)]) == [Copy(4, 9, 1.0)]


@pytest.mark.parametrize(("places", "expected"), [((), 0.0), (range(10), 0.6), (range(5), 0.3), ((3,), 0.06)])
def test_spread_counts_each_tenth_up_to_a_limit(places: Sequence[int], expected: float) -> None:
    runs = np.arange(100, dtype=np.uint64)
    others = np.array([value for value in range(100) if value // 10 in set(places)], dtype=np.uint64)
    assert spread(runs, others) == pytest.approx(expected)
