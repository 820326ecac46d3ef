"""From pairs to groups, without letting one chance pair make two large groups one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from transforms.stories.compare import Copy

# Pairs between two groups, for each text of the smaller one, that make them one; one pair is enough for a single text.
_MIN_LINKS = 0.5


class Groups:
    """Things by number, each in one group; a group is known by its smallest number (union-find)."""

    def __init__(self, count: int) -> None:
        """Puts each of ``count`` things into a group of its own."""
        self._parent = list(range(count))
        self._sizes = [1] * count

    def root(self, thing: int) -> int:
        """Returns the smallest number of the group that a thing is in."""
        parent = self._parent
        while parent[thing] != thing:
            parent[thing] = parent[parent[thing]]
            thing = parent[thing]
        return thing

    def size(self, root: int) -> int:
        """Returns how many things a group has."""
        return self._sizes[root]

    def join(self, a: int, b: int) -> None:
        """Makes the groups of two things one."""
        low, high = sorted((self.root(a), self.root(b)))
        if low != high:
            self._parent[high] = low
            self._sizes[low] += self._sizes[high]

    def roots(self) -> list[int]:
        """Returns the group of each thing."""
        return [self.root(thing) for thing in range(len(self._parent))]


def clustered(count: int, together: Iterable[tuple[int, int]], copies: Sequence[Copy]) -> list[int]:
    """Returns the group of each text: the smallest number in it.

    The most similar pairs come first. A text that is alone joins the group of any copy; two groups become one
    if there are enough pairs between them. What comes out is at rest: done again with its groups as
    ``together``, nothing changes.

    Args:
        count: Number of texts.
        together: Pairs that are in one group whatever their texts say.
        copies: Pairs of copies.
    """
    groups = Groups(count)
    for a, b in together:
        groups.join(a, b)
    open_ones = sorted(copies, key=lambda copy: (-copy.similarity, copy))
    while True:
        links = Counter(_roots(groups, copy) for copy in open_ones)
        before = len(open_ones)
        for copy in open_ones:
            a, b = _roots(groups, copy)
            smaller = min(groups.size(a), groups.size(b))
            # Groups that grew in this round are not in ``links`` as they are now; the next round sees them.
            if a != b and (smaller == 1 or links[a, b] >= _MIN_LINKS * smaller):
                groups.join(a, b)
        open_ones = [copy for copy in open_ones if len(set(_roots(groups, copy))) == 2]
        if len(open_ones) == before:
            return groups.roots()


def _roots(groups: Groups, copy: Copy) -> tuple[int, int]:
    a, b = sorted((groups.root(copy.first), groups.root(copy.second)))
    return a, b
