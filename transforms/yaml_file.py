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

from transforms.remote.files import read_file

KeyPath = tuple["str | int", ...]

MAX_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 50
MAX_REPEATED = 10_000


# libyaml's parser is ten times faster and bounds its nesting; without it PyYAML's own does.
class _UntypedLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader that does not look for types: every scalar is text here."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        return "tag:yaml.org,2002:str"


_LOADER = _UntypedLoader


class Mark(NamedTuple):
    """A place in a file; line and column count from 1. Line 0 is no line: a flag, a variable, a whole file."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


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
    """Reads a YAML file; never raises on its content, and is bounded in what it reads and builds.

    Args:
        path: The file, local or an address such as ``gs://bucket/x``; its name as given is used in messages.
        text: The content, if it has been read already.

    Raises:
        OSError: If the file cannot be read.
    """
    file = YamlFile(str(path), None, {}, [])
    if text is None:
        raw = read_file(str(path), MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            return _broken(file, Mark(file.file, 1, 1), f"larger than {MAX_BYTES // 1024 // 1024} MiB; split it")
        encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError as error:
            line_start = raw.rfind(b"\n", 0, error.start) + 1
            line = raw.count(b"\n", 0, error.start) + 1
            place = Mark(file.file, line, len(raw[line_start : error.start].decode("utf-8", "replace")) + 1)
            return _broken(file, place, "not UTF-8; save the file as UTF-8")
    try:
        # The composer gives nodes with marks and constructs no objects; tags mean nothing here.
        node = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError) as error:
        return _broken(file, *_explained(file.file, text, error))
    if node is None:
        return file
    return file._replace(data=_Builder(file).build(node, (), frozenset()))


def _broken(file: YamlFile, place: Mark, message: str) -> YamlFile:
    return file._replace(problems=[Problem(place, "", message)])


_BREAKS = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what ends a line to YAML 1.1 parsers

# What the parser says -> what people can do about it. The first that is part of its words counts.
_MEANINGS = (
    ("mapping values are not allowed", "a second colon in the line, or a wrong indentation; put the value in quotes"),
    ("undefined alias", "a word that begins with * stands for something else here; put it in quotes"),
    ("did not find expected key", "text that fits nowhere; look at the indentation and the quotes here and above"),
    ("'-' indicator", "neither an entry of the list above nor a key of its own; look at the indentation"),
    ("another document", "a second document begins; a file holds one"),
    ("nesting depth", "nested too deep"),
)


def _explained(file: str, text: str, error: Exception) -> tuple[Mark, str]:
    """Returns the place and the meaning of a syntax error, in words for people who do not know YAML."""
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "nesting depth")
    context = str(getattr(error, "context", None) or "")
    mark, opened = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if opened is not None and ("quoted scalar" in context or "flow" in context):
        what = "quote that opens here is not closed"
        if "flow" in context:
            what = "bracket that opens here is not closed, or a comma is missing"
        return Mark(file, opened.line + 1, opened.column + 1), f"not valid YAML: the {what}"
    if mark is None:
        letter = yaml.reader.Reader.NON_PRINTABLE.search(text)
        before = text[: letter.start()] if letter else ""
        place = Mark(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
    else:
        place = Mark(file, mark.line + 1, mark.column + 1)
        if "cannot start any token" in problem:
            problem = _bad_start(text, mark.line, mark.column)
    meaning = next((meaning for words, meaning in _MEANINGS if words in problem), problem)
    return place, f"not valid YAML: {meaning}"


def _bad_start(text: str, line: int, column: int) -> str:
    lines = _BREAKS.split(text)
    letter = lines[line][column : column + 1] if line < len(lines) else ""
    return "a tab cannot indent; use spaces" if letter == "\t" else f'a value cannot begin with "{letter}"; quote it'


def _key_of(path: KeyPath) -> KeyPath:
    return (*path, "")


class _Builder:
    """Builds plain data out of nodes, and notes where everything stands.

    An alias is built anew wherever it stands, since each place has a mark of its own; how much may be built
    in that way is bounded ("billion laughs").
    """

    def __init__(self, file: YamlFile) -> None:
        self._file = file
        self._seen: set[int] = set()
        self._repeated = 0

    def build(self, node: yaml.Node, path: KeyPath, above: frozenset[int]) -> Any:
        place = self._place(node)
        self._file.marks[path] = place
        if id(node) in above or len(above) > MAX_DEPTH:
            self._file.problems.append(Problem(place, dotted(path), "nested too deep or within itself"))
            return None
        if id(node) in self._seen:
            self._repeated += 1
        self._seen.add(id(node))
        if self._repeated > MAX_REPEATED:
            if self._repeated == MAX_REPEATED + 1:
                self._file.problems.append(Problem(place, dotted(path), "aliases repeat too much; write it out"))
                self._repeated += 1
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, above | {id(node)})
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i), above | {id(node)}) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        is_plain = not node.style  # None, or an empty text from libyaml
        if is_plain and node.value in ("", "~", "null", "Null", "NULL"):
            return None
        text = YamlText(node.value)
        text.plain = is_plain
        return text

    def _mapping(self, node: yaml.MappingNode, path: KeyPath, above: frozenset[int]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = self._place(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                self._file.problems.append(Problem(place, dotted(path), "a key must be a word"))
                continue
            key = str(key_node.value)
            here = (*path, key)
            if key in result:
                first = self._file.marks[_key_of(here)]
                message = f"the same key twice, first in line {first.line}; remove or rename one"
                self._file.problems.append(Problem(place, dotted(here), message))
                continue
            self._file.marks[_key_of(here)] = place
            result[key] = self.build(value_node, here, above)
        return result

    def _place(self, node: yaml.Node) -> Mark:
        return Mark(self._file.file, node.start_mark.line + 1, node.start_mark.column + 1)


def dotted(path: KeyPath) -> str:
    """Returns a path as people write it: ``feeds[0].url``."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else (f".{part}" if out else str(part))
    return out
