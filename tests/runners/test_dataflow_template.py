"""The Flex Template's parameters mirror the flags of ``newsbeam run``."""

from __future__ import annotations

import importlib.util
import json
import re
from types import ModuleType

import pytest

from pipeline.cli.parser import build_parser, flags_of
from tests.program import ROOT

FOLDER = ROOT / "deploy/dataflow"
METADATA = json.loads((FOLDER / "metadata.json").read_text())
PARAMETERS = {parameter["name"]: parameter for parameter in METADATA["parameters"]}

# Flags that mean nothing to a template: of the terminal, of the launcher's machine, of tests.
NOT_PARAMETERS = {
    *("--plan", "--json", "--quiet", "--verbose", "--debug", "--help", "--runner", "--detach", "--wait"),
    *("--output", "--now", "--allow-loopback", "--max-rejects", "--log-format"),
}


@pytest.fixture(scope="module")
def entry() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dataflow_main", FOLDER / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_flag_is_a_parameter_or_left_out_on_purpose() -> None:
    flags = {flag for flag in flags_of(build_parser().commands["run"]) if flag.startswith("--")}
    assert {"--" + name.replace("_", "-") for name in PARAMETERS} == flags - NOT_PARAMETERS


def test_no_secret_is_a_parameter() -> None:
    assert not [name for name in PARAMETERS if re.search("proxy|password|token|secret|credential|key", name)]


def test_every_parameter_has_a_text_and_a_right_pattern() -> None:
    for parameter in PARAMETERS.values():
        assert parameter["label"]
        assert len(parameter["helpText"]) > 15
        assert parameter["isOptional"] is True
        for pattern in parameter.get("regexes", ()):
            re.compile(pattern)


@pytest.mark.parametrize("name", ["max_age", "host_gap", "tick"])
@pytest.mark.parametrize("value", ["7d", "5s", "1h30m", "0"])
def test_durations_match_their_pattern(name: str, value: str) -> None:
    (pattern,) = PARAMETERS[name]["regexes"]
    assert re.fullmatch(pattern, value)


def test_parameters_become_flags(entry: ModuleType) -> None:
    parameters = ["--max_age=7d", "--due_now=true", "--streaming=false", "--topics=", "--region=us-east1"]
    assert entry.to_words(parameters) == [
        *("run", "--runner", "dataflow", "--max-age=7d", "--due-now", "--region=us-east1"),
    ]


def test_the_launcher_of_a_stream_leaves(entry: ModuleType) -> None:
    words = entry.to_words(["--streaming=true", "--stream_id=desk"])
    assert words[3:] == ["--streaming", "--stream-id=desk", "--detach"]


def test_the_image_has_the_version_of_beam_that_is_pinned() -> None:
    image = re.search(r"ARG BEAM_VERSION=(\S+)", (FOLDER / "Dockerfile").read_text())
    pinned = re.search(r"^apache-beam==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert image is not None
    assert pinned is not None
    assert image[1] == pinned[1]


def test_all_that_the_image_copies_is_there_and_no_data_is_among_it() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    copied = [word for words in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for word in words.split()]
    assert len(copied) > 8
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert not {"seeds", "tests", ".", "out"} & set(copied)


def test_the_image_has_both_of_beams_programs() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["/opt/apache/beam/boot"]' in text
    assert "/opt/google/dataflow/python_template_launcher" in text
    assert re.search(r"FLEX_TEMPLATE_PYTHON_PY_FILE=/newsbeam/main\.py", text)
