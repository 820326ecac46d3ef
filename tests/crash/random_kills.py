"""kill -9 at random moments of a run, again and again, then a run to its end: no row is lost, none doubled.

    python tests/crash/random_kills.py [kills] [seed]

Each dataset is killed five times in a row, every time with one seed file more to read, before a run may end. Half of
the moments are drawn from the time between the lock and the manifest of an undisturbed run, half from the commit, which
begins with the first staged file. Prints what each kill hit, and rows, distinct rows, rows of an undisturbed run and
findings of verify; exits 1 unless they agree.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.program import newsbeam, story  # noqa: E402
from tests.rows import assert_same_rows, assert_sound, read_rows  # noqa: E402
from transforms.maintain.verify import verify  # noqa: E402
from transforms.write.storage import storage_of  # noqa: E402

KILLS_A_DATASET = 5
ARTICLES_A_FILE = 10
TABLES = ("articles", "article_topics", "rejects")
KEYS = {"articles": ("article_id", "revision"), "article_topics": ("article_id", "topic"), "rejects": ("reject_id",)}


def make_seeds(folder: Path) -> list[Path]:
    """Writes seed files of invented articles, each with a line that is refused."""
    paths = []
    for number in range(KILLS_A_DATASET):
        records = []
        for place in range(number * ARTICLES_A_FILE, (number + 1) * ARTICLES_A_FILE):
            title, paragraphs = story(place)
            url = f"https://vale-post.example/{place}"
            records.append(json.dumps({"url": url, "title": title, "text": "\n\n".join(paragraphs)}))
        path = folder / f"{number}.jsonl"
        path.write_text("\n".join([*records, '{"cut": "line ' + str(number)]) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def start(root: Path, seeds: list[Path]) -> subprocess.Popen[bytes]:
    words = ["run", "-q", "-d", str(root), "--seeds", *map(str, seeds)]
    return subprocess.Popen([sys.executable, "-m", "pipeline", *words], cwd=ROOT)


def wait_for(process: subprocess.Popen[bytes], root: Path, moment: str) -> None:
    """Returns when the process holds the lock, has staged its first file or has its manifest, or is at its end."""
    mark = f"{process.pid}"
    while process.poll() is None:
        if moment == "committed" and any(root.glob("_runs/*.json")):
            return
        if moment == "staged" and any(root.glob("_staging/*/*.parquet")):
            return
        if moment == "lock" and (root / "_lock").exists() and mark in (root / "_lock").read_text(errors="replace"):
            return
        time.sleep(0.002)


def state_of(root: Path) -> str:
    """Says how far a commit had come."""
    runs = [path.name for path in root.glob("_runs/*")]
    if any(name.endswith(".journal") for name in runs):
        return "journal"
    if list(root.glob("_staging/*/*.parquet")):
        return "staged files"
    return "nothing staged"


def kill_at(root: Path, seeds: list[Path], moment: str, delay_s: float) -> str:
    """Starts a run and kills it some time after a moment; returns what it had done."""
    before = len(list(root.glob("_runs/*.json")))
    process = start(root, seeds)
    wait_for(process, root, moment)
    deadline = time.monotonic() + delay_s
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    if process.poll() is not None:
        assert process.returncode == 0, f"exit {process.returncode}"
        return "ended before"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return "committed" if len(list(root.glob("_runs/*.json"))) > before else state_of(root)


def spans_of_a_run(root: Path, seeds: list[Path]) -> dict[str, float]:
    """Runs undisturbed and returns the seconds from the lock, and from the first staged file, to the manifest."""
    process = start(root, seeds)
    times = {}
    for moment in ("lock", "staged", "committed"):
        wait_for(process, root, moment)
        times[moment] = time.monotonic()
    assert process.wait() == 0
    return {moment: times["committed"] - times[moment] for moment in ("lock", "staged")}


def check(root: Path, undisturbed: Path) -> tuple[Counter[str], Counter[str], int]:
    """Compares with the undisturbed dataset; returns rows, distinct rows by table, and findings of verify."""
    assert_same_rows(undisturbed, root)
    assert_sound(root)
    rows, distinct = Counter[str](), Counter[str]()
    for table in TABLES:
        found = read_rows(root, table)
        rows[table] = len(found)
        distinct[table] = len({tuple(row[name] for name in KEYS[table]) for row in found})
    return rows, distinct, len(verify(storage_of(str(root)), lambda line: None).findings)


class Trial(NamedTuple):
    """What became of one dataset: a line for people, what its kills hit, and whether it came out right."""

    told: str
    hits: list[str]
    is_right: bool


def try_dataset(folder: Path, number: int, seed: int, spans: Mapping[str, float]) -> Trial:
    """Kills five runs in a row, lets the sixth come to its end, and compares."""
    rng = random.Random(f"{seed}.{number}")
    seeds = sorted(folder.glob("*.jsonl"))
    root, undisturbed = folder / str(number), folder / "undisturbed"
    moments, hits = [], []
    for last in range(KILLS_A_DATASET):
        moment = rng.choice(("lock", "staged"))
        delay_s = rng.uniform(0, spans[moment])
        hits.append(kill_at(root, seeds[: last + 1], moment, delay_s))
        moments.append(f"{moment} + {delay_s:.2f} s: {hits[-1]}")
    newsbeam("run", "-q", "-d", root, "--seeds", *seeds)
    expected, _, _ = check(undisturbed, undisturbed)
    rows, distinct, findings = check(root, undisturbed)
    is_right = rows == distinct == expected and not findings
    shutil.rmtree(root)
    told = (
        f"dataset {number}: {'; '.join(moments)}\n  rows {sum(rows.values())} = distinct {sum(distinct.values())} ="
        f" undisturbed {sum(expected.values())}; verify: {findings} findings{'' if is_right else '  WRONG'}"
    )
    return Trial(told, [hit for hit in hits if hit != "ended before"], is_right)


def torture(folder: Path, kills: int, seed: int) -> int:
    """Kills until that many have hit, two datasets at a time; returns how many datasets came out wrong."""
    spans = spans_of_a_run(folder / "undisturbed", make_seeds(folder))
    print(
        f"a run: {spans['lock']:.2f} s from the lock to the manifest, {spans['staged']:.2f} s of them commit",
        flush=True,
    )
    hits: Counter[str] = Counter()
    wrong = number = 0
    with ThreadPoolExecutor(2) as pool:
        while sum(hits.values()) < kills:
            trials = list(pool.map(lambda n: try_dataset(folder, n, seed, spans), (number, number + 1)))
            number += 2
            for trial in trials:
                hits.update(trial.hits)
                wrong += not trial.is_right
                print(trial.told, flush=True)
    print(f"{sum(hits.values())} kills ({', '.join(f'{count} {name}' for name, count in hits.items())}), {wrong} wrong")
    return wrong


def main(arguments: list[str]) -> int:
    kills = int(arguments[0]) if arguments else 50
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().randrange(10_000)
    print(f"{kills} kills, seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        return int(torture(Path(folder), kills, seed) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
