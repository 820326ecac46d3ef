"""Beam's flags: checked before anything starts, with presets for runners.

Beam drops a flag that it does not know with one line in its log and goes on without it. Here a word of
the command line is our flag, Beam's flag, or a mistake that ends the command. Beam is imported only if
there are flags that are not ours, or a runner other than the default.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pipeline.config.starter import starter_dir
from pipeline.errors import ConfigError
from pipeline.runners.cache import prism_program
from transforms.yaml_file import Problem, ProblemsError, YamlFile, load_yaml

DIRECT_RUNNER = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
JOB_SERVER_RUNNERS = ("FlinkRunner", "PortableRunner", "SparkRunner")

# Options of the Flink runner (Java, FlinkPipelineOptions) that its job server takes from the command line.
# Beam's Python code has no list of them; it asks the job server when the job is sent.
JOB_SERVER_FLAGS = (
    *("allow_non_restored_state", "auto_balance_write_files_sharding_enabled", "auto_watermark_interval"),
    *("checkpoint_timeout_millis", "checkpointing_interval", "checkpointing_mode", "disable_metrics"),
    *("enable_metrics", "enable_stable_input_drain", "execution_mode_for_batch", "execution_retry_delay"),
    *("externalized_checkpoints_enabled", "fail_on_checkpointing_errors", "faster_copy", "files_to_stage"),
    *("finish_bundle_before_checkpointing", "flink_conf_dir", "force_unaligned_checkpoint_enabled"),
    *("latency_tracking_interval", "max_bundle_size", "max_bundle_time_mills", "max_parallelism"),
    *("min_pause_between_checkpoints", "number_of_execution_retries", "num_concurrent_checkpoints"),
    *("object_reuse", "operator_chaining", "parallelism", "re_iterable_group_by_key_result"),
    *("report_checkpoint_duration", "retain_externalized_checkpoints_on_cancellation", "savepoint_path"),
    *("shutdown_sources_after_idle_ms", "spark_master", "state_backend", "state_backend_storage_path"),
    *("tolerable_checkpoint_failure_number", "unaligned_checkpoint_enabled"),
)


def beam_arguments(runner: str | None, extra: list[str]) -> list[str]:
    """Returns the whole command line for Beam: runner, preset, flags, setup.py.

    Args:
        runner: Value of ``--runner``: a runner, the name of a preset (``flink``), a preset file, or ``None``.
        extra: What is left of the command line after our flags; it outweighs the preset.

    Raises:
        ConfigError: If a flag, its value or the runner is wrong.
        ProblemsError: If the preset is.
    """
    preset = find_preset(runner)
    flags: list[str] = []
    if preset is not None:
        runner, flags = read_preset(preset)
    name = resolve_runner(runner)
    flags += check_beam_flags(extra, name)
    return [f"--runner={name}", *_with_prism(_with_setup_file(flags, name), name)]


def is_in_process(beam_flags: Sequence[str]) -> bool:
    """Tells whether all of the runner is this one process: no workers, no servers.

    Args:
        beam_flags: Checked flags for Beam; without a runner the default one.
    """
    runner = next((flag for flag in beam_flags if flag.startswith("--runner=")), f"--runner={DIRECT_RUNNER}")
    return runner == f"--runner={DIRECT_RUNNER}" and "--direct_running_mode=multi_processing" not in beam_flags


def resolve_runner(name: str | None) -> str:
    """Returns the runner as Beam wants it named.

    ``DirectRunner`` is a switch in Beam that may download a program and behaves differently with the graph;
    it is resolved to the in-process runner by its full name. A full class name is left as it is.

    Raises:
        ConfigError: If Beam has no such runner.
    """
    if name is None or name.lower() in ("direct", "directrunner", "fnapirunner", DIRECT_RUNNER.lower()):
        return DIRECT_RUNNER
    if "." in name:
        return name
    from apache_beam.options.pipeline_options import StandardOptions  # a second or two

    known = {path.rpartition(".")[2].lower(): path.rpartition(".")[2] for path in StandardOptions.ALL_KNOWN_RUNNERS}
    found = known.get(name.lower()) or known.get(name.lower() + "runner")
    if found is None:
        names = list(dict.fromkeys(["direct", *_presets(), *known.values()]))
        raise ConfigError(f"there is no runner {name}; {_nearest(name, names) or 'there are: ' + ', '.join(names)}")
    return found


def check_beam_flags(extra: list[str], runner: str = DIRECT_RUNNER) -> list[str]:
    """Returns flags in Beam's spelling (underscores).

    Args:
        extra: What is left of the command line after our flags.
        runner: The resolved runner; some take the flags of a job server too.

    Raises:
        ConfigError: If a flag is neither ours nor Beam's, or its value is wrong; names the nearest right one.
    """
    folded = [_folded(word) for word in extra if word != "--"]
    if not folded:
        return []
    parser = _beam_parser(runner)
    # Beam's own types may print to stderr what they refuse.
    with contextlib.redirect_stderr(io.StringIO()):
        _, unknown = parser.parse_known_args(folded)
    if unknown:
        raise ConfigError(_advice(unknown[0], parser))
    return folded


def find_preset(runner: str | None) -> Path | None:
    """Returns the preset file that ``--runner`` names: a path, or the name of one that ships with newsbeam."""
    if runner is None:
        return None
    if runner.endswith((".yaml", ".yml")):
        return Path(runner)
    return _presets().get(runner)


def read_preset(path: Path) -> tuple[str | None, list[str]]:
    """Reads a preset: ``runner`` and ``flags``, a mapping of Beam's flags.

    Returns:
        The runner as written, and the checked flags.

    Raises:
        ConfigError: If there is no such file, or a flag's value is wrong.
        ProblemsError: If its form is wrong.
    """
    try:
        file = load_yaml(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    data = file.data if isinstance(file.data, dict) else {}
    problems = list(file.problems)
    problems += [
        Problem(file.key_mark_of((key,)), key, "unknown key; a preset has runner and flags")
        for key in data
        if key not in ("runner", "flags")
    ]
    flags = _preset_flags(file, data.get("flags"), problems)
    if problems:
        raise ProblemsError(problems)
    runner = data.get("runner")
    try:
        return runner, check_beam_flags(flags, resolve_runner(runner))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}") from None


def _preset_flags(file: YamlFile, data: Any, problems: list[Problem]) -> list[str]:
    def wrong(path: tuple[str, ...], message: str) -> None:
        problems.append(Problem(file.mark_of(path), ".".join(path), message))

    if data is not None and not isinstance(data, dict):
        wrong(("flags",), "must hold keys and values, such as `streaming: true`")
        return []
    flags = []
    for key, value in (data or {}).items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict | list) or item is None:
                wrong(("flags", key), "must be a text or a list of texts")
            else:
                flags.append(f"--{key}" if item == "true" else f"--{key}={item}")
    return flags


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message.removeprefix('argument ')} (a flag of Beam)")


def _beam_parser(runner: str) -> Any:
    from apache_beam.options import pipeline_options  # a second or two

    class BeamParser(_Parser, pipeline_options._BeamArgumentParser):
        pass

    parser = BeamParser(allow_abbrev=False, add_help=False)
    for options in pipeline_options.PipelineOptions.__subclasses__():
        options._add_argparse_args(parser)
    if runner in JOB_SERVER_RUNNERS:
        known = set(_flags_of(parser))
        for name in JOB_SERVER_FLAGS:
            if f"--{name}" not in known:
                parser.add_argument(f"--{name}", nargs="?")
    return parser


def _folded(word: str) -> str:
    """Beam's flags have underscores; hyphens are taken for them."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return "--" + name[2:].replace("-", "_") + equals + value


def _flags_of(parser: argparse.ArgumentParser) -> list[str]:
    return [spelling for action in parser._actions for spelling in action.option_strings]


def _advice(word: str, parser: argparse.ArgumentParser) -> str:
    from pipeline.cli.parser import build_parser, flags_of

    if not word.startswith("-"):
        return f"newsbeam run has no use for {word}; seed files are named with --seeds {word}"
    name = word.partition("=")[0]
    if name.removeprefix("--") in JOB_SERVER_FLAGS:
        return f"{name} is a flag of a job server; it goes with --runner {' or '.join(JOB_SERVER_RUNNERS)}"
    ours = flags_of(build_parser().commands["run"])
    by_fold = {_folded(flag): flag for flag in (*_flags_of(parser), *ours)}
    near = difflib.get_close_matches(_folded(name), by_fold, n=1, cutoff=0.6)
    hint = f"did you mean {by_fold[near[0]]}?" if near else "see newsbeam run --help"
    return f"neither newsbeam nor Beam has a flag {name}; {hint}"


def _nearest(word: str, names: list[str]) -> str:
    near = difflib.get_close_matches(word.lower(), [name.lower() for name in names], n=1, cutoff=0.6)
    return f"did you mean {next(name for name in names if name.lower() == near[0])}?" if near else ""


def _presets() -> dict[str, Path]:
    return {path.stem: path for path in sorted((starter_dir() / "runners").glob("*.yaml"))}


def _with_prism(flags: list[str], runner: str) -> list[str]:
    """Names the Prism that was built here; without one Beam tries to download it."""
    program = prism_program() if runner == "PrismRunner" else None
    if program is None or not program.is_file() or any(flag.startswith("--prism_location") for flag in flags):
        return flags
    return [*flags, f"--prism_location={program}"]


def _with_setup_file(flags: list[str], runner: str) -> list[str]:
    """Makes ``--setup_file`` absolute (Beam fails on a bare file name), and adds ours where workers need the code."""
    done, position = list(flags), 0
    while position < len(done):
        if done[position] == "--setup_file" and position + 1 < len(done):
            done[position : position + 2] = [f"--setup_file={done[position + 1]}"]
        if done[position].startswith("--setup_file="):
            path = Path(done[position].partition("=")[2]).absolute()
            if not path.is_file():
                raise ConfigError(f"--setup_file: no such file: {path}")
            done[position] = f"--setup_file={path}"
        position += 1
    ours = starter_dir().parent / "setup.py"
    has_code = any(flag.startswith(("--setup_file", "--sdk_container_image", "--environment_type")) for flag in done)
    if runner == "DataflowRunner" and not has_code and ours.is_file():
        done.append(f"--setup_file={ours}")
    return done
