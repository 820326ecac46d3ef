"""docs/cli.md and docs/config.md say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.cli.parser import build_parser, flags_of
from pipeline.config.feeds import read_feeds_file
from pipeline.config.model import Config, FeedItem, keys_of
from pipeline.config.values import duration_text
from pipeline.errors import ExitCode
from transforms.yaml_file import Mark

DOCS = Path(__file__).resolve().parents[2] / "docs"
CLI = (DOCS / "cli.md").read_text(encoding="utf-8")
CONFIG = (DOCS / "config.md").read_text(encoding="utf-8")


def rows_of(text, heading):
    section = text.partition(f"{heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]


def commands(parser, path="newsbeam"):
    for name, child in parser.commands.items():
        yield from commands(child, f"{path} {name}") if child.commands else [f"{path} {name}"]


@pytest.mark.parametrize("command", list(commands(build_parser())))
def test_every_command_is_told(command):
    assert f"| `{command}" in CLI


def test_the_exit_codes_are_those_of_the_code():
    assert [int(row[0]) for row in rows_of(CLI, "## Exit codes")[1:]] == sorted(ExitCode)


def test_every_flag_of_run_is_told():
    told = set(re.findall(r"`(-[-a-z]+)", CLI.partition("## Flags of `run`")[2].partition("## Beam")[0]))
    assert told == set(flags_of(build_parser().commands["run"])) - {"-h", "--help"}


def test_every_key_is_told_with_its_default():
    told = {row[0].strip("`"): row[1].strip("`") for row in rows_of(CONFIG, "# Configuration")[1:]}
    assert tuple(told) == keys_of(Config)
    for name, field in Config.model_fields.items():
        key = field.alias or name
        if key in ("topics", "extract"):
            continue
        default = duration_text(field.default) if name.endswith("_s") and field.default != () else field.default
        shown = (
            "none" if default in (None, (), "") else str(default).lower() if isinstance(default, bool) else str(default)
        )
        assert told[key] == shown, key


def test_the_example_of_a_feeds_file_is_right_and_whole(tmp_path):
    example = re.search(r"```yaml\n(.*?)```", CONFIG, re.DOTALL)[1]
    path = tmp_path / "feeds.yaml"
    path.write_text(example, encoding="utf-8")
    feeds, problems = read_feeds_file(str(path), Mark("", 0, 0), {})
    assert not problems
    assert len(feeds) == 2
    for key in keys_of(FeedItem):
        assert re.search(rf"\b{key}:", example), key


def test_every_flag_of_dataset_is_told():
    section = CLI.partition("## Flags of `dataset`")[2]
    told = set(re.findall(r"`(-[-a-z]+)", section)) | {"-h", "--help", "--debug", "-q", "--quiet", "--config"}
    for name, parser in build_parser().commands["dataset"].commands.items():
        if name != "schema":
            assert set(flags_of(parser)) - {"--dataset"} <= told, name
