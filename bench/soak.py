"""A long run against 200 feeds that publish, edit, fail, move, limit and stall: is anything lost, doubled or growing?

deploy/loopback_only.sh .venv/bin/python bench/soak.py --mode watch     # 30 minutes
deploy/loopback_only.sh .venv/bin/python bench/soak.py --mode flink     # a stream on Flink, in its job server
deploy/loopback_only.sh .venv/bin/python bench/soak.py --mode prism --minutes 3

Prints a line of figures each minute and the count at the end; exit 1 if something is lost, doubled, left over, or if
the memory of the last third is more than a fifth above that of the middle one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.rows import assert_sound
from tests.runners.newsroom import Newsroom, count, is_complete, items_of_all, stream_words, watch_words
from tests.runners.processes import descendants, end, is_loopback_only, job_server, start
from tests.servers import Answer, Request

MINUTE_S = 60.0
SAMPLES_A_MINUTE = 6
END_S = 240.0  # for what is on its way when publishing is over
MOST_GROWTH = 1.2


class Soaked(Newsroom):
    """A newsroom in which four feeds of ten make trouble, each kind in its own way."""

    INTERVAL = "20s"

    def __init__(self, feeds: int, rate_per_s: float, articles: int) -> None:
        super().__init__(feeds, rate_per_s, articles, one_server=True)
        self._calls: dict[str, int] = {}

    def _answer(self, request: Request) -> Answer | int:
        host = request.headers["host"].partition(":")[0]
        kind = int(host.rpartition(".")[2]) % 10
        path = request.path
        if path not in ("/feed.xml", "/moved.xml"):
            return super()._answer(request)
        call = self._calls[host] = self._calls.get(host, 0) + 1
        if kind == 0 and call % 3 == 0:
            return 503
        if kind == 1 and path == "/feed.xml":
            return Answer(301, headers={"Location": "/moved.xml"})
        if kind == 2 and call % 4 == 0:
            return Answer(429, headers={"Retry-After": "20"})
        if kind == 3 and call % 5 == 0:
            return Answer(hang=True)
        return super()._answer(replace(request, path="/feed.xml"))


def rss_mb(pids: list[int]) -> float:
    """Resident memory of some processes, MB; shared pages count for each."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError):  # it may be over
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def _words(mode: str, room: Newsroom, folder: Path) -> Iterator[list[object]]:
    """Yields the command line; starts the job server if there is to be one."""
    root = folder / "out"
    if mode == "watch":
        yield watch_words(room, root, folder)
    elif mode == "prism":
        yield stream_words(room, root, folder, "--runner", "prism")
    else:
        with job_server("flink", folder) as port:
            yield stream_words(room, root, folder, "--runner", "flink", f"--job_endpoint=127.0.0.1:{port}")


def soak(mode: str, room: Newsroom, folder: Path, minutes: float) -> int:
    """Runs one mode, prints its figures, returns the exit code."""
    root, samples, family = folder / "out", list[float](), set[int]()
    others = set(descendants(os.getpid()))
    with _words(mode, room, folder) as words:
        process = start(words, folder / "log")
        try:
            stop_s = time.monotonic() + minutes * MINUTE_S + END_S
            while time.monotonic() < stop_s and process.poll() is None and not is_complete(room, root):
                time.sleep(MINUTE_S / SAMPLES_A_MINUTE)
                pids = [pid for pid in descendants(os.getpid()) if pid not in others]
                family.update(pids)
                samples.append(rss_mb(pids))
                if len(samples) % SAMPLES_A_MINUTE == 0:
                    commits = len(list((root / "_runs").glob("*.json")))
                    said = f"{room.published:6,} published  {commits:5,} commits  {len(pids):3} processes"
                    print(f"{len(samples) // SAMPLES_A_MINUTE:4} min  {said}  {samples[-1]:6.0f} MB", flush=True)
            is_alive = process.poll() is None
        finally:
            end(process, timeout_s=60)
    time.sleep(2)
    orphans = [pid for pid in family if Path(f"/proc/{pid}/exe").exists()]
    counted = count(room, root)
    third = max(1, len(samples) // 3)
    middle, last = sum(samples[third : 2 * third]) / third, sum(samples[-third:]) / third
    print(f"{mode}: {counted}\n  {items_of_all(root)}")
    print(
        f"  RSS middle third {middle:.0f} MB, last third {last:.0f} MB; orphans {orphans}; alive at the end: {is_alive}"
    )
    assert_sound(root)
    return int(not counted.is_right or bool(orphans) or not is_alive or last > middle * MOST_GROWTH)


def main() -> int:
    """Runs the soak that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--rate", type=float, default=2.0, help="articles a second, over all feeds")
    parser.add_argument("--mode", choices=("watch", "prism", "flink"), default="watch")
    args = parser.parse_args()
    if not is_loopback_only():
        print("the server listens on all addresses: use deploy/loopback_only.sh", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="newsbeam-soak-"))
    print(f"in {folder}", flush=True)
    with Soaked(args.feeds, args.rate, int(args.minutes * MINUTE_S * args.rate)) as room:
        code = soak(args.mode, room, folder, args.minutes)
    if code == 0:
        shutil.rmtree(folder)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
