"""``newsbeam topics``: looks at the taxonomy and tries it on a text."""

from __future__ import annotations

from pipeline.cli.parser import Commands, GivesBack, Parser, add_config, add_dataset, add_topics, is_no_yaml

_TEST = 'newsbeam topics test "The council voted to stay a sanctuary city."'
_FORMAT = """format of FILE (also with .gz), an object a line; all of a text's topics, [] for none:
  {"title": "Vote on Tuesday", "text": "The council ...", "topics": ["sanctuary_city"]}
  {"text": "The marsh reserve ...", "topics": [], "language": "en"}"""


def add_to(commands: Commands) -> None:
    """Adds ``topics`` and its commands."""
    examples = f"newsbeam topics list\n{_TEST}\nnewsbeam topics eval labelled.jsonl\nnewsbeam topics lint"
    below = Commands(commands.add("topics", "Shows, tries and checks the topics.", examples))
    do = "pipeline.cli.topics_run"
    listing = below.add("list", "Lists the topics and their terms.", "newsbeam topics list --json", f"{do}:list_topics")
    does = "Tags a text and shows each hit in its place, the sum, and which hits do not count and why."
    examples = f"{_TEST}\nnewsbeam topics test seeds/removal-flights.html\nnewsbeam topics test - < draft.txt"
    test = below.add("test", does, examples, "pipeline.cli.topics_test:try_text")
    test.add_argument("text", nargs="?", metavar="TEXT|FILE", help="a text, or a seed file; - reads the standard input")
    test.set_defaults(gives_back=GivesBack("topics", "text", is_no_yaml))
    test.add_argument("--title", metavar="TEXT", help="headline to go with it")
    test.add_argument("--language", metavar="TAG", help="look for terms of this language only (default: all)")
    does = "Checks the taxonomy files and runs their own examples."
    lint = below.add("lint", does, "newsbeam topics lint --topics my/topics.yaml", f"{do}:lint")
    evaluation = _add_eval(below)
    _add_diff(below)
    for command in (listing, test, lint, evaluation):
        add_config(command)
        add_topics(command)
        command.add_argument("--json", action="store_true", help="JSON on stdout")


def _add_eval(below: Commands) -> Parser:
    does = "Measures the topics on labelled texts: precision, recall and the worst mistakes."
    examples = "newsbeam topics eval labelled.jsonl\nnewsbeam topics eval a.jsonl b.jsonl.gz --topic housing --json"
    parser = below.add("eval", does, examples, "pipeline.cli.topics_eval:evaluate")
    parser.description = f"{does}\n\n{_FORMAT}"
    parser.add_argument("files", nargs="*", metavar="FILE", help="labelled texts, JSON lines, as above")
    parser.set_defaults(gives_back=GivesBack("topics", "files", is_no_yaml))
    parser.add_argument("--topic", action="append", metavar="ID", help="measure this one only; may be repeated")
    levels = ("mention", "relevant", "primary")
    which = "level that the worst mistakes are told for (default: relevant)"
    parser.add_argument("--level", choices=levels, default="relevant", help=which)
    parser.add_argument("--worst", type=int, default=5, metavar="N", help="mistakes told of each kind (default: 5)")
    return parser


def _add_diff(below: Commands) -> None:
    does = "Shows which stored articles would gain or lose which topic. Nothing is written."
    example = "newsbeam topics diff topics.yaml topics-new.yaml -d out"
    parser = below.add("diff", does, example, "pipeline.cli.topics_diff:diff")
    parser.add_argument("old", metavar="OLD", help="taxonomy file as it is")
    parser.add_argument("new", metavar="NEW", help="taxonomy file as it would be")
    add_config(parser)
    add_dataset(parser)
    parser.add_argument("--json", action="store_true", help="an object a line on stdout")
