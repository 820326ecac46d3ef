"""How long ``dataset retag`` takes, and how much memory.

    python -m bench.retag [articles]

Makes a dataset of that many articles (default 50,000) with texts that hold terms of the shipped topics, tagged by
these, then tags it again with the same topics and one more, through the pipeline. Prints seconds, articles a second
and the peak memory of the process before and after. Exits 1 if a row is lost or verify finds anything.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa

from bench.write import made_row
from pipeline.config.load import load_config
from pipeline.dataset.retag import run_retag
from pipeline.options import DIRECT_RUNNER
from transforms.dedupe.state import KnownState
from transforms.maintain.contents import read_contents
from transforms.maintain.retag import stems_to_retag
from transforms.maintain.verify import verify
from transforms.tag.taxonomy import load_taxonomy
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.settle import ArticleItem, settle
from transforms.write.storage import LocalStorage

ROOT = Path(__file__).resolve().parents[1]
DAY = datetime(2026, 9, 1, tzinfo=timezone.utc)
HITS = ("the deportation of a ferry cook", "a sanctuary city ordinance", "asylum seekers at the border", "a new quay")
MORE = "topics:\n  - id: quays\n    terms: [quay, harbor]\n    thresholds: {mention: 0.1, relevant: 0.2, primary: 9}\n"
RUN_ROWS = 10_000


def make(storage: LocalStorage, count: int) -> None:
    """Commits untagged articles, 10,000 a run; their texts are words of Zipf-like frequency and now and then a hit."""
    rng = random.Random(9)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 11))) for _ in range(20_000)]
    pool = rng.choices(words, [1 / (rank + 3) for rank in range(len(words))], k=1_000_000)
    known = KnownState()
    for first in range(0, count, RUN_ROWS):
        run_id = f"20260901T000000Z-{first:06x}"
        items = []
        for number in range(first, min(first + RUN_ROWS, count)):
            row = made_row(rng, number, pool)
            if number % 3 == 0:
                row["text"] += f" {HITS[number % len(HITS)]}. " * 2
            row |= {"topics": [], "topic_scores": [], "matches": [], "language": "en", "taxonomy_sha256": "none"}
            items.append(ArticleItem(row, len(row["text"]), {}))
        settled = settle(items, known, "2026-09-01", f"{run_id}.00000", run_id)
        files = [stage_file(storage, run_id, file) for file in settled.files]
        facts = {"taxonomy": {"id": "none", "version": "0", "sha256": "none"}}
        parts = RunParts(files, (), settled.tallies, [settled.summary])
        commit_run(storage, parts, known, run_id, DAY, DAY, facts, keep_snapshot=False)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 50_000
    with tempfile.TemporaryDirectory() as root:
        storage = LocalStorage(root)
        child = make_in_child(root, count)
        if child:
            return child
        more = Path(root) / "more.yaml"
        more.write_text(MORE, encoding="utf-8")
        config = load_config(None, {"dataset": root}, {})
        before = peak_mb()
        for name, paths in (("the shipped topics", []), ("one topic more", [more])):
            taxonomy = load_taxonomy([ROOT / "configs/topics.yaml", *paths])
            contents = read_contents(storage)
            start = time.perf_counter()
            stems = stems_to_retag(contents, taxonomy.sha256)
            done = run_retag(contents, stems, taxonomy, config, [f"--runner={DIRECT_RUNNER}"], show_progress=False)
            elapsed = time.perf_counter() - start
            print(
                f"{name}: {done.counts['rows']:,} articles, {done.counts['rows_changed']:,} changed, {elapsed:.1f} s,"
                f" {done.counts['rows'] / elapsed:,.0f} a second; peak {peak_mb():,.0f} MB ({before:,.0f} before)"
            )
        rows = sum(file.rows for file in read_contents(storage).files("articles"))
        findings = verify(storage, lambda line: None).findings
        print(f"rows {rows:,}; findings of verify: {len(findings)}; Arrow holds {pa.total_allocated_bytes():,} bytes")
    return int(rows != count or bool(findings))


def make_in_child(root: str, count: int) -> int:
    """Makes the dataset in a process of its own, so that its memory is not counted; returns its exit code."""
    import subprocess

    code = f"from bench.retag import *; make(LocalStorage({root!r}), {count})"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
