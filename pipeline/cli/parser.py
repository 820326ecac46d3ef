"""The tree of commands and flags. Nothing heavy is imported here: ``--help`` must come at once.

Each command names the function that does it as ``module:function``; ``pipeline.cli`` imports it when the
command is called. Commands with commands of their own (feeds, topics, dataset) add them in their module.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from pipeline.errors import ConfigError


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are ``ConfigError``s, and which never guesses abbreviations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)
        self.commands: dict[str, Parser] = {}  # by name, to suggest the nearest right one

    def error(self, message: str) -> NoReturn:
        """Raises a ``ConfigError`` instead of ending the process."""
        raise ConfigError(f"{message.removeprefix('argument ')}; see {self.prog} --help")


class _Version(argparse.Action):
    """``--version``: looks the versions up only when asked."""

    def __init__(self, option_strings: Sequence[str], dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the versions of newsbeam, Python and Beam")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import platform
        from importlib import metadata

        from pipeline import __version__

        try:
            beam = f"Apache Beam {metadata.version('apache-beam')}"
        except metadata.PackageNotFoundError:
            beam = "Apache Beam is not installed"
        print(f"newsbeam {__version__}, Python {platform.python_version()}, {beam}")
        parser.exit()


class Commands:
    """Adds commands to a parser, all in one way."""

    def __init__(self, parser: Parser, metavar: str = "COMMAND") -> None:
        """Makes the place for the commands in ``parser``."""
        self._action = parser.add_subparsers(title="commands", metavar=metavar, parser_class=Parser)
        parser.set_defaults(parser=parser)
        self._parser = parser

    def add(self, name: str, does: str, examples: str, call: str | None = None) -> Parser:
        """Adds a command and returns its parser.

        Args:
            name: Its name.
            does: What it does, a sentence.
            examples: Command lines, shown at the end of its help.
            call: ``module:function`` that does it; ``None`` for a command that has commands.
        """
        epilog = "examples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines())
        short = does.partition(". ")[0].rstrip(".")
        parser: Parser = self._action.add_parser(name, help=short, description=does, epilog=epilog)
        parser.set_defaults(call=call, parser=parser, gives_back=None)
        self._parser.commands[name] = parser
        return parser


def add_config(parser: Parser) -> None:
    """Adds ``-c/--config`` and ``--debug``, which every command has."""
    parser.add_argument(
        "-c", "--config", metavar="FILE", help="configuration (default: newsbeam.yaml or configs/newsbeam.yaml)"
    )
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")


def add_dataset(parser: Parser, *more: str) -> None:
    """Adds ``-d/--dataset``, with further spellings if given."""
    parser.add_argument("-d", "--dataset", *more, metavar="DIR", help="root of the dataset (default: from the config)")


def add_log_format(parser: Parser) -> None:
    """Adds ``--log-format``."""
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="json: stderr as JSON lines, no progress"
    )


def add_several(parser: argparse._ActionsContainer, flag: str, metavar: str, help: str) -> None:
    """Adds a flag that takes one value or more, and may be repeated."""
    parser.add_argument(flag, nargs="+", action="extend", metavar=metavar, help=help)


class GivesBack(NamedTuple):
    """An argument whose word a flag of several values takes if it stands before it (``--topics FILE TEXT``).

    Attributes:
        flag: Name of the flag's values; the first always stays there.
        name: Name of the argument, which takes one word or several.
        is_meant: Whether a word can be meant for the argument.
        is_needed: Whether it is a mistake if the argument is missing all the same.
    """

    flag: str
    name: str
    is_meant: Callable[[str], bool]
    is_needed: bool = True

    def apply(self, args: argparse.Namespace) -> None:
        """Gives the argument its word, or its words, if it is missing.

        Raises:
            ConfigError: If it is missing then.
        """
        words, missing = getattr(args, self.flag) or [], getattr(args, self.name)
        if missing not in (None, []):
            return
        start = len(words)
        while start > 1 and self.is_meant(words[start - 1]) and (missing == [] or start == len(words)):
            start -= 1
        taken = words[start:]
        del words[start:]
        if taken:
            setattr(args, self.name, taken[0] if missing is None else taken)
        elif self.is_needed:
            shown = next(action.metavar for action in args.parser._actions if action.dest == self.name)
            raise ConfigError(f"the following arguments are required: {shown}; see {args.parser.prog} --help")


def is_no_yaml(word: str) -> bool:
    """Tells whether a word is no taxonomy file by its name."""
    return not word.lower().endswith((".yaml", ".yml"))


def add_topics(parser: Parser) -> None:
    """Adds ``--topics``."""
    add_several(parser, "--topics", metavar="FILE", help="taxonomy files (default: from the config)")


def build_parser() -> Parser:
    """Returns the whole tree."""
    from pipeline.cli import dataset, feeds, run_flags, topics, watch

    parser = Parser(
        prog="newsbeam",
        description="Reads news from feeds, seed files and addresses, tags it with topics, and writes it as Parquet.",
        epilog="`newsbeam COMMAND --help` shows the flags of a command and examples.",
    )
    parser.add_argument("--version", action=_Version)
    commands = Commands(parser)
    run_flags.add_to(commands)
    watch.add_to(commands)
    _add_check(commands)
    _add_explain(commands)
    _add_query(commands)
    feeds.add_to(commands)
    topics.add_to(commands)
    dataset.add_to(commands)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parses a command line; ``beam_flags`` of the result holds what ``run`` passes on to Beam.

    Raises:
        ConfigError: If it is wrong; the message names the nearest right word.
        SystemExit: After ``--help`` and ``--version``.
    """
    parser = build_parser()
    _check_commands(parser, list(argv))
    args, rest = parser.parse_known_args(argv)
    args.beam_flags = rest
    if args.gives_back is not None:
        args.gives_back.apply(args)
    if args.call is None:
        names = ", ".join(args.parser.commands)
        raise ConfigError(f"{args.parser.prog} wants one of: {names}")
    takes_with = getattr(args, getattr(args, "takes_beam_flags_with", ""), None)
    if rest and not (getattr(args, "takes_beam_flags", False) or takes_with):
        raise ConfigError(_unknown(rest[0], args.parser))
    return args


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """Returns all spellings of all flags of a parser."""
    return [spelling for action in parser._actions for spelling in action.option_strings]


def _check_commands(parser: Parser, argv: list[str]) -> None:
    while commands := parser.commands:
        if not argv or argv[0] in ("-h", "--help", "--version"):
            return
        word = argv.pop(0)
        if word.startswith("-"):
            raise ConfigError(
                f"{word}: flags stand after the command, as in {parser.prog} {next(iter(commands))} {word}"
            )
        if word not in commands:
            near = difflib.get_close_matches(word, commands, n=1, cutoff=0.5)
            hint = f"did you mean {parser.prog} {near[0]}?" if near else "there are: " + ", ".join(commands)
            raise ConfigError(f"there is no command {word}; {hint}")
        parser = commands[word]


def _unknown(word: str, parser: Parser) -> str:
    if not word.startswith("-"):
        return f"{parser.prog} has no use for {word}; see {parser.prog} --help"
    near = difflib.get_close_matches(word.partition("=")[0], flags_of(parser), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"see {parser.prog} --help"
    return f"{parser.prog} has no flag {word.partition('=')[0]}; {hint}"


def _add_check(commands: Commands) -> None:
    parser = commands.add(
        "check",
        "Checks configuration, feeds and topics, and asks no server. All mistakes are shown at once.",
        "newsbeam check\nnewsbeam check -c my/newsbeam.yaml --json\nnewsbeam check --runner flink",
        "pipeline.cli.check:run",
    )
    parser.set_defaults(takes_beam_flags_with="runner")
    add_config(parser)
    add_dataset(parser)
    add_topics(parser)
    add_several(parser, "--feeds", metavar="FILE_OR_URL", help="feeds instead of those of the config")
    parser.add_argument("--runner", metavar="NAME", help="check what this runner needs, and no more")
    parser.add_argument("--json", action="store_true", help="what is configured, as one JSON object on stdout")


def _add_explain(commands: Commands) -> None:
    parser = commands.add(
        "explain",
        "Takes one document through every stage and shows what each makes of it.",
        "newsbeam explain seeds/council-vote.txt\n"
        "newsbeam explain --url 'https://m.example.org/story/31?utm_source=x' https://example.org/story/31\n"
        "newsbeam explain https://example.org/story --contact you@example.org --json",
        "pipeline.cli.explain:run",
    )
    parser.add_argument("document", nargs="?", metavar="FILE_OR_URL", help="a seed file, or the address of a page")
    add_several(parser, "--url", metavar="URL", help="instead: the article id of addresses, and why; asks no server")
    parser.set_defaults(gives_back=GivesBack("topics", "document", is_no_yaml, is_needed=False))
    add_config(parser)
    add_topics(parser)
    parser.add_argument("--contact", metavar="ADDRESS", help="mail or web address for the User-Agent")
    parser.add_argument("--allow-loopback", action="store_true", default=None, help="ask loopback addresses too")
    parser.add_argument("--json", action="store_true", help="a JSON object a record or address on stdout")


def _add_query(commands: Commands) -> None:
    parser = commands.add(
        "query",
        "Asks the dataset in SQL (DuckDB). Its tables and articles_latest are there as views.",
        'newsbeam query "FROM articles_latest LIMIT 5"\n'
        'newsbeam query "SELECT topic, count(*) FROM article_topics GROUP BY ALL" --csv',
        "pipeline.cli.query:run",
    )
    parser.add_argument("sql", metavar="SQL", help="one statement")
    add_config(parser)
    add_dataset(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="CSV with a header line")
    form.add_argument("--json", action="store_true", help="a JSON object a line")
