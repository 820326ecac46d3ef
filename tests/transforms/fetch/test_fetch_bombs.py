"""Bodies of a kilobyte that unpack to a gigabyte: the client's memory is measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest

from tests.servers import Answer, NewsServer
from transforms.fetch.coding import zstd

GIGABYTE = 1 << 30
ROOT = Path(__file__).parents[3]

CLIENT = """
import json, sys
from datetime import datetime, timezone
from transforms.fetch.client import ClientSettings, HttpClient

def peak_mb():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024

client = HttpClient(ClientSettings("newsbeam/1.0", allow_loopback=True), lambda: datetime.now(timezone.utc))
small, *bombs = sys.argv[1:]
assert client.get(small).outcome == "ok"
before = peak_mb()
outcomes = [client.get(url, unpack_gzip=True).outcome for url in bombs]
print(json.dumps({"outcomes": outcomes, "grown_mb": peak_mb() - before, "peak_mb": peak_mb()}))
"""


def pack(compress: Callable[[bytes], bytes], flush: Callable[[], bytes], size: int = GIGABYTE) -> bytes:
    block = bytes(1 << 20)
    return b"".join(compress(block) for _ in range(size >> 20)) + flush()


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(1, wbits=16 + zlib.MAX_WBITS)
    return pack(packer.compress, packer.flush)


def deflate_bomb() -> bytes:
    packer = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
    return pack(packer.compress, packer.flush)


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=1)
    return pack(packer.process, packer.finish)


def zstd_bomb() -> bytes:
    packer = zstd.ZstdCompressor(level=1)
    return pack(packer.compress, packer.flush)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_bombs_cost_the_limit_and_no_more() -> None:
    plain = gzip_bomb()
    routes = {
        "/small": b"<p>small",
        "/gzip": Answer(body=plain, headers={"Content-Encoding": "gzip"}),
        "/deflate": Answer(body=deflate_bomb(), headers={"Content-Encoding": "deflate"}),
        "/br": Answer(body=brotli_bomb(), headers={"Content-Encoding": "br"}),
        "/zstd": Answer(body=zstd_bomb(), headers={"Content-Encoding": "zstd"}),
        "/gzip-gzip": Answer(body=zlib.compress(plain, wbits=31), headers={"Content-Encoding": "gzip, gzip"}),
        "/zstd-br": Answer(body=brotli.compress(zstd_bomb()), headers={"Content-Encoding": "zstd, br"}),
        "/file.gz": Answer(body=plain, headers={"Content-Type": "application/gzip"}),
        "/plain": Answer(body=(bytes(1 << 20) for _ in range(1024))),
        "/without-length": Answer(body=(bytes(1 << 20) for _ in range(1024)), with_length=False),
    }
    with NewsServer(routes) as server:
        command = [sys.executable, "-c", CLIENT, *map(server.url, routes)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    print(result)
    assert result["outcomes"] == ["too_big"] * (len(routes) - 1)
    assert result["grown_mb"] < 70  # a body at the limit, twice, and what is being unpacked
    assert result["peak_mb"] < 100
