"""kill -9 at random moments of a run, again and again, then a run to its end: no row is lost, none doubled.

    python tests/crash/random_kills.py [kills] [seed] [--store]

With --store the datasets lie in a bucket of fake-gcs-server, which is started for it and honours conditional writes;
where it or Google's client is not installed (make gcs-test installs both), that is left out. Each dataset is killed five times in a row, every time with one seed file more to read, before a run may end. Half of
the moments are drawn from the time between the lock and the manifest of an undisturbed run, half from the commit, which
begins with the first staged file. Prints what each kill hit, and rows, distinct rows, rows of an undisturbed run and
findings of verify; exits 1 unless they agree.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.gcs import stores  # noqa: E402
from tests.program import newsbeam, story  # noqa: E402
from tests.rows import assert_same_rows, assert_sound, read_rows  # noqa: E402
from transforms.maintain.verify import verify, walk  # noqa: E402
from transforms.write.lock import LOCK_FILE  # noqa: E402
from transforms.write.storage import STAGING, DatasetError, Storage, storage_of  # noqa: E402

KILLS_A_DATASET = 5
ARTICLES_A_FILE = 10
RUN_TIMEOUT_S = 400
TABLES = ("articles", "article_topics", "rejects")
KEYS = {
    "articles": ("article_id", "revision"),
    "article_topics": ("article_id", "revision", "topic"),
    "rejects": ("reject_id",),
}


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


def start(root: str, seeds: list[Path]) -> subprocess.Popen[bytes]:
    words = ["run", "-q", "-d", root, "--seeds", *map(str, seeds)]
    return subprocess.Popen([sys.executable, "-m", "pipeline", *words], cwd=ROOT)


def manifests(storage: Storage) -> int:
    return sum(name.endswith(".json") for name in storage.names("_runs"))


def has_staged(storage: Storage) -> bool:
    return any(path.endswith(".parquet") for path in walk(storage, STAGING))


def holds_lock(storage: Storage, process: subprocess.Popen[bytes]) -> bool:
    try:
        return f"{process.pid}".encode() in storage.read(LOCK_FILE)
    except DatasetError:  # not there yet, or renewed at this moment
        return False


def wait_for(process: subprocess.Popen[bytes], storage: Storage, moment: str) -> None:
    """Returns when the process holds the lock, has staged its first file or has its manifest, or is at its end."""
    while process.poll() is None:
        if moment == "committed" and manifests(storage):
            return
        if moment == "staged" and has_staged(storage):
            return
        if moment == "lock" and holds_lock(storage, process):
            return
        time.sleep(0.002)


def state_of(storage: Storage) -> str:
    """Says how far a commit had come."""
    if any(name.endswith(".journal") for name in storage.names("_runs")):
        return "journal"
    return "staged files" if has_staged(storage) else "nothing staged"


def kill_at(root: str, seeds: list[Path], moment: str, delay_s: float) -> str:
    """Starts a run and kills it some time after a moment; returns what it had done."""
    storage = storage_of(root)
    before = manifests(storage)
    process = start(root, seeds)
    wait_for(process, storage, moment)
    deadline = time.monotonic() + delay_s
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    if process.poll() is not None:
        assert process.returncode == 0, f"exit {process.returncode}"
        return "ended before"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return "committed" if manifests(storage) > before else state_of(storage)


def spans_of_a_run(root: str, seeds: list[Path]) -> dict[str, float]:
    """Runs undisturbed and returns the seconds from the lock, and from the first staged file, to the manifest."""
    process = start(root, seeds)
    times = {}
    for moment in ("lock", "staged", "committed"):
        wait_for(process, storage_of(root), moment)
        times[moment] = time.monotonic()
    assert process.wait() == 0
    return {moment: times["committed"] - times[moment] for moment in ("lock", "staged")}


def local_copy(root: str, folder: Path) -> Path:
    return Path(root) if "://" not in root else stores.download(root, folder)


def check(root: Path, undisturbed: Path) -> tuple[Counter[str], Counter[str]]:
    """Compares with the undisturbed dataset; returns rows and distinct rows by table."""
    assert_same_rows(undisturbed, root)
    assert_sound(root)
    rows, distinct = Counter[str](), Counter[str]()
    for table in TABLES:
        found = read_rows(root, table)
        rows[table] = len(found)
        distinct[table] = len({tuple(row[name] for name in KEYS[table]) for row in found})
    return rows, distinct


class Trial(NamedTuple):
    """What became of one dataset: a line for people, what its kills hit, and whether it came out right."""

    told: str
    hits: list[str]
    is_right: bool


def try_dataset(folder: Path, base: str, number: int, seed: int, spans: Mapping[str, float]) -> Trial:
    """Kills five runs in a row, lets the sixth come to its end, and compares."""
    rng = random.Random(f"{seed}.{number}")
    seeds = sorted(folder.glob("*.jsonl"))
    root, undisturbed = f"{base}/{number}", folder / "undisturbed"
    moments, hits = [], []
    for last in range(KILLS_A_DATASET):
        moment = rng.choice(("lock", "staged"))
        delay_s = rng.uniform(0, spans[moment])
        hits.append(kill_at(root, seeds[: last + 1], moment, delay_s))
        moments.append(f"{moment} + {delay_s:.2f} s: {hits[-1]}")
    newsbeam("run", "-q", "-d", root, "--seeds", *seeds, timeout_s=RUN_TIMEOUT_S)
    findings = len(verify(storage_of(root), lambda line: None).findings)
    copy = local_copy(root, folder / f"{number}.copy")
    expected, _ = check(undisturbed, undisturbed)
    rows, distinct = check(copy, undisturbed)
    is_right = rows == distinct == expected and not findings
    shutil.rmtree(copy)
    told = (
        f"dataset {number}: {'; '.join(moments)}\n  rows {sum(rows.values())} = distinct {sum(distinct.values())} ="
        f" undisturbed {sum(expected.values())}; verify: {findings} findings{'' if is_right else '  WRONG'}"
    )
    return Trial(told, [hit for hit in hits if hit != "ended before"], is_right)


def torture(folder: Path, base: str, kills: int, seed: int) -> int:
    """Kills until that many have hit, two datasets at a time; returns how many datasets came out wrong."""
    spans = spans_of_a_run(f"{base}/undisturbed", make_seeds(folder))
    local_copy(f"{base}/undisturbed", folder / "undisturbed")
    print(
        f"a run: {spans['lock']:.2f} s from the lock to the manifest, {spans['staged']:.2f} s of them commit",
        flush=True,
    )
    hits: Counter[str] = Counter()
    wrong = number = 0
    with ThreadPoolExecutor(2) as pool:
        while sum(hits.values()) < kills:
            trials = list(pool.map(lambda n: try_dataset(folder, base, n, seed, spans), (number, number + 1)))
            number += 2
            for trial in trials:
                hits.update(trial.hits)
                wrong += not trial.is_right
                print(trial.told, flush=True)
    print(f"{sum(hits.values())} kills ({', '.join(f'{count} {name}' for name, count in hits.items())}), {wrong} wrong")
    return wrong


@contextmanager
def store() -> Iterator[str | None]:
    """Runs a store on loopback; yields the address for datasets, or ``None`` if it is not installed."""
    port = stores.free_port()
    command = stores.fake_gcs_command(port)
    if command is None or not stores.has_client():
        yield None
        return
    with stores.running(command, f"http://127.0.0.1:{port}") as address:
        os.environ["STORAGE_EMULATOR_HOST"] = address
        yield f"{stores.BUCKET}/killed"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="kill -9 at random moments, then a run to its end")
    parser.add_argument("kills", nargs="?", type=int, default=50)
    parser.add_argument("seed", nargs="?", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--store", action="store_true", help="datasets on fake-gcs-server")
    flags = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if not flags.store:
            print(f"{flags.kills} kills on a disk, seed {flags.seed}")
            return int(torture(Path(folder), folder, flags.kills, flags.seed) > 0)
        with store() as base:
            if base is None:
                print(
                    "kills on a store are left out: fake-gcs-server or the extra gcp is not installed (make gcs-test)"
                )
                return 0
            print(f"{flags.kills} kills on fake-gcs-server, seed {flags.seed}")
            return int(torture(Path(folder), base, flags.kills, flags.seed) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
