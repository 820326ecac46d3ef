"""Beam's flags: checked, folded, completed; what Beam would drop in silence is a mistake here."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import options
from pipeline.config.starter import starter_dir
from pipeline.errors import ConfigError
from pipeline.options import DIRECT_RUNNER, beam_arguments, check_beam_flags, find_preset, resolve_runner
from transforms.yaml_file import ProblemsError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [None, "direct", "DirectRunner", "FnApiRunner", DIRECT_RUNNER])
def test_the_default_runner_is_the_one_in_this_process(name):
    assert resolve_runner(name) == DIRECT_RUNNER


@pytest.mark.parametrize(
    ("name", "runner"),
    [
        ("FlinkRunner", "FlinkRunner"),
        ("prism", "PrismRunner"),
        ("dataflowrunner", "DataflowRunner"),
        ("my.own.Runner", "my.own.Runner"),
    ],
)
def test_other_runners_are_named_as_beam_names_them(name, runner):
    assert resolve_runner(name) == runner


def test_a_runner_that_nobody_knows_lists_each_runner_once():
    with pytest.raises(ConfigError) as caught:
        resolve_runner("blah")
    names = caught.value.message.partition("there are: ")[2].split(", ")
    assert len(names) == len(set(names)) > 3


def test_a_misspelt_runner_is_a_mistake():
    with pytest.raises(ConfigError, match="there is no runner FlinkRuner; did you mean FlinkRunner"):
        resolve_runner("FlinkRuner")


def test_beams_flags_pass_in_its_spelling():
    extra = [
        "--direct-running-mode=multi_threading",
        "--direct_num_workers",
        "2",
        "--experiments=a-b",
        "--experiments=c",
    ]
    assert check_beam_flags(extra) == [
        *("--direct_running_mode=multi_threading", "--direct_num_workers", "2", "--experiments=a-b", "--experiments=c")
    ]


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--runer=DataflowRunner"], "neither newsbeam nor Beam has a flag --runer; did you mean --runner?"),
        (["--seed", "a.txt"], "has a flag --seed; did you mean --seeds?"),
        (["--host_gap=5s"], "has a flag --host_gap; did you mean --host-gap?"),
        (["--max-num-worker", "3"], "did you mean --max_num_workers?"),
        (["--xyzzyplugh"], "has a flag --xyzzyplugh; see newsbeam run --help"),
        (["a.txt"], "has no use for a.txt; seed files are named with --seeds a.txt"),
        (["--num_workers=many"], "--num_workers: invalid int value: 'many' \\(a flag of Beam\\)"),
        (["--project"], "--project: expected one argument"),
        (["--checkpointing_interval=3000"], "is a flag of a job server; it goes with --runner FlinkRunner"),
        (["-x"], "has a flag -x"),
    ],
)
def test_what_is_no_flag_is_a_mistake_with_the_nearest_right_one(extra, says):
    with pytest.raises(ConfigError, match=says):
        check_beam_flags(extra)


def test_flags_of_a_job_server_pass_where_there_is_one():
    assert check_beam_flags(["--checkpointing-interval", "3000"], "FlinkRunner") == ["--checkpointing_interval", "3000"]


def test_flags_outweigh_the_preset():
    arguments = beam_arguments("flink", ["--parallelism=4"])
    assert arguments[0] == "--runner=FlinkRunner"
    assert arguments.index("--parallelism=1") < arguments.index("--parallelism=4")


@pytest.mark.parametrize("name", ["direct", "prism", "flink", "spark", "dataflow"])
def test_presets_that_ship_are_right(name):
    path = find_preset(name)
    assert path == starter_dir() / "runners" / f"{name}.yaml"
    assert beam_arguments(name, [])[0].startswith("--runner=")


def test_a_preset_may_be_a_file_of_ones_own(here):
    Path("mine.yaml").write_text(
        "runner: direct\nflags:\n  direct_num_workers: 2\n  experiments: [a, b]\n  no_auth: true\n"
    )
    assert beam_arguments("mine.yaml", []) == [
        *(f"--runner={DIRECT_RUNNER}", "--direct_num_workers=2", "--experiments=a", "--experiments=b", "--no_auth")
    ]


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("runnr: direct\n", ProblemsError, "mine.yaml:1:1: runnr: unknown key"),
        ("flags: [a]\n", ProblemsError, "mine.yaml:1:8: flags: must hold keys"),
        ("flags: {a: {b: c}}\n", ProblemsError, "mine.yaml:1:12: flags.a: must be a text"),
        ("flags: {num_wrkers: 2}\n", ConfigError, "mine.yaml: .*did you mean --num_workers"),
        ("flags: 'open\n", ProblemsError, "mine.yaml:1:8: not valid YAML"),
    ],
)
def test_mistakes_in_a_preset(text, error, says):
    Path("mine.yaml").write_text(text)
    with pytest.raises(error, match=says):
        beam_arguments("mine.yaml", [])


def test_a_preset_that_is_not_there():
    with pytest.raises(ConfigError, match=r"nix\.yaml: No such file"):
        beam_arguments("nix.yaml", [])


@pytest.mark.parametrize(
    "words", [["--setup_file", "setup.py"], ["--setup_file=setup.py"], ["--setup-file=./setup.py"]]
)
def test_the_setup_file_is_made_absolute(words, here):
    (here / "setup.py").touch()
    assert f"--setup_file={here}/setup.py" in beam_arguments(None, words)


def test_a_setup_file_that_is_not_there_is_a_mistake(here):
    with pytest.raises(ConfigError, match="no such file"):
        beam_arguments(None, ["--setup_file=setup.py"])


def test_workers_on_dataflow_get_the_code_by_themselves():
    ours = f"--setup_file={starter_dir().parent / 'setup.py'}"
    assert ours in beam_arguments("DataflowRunner", [])
    assert ours not in beam_arguments("DataflowRunner", ["--sdk_container_image=registry.example/newsbeam"])
    assert ours not in beam_arguments("direct", [])


def test_without_foreign_flags_beam_is_not_imported(monkeypatch):
    monkeypatch.setattr(options, "_beam_parser", None)
    assert beam_arguments(None, []) == [f"--runner={DIRECT_RUNNER}"]
