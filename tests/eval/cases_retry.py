"""Case 29: a step before the writer fails once after 50 of 100 elements; then every bundle is done twice.

    python cases_retry.py ROOT

The in-process runner does not retry, so the failed run is started again, as a user would.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.rows import read_rows
from tests.transforms.write.make_items import run_at, tagged
from transforms.dedupe.state import latest_state
from transforms.records import Tally
from transforms.write import commit, stage
from transforms.write.lock import acquire


class FailOnce(beam.DoFn):
    """Raises at the 51st element unless the flag is there; teardown() is never relied on: it raises too."""

    def __init__(self, flag: str) -> None:
        self._flag = flag

    def process(self, number: int) -> Any:
        if number == 50 and not Path(self._flag).exists():
            Path(self._flag).touch()
            raise RuntimeError("once")
        yield tagged(f"https://harbour.example/{number}", f"Harbour story number {number}.")


def attempt(root: str, run_id: str) -> None:
    with acquire(root):
        commit.recover(root)
        location = latest_state(root)
        options = PipelineOptions(["--direct_runner_bundle_repeat=1"])
        with beam.Pipeline(runner=FnApiRunner(bundle_repeat=1), options=options) as pipeline:
            articles = pipeline | "numbers" >> beam.Create(range(100)) | beam.ParDo(FailOnce(root + ".flag"))
            side = pipeline | "side" >> beam.Create([Tally("read", "item", 100)])
            _ = {"tagged": articles, "side": side} | stage.WriteDataset(
                stage.WriteSettings(root, 4), location, run_at(run_id)
            )


def main(root: str) -> None:
    stage_tear_downs = [name for name in vars(stage) if hasattr(getattr(stage, name), "teardown")]
    try:
        attempt(root, "20261130T101502Z-0001")
    except RuntimeError:
        attempt(root, "20261130T101602Z-0002")
    else:
        raise SystemExit("the first attempt did not fail")
    rows = read_rows(root, "articles")
    manifests = [json.loads(path.read_bytes()) for path in Path(root, "_runs").glob("*.json")]
    listed = sum(file["rows"] for manifest in manifests for file in manifest["files"] if file["table"] == "articles")
    print(f"{len(rows)} rows, {len({row['article_id'] for row in rows})} ids, {listed} in the manifest")
    assert stage_tear_downs is not None


if __name__ == "__main__":
    main(sys.argv[1])
