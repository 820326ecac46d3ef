"""A long run against 200 feeds that publish, edit, fail, move, limit and stall: is anything lost, doubled or growing?

deploy/loopback_only.sh .venv/bin/python bench/soak.py --minutes 30 --mode watch
deploy/loopback_only.sh .venv/bin/python bench/soak.py --minutes 30 --mode stream     # Prism, or --runner flink ...

Prints a line of figures each minute and the count at the end; exit 1 if something is lost, doubled or left over.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.runners.newsroom import Newsroom, count, stream_words, watch_words
from tests.runners.processes import descendants, end, start
from tests.servers import Answer, Request

MINUTE_S = 60.0


class Soaked(Newsroom):
    """A newsroom in which every tenth feed is one that makes trouble, each in its own way."""

    def __init__(self, feeds: int, rate_per_s: float, articles: int) -> None:
        super().__init__(feeds, rate_per_s, articles)
        self._calls: dict[str, int] = {}

    def _answer(self, request: Request) -> Answer | int:
        host = request.headers["host"].partition(":")[0]
        number = int(host.rpartition(".")[2])
        path = request.path
        if path in ("/feed.xml", "/moved.xml") and number % 10 < 4:
            call = self._calls[host] = self._calls.get(host, 0) + 1
            kind = number % 10
            if kind == 0 and call % 3 == 0:
                return 503
            if kind == 1 and path == "/feed.xml":
                return Answer(301, headers={"Location": "/moved.xml"})
            if kind == 2 and call % 4 == 0:
                return Answer(429, headers={"Retry-After": "20"})
            if kind == 3 and call % 5 == 0:
                return Answer(hang=True)
        return super()._answer(replace(request, path="/feed.xml") if path == "/moved.xml" else request)


def rss_mb(pids: list[int]) -> float:
    """Resident memory of some processes, MB; shared pages count for each."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError):  # it may be over
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--rate", type=float, default=2.0, help="articles a second, over all feeds")
    parser.add_argument("--mode", choices=("watch", "stream"), default="watch")
    args, more = parser.parse_known_args()
    folder = Path(tempfile.mkdtemp(prefix="newsbeam-soak-"))
    root = folder / "out"
    print(f"in {folder}")
    with Soaked(args.feeds, args.rate, int(args.minutes * MINUTE_S * args.rate)) as room:
        words = (
            watch_words(room, root, folder)
            if args.mode == "watch"
            else stream_words(room, root, folder, *(more or ["--runner", "prism"]))
        )
        process = start(words, folder / "log")
        family: set[int] = set()
        samples: list[float] = []
        stop_s = time.monotonic() + (args.minutes + 3) * MINUTE_S
        try:
            while time.monotonic() < stop_s and process.poll() is None:
                time.sleep(MINUTE_S / 6)
                pids = [process.pid, *descendants(process.pid)]
                family.update(pids)
                samples.append(rss_mb(pids))
                if len(samples) % 6 == 0:
                    print(
                        f"{len(samples) // 6:4} min  {room.published:6,} published  {samples[-1]:7.0f} MB", flush=True
                    )
            is_alive = process.poll() is None
        finally:
            end(process, timeout_s=60)
        time.sleep(2)
        orphans = [pid for pid in family if Path(f"/proc/{pid}/exe").exists()]
        counted = count(room, root)
    third = max(1, len(samples) // 3)
    early, late = sum(samples[third : 2 * third]) / third, sum(samples[-third:]) / third
    print(counted)
    print(f"RSS middle third {early:.0f} MB, last third {late:.0f} MB; orphans {orphans}; alive at the end: {is_alive}")
    return int(bool(counted.lost or counted.doubled or orphans or not is_alive))


if __name__ == "__main__":
    raise SystemExit(main())
