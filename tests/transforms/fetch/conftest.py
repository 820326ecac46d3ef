"""What the tests of fetching share: clients for loopback, walks, and a gate that is left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from tests.transforms.fetch.walking import NOW, Walk
from transforms.fetch.addresses import host_of
from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.gate import HostGate, shared_gate
from transforms.fetch.pages import FetchSettings, HostWalk, Step, Tools
from transforms.fetch.robots import RobotsCache
from transforms.records import Entry


@pytest.fixture
def make_client() -> Iterator[Callable[..., HttpClient]]:
    """Makes clients that may ask loopback, wait for nothing and see a fixed clock; settings by keyword."""
    made: list[HttpClient] = []

    def make(gate: HostGate | None = None, now: Callable[[], datetime] = lambda: NOW, **settings: Any) -> HttpClient:
        plain = {"user_agent": "newsbeam/1.0 (+desk@newsroom.example)", "allow_loopback": True, "retry_pause_s": 0.0}
        client = HttpClient(ClientSettings(**{**plain, **settings}), now, gate)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def walk(make_client: Callable[..., HttpClient]) -> Walk:
    """Walks entries of one host; keyword arguments are settings of the stage or of the client."""

    def walk(entries: list[Entry], gate: HostGate | None = None, **options: Any) -> list[Step]:
        own = {name: options.pop(name) for name in list(options) if name in FetchSettings._fields}
        gate = gate or HostGate(0.0)
        client = make_client(gate, **options)
        settings = FetchSettings(ClientSettings("newsbeam/1.0", allow_loopback=True), **own)
        tools = Tools(settings, client, RobotsCache(), gate, lambda: NOW)
        return list(HostWalk(host_of(entries[0].url or ""), tools).steps(entries))

    return walk


@pytest.fixture(autouse=True)
def _gate_as_it_was() -> Iterator[None]:
    gap_s = shared_gate().gap_s
    yield
    shared_gate(gap_s)
