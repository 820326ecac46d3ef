"""YAML files that people write: positions of every key and value, and none of YAML 1.1's surprises.

Every scalar stays the text that was written (``NO``, ``22:30``, ``0123`` and ``1.10`` too); the reader
of a field decides what type it wants. Double keys are mistakes. All mistakes of a file are gathered as
``Problem``s, so that they can be shown at once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

KeyPath = tuple["str | int", ...]


class Mark(NamedTuple):
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Problem(NamedTuple):
    """One mistake: where, in which key, what is wrong and how to mend it."""

    mark: Mark
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.key}: {self.message}" if self.key else f"{self.mark}: {self.message}"


class ProblemsError(Exception):
    """Mistakes in files that the user wrote; a usage error (exit 2)."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.problems,))


class YamlText(str):
    """A scalar as written; ``plain`` is False if it was quoted."""

    plain: bool = False


class YamlFile(NamedTuple):
    """A parsed file.

    Attributes:
        data: dicts, lists, ``YamlText``; ``None`` for an empty value, ``~`` or ``null``.
        marks: Place of each value by its path, ``("feeds", 0, "url")``, and of its key by the path and "";
            see ``mark_of`` and ``key_mark_of``.
        problems: Double keys and syntax errors.
    """

    file: str
    data: Any
    marks: dict[KeyPath, Mark]
    problems: list[Problem]

    def mark_of(self, path: KeyPath) -> Mark:
        """Returns the place of the value at ``path``, or of the nearest thing around it."""
        while path and path not in self.marks:
            path = path[:-1]
        return self.marks.get(path, Mark(self.file, 1, 1))

    def key_mark_of(self, path: KeyPath) -> Mark:
        """Returns the place of the key of the value at ``path``."""
        return self.marks.get(_key_of(path), self.mark_of(path))


_TRAP = re.compile(
    r"(?:y|yes|n|no|true|false|on|off|null|~"
    r"|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|0x[0-9a-f_]+|0o?[0-7_]+|[0-9]+(?::[0-5]?[0-9])+"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[-+]?\.(?:inf|nan))",
    re.IGNORECASE,
)


def is_trap(value: object) -> bool:
    """Tells whether other YAML readers would take this unquoted scalar for no text (``on``, ``287``)."""
    return value is None or (isinstance(value, YamlText) and value.plain and _TRAP.fullmatch(value) is not None)


def suggest(word: str, allowed: Iterable[str]) -> str:
    """Returns ``; did you mean "x"?`` for the nearest allowed word, or an empty string."""
    near = difflib.get_close_matches(word.lower(), list(allowed), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


def load_yaml(path: str | Path, text: str | None = None) -> YamlFile:
    """Reads a YAML file; never raises on its content.

    Args:
        path: The file; its name as given is used in messages.
        text: The content, if it has been read already.

    Raises:
        OSError: If the file cannot be read.
    """
    file = str(path)
    if text is None:
        raw = Path(path).read_bytes()
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            problem = Problem(Mark(file, line, 1), "", "not UTF-8; save the file as UTF-8")
            return YamlFile(file, None, {}, [problem])
    try:
        # SafeLoader's composer: nodes with marks, no objects are constructed.
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = Mark(file, mark.line + 1, mark.column + 1) if mark else Mark(file, 1, 1)
        words = getattr(error, "problem", None) or str(error).splitlines()[0]
        return YamlFile(file, None, {}, [Problem(place, "", f"not valid YAML: {words}")])
    loaded = YamlFile(file, None, {}, [])
    if node is None:
        return loaded
    return loaded._replace(data=_build(node, (), loaded, set()))


def _key_of(path: KeyPath) -> KeyPath:
    return (*path, "")


def _build(node: yaml.Node, path: KeyPath, out: YamlFile, above: set[int]) -> Any:
    place = Mark(out.file, node.start_mark.line + 1, node.start_mark.column + 1)
    out.marks[path] = place
    if id(node) in above or len(above) > 50:
        out.problems.append(Problem(place, dotted(path), "nested too deep or within itself"))
        return None
    if isinstance(node, yaml.MappingNode):
        return _build_mapping(node, path, out, above | {id(node)})
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, i), out, above | {id(node)}) for i, item in enumerate(node.value)]
    assert isinstance(node, yaml.ScalarNode)
    if node.style is None and node.value in ("", "~", "null", "Null", "NULL"):
        return None
    text = YamlText(node.value)
    text.plain = node.style is None
    return text


def _build_mapping(node: yaml.MappingNode, path: KeyPath, out: YamlFile, above: set[int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        place = Mark(out.file, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if not isinstance(key_node, yaml.ScalarNode):
            out.problems.append(Problem(place, dotted(path), "a key must be a word"))
            continue
        key = str(key_node.value)
        here = (*path, key)
        if key in result:
            first = out.marks[_key_of(here)]
            message = f"the same key twice, first in line {first.line}; remove or rename one"
            out.problems.append(Problem(place, dotted(here), message))
            continue
        out.marks[_key_of(here)] = place
        result[key] = _build(value_node, here, out, above)
    return result


def dotted(path: KeyPath) -> str:
    """Returns a path as people write it: ``feeds[0].url``."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else (f".{part}" if out else str(part))
    return out
