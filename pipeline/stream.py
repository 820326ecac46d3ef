"""``newsbeam run --streaming``: one job that follows the feeds for as long as it is let.

The stream commits small runs named ``<stream id>.<number>``. All that it must not forget is in the dataset and in
the spool beside it, so that it may be killed, cancelled or started anew at any moment and goes on where it was.
The launcher holds no lock: the committer takes it for each commit, so that other commands find their turn.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pipeline.cli.output import plural
from pipeline.config.model import Config
from pipeline.errors import ConfigError, ExitCode, RunError
from pipeline.options import DIRECT_RUNNER
from pipeline.plan import Plan
from transforms.records import FeedSource

_LOG = logging.getLogger("newsbeam.stream")
# Both are needed for the last commit of a quiet hour to come out, and for a restart to go on at a checkpoint.
_FLINK_FLAGS = ("--checkpointing_interval=10000", "--finish_bundle_before_checkpointing")


class StreamOptions(NamedTuple):
    """What the command line adds to the configuration of a stream.

    Attributes:
        beam_flags: Checked flags for Beam, runner first.
        stream_id: Name of the stream.
        tick: How often it looks what is due, a duration as text.
        detach: Whether to leave once the job is sent.
    """

    beam_flags: tuple[str, ...]
    stream_id: str | None
    tick: str = "5s"
    detach: bool = False

    @property
    def runner(self) -> str:
        """The runner, as resolved."""
        return self.beam_flags[0].partition("=")[2]


def check_stream(plan: Plan, options: StreamOptions) -> float:
    """Checks what can be checked before anything starts; returns the tick in seconds.

    Raises:
        ConfigError: With what to do instead.
    """
    from pipeline.config import values

    if options.stream_id is None:
        raise ConfigError("a stream needs a name that stays: add --stream-id desk, the same whenever it is restarted")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", options.stream_id):
        raise ConfigError(f'--stream-id "{options.stream_id}": write up to 40 small letters, digits and hyphens')
    if options.runner == DIRECT_RUNNER:
        raise ConfigError(
            "the in-process runner does one stage after the other and would never end the first; use newsbeam watch,"
            " or --runner prism or flink"
        )
    if options.runner == "SparkRunner":
        raise ConfigError("Beam's Spark runner cannot stream Python; use --runner flink, or newsbeam watch")
    if options.detach and "--environment_type=LOOPBACK" in _last_of(options.beam_flags, "--environment_type"):
        raise ConfigError("--detach: with environment_type LOOPBACK this process does the work; use PROCESS or DOCKER")
    if not plan.feeds:
        raise ConfigError("nothing to follow: name --feeds, or set feeds in the config file")
    try:
        tick_s = values.duration(options.tick)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--tick takes a time such as 5s: {error}") from error
    if tick_s < 0.2:
        raise ConfigError("--tick must be at least 200ms")
    return float(tick_s)


def run_stream(plan: Plan, options: StreamOptions, tell: Callable[[str], None]) -> ExitCode:
    """Sends the stream to its runner, and waits for it unless it is to be left alone.

    Args:
        plan: Feeds, and seeds and lists that are read once.
        options: Checked.
        tell: Called with lines for the user.

    Returns:
        ``DONE`` after SIGTERM or when detached, ``INTERRUPTED`` after Ctrl-C.

    Raises:
        RunError: If the runner ends the job by itself.
    """
    check_stream(plan, options)
    pipeline = make_pipeline(plan, options)
    with _stop_signals():
        result = None
        try:
            result = pipeline.run()
            if options.detach:
                tell(f"the stream {options.stream_id} runs on its cluster, job {getattr(result, '_job_id', '?')}")
                return ExitCode.DONE
            feeds = plural(len(plan.feeds), "feed")
            tell(f"the stream {options.stream_id} follows {feeds}; Ctrl-C stops, nothing is lost")
            result.wait_until_finish()
        except _StopError as stop:
            if result is not None:
                _cancel(result)
            return ExitCode.INTERRUPTED if stop.number == signal.SIGINT else ExitCode.DONE
    raise RunError("the runner has ended the stream; start it again, nothing is lost")


def make_pipeline(plan: Plan, options: StreamOptions) -> Any:
    """Returns the pipeline of a stream, built and not started."""
    # Beam takes a second or two.
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipeline.graph import build, stream_sources
    from pipeline.launch import RunOptions, make_job, new_run, run_facts
    from transforms.dedupe.state import NEWEST, StateLocation

    seeds = tuple(path for batch in plan.seed_batches for path in batch)
    assert options.stream_id
    job = make_job(
        plan,
        RunOptions(options.beam_flags),
        new_run(None)._replace(run_id=options.stream_id),
        StateLocation(plan.config.dataset, NEWEST),
        run_facts(plan, plan.feeds, seeds, plan.url_paths),
    )
    buckets = int(_value_of(options.beam_flags, "--parallelism") or 1)
    job = job._replace(limit=None, feeds=plan.feeds, buckets=buckets, reread=FeedFiles(plan.config))
    pipeline = beam.Pipeline(options=PipelineOptions(_flags(options), save_main_session=False))
    ticks = _ticks(options.runner, check_stream(plan, options))
    build(stream_sources(pipeline, ticks, list(seeds), list(plan.url_paths)), job)
    return pipeline


def _flags(options: StreamOptions) -> list[str]:
    flags = [*options.beam_flags, "--streaming"]
    if options.runner == "FlinkRunner":
        flags += [flag for flag in _FLINK_FLAGS if not _last_of(options.beam_flags, flag.partition("=")[0])]
    return flags


def _ticks(runner: str, tick_s: float) -> Any:
    """A source that its runner checkpoints: Flink's own there, Beam's periodic impulse elsewhere."""
    if runner == "FlinkRunner":
        from apache_beam.io.flink.flink_streaming_impulse_source import FlinkStreamingImpulseSource

        return FlinkStreamingImpulseSource().set_interval_ms(int(tick_s * 1000))
    from apache_beam.transforms.periodicsequence import PeriodicImpulse, RebaseMode

    now = datetime.now(timezone.utc).timestamp()
    # A template may be started days after it was made; the ticks between are not to be made up for.
    return PeriodicImpulse(start_timestamp=now, fire_interval=tick_s, rebase=RebaseMode.REBASE_START)


def _last_of(flags: tuple[str, ...], name: str) -> list[str]:
    """Returns the last flag of a name as a list, empty if there is none: it is the one that counts."""
    return [flag for flag in flags if flag.partition("=")[0] == name][-1:]


def _value_of(flags: tuple[str, ...], name: str) -> str:
    return "".join(_last_of(flags, name)).partition("=")[2]


class FeedFiles:
    """The files that list the feeds, told apart by their hash; travels to the workers with the job.

    Args:
        config: The configuration; its ``feeds`` are looked at where the workers run.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sha256 = self._hash()

    def __call__(self) -> list[FeedSource] | None:
        """Returns the feeds if a file has changed; ``None`` if not, or if it is wrong, which the log then says."""
        sha256 = self._hash()
        if sha256 == self._sha256:
            return None
        self._sha256 = sha256
        from pipeline.config.load import load_feeds
        from transforms.yaml_file import ProblemsError

        try:
            feeds = load_feeds(self._config)
        except (ProblemsError, ConfigError, OSError) as error:
            _LOG.warning("the list of feeds has changed and cannot be used; the feeds stay as they were: %s", error)
            return None
        _LOG.warning("the list of feeds has changed: %d feeds from now on", len(feeds))
        return feeds

    def _hash(self) -> str:
        parts = []
        for path in (item for item in self._config.feeds if isinstance(item, str)):
            with contextlib.suppress(OSError):  # an address, or a file that only the launcher sees
                parts.append(f"{path}\n{hashlib.sha256(Path(path).read_bytes()).hexdigest()}")
        return "\n".join(parts)


class _StopError(BaseException):
    """A signal asked the launcher to stop; not an ``Exception``, so that nothing on the way keeps it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _stop_signals() -> Iterator[None]:
    def stop(number: int, frame: object) -> NoReturn:
        for again in (signal.SIGINT, signal.SIGTERM):
            signal.signal(again, signal.SIG_IGN)
        raise _StopError(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        from transforms.extract.pool import kill_pools

        for number, handler in before.items():
            signal.signal(number, handler)
        kill_pools()


def _cancel(result: Any) -> None:
    """Cancels the job; a runner that is gone or does not answer needs no farewell."""
    deadline_s = time.monotonic() + 10
    try:
        result.cancel()
        while time.monotonic() < deadline_s and not type(result).is_terminal_state(result.state):
            time.sleep(0.2)
    except Exception as error:
        _LOG.debug("the runner did not take the cancellation: %s", error)
