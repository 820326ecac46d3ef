"""What many small runs cost, and what compaction brings.

    python -m bench.compact [runs] [articles a run]

Commits that many runs (default 1,000 of 20 articles) on one day that is over, then compacts it. Prints files,
bytes and the time of three queries before and after, the time and peak memory of the compaction, and what
keeping the known keys takes if the day is pruned. Exits 1 if a row is lost or doubled, or verify finds anything.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb

from bench.write import made_row
from transforms.dedupe.state import KnownState
from transforms.maintain.contents import read_contents
from transforms.maintain.prune import plan_prune, prune
from transforms.maintain.verify import verify
from transforms.write.committer import RunParts, commit_run, stage_file
from transforms.write.meta import create_views
from transforms.write.settle import ArticleItem, settle
from transforms.write.storage import LocalStorage

DAY = datetime(2026, 9, 1, tzinfo=timezone.utc)
ROUNDS = 5
QUERIES = {
    "count by topic": "SELECT topic, count(*) FROM article_topics GROUP BY ALL",
    "one domain": "SELECT url, title FROM articles WHERE domain = 'paper7.example'",
    "newest revisions": "SELECT count(*) FROM articles_latest",
}


def make(storage: LocalStorage, runs: int, articles: int) -> None:
    """Commits the runs; what is known plays no part here and is not looked up."""
    rng = random.Random(5)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 11))) for _ in range(20_000)]
    pool = rng.choices(words, [1 / (rank + 3) for rank in range(len(words))], k=500_000)
    for number in range(runs):
        run_id = f"20260901T000000Z-{number:06x}"
        rows = [made_row(rng, number * articles + place, pool) for place in range(articles)]
        items = [ArticleItem(row | {"run_id": run_id}, len(row["text"]), {}) for row in rows]
        known = KnownState()
        at = DAY + timedelta(seconds=number)
        settled = settle(items, known, "2026-09-01", f"{run_id}.00000", run_id)
        files = [stage_file(storage, run_id, file) for file in settled.files]
        commit_without_reading(storage, RunParts(files, (), settled.tallies, [settled.summary]), run_id, at, number)


def commit_without_reading(storage: LocalStorage, parts: RunParts, run_id: str, at: datetime, number: int) -> None:
    """As ``commit_run``, but with a state that says that all runs before are known: making a thousand is set-up."""
    import pyarrow as pa

    from transforms.dedupe import history
    from transforms.dedupe.snapshot import EMPTY, RELATIONS

    names = [f"20260901T000000Z-{before:06x}" for before in range(number)]
    runs = pa.table({"name": names, "sequence": list(range(1, number + 1))}, schema=RELATIONS["run"])
    assert history.STATE_FOLDER
    commit_run(storage, parts, KnownState({**EMPTY, "run": runs}), run_id, at, at, {}, keep_snapshot=False)


def query_times(root: str) -> Mapping[str, float]:
    """Returns the median of each query in milliseconds."""
    times = {}
    with duckdb.connect() as connection:
        create_views(connection, root)
        for name, sql in QUERIES.items():
            found = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                connection.execute(sql).fetchall()
                found.append(time.perf_counter() - start)
            times[name] = 1000 * statistics.median(found)
    return times


def rows_of(root: str) -> Any:
    with duckdb.connect() as connection:
        create_views(connection, root)
        sums = "SELECT count(*), count(DISTINCT (article_id, revision)), sum(hash(text, topics)::HUGEINT) FROM articles"
        return connection.execute(sums).fetchall(), connection.execute("SELECT count(*) FROM article_topics").fetchall()


def size_of(root: str) -> tuple[int, int]:
    files = [path for table in ("articles", "article_topics") for path in (Path(root) / table).glob("**/*.parquet")]
    return len(files), sum(path.stat().st_size for path in files)


def compact_in_child(root: str) -> tuple[float, float]:
    """Compacts in a process of its own; returns seconds and its peak memory in MB."""
    code = (
        "import sys; from datetime import date\n"
        "from transforms.maintain.compact import compact; from transforms.maintain.contents import read_contents\n"
        "compact(read_contents(sys.argv[1]), date(2026, 11, 30), 2, lambda line: None)"
    )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, root], cwd=Path(__file__).resolve().parents[1], check=True)
    elapsed = time.perf_counter() - start
    return elapsed, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main(arguments: list[str]) -> int:
    runs = int(arguments[0]) if arguments else 1_000
    articles = int(arguments[1]) if len(arguments) > 1 else 20
    with tempfile.TemporaryDirectory() as root:
        storage = LocalStorage(root)
        make(storage, runs, articles)
        before, files_before, times_before = rows_of(root), size_of(root), query_times(root)
        elapsed, peak_mb = compact_in_child(root)
        after, files_after, times_after = rows_of(root), size_of(root), query_times(root)
        findings = verify(storage, lambda line: None).findings
        print(f"{runs:,} runs of {articles} articles")
        print(f"{'':20}{'before':>12}{'after':>12}")
        print(f"{'files':20}{files_before[0]:12,}{files_after[0]:12,}")
        print(f"{'MB':20}{files_before[1] / 1e6:12,.1f}{files_after[1] / 1e6:12,.1f}")
        for name in QUERIES:
            print(f"{name + ', ms':20}{times_before[name]:12,.1f}{times_after[name]:12,.1f}")
        print(f"compacted in {elapsed:.1f} s, peak memory {peak_mb:,.0f} MB, both with the start of a process")
        contents = read_contents(storage)
        manifest = prune(contents, plan_prune(contents, date(2026, 9, 2)), date(2026, 9, 2))
        assert manifest.known
        print(f"keys kept by a prune: {manifest.known.bytes / (runs * articles):.0f} bytes an article")
        print(f"rows the same: {before == after}; findings of verify: {len(findings)}")
    return int(before != after or bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
