"""How long it takes to load, ask and grow the state of what is known.

    python -m bench.state [keys]

Makes a snapshot with that many articles (each with one address, one version and one text), then loads it in
a process of its own, so that memory can be told.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from transforms.dedupe.fold import merge
from transforms.dedupe.snapshot import EMPTY, RELATIONS, State, from_file, to_bytes
from transforms.dedupe.state import KnownState
from transforms.records import Entry

LOOKUPS = 20_000


def made_state(count: int) -> State:
    rng = np.random.default_rng(7)
    hashes = [hashlib.sha256(str(number).encode()) for number in range(count)]
    columns: dict[str, Any] = {
        "article_id": pa.array([f"1-{digest.hexdigest()[:32]}" for digest in hashes]),
        "content_sha256": pa.array([digest.digest() for digest in hashes], pa.binary(32)),
        "revision": pa.array(np.ones(count, np.int32)),
        "is_poor": pa.array(np.zeros(count, np.bool_)),
        "at": pa.array(np.arange(count) * 1_000_000, RELATIONS["article"].field("at").type),
    }
    state = dict(EMPTY)
    for name in ("version", "url", "article", "text"):
        keys = np.unique(rng.integers(0, 2**63, count + count // 100, dtype=np.uint64))[:count]
        arrays = [pa.array(keys) if column == "key" else columns[column] for column in RELATIONS[name].names]
        state[name] = pa.table(arrays, schema=RELATIONS[name])
    return state


def memory_mb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20


def measure(path: str) -> None:
    before = memory_mb()
    start = time.perf_counter()
    with open(path, "rb") as file:
        state = from_file(file)
    known = KnownState(state)
    print(f"load     {time.perf_counter() - start:6.2f} s   {memory_mb() - before} MB")
    start = time.perf_counter()
    for number in range(LOOKUPS):
        known.is_known(Entry("https://a.example/", f"{number:032x}", "v1", "a", "feed"))
    print(f"look up  {(time.perf_counter() - start) / LOOKUPS * 1e6:6.1f} us")
    additions = {
        name: state[name].slice(0, 1).set_column(0, "key", pa.array([7], pa.uint64())) for name in ("version", "url")
    }
    start = time.perf_counter()
    grown = merge(state, [additions])
    print(f"grow     {time.perf_counter() - start:6.2f} s")
    start = time.perf_counter()
    to_bytes(grown)
    print(f"encode   {time.perf_counter() - start:6.2f} s")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--load"]:
        measure(arguments[1])
        return 0
    count = int(arguments[0]) if arguments else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.parquet"
        path.write_bytes(to_bytes(made_state(count)))
        print(f"{count:,} articles, {path.stat().st_size >> 20} MB on disk")
        sys.stdout.flush()
        return subprocess.run([sys.executable, "-m", "bench.state", "--load", str(path)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
