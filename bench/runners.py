"""Runner by runner: are the rows those of the in-process run, in batch and streaming, and what does it cost?

deploy/loopback_only.sh .venv/bin/python bench/runners.py                             # all but a real cluster
deploy/loopback_only.sh .venv/bin/python bench/runners.py --runners prism flink --pages 200

Batch: ``--pages`` pages over 40 loopback hosts, real ones if the packs are beside the project (repeated under
different addresses), else our own. Streaming: a feed of 40 pages. CPU is that of launcher, workers and job server
together; the server of the pages is this process and not counted. Exit 1 if rows differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.eval.extract_pages import load_sets, packs_root
from tests.program import newsbeam, page
from tests.rows import stable_rows
from tests.runners.processes import (
    DEPLOY,
    FlinkCluster,
    descendants,
    end,
    is_loopback_only,
    job_server,
    listeners,
    start,
)
from tests.servers import Answer, NewsServer, Request

HOSTS = 40
FEED_PAGES = 40
TABLES = ("articles", "article_topics", "rejects")
STREAM_TIMEOUT_S = 240.0
PROCESS = ["--environment_type=PROCESS", f'--environment_config={{"command": "{DEPLOY}/worker.sh"}}']
NO_STREAM = {"processes", "spark"}
RUNNERS = ("direct", "processes", "prism", "flink", "spark")
MORE = ("flink-process", "flink-cluster")
_TICK_S = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """A line of the table; what was not measured is empty."""

    runner: str
    batch: str
    stream: str
    cpu_s: float
    wall_s: float


class Bench:
    """The pages, the servers, and the in-process run that all others are compared with."""

    def __init__(self, folder: Path, pages: int) -> None:
        self.folder = folder
        self._bodies = _bodies()
        self._published = formatdate(usegmt=True)
        self._stack = contextlib.ExitStack()
        self._servers = [NewsServer({"*": self._answer}, host=f"127.0.2.{n + 1}") for n in range(HOSTS)]
        for server in self._servers:
            self._stack.enter_context(server)
        self._urls = folder / "urls.txt"
        self._urls.write_text("".join(f"{self._url(number)}\n" for number in range(pages)))
        self._config = folder / "newsbeam.yaml"
        settings = {"version": 1, "topics": str(DEPLOY.parent / "configs/topics.yaml"), "max_pages_per_host": 0}
        self._config.write_text(json.dumps(settings | {"allow_loopback": True, "host_gap": "0s", "seeds": []}))

    def close(self) -> None:
        """Stops the servers."""
        self._stack.close()

    def batch(self, name: str, flags: list[str], others: Callable[[], list[int]]) -> tuple[Path, float, float]:
        """Runs all pages once; returns the dataset, CPU and wall seconds."""
        root = self.folder / f"batch-{name}"
        words = ["-c", self._config, "--urls", self._urls, "-d", root, "--now", "2026-11-30T10:00:00Z", "--quiet"]
        before_s, began = _children_s() + _cpu_s(others()), time.monotonic()
        newsbeam("run", *words, *flags, timeout_s=1800)
        return root, _children_s() + _cpu_s(others()) - before_s, time.monotonic() - began

    def once(self) -> None:
        """Polls the feed once, in process: what the streams are compared with."""
        newsbeam("run", *self._followed(self.folder / "once"), "--quiet", timeout_s=300)

    def watch(self) -> Path:
        """Follows the feed as the in-process runner does it."""
        root = self.folder / "watch"
        newsbeam("watch", *self._followed(root), "--every", "5s", "--until", "20s", timeout_s=300)
        return root

    def stream(self, name: str, flags: list[str]) -> Path:
        """Follows the feed until all of it is committed."""
        root = self.folder / f"stream-{name}"
        words = [sys.executable, "-m", "pipeline", "run", "--streaming", "--stream-id", "bench", "--tick", "1s"]
        process = start([*words, *self._followed(root), *flags], self.folder / f"stream-{name}.log")
        try:
            deadline = time.monotonic() + STREAM_TIMEOUT_S
            while time.monotonic() < deadline and process.poll() is None and not _is_settled(root):
                time.sleep(1)
        finally:
            end(process, timeout_s=30)
        return root

    def _followed(self, root: Path) -> list[object]:
        return ["-c", self._config, "--feeds", self._servers[0].url("/feed.xml"), "-d", root]

    def _url(self, number: int) -> str:
        return self._servers[number % HOSTS].url(f"/page/{number}")

    def _answer(self, request: Request) -> Answer | int | bytes:
        if request.path.startswith("/page/"):
            return self._bodies[int(request.path.rpartition("/")[2]) % len(self._bodies)]
        if request.path != "/feed.xml":
            return 404
        items = "".join(
            f"<item><title>Item {number}</title><link>{self._url(number)}</link><guid>{number}</guid>"
            f"<pubDate>{self._published}</pubDate></item>"
            for number in range(FEED_PAGES)
        )
        text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Vale</title>{items}</channel></rss>'
        return Answer(body=text, headers={"Content-Type": "application/rss+xml"})


def _bodies() -> list[bytes]:
    """The pages; each address is an article of its own, so they do not say where they really come from."""
    root = packs_root()
    if not (root / "pages").is_dir():
        return [page(number).encode() for number in range(400)]
    golds = [gold for golds in load_sets(root).values() for gold in golds]
    return [re.sub(rb"canonical|og:url|mainEntityOfPage", b"elsewhere", gold.body) for gold in golds]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_s(pids: list[int]) -> float:
    """CPU seconds of running processes and of their children that are over."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
            total += sum(int(field) for field in fields[11:15]) / _TICK_S
    return total


def _is_settled(root: Path) -> bool:
    """Whether something is committed and nothing is under way."""
    return bool(list((root / "_runs").glob("*.json"))) and not list((root / "_spool").glob("*.json"))


def _verdict(mine: Path, theirs: Path) -> str:
    for table in TABLES:
        a, b = stable_rows(mine, table), stable_rows(theirs, table)
        if a != b:
            return f"DIFFER ({table}: {len(a)} and {len(b)})"
    return f"equal ({len(stable_rows(mine, 'articles')):,})"


@contextlib.contextmanager
def _runner(name: str, folder: Path) -> Iterator[tuple[list[str], Callable[[], list[int]]]]:
    """Yields the flags of a runner, and what tells the processes beside the launcher that work for it."""
    if name in ("direct", "prism"):
        yield ["--runner", name], list
    elif name == "processes":
        yield ["--direct_running_mode=multi_processing", "--direct_num_workers=2"], list
    elif name == "flink-cluster":
        with FlinkCluster(folder / "cluster") as cluster:
            flags = ["--runner", "flink", f"--job_endpoint=127.0.0.1:{cluster.job_port}", *PROCESS]
            yield flags, lambda: descendants(os.getpid())
            cluster.cancel_all()
    else:
        kind = name.partition("-")[0]
        with job_server(kind, folder / name) as port:
            flags = ["--runner", kind, f"--job_endpoint=127.0.0.1:{port}"]
            yield flags + (PROCESS if name.endswith("-process") else []), lambda: descendants(os.getpid())


def measure(bench: Bench, name: str) -> Row:
    """Returns the line of one runner; ``direct`` comes first, the others are compared with it."""
    with _runner(name, bench.folder) as (flags, others):
        root, cpu_s, wall_s = bench.batch(name, flags, others)
        wide = " ".join(address for address in listeners() if address.startswith("*")) or "nothing but loopback"
        print(f"  {name}: {cpu_s:.0f} CPU-s; listened on: {wide}", file=sys.stderr, flush=True)
        if name == "direct":
            bench.once()
            stream = "n/a; watch: " + _verdict(bench.watch(), bench.folder / "once")
        elif name in NO_STREAM:
            stream = "n/a; use watch"
        else:
            stream = _verdict(bench.stream(name, flags), bench.folder / "once")
    return Row(name, _verdict(root, bench.folder / "batch-direct"), stream, cpu_s, wall_s)


def main() -> int:
    """Prints the table; returns 1 if rows differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runners", nargs="+", choices=(*RUNNERS, *MORE), default=list(RUNNERS))
    parser.add_argument("--pages", type=int, default=2000)
    args = parser.parse_args()
    if not is_loopback_only():
        print("runners listen on all interfaces: use deploy/loopback_only.sh", file=sys.stderr)
        return 2
    print(f"network interfaces: {', '.join(name for _, name in socket.if_nameindex())}")
    with tempfile.TemporaryDirectory(prefix="newsbeam-runners-") as name:
        bench = Bench(Path(name), args.pages)
        try:
            names = ["direct", *(runner for runner in args.runners if runner != "direct")]
            rows = [measure(bench, runner) for runner in names]
        finally:
            bench.close()
    print(f"\n{args.pages:,} pages over {HOSTS} hosts; a stream of {FEED_PAGES}\n")
    print("| runner | batch rows | streaming rows | CPU-s | x in-process | wall s |\n|---|---|---|---|---|---|")
    for row in rows:
        times = row.cpu_s / rows[0].cpu_s
        print(f"| {row.runner} | {row.batch} | {row.stream} | {row.cpu_s:.0f} | {times:.2f} | {row.wall_s:.0f} |")
    return int(any("DIFFER" in row.batch + row.stream for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
