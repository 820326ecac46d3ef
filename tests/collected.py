"""Collects what a pipeline yields, on the in-process runner, which shares this process."""

from __future__ import annotations

import itertools
from typing import Any

import apache_beam as beam

_LISTS: dict[int, list[Any]] = {}
_NUMBERS = itertools.count()


class Collect(beam.PTransform):
    """Adds every element to ``items``. In: any elements. Out: nothing of use."""

    def __init__(self) -> None:
        super().__init__()
        self._number = next(_NUMBERS)
        self.items: list[Any] = []
        _LISTS[self._number] = self.items

    def expand(self, elements: Any) -> Any:
        return elements | beam.Map(_keep, self._number)


def _keep(element: Any, number: int) -> None:
    # A named function of an importable module is pickled by its name: a lambda would bring a copy of the lists.
    _LISTS[number].append(element)
