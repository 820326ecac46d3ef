"""Text on its way from where rows are made to where they are encoded: most of a row, and read by nothing between."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

_LEVEL = 1


@dataclass(frozen=True, slots=True)
class PackedText:
    """A text, compressed; ``str`` gives it back, ``len`` its code points.

    Attributes:
        data: UTF-8, compressed with zlib.
        length: Code points.
    """

    data: bytes
    length: int

    def __len__(self) -> int:
        return self.length

    def __str__(self) -> str:
        return zlib.decompress(self.data).decode("utf-8")


def pack(text: str | None) -> PackedText | None:
    """Returns a text that can be encoded as UTF-8 in its packed form."""
    return None if text is None else PackedText(zlib.compress(text.encode("utf-8"), _LEVEL), len(text))
