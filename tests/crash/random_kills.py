"""kill -9 at random moments of a run, again and again, then a run to its end: no row is lost, none doubled.

    python tests/crash/random_kills.py [kills] [seed]

Each dataset is killed five times in a row, every time with one seed file more to read, before a run may end. Half of
the moments are drawn from the whole time between the lock and the end of an undisturbed run, half from the time
after the first staged file, which is the commit. Prints what each kill hit, and rows, distinct rows, rows of an
undisturbed run and findings of verify; exits 1 unless they agree.
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
from pathlib import Path

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
    """Returns when the process holds the lock, or has staged its first file, or is at its end."""
    mark = f"{process.pid}"
    while process.poll() is None:
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
    """Runs undisturbed and returns the seconds from the lock, and from the first staged file, to the end."""
    process = start(root, seeds)
    begins = {}
    for moment in ("lock", "staged"):
        wait_for(process, root, moment)
        begins[moment] = time.monotonic()
    assert process.wait() == 0
    return {moment: time.monotonic() - begin for moment, begin in begins.items()}


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


def torture(folder: Path, kills: int, rng: random.Random) -> int:
    """Kills until that many have hit; returns the number of datasets that came out wrong."""
    seeds = make_seeds(folder)
    undisturbed = folder / "undisturbed"
    spans = spans_of_a_run(undisturbed, seeds)
    expected, _, _ = check(undisturbed, undisturbed)
    print(f"undisturbed: {dict(expected)}; {spans['lock']:.1f} s from the lock, {spans['staged']:.1f} s of commit")
    hits: Counter[str] = Counter()
    wrong = number = 0
    while sum(hits.values()) < kills:
        root = folder / str(number)
        moments = []
        for round_ in range(min(KILLS_A_DATASET, kills - sum(hits.values()))):
            moment = rng.choice(("lock", "staged"))
            delay_s = rng.uniform(0, spans[moment])
            hit = kill_at(root, seeds[: round_ + 1], moment, delay_s)
            if hit == "ended before":  # the machine has become faster: draw from a shorter time
                spans[moment] = delay_s
            moments.append(f"{moment} + {delay_s:.2f} s: {hit}")
            if hit != "ended before":
                hits[hit] += 1
        newsbeam("run", "-q", "-d", root, "--seeds", *seeds)
        rows, distinct, findings = check(root, undisturbed)
        right = rows == distinct == expected and not findings
        wrong += not right
        print(f"dataset {number}: {'; '.join(moments)}")
        print(f"  rows {sum(rows.values())} = distinct {sum(distinct.values())} = undisturbed {sum(expected.values())};"
              f" verify: {findings} findings{'' if right else '  WRONG'}", flush=True)  # fmt: skip
        shutil.rmtree(root)
        number += 1
    print(f"{sum(hits.values())} kills ({', '.join(f'{count} {name}' for name, count in hits.items())}), {wrong} wrong")
    return wrong


def main(arguments: list[str]) -> int:
    kills = int(arguments[0]) if arguments else 50
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().randrange(10_000)
    print(f"{kills} kills, seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        return int(torture(Path(folder), kills, random.Random(seed)) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
