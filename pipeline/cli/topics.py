"""``newsbeam topics``: looks at the taxonomy and tries it on a text."""

from __future__ import annotations

from pipeline.cli.parser import Commands, add_config, add_dataset, add_topics

_TEST = 'newsbeam topics test "The council voted to stay a sanctuary city."'


def add_to(commands: Commands) -> None:
    """Adds ``topics`` and its commands."""
    examples = f"newsbeam topics list\n{_TEST}\nnewsbeam topics lint"
    below = Commands(commands.add("topics", "Shows, tries and checks the topics.", examples))
    do = "pipeline.cli.topics_run"
    listing = below.add("list", "Lists the topics and their terms.", "newsbeam topics list --json", f"{do}:list_topics")
    test = below.add("test", "Tags a text and shows each hit in its sentence.", _TEST, f"{do}:try_text")
    test.add_argument("text", metavar="TEXT", help="the text; - reads it from the standard input")
    test.add_argument("--language", metavar="TAG", help="look for terms of this language only (default: all)")
    does = "Checks the taxonomy files and runs their own examples."
    lint = below.add("lint", does, "newsbeam topics lint --topics my/topics.yaml", f"{do}:lint")
    _add_diff(below)
    for command in (listing, test, lint):
        add_config(command)
        add_topics(command)
        command.add_argument("--json", action="store_true", help="JSON on stdout")


def _add_diff(below: Commands) -> None:
    does = "Shows which stored articles would gain or lose which topic. Nothing is written."
    example = "newsbeam topics diff topics.yaml topics-new.yaml -d out"
    parser = below.add("diff", does, example, "pipeline.cli.topics_diff:diff")
    parser.add_argument("old", metavar="OLD", help="taxonomy file as it is")
    parser.add_argument("new", metavar="NEW", help="taxonomy file as it would be")
    add_config(parser)
    add_dataset(parser)
    parser.add_argument("--json", action="store_true", help="an object a line on stdout")
