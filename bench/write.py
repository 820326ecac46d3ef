"""How fast rows become files: the writer's own path against ``pyarrow.dataset.write_dataset`` on the same rows.

    python -m bench.write [rows] [rounds]

Both start from the same dicts and end with files on disk, zstd 3, one partition. The writer also sorts, cuts
parts, writes a page index and a bloom filter; its article_topics are left out here, as the other has none.
The rounds alternate; the best of each counts. Exits 1 if the ratio of rows per second is below the floor.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from transforms.schema import ARTICLES
from transforms.write.encode import cut_parts, encode, sort_rows

FLOOR = 0.8
START = datetime(2026, 11, 30, tzinfo=timezone.utc)
TOPICS = ("immigration", "sanctuary_city", "deportation")


def made_rows(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """Rows of articles with words of Zipf-like frequency, every seventh with topics and matches."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 11))) for _ in range(20_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    pool = rng.choices(words, weights, k=3_000_000)
    return [made_row(rng, number, pool) for number in range(count)]


def made_row(rng: random.Random, number: int, pool: list[str]) -> dict[str, Any]:
    at = rng.randrange(len(pool) - 2_000)
    text = " ".join(pool[at : at + rng.randint(150, 1_200)])
    topics = rng.sample(TOPICS, rng.randint(1, 3)) if number % 7 == 0 else []
    domain = f"paper{int(rng.paretovariate(0.8)) % 400}.example"
    values: dict[str, Any] = {field.name: default_of(field) for field in ARTICLES}
    return values | {
        "title": " ".join(pool[at : at + 9]),
        "text": text,
        "domain": domain,
        "url": f"https://{domain}/{number}",
        "topics": topics,
        "article_id": f"1-{rng.getrandbits(128):032x}",
        "content_sha256": f"{rng.getrandbits(256):064x}",
        "text_fingerprint": f"{rng.getrandbits(256):064x}",
        "body_sha256": f"{rng.getrandbits(256):064x}",
        "url_key": f"{rng.getrandbits(128):032x}",
        "fetched_at": START + timedelta(seconds=number),
        "published_at": START - timedelta(minutes=rng.randrange(10_000)),
        "word_count": text.count(" ") + 1,
        "topic_scores": [
            {"topic": t, "level": "relevant", "score": 2.5, "match_count": 3, "title_count": 0}
            | {"lead_count": 1, "body_count": 2, "implied": False}
            for t in topics
        ],
        "matches": [
            {"topic": t, "term_id": t, "surface": t, "field": "text", "start": 10 * n, "end": 10 * n + 9}
            | {"weight": 1.0, "in_boilerplate": False, "language": "en"}
            for t in topics
            for n in range(4)
        ],
    }


def default_of(field: pa.Field) -> Any:
    if field.nullable:
        return None
    if pa.types.is_list(field.type):
        return []
    if pa.types.is_timestamp(field.type):
        return START
    if pa.types.is_boolean(field.type):
        return False
    return 0 if pa.types.is_integer(field.type) or pa.types.is_floating(field.type) else "none"


def write_ours(rows: list[dict[str, Any]], folder: Path) -> None:
    for number, part in enumerate(cut_parts(sort_rows("articles", rows))):
        path = folder / "ingest_date=2026-11-30" / f"{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode("articles", part))


def write_theirs(rows: list[dict[str, Any]], folder: Path) -> None:
    parquet = ds.ParquetFileFormat()
    ds.write_dataset(
        pa.Table.from_pylist(rows, schema=ARTICLES),
        folder / "ingest_date=2026-11-30",
        format=parquet,
        file_options=parquet.make_write_options(compression="zstd", compression_level=3),
        max_rows_per_file=20_000,
        max_rows_per_group=20_000,
    )


def measure(write: Callable[[list[dict[str, Any]], Path], None], rows: list[dict[str, Any]]) -> tuple[float, int]:
    """Returns seconds and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        write(rows, Path(folder))
        elapsed = time.perf_counter() - start
        return elapsed, sum(path.stat().st_size for path in Path(folder).glob("**/*.parquet"))


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 20_000
    rounds = int(arguments[1]) if len(arguments) > 1 else 3
    rows = made_rows(count)
    random.Random(1).shuffle(rows)
    text = sum(len(row["text"]) for row in rows)
    results: dict[str, list[tuple[float, int]]] = {"newsbeam": [], "write_dataset": []}
    for _ in range(rounds):
        results["newsbeam"].append(measure(write_ours, rows))
        results["write_dataset"].append(measure(write_theirs, rows))
    print(f"{count:,} rows, {text / 1e6:.0f} MB of text, best of {rounds}")
    print(f"{'':15}{'rows/s':>10}{'bytes/row':>12}")
    best = {name: min(found) for name, found in results.items()}
    for name, (elapsed, size) in best.items():
        print(f"{name:15}{count / elapsed:10,.0f}{size / count:12,.0f}")
    ratio = best["write_dataset"][0] / best["newsbeam"][0]
    print(f"ratio of rows/s {ratio:.2f} (floor {FLOOR})")
    return int(ratio < FLOOR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
