"""Bodies of a kilobyte that unpack to a gigabyte: the client's memory is measured in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import brotli
import pytest

from tests.program import page, rss
from tests.rows import read_rows
from tests.servers import Answer, NewsServer
from transforms.fetch.coding import zstd

GIGABYTE = 1 << 30
ROOT = Path(__file__).parents[3]

PEAK = """
def peak_mb():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
"""
CLIENT = (
    PEAK
    + """
import json, sys
from datetime import datetime, timezone
from transforms.fetch.client import ClientSettings, HttpClient

client = HttpClient(ClientSettings("newsbeam/1.0", allow_loopback=True), lambda: datetime.now(timezone.utc))
small, *bombs = sys.argv[1:]
assert client.get(small).outcome == "ok"
before = peak_mb()
outcomes = [client.get(url, unpack_gzip=True).outcome for url in bombs]
print(json.dumps({"outcomes": outcomes, "grown_mb": peak_mb() - before, "peak_mb": peak_mb()}))
"""
)

ENGINE = (
    PEAK
    + """
import json, sys, time
from datetime import datetime, timezone
from transforms.fetch.client import ClientSettings
from transforms.fetch.engine import FetchEngine
from transforms.fetch.pages import FetchSettings
from transforms.records import Entry, RunContext

client = ClientSettings("newsbeam/1.0", allow_loopback=True)
run = RunContext("run", datetime.now(timezone.utc), time.time())
engine = FetchEngine(FetchSettings(client, host_gap_s=0.0), run)

def fetch(paths):
    for origin in sys.argv[1:]:
        host = origin.split("/")[2].split(":")[0]
        entries = [Entry(origin + path, origin + path, None, "bombs", "urls") for path in paths]
        engine.submit(host, entries, None)
    rows = [row for _, step in engine.drain(wait=True) for row in step.side]
    return [row.outcome for row in rows if getattr(row, "kind", "") == "page"]

assert set(fetch(["/small"])) == {"ok"}
before = peak_mb()
outcomes = fetch(["/gzip", "/br", "/zstd", "/gzip-gzip"])
print(json.dumps({"outcomes": outcomes, "grown_mb": peak_mb() - before, "peak_mb": peak_mb()}))
"""
)


def pack(compress: Callable[[bytes], bytes], flush: Callable[[], bytes]) -> bytes:
    block = bytes(1 << 20)
    return b"".join(compress(block) for _ in range(GIGABYTE >> 20)) + flush()


def deflate_bomb() -> bytes:
    """A raw stream; one packed block again and again, since packing a gigabyte takes its time."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (GIGABYTE >> 20) + packer.flush()


def gzip_bomb() -> bytes:
    return b"\x1f\x8b\x08\0\0\0\0\0\0\3" + deflate_bomb() + bytes(8)  # nobody gets as far as the check sum


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=1)
    return pack(packer.process, packer.finish)


def zstd_bomb() -> bytes:
    packer = zstd.ZstdCompressor(level=1)
    return pack(packer.compress, packer.flush)


def packed(coding: str, body: bytes) -> Answer:
    return Answer(body=body, headers={"Content-Encoding": coding})


def run_child(code: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    print(result["grown_mb"], result["peak_mb"])
    return result


@pytest.fixture(scope="module", name="bombs")
def fixture_bombs() -> dict[str, Any]:
    plain = gzip_bomb()
    return {
        "/small": b"<p>small",
        "/gzip": packed("gzip", plain),
        "/deflate": packed("deflate", deflate_bomb()),
        "/br": packed("br", brotli_bomb()),
        "/zstd": packed("zstd", zstd_bomb()),
        "/gzip-gzip": packed("gzip, gzip", zlib.compress(plain, wbits=31)),
        "/zstd-br": packed("zstd, br", brotli.compress(zstd_bomb())),
        "/file.gz": Answer(body=plain, headers={"Content-Type": "application/gzip"}),
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_bombs_cost_the_client_the_limit_and_no_more(bombs: dict[str, Any]) -> None:
    floods = {
        "/plain": Answer(body=(bytes(1 << 20) for _ in range(1024))),
        "/without-length": Answer(body=(bytes(1 << 20) for _ in range(1024)), with_length=False),
    }
    with NewsServer(bombs | floods) as server:
        result = run_child(CLIENT, *map(server.url, bombs | floods))
    assert result["outcomes"] == ["too_big"] * (len(bombs) - 1 + len(floods))
    assert result["grown_mb"] < 50
    assert result["peak_mb"] < 100


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_bombs_on_many_hosts_at_once_cost_little_more(bombs: dict[str, Any]) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(NewsServer(bombs, host=f"127.0.0.{number}")) for number in range(2, 10)]
        result = run_child(ENGINE, *[server.origin for server in servers])
    assert result["outcomes"] == ["too_big"] * 4 * len(servers)
    assert result["grown_mb"] < 50


def peak_of_run_mb(feed: str, dataset: Path) -> float:
    """Runs newsbeam over a feed and returns the peak memory of its largest process."""
    words = ("--feeds", feed, "-d", str(dataset), "--allow-loopback", "--host-gap", "0", "--max-age", "0")
    child = subprocess.Popen([sys.executable, "-m", "pipeline", "run", "-q", *words], cwd=ROOT)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_maxrss / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_a_run_over_bombs_takes_little_more_memory_than_one_over_stories(bombs: dict[str, Any], tmp_path: Path) -> None:
    paths = [path for path in bombs if path != "/small"]
    stories = {f"/story/{number}": page(number) for number in range(len(paths) + 1)}
    with ExitStack() as stack:
        servers = [stack.enter_context(NewsServer(bombs | stories, host=f"127.0.0.{n}")) for n in range(2, 6)]
        links = [server.url(f"/story/{n}") for n, server in enumerate(servers)]
        servers[0].routes["/good.xml"] = rss([server.url(path) for path in stories for server in servers])
        servers[0].routes["/bad.xml"] = rss([*links, *[server.url(path) for path in paths for server in servers]])
        plain_mb = peak_of_run_mb(servers[0].url("/good.xml"), tmp_path / "good")
        peak_mb = peak_of_run_mb(servers[0].url("/bad.xml"), tmp_path / "bad")
    reasons = [row["reason"] for row in read_rows(tmp_path / "bad", "rejects")]
    assert reasons == ["too_big"] * len(paths) * len(servers)
    print(plain_mb, peak_mb)
    assert peak_mb < plain_mb + 50
