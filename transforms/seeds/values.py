"""The values of a JSON record, taken for what they are meant to be; what had to be mended is noted."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from transforms.text import clean_text
from transforms.urls import without_logins

# Looked for among bytes, which is many times as fast as the pattern: pages are long, and hardly one is damaged.
_CONTROLS = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_DAMAGE = re.compile(f"[{_CONTROLS.decode()}]|[\ud800-\udfff]")
_CONTROLS_OF_JSON = bytes([*range(0x09), *range(0x0B, 0x20)])
_TAG = re.compile(r"</?(?:p|div|br|h[1-6]|article|section|span|a|ul|ol|li|em|strong|figure|html|body)\b[^>]*>", re.I)
_LONGEST_SHORT_FIELD = 2000


class BadRecordError(ValueError):
    """A record that cannot be used; the message says why."""


class _Float(float):
    """A number that remembers how it was written."""

    def __new__(cls, text: str) -> _Float:
        found = super().__new__(cls, text)
        found.text = text
        return found

    text: str

    def __str__(self) -> str:
        return self.text


class _Object(dict[str, Any]):
    """A JSON object that remembers keys which came twice with different values."""

    doubles: tuple[str, ...] = ()


def parse_object(text: str) -> tuple[_Object, tuple[str, ...]]:
    """Parses a JSON object, more forgiving than the standard where the meaning is plain.

    A comma behind it, raw control characters in strings, and NaN or Infinity (read as null) are mended; double keys
    are noted on the object.

    Returns:
        The object, and the warnings ``repaired_comma``, ``repaired_nan``, ``repaired_control``.

    Raises:
        BadRecordError: If it is no object.
    """
    warnings: list[str] = []
    text = text.strip().strip("\ufeff\u200b")
    if text.endswith(","):
        text = text[:-1].rstrip()
        warnings.append("repaired_comma")

    def null_for(_: str) -> None:
        warnings.append("repaired_nan")

    def parse(is_strict: bool) -> Any:
        return json.loads(
            text, strict=is_strict, parse_float=_Float, parse_constant=null_for, object_pairs_hook=_object_of
        )

    try:
        value, was_odd = _strict_first(parse)
    except RecursionError:
        raise BadRecordError("no JSON: nested too deep") from None
    except ValueError as error:
        raise BadRecordError(f"no JSON: {_meaning_of(error)}") from error
    if not isinstance(value, _Object):
        raise BadRecordError(f"JSON, but no object: {_kind_of(value)}")
    if was_odd and _holds_any(text, _CONTROLS_OF_JSON):
        warnings.append("repaired_control")
    return value, tuple(dict.fromkeys(warnings))


def _strict_first(parse: Callable[[bool], Any]) -> tuple[Any, bool]:
    """Returns what a parser gives, and whether it had to allow control characters within strings."""
    try:
        return parse(True), False
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Invalid control character"):
            raise
        return parse(False), True


# What Python's reader says -> what people can do about it.
_MEANINGS = {
    "Expecting value": "a value is missing or misspelt",
    "Expecting property name": "a key in double quotes is missing",
    "Expecting ':'": "a colon is missing behind a key",
    "Expecting ','": "a comma or the closing bracket is missing",
    "Illegal trailing comma": "a comma stands before the closing bracket",
    "Unterminated string": "a text has no closing quote; the record may be cut off",
    "Invalid \\": "a backslash stands where it means nothing",
    "Extra data": "something follows the end of the record",
}


def _meaning_of(error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits"
    found = (meaning for words, meaning in _MEANINGS.items() if error.msg.startswith(words))
    return f"{next(found, 'it is damaged')}, at character {error.pos + 1}"


def _object_of(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        found.doubles = tuple(sorted({key for key, value in pairs if _differs(value, found[key])}))
    return found


def _differs(a: Any, b: Any) -> bool:
    return type(a) is not type(b) or (a is not b and a != b)


def _kind_of(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


class Fields:
    """Reads the fields of a record under any of their usual names; keys count without case, ``-`` and ``_``."""

    def __init__(self, record: _Object, warnings: tuple[str, ...]) -> None:
        self._values: dict[str, Any] = {}
        for key, value in record.items():
            self._values.setdefault(_plain_key(key), value)
        self._doubles = frozenset(map(_plain_key, record.doubles))
        self.warnings = list(warnings)

    def pick(self, *names: str) -> Any:
        """Returns the first value under these names that is not null or blank.

        Raises:
            BadRecordError: If the record gives the key twice with different values.
        """
        for name in names:
            key = _plain_key(name)
            if key in self._doubles:
                raise BadRecordError(f'the key "{name}" is there twice, with different values')
            value = self._values.get(key)
            if value is not None and value != [] and not (isinstance(value, str) and not value.strip()):
                return value
        return None

    def long_text(self, *names: str) -> str | None:
        """Returns a text as it is, but for characters that no file can hold; a list of texts are paragraphs.

        Raises:
            BadRecordError: If the value is neither.
        """
        value = self.pick(*names)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "\n\n".join(value)
        if value is None or isinstance(value, str):
            return None if value is None else self._mended(value)
        raise BadRecordError(f'"{names[0]}" must be a text, not {_kind_of(value)}')

    def line(self, *names: str) -> str | None:
        """Returns a short text on one line, or ``None``; a value of another kind is dropped with a warning."""
        value = self.pick(*names)
        if isinstance(value, dict):
            value = value.get("name") or value.get("@value") or value.get("url")
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            return None
        if not isinstance(value, str):
            self.warnings.append(f"bad_field:{names[0]}")
            return None
        return self._short(value) or None

    def lines(self, *names: str) -> tuple[str, ...]:
        """Returns a list of short texts: a list of texts or of objects with a name, or a single one."""
        value = self.pick(*names)
        found = []
        for part in value if isinstance(value, list) else [value]:
            name = part.get("name") if isinstance(part, dict) else part
            if isinstance(name, str) and name.strip():
                found.append(self._short(name))
            elif part is not None:
                self.warnings.append(f"bad_field:{names[0]}")
        return tuple(dict.fromkeys(found))

    def date_text(self, *names: str) -> str | None:
        """Returns a date as text for the date parser; numbers are seconds or milliseconds since 1970."""
        value = self.pick(*names)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _instant_text(value)
        return self.line(*names)

    def as_written(self, *names: str) -> str | None:
        """Returns a short text on one line, a number as the record writes it, or ``None``; without a warning."""
        value = self.pick(*names)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self.line(*names) if isinstance(value, str) else None

    def _short(self, text: str) -> str:
        text = " ".join(clean_text(self._mended(text)).split())[:_LONGEST_SHORT_FIELD]
        safe = without_logins(text)
        if safe != text:
            self.warnings.append("login_removed")
        return safe

    def _mended(self, text: str) -> str:
        if not _holds_any(text, _CONTROLS):
            return text
        for match in _DAMAGE.finditer(text):
            self.warnings.append("repaired_surrogate" if match[0] >= "\ud800" else "repaired_control")
        return _DAMAGE.sub(lambda match: "\ufffd" if match[0] >= "\ud800" else "", text)


def _holds_any(text: str, controls: bytes) -> bool:
    """Tells whether a text holds one of some ASCII control characters, or a lone surrogate."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return True
    return len(data.translate(None, controls)) < len(data)


def _plain_key(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _instant_text(seconds: float) -> str:
    if abs(seconds) > 1e11:
        seconds /= 1000
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def looks_like_html(text: str) -> bool:
    """Tells whether a text is HTML by its tags."""
    return _TAG.search(text) is not None


def html_of(text: str) -> str:
    """Returns plain text as HTML paragraphs."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "".join(f"<p>{html.escape(part.strip())}</p>" for part in paragraphs if part.strip())
