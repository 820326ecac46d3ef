from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.stories.make_stories import edited, report
from transforms.stories import candidates as module
from transforms.stories.candidates import MAX_CANDIDATES, SKETCH_SIZE, Meetings, batches, candidates, meetings, sketch
from transforms.stories.shingles import Shingler, folded_words, runs_of


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def sketched(texts: list[str]) -> Meetings:
    sketches = [sketch(runs_of(Shingler().hashes(folded_words(text)), 3)) for text in texts]
    return meetings(np.concatenate(sketches), np.repeat(np.arange(len(texts)), [found.size for found in sketches]))


def pairs_of(found: Meetings) -> set[tuple[int, int]]:
    return set(zip(found.first.tolist(), found.second.tolist(), strict=True))


def test_a_sketch_is_the_smallest_hashes_whatever_the_order() -> None:
    runs = np.arange(100, dtype=np.uint64)[::-1]
    assert sketch(np.concatenate([runs, runs])).tolist() == list(range(SKETCH_SIZE))
    assert sketch(runs[:3]).tolist() == [97, 98, 99]


def test_edited_and_cut_copies_are_candidates_and_other_texts_are_not() -> None:
    long = report(1, 40)
    texts = [long, report(2, 40), edited(long, 0.2), report(3, 40), " ".join(long.split()[:120])]
    assert pairs_of(candidates([sketched(texts)])) == {(0, 2), (0, 4), (2, 4)}


def test_meetings_in_several_parts_are_added_up() -> None:
    parts = [Meetings(numbers(1), numbers(2), numbers(2)), Meetings(numbers(0, 1), numbers(2, 2), numbers(2, 2))]
    found = candidates(parts)
    assert (found.first.tolist(), found.second.tolist(), found.times.tolist()) == ([1], [2], [4])


def test_nothing_gives_nothing() -> None:
    assert candidates([]).first.size == 0
    assert meetings(np.empty(0, np.uint64), numbers()).first.size == 0
    assert batches(candidates([])).texts.size == 0


def test_pairs_grow_with_the_texts_and_not_with_their_square() -> None:
    texts = [report(1, 30)] * 300
    found = candidates([sketched(texts)])
    assert found.first.size <= MAX_CANDIDATES * len(texts)
    assert batches(found).texts.size == 300


def test_of_too_many_candidates_those_met_most_are_kept() -> None:
    count = MAX_CANDIDATES + 5
    parts = [Meetings(np.arange(count), np.full(count, count), np.arange(count) + 4)]
    assert min(candidates(parts).times) == 4 + 5


def test_texts_that_are_joined_are_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_TEXTS", 2)
    pairs = Meetings(numbers(1, 3, 7), numbers(2, 9, 8), numbers(5, 5, 5))
    found = batches(pairs)
    assert found.texts.tolist() == [1, 2, 3, 7, 8, 9]
    batch = dict(zip(found.texts.tolist(), found.batch.tolist(), strict=True))
    assert batch[1] == batch[2] != batch[3] == batch[9] != batch[7] == batch[8]


def test_a_batch_that_is_too_large_loses_the_pairs_that_met_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_TEXTS", 2)
    pairs = Meetings(numbers(1, 2, 3), numbers(2, 3, 4), numbers(30, 4, 30))
    assert pairs_of(batches(pairs).pairs) == {(1, 2), (3, 4)}
    met_often = Meetings(numbers(1, 2), numbers(2, 3), numbers(30, 30))
    assert set(batches(met_often).batch.tolist()) == {1}
