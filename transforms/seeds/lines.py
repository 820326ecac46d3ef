"""The lines of a file as text, each decoded for itself: one bad line costs that line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple

from transforms.decoding import decode, mostly_utf8, wide_encoding
from transforms.text import lines_of


class Line(NamedTuple):
    """A line.

    Attributes:
        number: Counted from 1.
        text: ``None`` if no encoding fits.
        data: The bytes, as UTF-8 if they were UTF-16 or UTF-32.
        warnings: ``decoded_as:NAME`` or ``repaired_encoding``.
    """

    number: int
    text: str | None
    data: bytes
    warnings: tuple[str, ...] = ()


def decoded_lines(data: bytes) -> Iterator[Line]:
    r"""Yields the lines that hold anything but blanks; line ends are ``\n``, ``\r\n`` and ``\r``.

    UTF-16 and UTF-32 are decoded whole. Else each line is UTF-8; lines that are not are read in the one
    encoding that fits all such lines of the file, or repaired where the file is UTF-8 otherwise.
    """
    if wide_encoding(data) is not None:
        yield from _wide_lines(data)
        return
    plain = data.removeprefix(codecs.BOM_UTF8)
    fallback: str | None = None
    if b"\r" in plain:
        plain = plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for number, raw in enumerate(plain.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            yield Line(number, raw.decode("utf-8"), raw)
        except UnicodeDecodeError:
            fallback = fallback or ("utf-8" if data.startswith(codecs.BOM_UTF8) else _encoding_of_odd_lines(plain))
            yield _odd_line(number, raw, fallback)


def _wide_lines(data: bytes) -> Iterator[Line]:
    decoded = decode(data)
    if decoded is None:
        yield Line(1, None, data)
        return
    for number, text in enumerate(lines_of(decoded[0]), 1):
        if text.strip():
            yield Line(number, text, text.encode("utf-8", "replace"))


def _encoding_of_odd_lines(data: bytes) -> str:
    """The encoding of the lines that are no UTF-8; ``utf-8`` if they are to be repaired."""
    beyond_ascii = [line for line in data.split(b"\n") if not line.isascii()]
    odd = [line for line in beyond_ascii if not _is_utf8(line)]
    together = b"\n".join(odd)
    if len(beyond_ascii) >= 2 * len(odd) or mostly_utf8(together):
        return "utf-8"
    found = decode(together)
    return found[1] if found else "utf-8"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _odd_line(number: int, raw: bytes, encoding: str) -> Line:
    if encoding == "utf-8":
        return Line(number, raw.decode("utf-8", "replace"), raw, ("repaired_encoding",))
    try:
        return Line(number, raw.decode(encoding), raw, (f"decoded_as:{encoding}",))
    except UnicodeError:
        return Line(number, None, raw)
