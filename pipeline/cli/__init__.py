"""The command ``newsbeam``: the one place where errors become lines and exit codes.

Light on import; the command that is called brings in what it needs.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from pipeline.errors import ExitCode, NewsbeamError

_MOST_PROBLEMS = 200


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit code.

    Args:
        argv: The words after ``newsbeam``; default: those of the process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  # closed by the caller (`>&-`)
    for stream in (sys.stdout, sys.stderr):
        # In an odd locale a letter that cannot be shown must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except SystemExit as ended:  # --help and --version
        return ended.code if isinstance(ended.code, int) else int(ExitCode.DONE)
    except KeyboardInterrupt:
        print("newsbeam: interrupted", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader (`| head`) has enough; nothing is left to say, not at the interpreter's end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except Exception as error:
        if "--debug" in words:
            import traceback

            traceback.print_exc()
        return _told(error)


def _run(words: list[str]) -> int:
    from pipeline.cli.output import set_up_logging
    from pipeline.cli.parser import build_parser, parse

    if not words:
        build_parser().print_help(sys.stderr)
        return int(ExitCode.USAGE)
    args = parse(words)
    verbosity = -1 if getattr(args, "quiet", False) else getattr(args, "verbose", 0)
    set_up_logging(verbosity, getattr(args, "debug", False), getattr(args, "log_format", "text") == "json")
    module, _, function = args.call.partition(":")
    return int(getattr(importlib.import_module(module), function)(args))


def _told(error: Exception) -> int:
    """Says an error in a line (a mistake a line) and returns its exit code."""
    # Errors of transforms are known by name: importing them here would make every start slow.
    names = {kind.__name__ for kind in type(error).__mro__}
    if "ProblemsError" in names:
        _tell_problems(getattr(error, "problems", ()))
        return int(ExitCode.USAGE)
    if isinstance(error, NewsbeamError):
        _say(f"newsbeam: {error.message}")
        return int(error.exit_code)
    if "DatasetError" in names or "DatasetBusyError" in names:
        _say(f"newsbeam: {error}")
        return int(ExitCode.BUSY if "DatasetBusyError" in names else ExitCode.FAILED)
    if "StoreSetupError" in names:
        _say(f"newsbeam: {error}")
        return int(ExitCode.USAGE)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"newsbeam: {where}{error.strerror}")
        return int(ExitCode.FAILED)
    first_line = (str(error) or "no message").splitlines()[0]
    _say(f"newsbeam: internal error: {type(error).__name__}: {first_line}; run again with --debug")
    return int(ExitCode.FAILED)


def _tell_problems(problems: Sequence[Any]) -> None:
    from pipeline.cli.output import shown_path

    for problem in problems[:_MOST_PROBLEMS]:
        mark = problem.mark._replace(file=shown_path(problem.mark.file))
        _say(str(problem._replace(mark=mark)))
    if len(problems) > 1:
        more = f" ({len(problems) - _MOST_PROBLEMS} more are not shown)" if len(problems) > _MOST_PROBLEMS else ""
        _say(f"newsbeam: {len(problems)} mistakes{more}; nothing was done")


def _say(line: str) -> None:
    from pipeline.cli.output import err, printable

    err(printable(line), level="error")  # messages quote what files hold
