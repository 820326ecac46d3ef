"""What goes to the terminal: colours where they are wanted, plain tables, text without control codes.

Data goes to stdout, all else to stderr. Outside a terminal there is no escape and no carriage return.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any, TextIO

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "hit": "1;33"}
# C0, DEL, C1 and the marks that turn the direction of text: a title must not steer a terminal.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FALLBACK_WIDTH = 120


def is_terminal(stream: TextIO) -> bool:
    """Tells whether a person looks at the stream."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def wants_colour(stream: TextIO) -> bool:
    """Tells whether colours are wanted there: a terminal, and NO_COLOR (no-color.org) is not set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: TextIO) -> str:
    """Returns the text in a style (``bold``, ``red`` ..., ``hit``) if the stream wants colours."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if wants_colour(stream) else text


def printable(text: object) -> str:
    """Returns text without characters that steer a terminal; they are shown by their number."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}", str(text))


def plural(count: int, word: str) -> str:
    """Returns ``1 file``, ``1,234 files``, ``2 entries``, ``0 fetches``."""
    if count == 1:
        return f"1 {word}"
    if word.endswith("y") and not word.endswith(("ay", "ey", "oy")):
        return f"{count:,} {word[:-1]}ies"
    many = f"{word}es" if word.endswith("ch") else f"{word}s"
    return f"{count:,} {many}"


def shown_path(path: str) -> str:
    """Returns a path as people would name it: relative if it lies below the working directory."""
    here = os.getcwd() + os.sep
    return path.removeprefix(here) if path.startswith(here) else path


def problem_facts(problems: Iterable[Any]) -> list[dict[str, Any]]:
    """Returns mistakes in files (``transforms.yaml_file.Problem``) ready for JSON; line 0 is no line of a file."""
    return [
        {
            **problem.mark._asdict(),
            "file": shown_path(problem.mark.file),
            "key": problem.key,
            "message": problem.message,
        }
        for problem in problems
    ]


def command_name() -> str:
    """Returns how the command can be called again from here: by its name if the shell finds it, else by its path."""
    program = sys.argv[0]
    if os.path.basename(program) != "newsbeam" or shutil.which("newsbeam"):
        return "newsbeam"
    return shown_path(os.path.abspath(program))


def out(text: str = "") -> None:
    """Writes a line of data to stdout."""
    sys.stdout.write(text + "\n")


def err(text: str, level: str = "info") -> None:
    """Writes a line for people to stderr; with ``--log-format json`` as the message of a JSON object."""
    sys.stderr.write((_json_line(time.time(), level, text) if _as_json else text) + "\n")


_as_json = False


def _json_line(at_s: float, level: str, message: str, **fields: object) -> str:
    at = datetime.fromtimestamp(at_s, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps(
        {"time": at, "level": level, "message": message.strip().removeprefix("newsbeam: ")} | fields, default=str
    )


class _ToStderr(logging.Handler):
    """A line for each record; tracebacks only where they were asked for."""

    def __init__(self, shows_tracebacks: bool) -> None:
        super().__init__()
        self._shows_tracebacks = shows_tracebacks

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the record; with ``--log-format json`` its ``fields`` too (``extra`` of the call)."""
        if _as_json:
            fields = {"logger": record.name, **getattr(record, "fields", {})}
            if record.exc_info and self._shows_tracebacks:
                fields["traceback"] = logging.Formatter().formatException(record.exc_info)
            line = _json_line(record.created, record.levelname.lower(), record.getMessage(), **fields)
            sys.stderr.write(line + "\n")
            return
        line = f"newsbeam: {record.levelname.lower()}: {record.getMessage()}"
        if record.exc_info and self._shows_tracebacks:
            line += "\n" + logging.Formatter().formatException(record.exc_info)
        err(printable(line))


def set_up_logging(verbosity: int, shows_tracebacks: bool = False, as_json: bool = False) -> None:
    """Sends log records to stderr.

    Args:
        verbosity: -1 errors only, 0 warnings, 1 what is done, 2 all, Beam's words too.
        shows_tracebacks: Whether a record's traceback is shown.
        as_json: A JSON object a line, for all that goes to stderr; then what is done is told unless only errors are.
    """
    global _as_json  # one process, one way to talk
    _as_json = as_json
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _ToStderr)]:
        root.removeHandler(handler)
    handler = _ToStderr(shows_tracebacks)
    # Beam's remark on a package that only its BigQuery connector needs.
    handler.addFilter(lambda record: not record.getMessage().startswith("apitools not found") or verbosity > 1)
    root.addHandler(handler)
    levels = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}
    # What Beam calls an error is an exception that ends the run; it is said once, by main().
    others = {-1: logging.CRITICAL, 0: logging.CRITICAL, 1: logging.WARNING}
    for name in ("newsbeam", "pipeline", "transforms"):
        logging.getLogger(name).setLevel(levels.get(verbosity or int(as_json), logging.DEBUG))
    for name in ("apache_beam", "py.warnings", "trafilatura", "htmldate", "urllib3"):
        logging.getLogger(name).setLevel(others.get(verbosity, logging.INFO))
    logging.captureWarnings(True)


def width_of(text: str) -> int:
    """Returns how many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def table(header: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO) -> str:
    """Returns a table as text, columns aligned; on a terminal it is cut to its width.

    Args:
        header: Names of the columns.
        rows: Values; ``None`` is shown as an empty cell, numbers stand at the right.
        stream: Where it will be written.
    """
    values = [list(row) for row in rows]
    cells = [[_cell(value) for value in row] for row in values]
    widths = [max(width_of(text) for text in column) for column in zip(header, *cells, strict=True)]
    if is_terminal(stream):
        widths = _fitted(widths, shutil.get_terminal_size((_FALLBACK_WIDTH, 24)).columns)
    right = [bool(values) and all(isinstance(row[i], int | float | None) for row in values) for i in range(len(header))]
    lines = [styled(_line(header, widths, right), "bold", stream), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths, right) for row in cells]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return "" if value is None else printable(value).replace("\n", " ").replace("\t", " ")


def _fitted(widths: list[int], room: int) -> list[int]:
    """Takes from the widest columns until the line fits; no column gets under 8."""
    widths = list(widths)
    while sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    return widths


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for text, width, at_right in zip(cells, widths, right, strict=True):
        shown = text if width_of(text) <= width else _cut(text, width)
        space = " " * (width - width_of(shown))
        padded.append(space + shown if at_right else shown + space)
    return "  ".join(padded).rstrip()


def _cut(text: str, width: int) -> str:
    kept = ""
    for character in text:
        if width_of(kept + character) > width - 1:
            break
        kept += character
    return kept + "…"
