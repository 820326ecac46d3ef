from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from transforms.stories.clusters import Groups, clustered
from transforms.stories.compare import Copy


def copies(pairs: Iterable[tuple[int, int]], similarity: float = 1.0) -> list[Copy]:
    return [Copy(a, b, similarity) for a, b in pairs]


def all_pairs(*numbers: int) -> list[Copy]:
    return copies((a, b) for a in numbers for b in numbers if a < b)


def test_a_group_is_known_by_its_smallest_number() -> None:
    groups = Groups(5)
    groups.join(4, 3)
    groups.join(3, 1)
    assert groups.roots() == [0, 1, 2, 1, 1]
    assert groups.size(1) == 3


def test_single_texts_join_over_any_number_of_steps() -> None:
    assert clustered(4, (), copies([(0, 1), (1, 2)], 0.6)) == [0, 0, 0, 3]


def test_one_chance_pair_does_not_make_two_groups_one() -> None:
    pairs = [*all_pairs(0, 1, 2, 3), *all_pairs(4, 5, 6, 7), Copy(3, 4, 0.55)]
    assert clustered(8, (), pairs) == [0] * 4 + [4] * 4
    assert clustered(8, (), [*pairs, Copy(2, 5, 0.55)]) == [0] * 8


def test_what_is_together_stays_together_without_a_pair() -> None:
    assert clustered(4, [(1, 3)], copies([(0, 1)])) == [0, 0, 2, 0]


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(50, 100)), max_size=40),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=4),
)
def test_done_again_with_its_groups_nothing_changes(
    found: list[tuple[int, int, int]], together: list[tuple[int, int]]
) -> None:
    pairs = [Copy(min(a, b), max(a, b), share / 100) for a, b, share in found if a != b]
    groups = clustered(12, together, pairs)
    assert clustered(12, enumerate(groups), pairs) == groups
    assert all(groups[a] == groups[b] for a, b in together)
