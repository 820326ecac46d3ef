from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.program import ROOT
from transforms.stories.shingles import Likeness, Shingler, common, folded_words, is_in, likeness, runs_of

HASHES = st.lists(st.integers(0, 60), max_size=40, unique=True).map(lambda found: np.array(sorted(found), np.uint64))


def test_words_lose_case_accents_and_punctuation() -> None:
    assert folded_words("The MAYOR’s “café” — No. 12!") == ["the", "mayor", "s", "cafe", "no", "12"]
    assert folded_words("ﬁnal Straße") == ["final", "strasse"]


def test_where_no_blanks_are_set_pairs_of_letters_are_words() -> None:
    assert folded_words("東京都, Reuters 港") == ["東京", "京都", "reuters", "港"]


def test_a_run_is_as_many_words_as_asked_for_in_their_order() -> None:
    hashes = Shingler().hashes(["a", "b", "c", "a", "b"])
    runs = runs_of(hashes, 2)
    assert runs.size == 4
    assert runs[0] == runs[3]
    assert len({*runs.tolist()}) == 3
    assert runs_of(hashes[::-1], 2)[3] != runs[0]
    assert runs_of(hashes, 6).size == 0


def test_hashes_are_the_same_in_every_process() -> None:
    code = "from transforms.stories.shingles import Shingler; print(Shingler().hashes(['harbor', 'vote']).tolist())"
    made = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1]
    assert made[0].startswith("[")


@given(HASHES, HASHES)
def test_likeness_is_that_of_sets(a: np.ndarray, b: np.ndarray) -> None:
    one, other = set(a.tolist()), set(b.tolist())
    assert set(common(a, b).tolist()) == one & other
    assert [value in other for value in a.tolist()] == is_in(a, b).tolist()
    expected = Likeness(0.0, 0.0)
    if one and other:
        expected = Likeness(len(one & other) / min(len(one), len(other)), len(one & other) / len(one | other))
    assert likeness(a, b) == likeness(b, a) == expected
