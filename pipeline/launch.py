"""Runs the graph: recover, cut into micro-batches, run each, read the manifests, clean up on signals."""

from __future__ import annotations

import logging
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from pipeline import __version__
from pipeline.cli.output import err
from pipeline.config.load import config_sha256
from pipeline.config.model import Config
from pipeline.errors import ExitCode, RunError
from pipeline.graph import Job, batch_sources, build
from pipeline.leave import expect_servers
from pipeline.options import is_in_process
from pipeline.plan import BATCH_ENTRIES, Plan
from pipeline.progress import Progress
from pipeline.settings import fetch_settings
from transforms import meter
from transforms.allocator import limit_fragmentation
from transforms.dedupe.replay import Replay, write_replay
from transforms.dedupe.state import NEWEST, StateLocation, latest_state, open_state
from transforms.extract.pool import kept_pool, kill_pools
from transforms.extract.stage import ExtractSettings
from transforms.feeds.stage import PollSettings
from transforms.records import FeedSource, RunContext
from transforms.schema import SCHEMA_VERSION
from transforms.tag.stage import TagSettings
from transforms.write.commit import recover, staging_folder
from transforms.write.manifest import Manifest, read_manifest, read_outlines, require_order
from transforms.write.readers import topic_counts
from transforms.write.stage import WriteSettings
from transforms.write.storage import DatasetError, storage_of

_LOG = logging.getLogger("newsbeam.launch")


class RunOptions(NamedTuple):
    """What the command line adds to the configuration.

    Attributes:
        beam_flags: Checked flags for Beam, runner included.
        now: The clock that schedules and dates are judged by; ``None`` is the real one.
        due_now: Polls every feed whatever its schedule.
        limit: Most items to take in.
        show_progress: Whether the display is on.
        replay: What is taken in once more although it was refused; no other page is due then.
    """

    beam_flags: tuple[str, ...] = ()
    now: datetime | None = None
    due_now: bool = False
    limit: int | None = None
    show_progress: bool = True
    replay: Replay | None = None


def execute(plan: Plan, options: RunOptions) -> list[Manifest]:
    """Runs the plan in as many committed runs as its size asks for. The caller holds the lock of the dataset.

    Returns:
        Their manifests, in order; at least one.

    Raises:
        RunError: If the pipeline fails.
        DatasetError: If the dataset cannot be written.
    """
    limit_fragmentation()
    expect_servers(options.beam_flags)
    config = plan.config
    manifests: list[Manifest] = []
    pool = _extract_settings(config, options).pool()
    with _clean_ends(), Progress(options.show_progress), kept_pool(pool):
        recover(config.dataset)
        _check_manifests(config.dataset)
        meter.reset()
        for feeds, seeds, urls in _batches(plan):
            manifests.append(_run_once(plan, options, feeds, seeds, urls))
        # Entries over the size of one run were put off; take them at once unless the user set a limit.
        while options.limit is None and _put_off_by_size(manifests[-1]):
            manifests.append(_run_once(plan, options, (), (), ()))
    return manifests


def _batches(plan: Plan) -> Iterator[tuple[tuple[FeedSource, ...], tuple[str, ...], tuple[str, ...]]]:
    first, *others = plan.seed_batches or ((),)
    yield plan.feeds, first, plan.url_paths
    for seeds in others:
        yield (), seeds, ()


def _check_manifests(root: str) -> None:
    """Without its manifests a dataset knows nothing, and would take everything in a second time.

    A damaged one is told before anything is asked; after the run it would look as if that had failed.
    """
    storage = storage_of(root)
    manifests = read_outlines(storage)
    require_order(storage, manifests)
    if not manifests and storage.names("articles"):
        where = storage.full_path("_runs")
        raise DatasetError(f"{root} has articles but no manifests in {where}; restore them from a backup", where)


def _put_off_by_size(manifest: Manifest) -> bool:
    over_size = {("take", "deferred"), ("due", "left")}
    return any((tally.stage, tally.outcome) in over_size and tally.items for tally in manifest.stages)


def _run_once(
    plan: Plan, options: RunOptions, feeds: tuple[FeedSource, ...], seeds: tuple[str, ...], urls: tuple[str, ...]
) -> Manifest:
    run = new_run(options.now)
    storage_of(plan.config.dataset).begin(run.run_id)
    state = latest_state(plan.config.dataset)
    facts = run_facts(plan, feeds, seeds, urls)
    if options.replay is not None:
        path = f"{staging_folder(run.run_id)}/replay.json"
        write_replay(storage_of(state.root), path, options.replay)
        state = state._replace(replay=path)
        facts["inputs"]["replayed"] = options.replay.rows
    job = make_job(plan, options, run, state, facts)
    pipeline = beam.Pipeline(options=PipelineOptions(list(options.beam_flags), save_main_session=False))
    build(batch_sources(pipeline, list(feeds), list(seeds), list(urls)), job)
    run_pipeline(pipeline)
    manifest = read_manifest(plan.config.dataset, run.run_id)
    if manifest is None:
        raise RunError(f"the run {run.run_id} ended without a manifest; run the command again, nothing is lost")
    counts = {"run_id": run.run_id, "items": dict(manifest.items), "feeds": dict(manifest.feeds)}
    _LOG.info("committed %s", run.run_id, extra={"fields": counts | {"rejects": dict(manifest.rejects)}})
    return manifest


def run_pipeline(pipeline: beam.Pipeline) -> None:
    """Runs the graph to its end.

    Raises:
        DatasetError: If the dataset could not be written; Beam hands the errors of stages on as text.
    """
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        # The class survives on the in-process runner, elsewhere only the text does; the step is added to it.
        found = re.search(r"(?:\bDatasetError: |^)(.+?)(?: \[while running .*)?$", str(error), re.MULTILINE)
        if found is None or not (isinstance(error, DatasetError) or "DatasetError: " in str(error)):
            raise
        raise DatasetError(found[1]) from error


def new_run(now: datetime | None) -> RunContext:
    """Returns the context of a run that starts at this moment, or at ``now`` by its own clock."""
    started_at = now or datetime.now(timezone.utc)
    name = f"{started_at.astimezone(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    return RunContext(name, started_at, time.time())


def run_facts(
    plan: Plan, feeds: tuple[FeedSource, ...], seeds: tuple[str, ...], urls: tuple[str, ...]
) -> dict[str, Any]:
    """Returns what the manifest says of how the run was made."""
    taxonomy = plan.taxonomy
    return {
        "versions": versions(),
        "config_sha256": config_sha256(plan.config),
        "taxonomy": {
            "id": taxonomy.id,
            "version": taxonomy.version,
            "sha256": taxonomy.sha256,
            "topics": [topic.id for topic in taxonomy.topics],
        },
        "inputs": {"seed_files": len(seeds), "feeds": len(feeds), "url_lists": len(urls)},
    }


def versions() -> dict[str, str]:
    """Returns the versions of what makes a run, for its manifest."""
    return {
        "newsbeam": __version__,
        "schema": SCHEMA_VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
        "apache_beam": beam.__version__,
    }


def make_job(plan: Plan, options: RunOptions, run: RunContext, state: StateLocation, facts: dict[str, Any]) -> Job:
    """Turns the configuration into the settings of each stage."""
    config = plan.config
    fetch = fetch_settings(config)
    return Job(
        run=run,
        state=state,
        poll=PollSettings(
            fetch=fetch,
            due_now=options.due_now,
            max_age_s=config.max_age_s,
            max_items_per_feed=config.max_items_per_feed,
        ),
        fetch=fetch,
        extract=_extract_settings(config, options),
        taxonomy=plan.taxonomy,
        tag=TagSettings(entity_model=config.entity_model),
        write=WriteSettings(
            root=config.dataset,
            shards=1,
            store_text=config.store_text,
            facts=facts,
        ),
        keep=config.keep,
        limit=options.limit or (BATCH_ENTRIES if plan.feeds or plan.url_paths else None),
        limit_entries_only=options.limit is None,
    )


def _extract_settings(config: Config, options: RunOptions) -> ExtractSettings:
    return ExtractSettings(extract_processes(config.extract.workers, options.beam_flags), config.extract.timeout_s)


def extract_processes(configured: int, beam_flags: Sequence[str]) -> int | None:
    """Returns how many child processes each process of the runner extracts with; ``None`` is one a core.

    Args:
        configured: ``extract.workers``; 0 leaves it to us.
        beam_flags: Checked flags for Beam. Runners with processes of their own use the cores already.
    """
    return configured or (None if is_in_process(beam_flags) else 1)


@contextmanager
def _clean_ends() -> Iterator[None]:
    """Ends the child processes on Ctrl-C and SIGTERM; the lock and staging need no farewell."""

    def end(number: int, frame: object) -> None:
        kill_pools()
        err("\ninterrupted; what is committed stays, the next run does the rest")
        sys.stderr.flush()
        os._exit(int(ExitCode.INTERRUPTED) if number == signal.SIGINT else 128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        kill_pools()


def held_by(root: str) -> dict[str, int]:
    """Returns what a dataset holds: ``articles``, and the number of articles by topic."""
    articles = open_state(StateLocation(root, NEWEST)).state["article"].num_rows
    return {"articles": articles} | topic_counts(root)
