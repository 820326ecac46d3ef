"""``newsbeam check --runner R``: what a runner needs, what of it is here, and the command that mends the rest.

Looks at this machine and knocks at the addresses that the flags name; sends no job and asks no other server.
"""

from __future__ import annotations

import shutil
import socket
from typing import NamedTuple

from pipeline.errors import ConfigError
from pipeline.options import DIRECT_RUNNER
from pipeline.runners.cache import FLINK_JARS, SPARK_JARS, cache_dir, prism_program
from pipeline.runners.dataflow import has_extra

PRISM_MEND = "build it with deploy/prism/build.sh (needs go), or name one with --prism_location=PATH"
_KNOCK_S = 2.0
_JARS = {"FlinkRunner": "flink_job_server_jar", "SparkRunner": "spark_job_server_jar"}


class Finding(NamedTuple):
    """One thing that a runner needs.

    Attributes:
        what: The thing, and where it was looked for.
        is_there: Whether it is there.
        mend: What to do if it is not.
        is_needed: Whether a run fails without it.
    """

    what: str
    is_there: bool
    mend: str = ""
    is_needed: bool = True

    def __str__(self) -> str:
        mark = "ok" if self.is_there else "missing" if self.is_needed else "not here"
        return f"{mark:10}  {self.what}" + ("" if self.is_there or not self.mend else f"; {self.mend}")


def check_runner(flags: list[str]) -> list[Finding]:
    """Returns what was found for a runner.

    Args:
        flags: All flags for Beam as ``options.beam_arguments`` returns them, runner first.
    """
    runner = flags[0].partition("=")[2]
    found = [Finding(f"runner {'in this process' if runner == DIRECT_RUNNER else runner}", True)]
    if runner == "PrismRunner":
        place = _last(flags, "prism_location") or str(prism_program())
        # An address is the user's own wish to have it downloaded.
        is_there = "://" in place or shutil.which(place) is not None
        found.append(Finding(f"Prism, {place}", is_there, PRISM_MEND))
    elif runner in ("FlinkRunner", "SparkRunner", "PortableRunner"):
        found += _job_server(flags, runner) + _environment(flags)
    elif runner == "DataflowRunner":
        found += _dataflow(flags)
    return found


def require_local(flags: list[str]) -> None:
    """Refuses a runner that Beam would begin to download by itself.

    Args:
        flags: As for ``check_runner``.

    Raises:
        ConfigError: With what to do instead.
    """
    runner = flags[0].partition("=")[2]
    if runner == "PrismRunner":
        (prism,) = check_runner(flags)[1:]
        if not prism.is_there:
            raise ConfigError(f"{prism.what}, is not there; {prism.mend}")
    jar = _JARS.get(runner)
    if jar and not (_last(flags, "job_endpoint") or _last(flags, jar)):
        preset = runner.removesuffix("Runner").lower()
        raise ConfigError(f"{runner} wants --job_endpoint=HOST:PORT or --{jar}=PATH; --runner {preset} sets the first")


def _job_server(flags: list[str], runner: str) -> list[Finding]:
    kind = "spark" if runner == "SparkRunner" else "flink"
    jars = cache_dir() / (SPARK_JARS if kind == "spark" else FLINK_JARS)
    endpoint = _last(flags, "job_endpoint")
    port = endpoint.rpartition(":")[2] or "8099"
    start = f"start one with deploy/{kind}/job_server.sh {port}"
    return [
        Finding(f"a job server at {endpoint or 'the address --job_endpoint names'}", _answers(endpoint), start),
        Finding("java", shutil.which("java") is not None, "apt-get install openjdk-17-jre-headless", is_needed=False),
        Finding(f"jars of a job server, {jars}", jars.is_dir(), f"deploy/get_jars.sh {kind}", is_needed=False),
    ]


def _environment(flags: list[str]) -> list[Finding]:
    environment = _last(flags, "environment_type") or "DOCKER"
    config = _last(flags, "environment_config")
    named = Finding("environment_config", bool(config), "name it: see docs/howto/flink.md")
    if environment == "LOOPBACK":
        return [Finding("environment LOOPBACK: this process does the work", True)]
    if environment == "PROCESS":
        boot = prism_program().with_name("boot")
        return [named, Finding(f"the boot program of workers, {boot}", boot.is_file(), "deploy/prism/build.sh")]
    docker = Finding("docker", shutil.which("docker") is not None, "needed on the machines of the cluster", False)
    return [named, docker] if environment == "DOCKER" else [named]


def _dataflow(flags: list[str]) -> list[Finding]:
    found = [Finding("the extra gcp", has_extra(), "pip install 'newsbeam[gcp]'")]
    for name in ("project", "region", "temp_location"):
        value = _last(flags, name)
        found.append(Finding(f"--{name} {value}".rstrip(), bool(value), f"add --{name}=..."))
    return found


def _last(flags: list[str], name: str) -> str:
    """Returns the value of the last flag of a name: it is the one that counts."""
    value = ""
    for place, flag in enumerate(flags):
        if flag.startswith(f"--{name}="):
            value = flag.partition("=")[2]
        elif flag == f"--{name}" and place + 1 < len(flags):
            value = flags[place + 1]
    return value


def _answers(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    if not (host and port.isdecimal()):
        return False
    try:
        with socket.create_connection((host, int(port)), timeout=_KNOCK_S):
            return True
    except OSError:
        return False
