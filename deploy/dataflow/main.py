"""Entry of the Flex Template: its parameters become the flags of ``newsbeam run --runner dataflow``.

Template parameters have underscores where newsbeam's flags have hyphens; Beam's own flags pass as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pipeline.cli import main
from pipeline.cli.parser import build_parser, flags_of

ALWAYS = ("run", "--runner", "dataflow")


def to_words(parameters: Iterable[str]) -> list[str]:
    """Returns the command line for what the template's launcher passes (``--name=value``).

    An empty value is a parameter that was left out; a flag without value is given as ``true``.
    """
    parser = build_parser().commands["run"]
    ours = {flag.lstrip("-").replace("-", "_"): flag for flag in flags_of(parser) if flag.startswith("--")}
    switches = {flag for action in parser._actions if action.nargs == 0 for flag in action.option_strings}
    words = list(ALWAYS)
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        flag = ours.get(name.removeprefix("--"))
        if flag is None:
            words.append(parameter)
        elif flag in switches:
            words += [flag] if value == "true" else []
        elif equals and value:
            words.append(f"{flag}={value}")
    # The launcher of a stream leaves; that of a run waits, and its exit code says how it went.
    return [*words, "--detach"] if "--streaming" in words else words


if __name__ == "__main__":
    raise SystemExit(main(to_words(sys.argv[1:])))
