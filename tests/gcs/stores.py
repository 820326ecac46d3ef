"""Object stores for tests: servers on loopback that speak the protocol of Google Cloud Storage.

gcp-storage-emulator is Python and knows no preconditions; fake-gcs-server is Go and does. ``deploy/gcs/build.sh``
installs both; without them these tests are left out.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.runners.cache import cache_dir
from transforms.remote import bucket
from transforms.write import object_storage

BUCKET = "gs://news"


def has_client() -> bool:
    """Tells whether the extra ``gcp`` is installed."""
    try:
        return importlib.util.find_spec("google.cloud.storage") is not None
    except ModuleNotFoundError:
        return False


def emulator_command(port: int) -> list[str] | None:
    """Returns how gcp-storage-emulator is started; ``None`` if it is not installed."""
    if importlib.util.find_spec("gcp_storage_emulator") is None:
        return None
    where = ["--host", "127.0.0.1", "--port", str(port)]
    return [sys.executable, "-m", "gcp_storage_emulator", "start", *where, "--in-memory"]


def fake_gcs_command(port: int) -> list[str] | None:
    """Returns how fake-gcs-server is started; ``None`` if it is not built."""
    program = cache_dir() / "gcs" / "fake-gcs-server"
    found = str(program) if program.exists() else shutil.which("fake-gcs-server")
    if found is None:
        return None
    where = ["-host", "127.0.0.1", "-port", str(port), "-public-host", f"127.0.0.1:{port}"]
    address = f"http://127.0.0.1:{port}"
    return [found, "-scheme", "http", *where, "-external-url", address, "-backend", "memory", "-log-level", "error"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(command: list[str], address: str) -> Iterator[str]:
    """Runs a server and makes the bucket; yields the server's address."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _make_bucket(server, address)
            yield address
        finally:
            server.kill()


def _make_bucket(server: subprocess.Popen[bytes], address: str) -> None:
    request = urllib.request.Request(
        f"{address}/storage/v1/b?project=p", b'{"name": "news"}', {"Content-Type": "application/json"}
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except (urllib.error.URLError, ConnectionError):
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)


def forget_buckets() -> None:
    """Lets this process ask another server from here on."""
    bucket._BUCKETS.clear()
    object_storage._CHECKED.clear()


def download(root: str, folder: Path) -> Path:
    """Copies a dataset to a local folder."""
    found, prefix = bucket.bucket_of(root)
    for stat in found.all_below(f"{prefix}/"):
        target = folder / stat.name[len(prefix) + 1 :]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(found.read(stat.name))
    return folder


def upload(path: Path, address: str) -> None:
    """Copies a local file to an address."""
    found, name = bucket.bucket_of(address)
    found.write(name, path.read_bytes())
