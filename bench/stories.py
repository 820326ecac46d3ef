"""How long ``newsbeam dataset stories`` takes, and how much memory, by number of articles.

    python -m bench.stories [articles ...]

Texts are made up: words of Zipf-like frequency and stock phrases, a fifth of the articles are edited copies of
others, one story in a thousand has a hundred copies. Each size runs in a process of its own, twice: all new, and
once more over the same. Exits 1 if a text is grouped wrongly too often, or if twice as many articles take more
than three times as long.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.write import default_of
from transforms.schema import ARTICLES
from transforms.write.encode import cut_parts, data_path, encode, sort_rows

SIZES = (12_500, 25_000, 50_000)
START = datetime(2026, 11, 30, tzinfo=timezone.utc)
MAX_GROWTH = 3.0
LEAST_RIGHT = 0.98
DRAW = 4_000  # rows that are made at once


def words_and_phrases(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 11))) for _ in range(30_000)]
    pool = rng.choices(words, [1 / (rank + 3) for rank in range(len(words))], k=2_000_000)
    phrases = [rng.choices(words[:2_000], k=rng.randint(3, 12)) for _ in range(3_000)]
    return pool, phrases


def text_of(rng: random.Random, pool: list[str], phrases: list[list[str]]) -> list[str]:
    """A new text of 100 to 900 words, a tenth of it phrases that others use too."""
    words: list[str] = []
    for _ in range(rng.randint(4, 36)):
        at = rng.randrange(len(pool) - 30)
        words += pool[at : at + 22] + rng.choice(phrases)[:3]
    return words


def edited(rng: random.Random, words: list[str], pool: list[str]) -> list[str]:
    share = rng.choice((0.0, 0.05, 0.1, 0.2))
    return [rng.choice(pool) if rng.random() < share else word for word in words] + rng.choices(pool, k=12)


def make_dataset(root: Path, count: int, seed: int = 11) -> dict[str, int]:
    """Writes articles of today and returns the original of each."""
    rng = random.Random(seed)
    pool, phrases = words_and_phrases(rng)
    defaults = {field.name: default_of(field) for field in ARTICLES}
    originals: list[list[str]] = []
    busy: list[int] = []
    original_of: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    for number in range(count):
        if originals and rng.random() < 0.2:
            # A tenth of the copies are of the few stories that are carried everywhere.
            original = rng.choice(busy) if busy and rng.random() < 0.1 else rng.randrange(len(originals))
            words = edited(rng, originals[original], pool)
        else:
            original, words = len(originals), text_of(rng, pool, phrases)
            originals.append(words)
            if original % 1_000 == 0:
                busy.append(original)
        article_id = f"1-{rng.getrandbits(128):032x}"
        original_of[article_id] = original
        rows.append(
            defaults
            | {"article_id": article_id, "revision": 1, "text": " ".join(words), "domain": f"p{number % 900}.example"}
            | {"published_at": START + timedelta(seconds=number), "first_seen_at": START + timedelta(seconds=number)}
        )
        if len(rows) >= DRAW or number == count - 1:
            for part in cut_parts(sort_rows("articles", rows)):
                path = root / data_path("articles", {"ingest_date": "2026-11-30"}, f"made.00000.{number}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(encode("articles", part))
            rows = []
    return original_of


def pairs(groups: Counter[Any]) -> int:
    return sum(size * (size - 1) // 2 for size in groups.values())


def measure(root: Path) -> dict[str, float]:
    """Groups a dataset that lies there; what the second run took is ``again_s``."""
    from pipeline.dataset.stories import run_stories
    from transforms.stories.read import read_grouped
    from transforms.write.storage import storage_of

    now = START + timedelta(hours=12)
    began = time.perf_counter()
    found = run_stories(str(root), 3, now)
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.perf_counter()
    again = run_stories(str(root), 3, now)
    assert again.run_id is None, "the second run wrote rows"
    again_s = time.perf_counter() - began
    original_of = json.loads((root / "original_of.json").read_text())
    story_of = {name: row.story_id for name, row in read_grouped(storage_of(str(root)), START.date()).items()}
    both = pairs(Counter((original_of[name], story) for name, story in story_of.items()))
    return {
        "articles": found.articles, "s": took, "again_s": again_s, "peak_mb": peak,
        "precision": both / pairs(Counter(story_of.values())), "recall": both / pairs(Counter(original_of.values())),
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--measure"]:
        print(json.dumps(measure(Path(arguments[1]))))
        return 0
    print(f"{'articles':>9}{'seconds':>9}{'again':>8}{'articles/s':>12}{'peak MB':>9}{'P':>8}{'R':>8}")
    results = []
    for count in [int(word) for word in arguments] or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            original_of = make_dataset(Path(folder), count)
            (Path(folder) / "original_of.json").write_text(json.dumps(original_of))
            command = [sys.executable, "-m", "bench.stories", "--measure", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        results.append(found)
        rate = found["articles"] / found["s"]
        print(
            f"{found['articles']:9,}{found['s']:9.1f}{found['again_s']:8.1f}{rate:12,.0f}{found['peak_mb']:9,.0f}"
            f"{found['precision']:8.4f}{found['recall']:8.4f}"
        )
    growth = [
        later["s"] / earlier["s"] / (later["articles"] / earlier["articles"]) * 2
        for earlier, later in pairwise(results)
    ]
    wrong = [found for found in results if min(found["precision"], found["recall"]) < LEAST_RIGHT]
    return int(bool(wrong) or max(growth, default=0.0) > MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
