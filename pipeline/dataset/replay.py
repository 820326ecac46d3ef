"""``dataset replay``: refused items go through the graph once more, in runs like any other."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.config.load import Setup, is_loopback
from pipeline.errors import ConfigError
from pipeline.plan import BATCH_ENTRIES, Plan, cut_batches
from transforms.dedupe.replay import Replay
from transforms.maintain.replay import ReplayPlan
from transforms.write.manifest import Manifest


def check_contact(setup: Setup, found: ReplayPlan) -> None:
    """A robot that asks other people's hosts says who runs it.

    Raises:
        ConfigError: If it would not.
    """
    outside = next((entry.url for entry in found.replay.entries if entry.url and not is_loopback(entry.url)), None)
    if outside is not None and not setup.config.contact:
        raise ConfigError(
            f"contact is not set, and {outside} would be asked; add --contact you@example.org to the command"
            " or contact: you@example.org to the config file, so that people can reach who runs this robot"
        )


def run_replay(setup: Setup, found: ReplayPlan, beam_flags: tuple[str, ...], show_progress: bool) -> list[Manifest]:
    """Takes in once more what a plan names; returns the manifests. The caller holds the lock.

    Raises:
        RunError: If a pipeline fails.
        DatasetError: If the dataset cannot be written.
    """
    from pipeline.launch import RunOptions, execute  # Beam: a second or two

    manifests: list[Manifest] = []
    for plan, replay in _parts(setup, found):
        options = RunOptions(beam_flags=beam_flags, show_progress=show_progress, replay=replay)
        manifests += execute(plan, options)
    return manifests


def _parts(setup: Setup, found: ReplayPlan) -> Iterator[tuple[Plan, Replay]]:
    """Yields plans of one run each: pages, seed files and lists apart, so that nothing is asked for twice."""
    rows = found.replay.rows  # told once, in the first run
    pages = found.replay.entries
    for start in range(0, len(pages), BATCH_ENTRIES):
        yield _plan(setup), Replay(pages[start : start + BATCH_ENTRIES], rows=rows)
        rows = 0
    for batch in cut_batches(found.seed_paths):
        yield _plan(setup)._replace(seed_batches=(batch,)), Replay(bodies=found.replay.bodies, rows=rows)
        rows = 0
    if found.url_paths:
        yield _plan(setup)._replace(url_paths=found.url_paths), Replay(bodies=found.replay.bodies, rows=rows)


def _plan(setup: Setup) -> Plan:
    return Plan(setup.config, (), (), (), setup.taxonomy)
