from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.gcs import stores


def _server(command_of: object, name: str) -> Iterator[str]:
    port = stores.free_port()
    command = command_of(port)  # type: ignore[operator]
    if not stores.has_client() or command is None:
        pytest.skip(f"{name} or the extra gcp is not installed; make gcs-test installs both")
    with stores.running(command, f"http://127.0.0.1:{port}") as address:
        yield address


@pytest.fixture(scope="session")
def emulator_address() -> Iterator[str]:
    yield from _server(stores.emulator_command, "gcp-storage-emulator")


@pytest.fixture(scope="session")
def fake_gcs_address() -> Iterator[str]:
    yield from _server(stores.fake_gcs_command, "fake-gcs-server")


def _root(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
    stores.forget_buckets()
    yield f"{stores.BUCKET}/{uuid.uuid4().hex[:12]}"
    stores.forget_buckets()


@pytest.fixture
def emulator_root(emulator_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A fresh root on gcp-storage-emulator."""
    yield from _root(emulator_address, monkeypatch)


@pytest.fixture
def fake_gcs_root(fake_gcs_address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A fresh root on fake-gcs-server."""
    yield from _root(fake_gcs_address, monkeypatch)


@pytest.fixture(params=["emulator", "fake_gcs"])
def any_root(request: pytest.FixtureRequest) -> str:
    """A fresh root on each of the servers."""
    return str(request.getfixturevalue(f"{request.param}_root"))
