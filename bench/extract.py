"""Pages a second of the whole program against a bare multiprocessing loop with the same extraction on all cores.

    python bench/extract.py [--pages 4000] [--http]

The pages are those of the packs, each copy with an address and a sentence of its own. The bare loop reads the same
seed files and extracts, on all cores, and does nothing else: no time and memory limit for a page, no tagging, no
dataset, no HTTP. The program is ``newsbeam run`` as users start it; its start-up is measured with one page and
printed apart. With ``--http`` the program fetches the pages from 20 loopback hosts; the bare loop still reads files.
The bare loop is measured before and after the program, and the mean counts. Resident memory is that of the program's
own process, without its children: what a page adds to its peak is taken from runs with a quarter and half of the
pages, which are one micro-batch each; what further micro-batches add, from the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "eval")]

from extract_pages import load_sets, packs_root  # noqa: E402 - after the path

from transforms.extract.article import extract  # noqa: E402
from transforms.extract.worker import quiet_libraries, warm_up  # noqa: E402
from transforms.records import Document, Entry  # noqa: E402

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=timezone.utc)
HOSTS = [f"127.0.0.{number}" for number in range(1, 21)]
RECORDS_A_FILE = 50
_OWN_ADDRESS = re.compile(r'<link[^>]*rel=["\']?canonical[^>]*>|<meta[^>]*property=["\']?og:url[^>]*>', re.IGNORECASE)
_FIRST_PARAGRAPH = re.compile(r"<p[^>]*>", re.IGNORECASE)


class Measured(NamedTuple):
    """One run of the program."""

    wall_s: float
    articles: int
    peak_kb: int


def copies(count: int) -> Iterator[str]:
    """Yields pages of the packs, over and over, none like another."""
    pages = [page.body.decode("utf-8", "replace") for pages in load_sets(packs_root()).values() for page in pages]
    for number in range(count):
        html = _OWN_ADDRESS.sub("", pages[number % len(pages)])
        yield _FIRST_PARAGRAPH.sub(
            lambda tag, n=number: f"{tag[0]}Copy {n} of this page was made for a test. ", html, count=1
        )


def write_seeds(folder: Path, count: int) -> list[Path]:
    """Writes the pages as records of compressed JSON lines files; returns the files."""
    files: list[Path] = []
    lines: list[str] = []
    for number, html in enumerate(copies(count)):
        lines.append(
            json.dumps({"url": f"https://paper-{number % 97}.example/story-{number}-of-the-bench", "html": html})
        )
        if len(lines) == RECORDS_A_FILE or number == count - 1:
            files.append(folder / f"pages-{len(files):04}.jsonl.gz")
            files[-1].write_bytes(gzip.compress("\n".join(lines).encode(), 1))
            lines = []
    return files


def extract_file(path: str) -> int:
    """Extracts all records of a file; returns their number."""
    done = 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            entry = Entry(record["url"], "key", "version", "bench", "seed_jsonl")
            extract(Document(entry, "page", record["html"].encode(), "0" * 64, NOW, raw_uri=path))
            done += 1
    return done


def _start_worker() -> None:
    quiet_libraries()
    warm_up()


def bare_pages_per_s(files: Sequence[Path]) -> float:
    """Pages a second of the bare loop, its start-up left out."""
    with multiprocessing.get_context("spawn").Pool(os.cpu_count(), _start_worker) as pool:
        pool.map(len, [""] * 64)
        start = time.monotonic()
        done = sum(pool.imap_unordered(extract_file, [str(file) for file in files]))
        return done / (time.monotonic() - start)


def run_program(folder: Path, *words: str) -> Measured:
    """Runs ``newsbeam run`` into a fresh dataset."""
    command = [sys.executable, "-m", "pipeline", "run", *words, "-d", str(folder), "--json", "--allow-loopback"]
    start = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        samples: list[int] = []
        stop = threading.Event()
        watcher = threading.Thread(target=_watch_memory, args=(program.pid, samples, stop))
        watcher.start()
        out, _ = program.communicate()
        stop.set()
        watcher.join()
    wall_s = time.monotonic() - start
    items = json.loads(out)["items"]
    articles = items["new"] + items.get("duplicates", 0)
    return Measured(wall_s, articles, max(samples, default=0))


def _peak_of_a_share(folder: Path, files: Sequence[Path], share: int) -> int:
    chosen = folder / f"share-{share}"
    chosen.mkdir()
    for file in files[: len(files) // share]:
        (chosen / file.name).symlink_to(file)
    return run_program(chosen / "dataset", "--seeds", str(chosen / "*.gz")).peak_kb


def _watch_memory(pid: int, samples: list[int], stop: threading.Event) -> None:
    while not stop.wait(0.25):
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            samples.append(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]))


def serve(port: int, count: int) -> None:
    """Serves page ``/<number>`` on all hosts, gzip, until the parent goes away."""
    bodies = [gzip.compress(html.encode(), 1) for html in copies(count)]
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                found = re.match(rb"GET /story-(\d+)-", request)
                body = bodies[int(found[1])] if found else b""
                head = (
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body if found else missing)
                await writer.drain()
                if b"connection: close" in request.lower():
                    break
        writer.close()

    async def serve_all() -> None:
        for host in HOSTS:
            await asyncio.start_server(answer, host, port)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        os._exit(0)

    asyncio.run(serve_all())


def _run_over_http(folder: Path, count: int) -> Measured:
    port = 18_742
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(port), "--pages", str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    assert server.stdin is not None
    server.stdout.readline()
    urls = folder / "urls.txt"
    urls.write_text("".join(f"http://{HOSTS[n % len(HOSTS)]}:{port}/story-{n}-of-the-bench\n" for n in range(count)))
    try:
        return run_program(folder / "http", "--urls", str(urls), "--host-gap", "0", "--max-pages-per-host", "0")
    finally:
        server.stdin.close()
        server.wait()


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--http", action="store_true", help="fetch over loopback HTTP too")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not (packs_root() / "pages").is_dir():
        print("bench/extract: left out, the packs are not here")
        return 0
    if arguments.serve:
        serve(arguments.serve, arguments.pages)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = write_seeds(folder, arguments.pages)
        one = folder / "one.jsonl.gz"
        with gzip.open(files[0], "rt", encoding="utf-8") as file:
            one.write_bytes(gzip.compress(file.readline().encode()))
        start_up_s = run_program(folder / "one", "--seeds", str(one)).wall_s
        bare_before = bare_pages_per_s(files)
        runs = {"seeds": run_program(folder / "seeds", "--seeds", str(folder / "pages-*.jsonl.gz"))}
        bare = (bare_before + bare_pages_per_s(files)) / 2
        if arguments.http:
            runs["http"] = _run_over_http(folder, arguments.pages)
        peaks_kb = [_peak_of_a_share(folder, files, share) for share in (4, 2)] + [runs["seeds"].peak_kb]
    print(f"{arguments.pages} pages, {os.cpu_count()} cores; start-up with one page {start_up_s:.1f} s")
    print(f"{'bare loop':12}{bare:8.1f} pages/s")
    for name, run in runs.items():
        pages_per_s = arguments.pages / max(0.001, run.wall_s - start_up_s)
        print(
            f"{name:12}{pages_per_s:8.1f} pages/s after start-up, {pages_per_s / bare:.2f} of the bare loop; "
            f"{run.articles} articles in {run.wall_s:.1f} s; peak {run.peak_kb / 1024:.0f} MB"
        )
    quarter_mb, half_mb, whole_mb = (peak_kb / 1024 for peak_kb in peaks_kb)
    a_page_kb = (peaks_kb[1] - peaks_kb[0]) / (arguments.pages / 4)
    print(
        f"memory      peak {quarter_mb:.0f} MB with a quarter of the pages, {half_mb:.0f} MB with half: "
        f"{a_page_kb:.0f} KB a page within a micro-batch; {whole_mb:.0f} MB with all"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
