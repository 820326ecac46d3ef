"""Pages a second: the fetch engine against ``requests`` in a plain loop and in a plain thread pool.

    python bench/fetch.py [--pages 30] [--rounds 3]

20 hosts (127.0.0.1 to 127.0.0.20) are served by a child process, once at once and once 200 ms late. The engine
works as in a run, robots.txt, address checks, time limits and one connection a host included, only the gap is 0;
the plain ones do none of that, keep their connections, and the pool asks a host many times at once. What counts
are the ratios of one round; the medians of all rounds are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import gzip
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import requests

from transforms.fetch.client import ClientSettings
from transforms.fetch.engine import FetchEngine
from transforms.fetch.pages import FetchSettings
from transforms.fetch.robots import shared_robots
from transforms.records import Entry, RunContext

HOSTS = [f"127.0.0.{number}" for number in range(1, 21)]
PAGE_BYTES = 120_000
LOOP_PAGES = 40  # at 200 ms, one after the other, more would only take longer


def serve(port: int, latency_s: float) -> None:
    """Serves one page, gzip, on all hosts until the parent goes away."""
    sentence = "<p>The council of %d towns met at the harbour and talked of ferries, fares and %d bridges.</p>"
    text = "".join(sentence % (number, number * 7 % 97) for number in range(PAGE_BYTES // 88))
    body = gzip.compress(f"<!doctype html><title>Harbour</title>{text}".encode())
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(latency_s)
                writer.write(missing if b" /robots.txt " in request else head.encode() + body)
                await writer.drain()
                if b"connection: close" in request.lower():
                    break
        writer.close()

    async def run() -> None:
        await asyncio.start_server(answer, HOSTS, port, backlog=512)
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    asyncio.run(run())


def in_a_loop(urls: list[str]) -> int:
    with requests.Session() as session:
        return sum(len(session.get(url, timeout=30).content) > PAGE_BYTES // 2 for url in urls)


def in_a_pool(urls: list[str]) -> int:
    local = threading.local()

    def get(url: str) -> bool:
        if not hasattr(local, "session"):
            local.session = requests.Session()
        return len(local.session.get(url, timeout=30).content) > PAGE_BYTES // 2

    with concurrent.futures.ThreadPoolExecutor(len(HOSTS)) as pool:
        return sum(pool.map(get, urls))


def in_the_engine(urls: list[str]) -> int:
    run = RunContext("bench", datetime.now(timezone.utc), time.time())
    client = ClientSettings("newsbeam-bench/1.0", allow_loopback=True)
    engine = FetchEngine(FetchSettings(client, host_gap_s=0.0, max_pages_per_host=0), run)
    by_host: dict[str, list[Entry]] = {}
    for url in urls:
        shared_robots().forget(url[: url.index("/", 8)])
        by_host.setdefault(url.split("/")[2].split(":")[0], []).append(Entry(url, url, None, "bench", "urls"))
    for host, entries in by_host.items():
        engine.submit(host, entries, None)
    done = sum(step.outcome == "passed" for _, step in engine.drain(wait=True))
    engine.close()
    return done


WAYS: dict[str, Callable[[list[str]], int]] = {
    "requests, plain loop": in_a_loop,
    "requests, pool of 20": in_a_pool,
    "newsbeam engine": in_the_engine,
}


def pages_per_second(way: Callable[[list[str]], int], urls: list[str]) -> float:
    started_s = time.perf_counter()
    done = way(urls)
    spent_s = time.perf_counter() - started_s
    if done != len(urls):
        raise SystemExit(f"{way.__name__}: {done} of {len(urls)} pages")
    return len(urls) / spent_s


def measure(latency_s: float, port: int, pages: int, rounds: int) -> None:
    command = [sys.executable, __file__, "--serve", str(port), str(latency_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        urls = [f"http://{host}:{port}/{number}" for number in range(pages) for host in HOSTS]
        rates: dict[str, list[float]] = {name: [] for name in WAYS}
        for _ in range(rounds):
            for name, way in WAYS.items():
                some = urls[:LOOP_PAGES] if latency_s and way is in_a_loop else urls
                rates[name].append(pages_per_second(way, some))
        server.communicate("")
    print(
        f"\nserver latency {latency_s * 1000:.0f} ms, {len(HOSTS)} hosts, {len(urls)} pages, median of {rounds} rounds"
    )
    engine = rates["newsbeam engine"]
    for name, own in rates.items():
        ratio = statistics.median(ours / theirs for ours, theirs in zip(engine, own, strict=True))
        print(f"  {name:24}{statistics.median(own):8.0f} pages/s   engine / this = {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=30, help="of each host")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=18480)
    parser.add_argument("--serve", nargs=2, metavar=("PORT", "LATENCY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(int(options.serve[0]), float(options.serve[1]))
        return
    for latency_s in (0.0, 0.2):
        measure(latency_s, options.port, options.pages, options.rounds)


if __name__ == "__main__":
    main()
