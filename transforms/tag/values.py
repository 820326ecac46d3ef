"""Reads single values out of a parsed YAML file and gathers every mistake with its place and its mend."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from transforms.tag.language_codes import is_language_code, nearest_language_code
from transforms.yaml_file import KeyPath, Problem, YamlFile, dotted, is_trap, suggest


def _is_joined(text: str) -> bool:
    return "," in text.strip(", ")


class Values:
    """The values of one file, and what is wrong with them.

    Attributes:
        file: The parsed file.
        problems: Mistakes found so far; a file with one is not used.
        notes: What was odd but could be read.
    """

    def __init__(self, file: YamlFile) -> None:
        self.file = file
        self.problems: list[Problem] = list(file.problems)
        self.notes: list[Problem] = []

    def wrong(self, path: KeyPath, message: str, at_key: bool = False) -> None:
        """Notes a mistake at a value, or at its key."""
        mark = self.file.key_mark_of(path) if at_key else self.file.mark_of(path)
        self.problems.append(Problem(mark, dotted(path), message))

    def mapping(self, value: Any, path: KeyPath, allowed: Iterable[str], what: str) -> dict[str, Any]:
        """Returns a mapping with allowed keys only; anything else is a mistake and left out."""
        if not isinstance(value, dict):
            self.wrong(path, f"{what} must be a block of `key: value`")
            return {}
        allowed = list(allowed)
        for key in value:
            if key not in allowed:
                hint = suggest(key, allowed) or f"; allowed are: {', '.join(allowed)}"
                self.wrong((*path, key), f'unknown key "{key}"{hint}', at_key=True)
        return {key: item for key, item in value.items() if key in allowed}

    def items(self, value: Any, path: KeyPath, what: str) -> Iterator[tuple[Any, KeyPath]]:
        """Yields the items of a list with their paths; a single text counts as a list of one."""
        if isinstance(value, str):
            if _is_joined(value) and what != "examples":
                parts = ", ".join(part.strip() for part in value.split(","))
                self.wrong(path, f"{what} are one text with commas; write a list: [{parts}]")
                return
            yield value, path
            return
        if not isinstance(value, list):
            self.wrong(path, f"{what} must be a list, such as [first, second]")
            return
        for index, item in enumerate(value):
            yield item, (*path, index)

    def text(self, value: Any, path: KeyPath, what: str) -> str | None:
        """Returns a text in NFC without blanks around it, or ``None`` if it is a mistake."""
        if is_trap(value):
            written = "~" if value is None else str(value)
            spelling = f'write "{written}" in quotes' if value is not None else 'put it in quotes ("null") or remove it'
            self.wrong(path, f"{what} reads as an empty value, a switch, a number or a date in YAML; {spelling}")
            return None
        if not isinstance(value, str):
            self.wrong(path, f"{what} must be a text, not a list or block")
            return None
        text = unicodedata.normalize("NFC", value)
        if text != value:
            message = f'not in the composed form (NFC) of Unicode; it was read as "{text}"; save it in that form'
            self.notes.append(Problem(self.file.mark_of(path), dotted(path), message))
        text = " ".join(text.split())
        if not text:
            self.wrong(path, f"{what} is empty; write it or remove the line")
            return None
        return text

    def number(self, value: Any, path: KeyPath, what: str) -> float | None:
        """Returns a number above nought, or ``None`` if it is a mistake."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.wrong(path, f"{what} must be a number, such as 1.5")
            return None
        if not math.isfinite(number) or number <= 0:
            self.wrong(path, f"{what} must be above 0")
            return None
        return number

    def choice(self, value: Any, path: KeyPath, allowed: tuple[str, ...], what: str) -> str | None:
        """Returns one of the allowed words, or ``None`` if it is a mistake."""
        if isinstance(value, str) and str(value) in allowed:
            return str(value)
        hint = suggest(str(value), allowed) if isinstance(value, str) else ""
        self.wrong(path, f"{what} must be one of: {', '.join(allowed)}{hint}")
        return None

    def language(self, code: Any, path: KeyPath, at_key: bool = False) -> str | None:
        """Returns a language code (ISO 639), or ``None`` if it is none."""
        text = str(code) if isinstance(code, str) else ""
        if is_language_code(text):
            return text
        mend = nearest_language_code(text)
        hint = f'; did you mean "{mend}"?' if mend else "; use two letters of ISO 639, such as en, es, fr"
        self.wrong(path, f'"{text}" is no language code{hint}', at_key)
        return None
