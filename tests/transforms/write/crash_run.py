"""A small run of the writer that ends itself by SIGKILL at a chosen step; started by test_write_crash.py.

    python crash_run.py ROOT STEP

The product knows nothing of this: the steps are functions that are replaced here.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.transforms.write.make_items import fetch, reject, run_at, tagged, tags
from transforms.dedupe import history
from transforms.dedupe.state import latest_state, open_state
from transforms.records import Side, TaggedArticle, Tally
from transforms.write import commit, committer, stage
from transforms.write.lock import acquire
from transforms.write.storage import LocalStorage

TOPICS = tags(deportation="primary", immigration="relevant")
ARTICLES: list[TaggedArticle] = [
    tagged(f"https://paper{n}.example/story/{n}", f"Story {n}.", topics=TOPICS) for n in range(6)
]
SIDE: list[Side] = [reject(), Tally("read", "item", 7)]
FEED = fetch()
STEPS = ("first staged file", "journal", "half promoted", "snapshot", "manifest", "journal removal")


def die(*_: Any, **__: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def die_after(function: Any, calls: int) -> Any:
    """Returns a function that lets some calls through and dies after the last of them."""
    left = [calls]

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        left[0] -= 1
        if not left[0]:
            die()
        return result

    return wrapped


def arm(step: str) -> None:
    if step == "first staged file":
        stage.stage_file = die_after(stage.stage_file, 1)
    elif step == "journal":
        commit.promote = die
    elif step == "half promoted":
        LocalStorage.move = die_after(LocalStorage.move, 2)  # type: ignore[method-assign]
    elif step == "snapshot":
        history.write_snapshot = die
    elif step == "manifest":
        commit._close = die
    elif step == "journal removal":
        commit.manifest_path = _die_once_written(commit.manifest_path)
    else:
        raise SystemExit(f"no such step: {step}")


def _die_once_written(manifest_path: Any) -> Any:
    """Dies when the manifest is there and the journal is about to go."""
    LocalStorage.delete = _guarded(LocalStorage.delete)  # type: ignore[method-assign]
    return manifest_path


def _guarded(delete: Any) -> Any:
    def wrapped(self: LocalStorage, path: str) -> None:
        if path.endswith(".journal"):
            die()
        delete(self, path)

    return wrapped


def run_pipeline(root: str, run_id: str) -> None:
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    with acquire(root):
        commit.recover(root)
        location = latest_state(root)
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as pipeline:
            side = SIDE if FEED.url in open_state(location).feeds() else [*SIDE, FEED]  # polled only when due
            _ = {
                "tagged": pipeline | "tagged" >> beam.Create(ARTICLES),
                "side": pipeline | "side" >> beam.Create(side),
            } | stage.WriteDataset(stage.WriteSettings(root, 2), location, run_at(run_id))


if __name__ == "__main__":
    assert committer.stage_file is stage.stage_file
    arm(sys.argv[2])
    run_pipeline(sys.argv[1], "20261130T101502Z-dead")
