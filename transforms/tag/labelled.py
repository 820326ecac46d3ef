"""Reads labelled texts, by which a taxonomy is measured: JSON lines, plain or gzip.

A line is an object with ``text`` or ``title`` (or both), perhaps ``language``, and its labels: ``topics``, the list of
all topics that a person sees in it (``[]`` for none), or ``label_TOPIC: true`` (or ``false``) for a set that was judged
for some topics only. Other keys are ignored.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from transforms.language import UNDETERMINED, detect, primary_tag
from transforms.seeds.unpack import GZIP_MAGIC
from transforms.seeds.values import BadRecordError, parse_object
from transforms.text import clean_text
from transforms.yaml_file import Mark, Problem, suggest

LINE_LIMIT_BYTES = 16 << 20
_LABEL = "label_"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_FLAGS = {1: True, 0: False, "1": True, "0": False, "true": True, "false": False}  # True is 1


class LabelledText(NamedTuple):
    """A text and what a person says of it.

    Attributes:
        mark: Its line.
        language: As given, else as a run detects it.
        topics: Topics that it has, by its labels.
        judged: Topics for which it was judged; ``None`` for all.
    """

    mark: Mark
    title: str | None
    text: str
    language: str
    topics: frozenset[str]
    judged: frozenset[str] | None


def read_labelled(path: str | Path, known: Collection[str]) -> Iterator[LabelledText | Problem]:
    """Yields the texts of a file, a problem for each line that cannot be used, and one for each unknown topic.

    The problem of an unknown topic has the key ``topics``; it is told once, at its first line.

    Args:
        path: The file; gzip is told by its first bytes.
        known: The topics that there are.

    Raises:
        ValueError: If the file is a damaged or cut gzip file.
        OSError: If it cannot be read.
    """
    unknown: set[str] = set()
    for number, data in enumerate(_lines(Path(path)), 1):
        if not data.strip():
            continue
        mark = Mark(str(path), number, 1)
        try:
            found = _read(mark, _decoded(data))
        except BadRecordError as error:
            yield Problem(mark, "", str(error))
            continue
        wrong = (found.topics | (found.judged or frozenset())) - set(known)
        for topic in sorted(wrong - unknown):
            unknown.add(topic)
            hint = suggest(topic, known) or f"; topics are: {', '.join(sorted(known))}"
            yield Problem(mark, "topics", f'there is no topic "{topic}"{hint}')
        if not wrong:
            yield found


def _lines(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as plain:
        is_packed = plain.read(2) == GZIP_MAGIC
        plain.seek(0)
        source: Any = gzip.GzipFile(fileobj=plain) if is_packed else plain
        try:
            while line := source.readline(LINE_LIMIT_BYTES):
                yield line
                while len(line) == LINE_LIMIT_BYTES and not line.endswith(b"\n"):
                    line = source.readline(LINE_LIMIT_BYTES)  # the rest of a line that is refused for its length
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"the compressed file is cut or damaged: {error}") from None


def _decoded(data: bytes) -> str:
    if len(data) >= LINE_LIMIT_BYTES:
        raise BadRecordError(f"the line has more than {LINE_LIMIT_BYTES:,} bytes")
    if data.startswith(_WIDE) or b"\0" in data:
        raise BadRecordError("not UTF-8; save the file as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRecordError("not UTF-8; save the file as UTF-8") from None


def _read(mark: Mark, line: str) -> LabelledText:
    record, _ = parse_object(line)
    title, text = _text(record, "title"), _text(record, "text")
    if not title and not text:
        near = next((hint for key in record if (hint := suggest(key, ("text", "title")))), "")
        raise BadRecordError(f'the object needs "text" or "title", with something in it{near}')
    topics, judged = _labels(record)
    language = record.get("language") or record.get("lang")
    tag = primary_tag(language) if isinstance(language, str) else UNDETERMINED
    if tag == UNDETERMINED:
        tag = detect(text or title or "")
    title = " ".join(title.split()) if title else None
    return LabelledText(mark, title, text or "", tag, topics, judged)


def _text(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadRecordError(f'"{key}" must be a text')
    return clean_text(value)


def _labels(record: dict[str, Any]) -> tuple[frozenset[str], frozenset[str] | None]:
    topics = record.get("topics")
    if topics is not None:
        names = [topics] if isinstance(topics, str) else topics
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadRecordError('"topics" must be a list of topic ids, such as ["immigration"], or [] for none')
        return frozenset(names), None
    flags = {key[len(_LABEL) :]: value for key, value in record.items() if key.startswith(_LABEL)}
    if not flags:
        near = next((hint for key in record if (hint := suggest(key, ("topics",)))), "")
        raise BadRecordError(f'the object has no labels; add "topics": a list of topic ids, [] for none{near}')
    for topic, value in flags.items():
        if not isinstance(value, str | int) or value not in _FLAGS:
            raise BadRecordError(f'"{_LABEL}{topic}" must be true or false')
    return frozenset(topic for topic, value in flags.items() if _FLAGS[value]), frozenset(flags)
