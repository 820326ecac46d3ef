"""Starts what runners need (job servers, a Flink cluster) from the scripts in deploy/, and ends it again.

Only processes that were started here are ended, each by its own id or process group.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.program import ROOT

DEPLOY = ROOT / "deploy"
CACHE = Path(os.environ.get("NEWSBEAM_CACHE") or Path.home() / ".cache/newsbeam")
FLINK_JARS = CACHE / "flink-1.19-beam-2.62.0/complete"
SPARK_JARS = CACHE / "spark-3.5-beam-2.62.0/complete"
CLUSTER_JARS = CACHE / "flink-1.19.3/complete"
PRISM = CACHE / "beam-2.77.0/prism"
BOOT = CACHE / "beam-2.77.0/boot"


def is_loopback_only() -> bool:
    """Tells whether this process sees no network interface but ``lo``."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


SEEN: dict[str, list[str]] = {}  # what was running -> what listened then; conftest.py prints it


def assert_loopback_only(what: str) -> None:
    """Fails if there is a network interface but ``lo``; notes what listens while something runs."""
    SEEN[what] = listeners()
    assert is_loopback_only(), f"{[name for _, name in socket.if_nameindex()]}, listened on: {SEEN[what]}"


def needs(*files: Path) -> pytest.MarkDecorator:
    """Skips a test where what it needs was not fetched: ``make runners`` fetches it."""
    missing = [str(file) for file in files if not file.exists()]
    why = f"not there: {', '.join(missing)}; make runners fetches it, and runs these tests with loopback only"
    return pytest.mark.skipif(bool(missing) or not is_loopback_only(), reason=why)


def free_port(ports_in_a_row: int = 3) -> int:
    """Returns a port that is free, and so are the next ones."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port + ports_in_a_row < 65_000 and not any(is_open(port + more) for more in range(ports_in_a_row)):
            return port


def is_open(port: int) -> bool:
    """Tells whether something listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what: str, is_there: Callable[[], Any], timeout_s: float, pause_s: float = 0.2) -> Any:
    """Waits until ``is_there`` gives something true, and returns it."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if found := is_there():
            return found
        time.sleep(pause_s)
    raise AssertionError(f"waited {timeout_s:.0f} s in vain: {what}")


def start(words: list[object], log: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a program as a process group of its own; what it says goes to ``log``."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=os.environ | {"PYTHONPATH": str(ROOT), "NEWSBEAM_PYTHON": sys.executable} | dict(env or {}),
            start_new_session=True,
            cwd=ROOT,
        )


def end(process: subprocess.Popen[bytes], number: int = signal.SIGTERM, timeout_s: float = 15.0) -> None:
    """Ends a process of ``start`` with its whole group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout_s)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def job_server(
    kind: str, folder: Path, master: str | None = None, env: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Runs the job server for ``flink`` or ``spark``, yields its port, and ends it."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    default = {"flink": "[local]", "spark": "local[2]"}[kind]
    words = [DEPLOY / kind / "job_server.sh", port, master or default, folder / "artifacts"]
    process = start(words, folder / f"{kind}-job-server.log", env)
    try:
        wait_for(f"the job server of {kind}", lambda: is_open(port), timeout_s=60)
        yield port
        assert_loopback_only(f"the job server of {kind}")
    finally:
        end(process)
        shutil.rmtree(folder / "artifacts", ignore_errors=True)


class FlinkCluster:
    """A JobManager and a TaskManager as processes of their own, a job server before them.

    Attributes:
        job_port: Port of the job server.
        rest_port: Port of Flink's REST interface.
        workers: Folder in which each worker's boot program leaves its process id.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rest_port = free_port()
        self.workers = folder / "workers"
        self.job_port = 0
        self._taskmanager: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> FlinkCluster:
        self._stack = contextlib.ExitStack()
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._stack.callback(self._end_workers)
            jobmanager = self._start("jobmanager")
            self._stack.callback(end, jobmanager)
            self.start_taskmanager()
            self._stack.callback(lambda: self._taskmanager and end(self._taskmanager))
            wait_for("a task slot", lambda: self._slots() > 0, timeout_s=90, pause_s=0.5)
            server = job_server("flink", self.folder, f"127.0.0.1:{self.rest_port}")
            self.job_port = self._stack.enter_context(server)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def start_taskmanager(self) -> None:
        """Starts the TaskManager."""
        self._taskmanager = self._start("taskmanager")

    def kill_taskmanager(self) -> None:
        """Ends the TaskManager as ``kill -9`` does; its workers live on."""
        assert self._taskmanager is not None
        os.kill(self._taskmanager.pid, signal.SIGKILL)
        self._taskmanager.wait()

    def worker_groups(self) -> list[int]:
        """Returns the process ids of the boot programs that are alive."""
        pids = [int(file.name) for file in self.workers.glob("[0-9]*")]
        return sorted(pid for pid in pids if Path(f"/proc/{pid}/exe").exists())

    def kill_workers(self) -> list[int]:
        """Ends all workers as ``kill -9`` does, with their children; returns their ids."""
        killed = []
        for pid in self.worker_groups():
            for one in [pid, *descendants(pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
                    killed.append(one)
        return killed

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        """Asks Flink's REST interface."""
        data = None if body is None else json.dumps(body).encode()
        address = f"http://127.0.0.1:{self.rest_port}{path}"
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read() or b"{}")
        except OSError:
            return {}

    def running_jobs(self) -> list[str]:
        """Returns the ids of the jobs that are not over."""
        over = ("FINISHED", "CANCELED", "FAILED")
        return [job["id"] for job in self.ask("/jobs").get("jobs", []) if job["status"] not in over]

    def stop_with_savepoint(self, job: str) -> str:
        """Stops a job with a savepoint, and returns where that lies."""
        body = {"targetDirectory": (self.folder / "savepoints").as_uri(), "drain": False}
        trigger = self.ask(f"/jobs/{job}/stop", "POST", body)["request-id"]

        def location() -> str:
            done = self.ask(f"/jobs/{job}/savepoints/{trigger}").get("operation") or {}  # null while it is made
            assert "failure-cause" not in done, done
            return str(done.get("location", ""))

        place: str = wait_for("the savepoint", location, timeout_s=90, pause_s=0.5)
        wait_for("the end of the job", lambda: job not in self.running_jobs(), timeout_s=60)
        return place

    def cancel_all(self) -> None:
        """Cancels all jobs and waits for their end."""
        for job in self.running_jobs():
            self.ask(f"/jobs/{job}?mode=cancel", "PATCH")
        wait_for("the end of the jobs", lambda: not self.running_jobs(), timeout_s=60)

    def checkpoints(self, job: str) -> dict[str, int]:
        """Returns how many checkpoints of a job were completed, failed and restored."""
        return dict(self.ask(f"/jobs/{job}/checkpoints").get("counts", {}))

    def _slots(self) -> int:
        return int(self.ask("/overview").get("slots-available", 0))

    def _start(self, which: str) -> subprocess.Popen[bytes]:
        words: list[object] = [DEPLOY / "flink/cluster.sh", which, self.folder / "flink", self.rest_port]
        return start(words, self.folder / f"{which}.log", {"NEWSBEAM_WORKERS": str(self.workers)})

    def _end_workers(self) -> None:
        for _ in range(5):
            if not self.kill_workers():
                return
            time.sleep(0.2)


def descendants(pid: int) -> list[int]:
    """Returns the ids of all children of a process, and of theirs."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(") ")[2].split()
            if int(fields[1]) == pid:
                child = int(status.parent.name)
                found += [child, *descendants(child)]
    return found


def listeners() -> list[str]:
    """Returns the addresses that are listened on in this network namespace, ``host:port``."""
    found = set()
    for file in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        for line in Path(file).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                host, port = fields[1].split(":")
                found.add(("*" if set(host) == {"0"} else "loopback") + f":{int(port, 16)}")
    return sorted(found)
