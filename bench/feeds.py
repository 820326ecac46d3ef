"""Many feeds: a filling poll, a poll that is answered 304, `feeds list`, and a cycle of `watch` with nothing due.

    python bench/feeds.py [--feeds 1000 3000 10000] [--hosts 500] [--idle 1000 10000]

A child process serves the feeds on that many loopback addresses. Each line is a newsbeam process of its own: wall
time, CPU and peak of its resident memory; the last column is the time a feed, which should not grow with their number.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CYCLES = 5  # of watch, over which its CPU is counted
START_LIMIT_S = 120.0


def host(number: int) -> str:
    return f"127.1.{number // 250}.{number % 250 + 1}"


def serve(hosts: int, port: int) -> None:
    """Answers 304 to who has the ETag, else a feed of ten old stories, until the parent goes away."""
    items = "".join(
        f"<item><title>Ferry story {n}</title><link>/story/{n}</link><pubDate>Mon, 02 Mar 2020 10:0{n}:00 GMT</pubDate></item>"
        for n in range(10)
    )
    feed = (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour Post</title>{items}</channel></rss>'.encode()
    )
    head = f'HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nETag: "1"\r\nContent-Length: {len(feed)}\r\n'
    whole = head.encode() + b"Connection: close\r\n\r\n" + feed
    not_modified = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nConnection: close\r\n\r\n'

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            writer.write(not_modified if b"if-none-match" in request.lower() else whole)
            await writer.drain()
        writer.close()

    async def run() -> None:
        for number in range(hosts):
            await asyncio.start_server(answer, host(number), port, backlog=64)
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    asyncio.run(run())


class Cost(NamedTuple):
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def newsbeam(*words: object) -> Cost:
    """Runs a command to its end."""
    started_s = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "pipeline", *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"newsbeam {words[0]} ended with {child.returncode}:\n{said[-2000:]}")
    return Cost(time.perf_counter() - started_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def write_list(path: Path, feeds: int, hosts: int, port: int) -> None:
    lines = [f"  - url: http://{host(n % hosts)}:{port}/feed/{n}.xml\n    id: paper-{n}\n" for n in range(feeds)]
    path.write_text("version: 1\ndefaults:\n  interval: 7d\nfeeds:\n" + "".join(lines))


def tell(what: str, feeds: int, cost: Cost) -> None:
    each_ms = cost.wall_s * 1000 / feeds
    print(
        f"{what:22}{feeds:8,} {cost.wall_s:8.2f} s {cost.cpu_s:8.2f} CPU-s {cost.peak_mb:7.0f} MB {each_ms:8.2f} ms/feed"
    )


def polled(folder: Path, feeds: int, options: argparse.Namespace) -> list[object]:
    """Polls twice, and returns the flags for what comes after."""
    listed = folder / f"{feeds}.yaml"
    write_list(listed, feeds, options.hosts, options.port)
    flags: list[object] = ["--feeds", listed, "-d", folder / f"out{feeds}", "--allow-loopback", "--host-gap", "0"]
    tell("first poll", feeds, newsbeam("run", "-q", *flags))
    tell("poll answered 304", feeds, newsbeam("run", "-q", "--due-now", *flags))
    return flags


def idle_cpu_s(flags: list[object]) -> float:
    """The CPU of one cycle of ``watch`` in which nothing is due, without its start."""
    words = [sys.executable, "-m", "pipeline", "watch", "--every", "1s", *map(str, flags)]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        lines = iter(child.stderr.readline, "")
        try:
            before = _after_cycles(lines, 2, child.pid)
            return (_after_cycles(lines, CYCLES, child.pid) - before) / CYCLES
        finally:
            child.send_signal(signal.SIGTERM)


def _after_cycles(lines: object, cycles: int, pid: int) -> float:
    for line in lines:  # type: ignore[attr-defined]
        if "nothing was due" not in line:
            raise SystemExit(f"no idle cycle: {line}")
        cycles -= 1
        if not cycles:
            break
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--idle", type=int, nargs="*", default=[1_000, 10_000], help="numbers of feeds to watch")
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--port", type=int, default=18485)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.hosts, options.port)
        return
    command = [sys.executable, __file__, "--serve", "--hosts", str(options.hosts), "--port", str(options.port)]
    folder = Path(tempfile.mkdtemp(prefix="newsbeam-bench-"))
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            server.stdout.readline()
            flags = {feeds: polled(folder, feeds, options) for feeds in options.feeds}
            for feeds, given in flags.items():
                tell("feeds list, best of 3", feeds, min(newsbeam("feeds", "list", *given[:2]) for _ in range(3)))
            for feeds in options.idle:
                print(f"{'idle cycle of watch':22}{feeds:8,} {idle_cpu_s(flags[feeds]):19.3f} CPU-s")
            server.communicate("")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
