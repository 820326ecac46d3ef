"""What the tests of fetching share: a clock and clients for loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pytest

from transforms.fetch.client import ClientSettings, HttpClient
from transforms.fetch.gate import shared_gate

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)


@pytest.fixture
def make_client() -> Iterator[Callable[..., HttpClient]]:
    """Makes clients that may ask loopback, wait for nothing and see a fixed clock; settings by keyword."""
    made: list[HttpClient] = []

    def make(gate: Any = None, now: Callable[[], datetime] = lambda: NOW, **settings: Any) -> HttpClient:
        plain = {"user_agent": "newsbeam/1.0 (+desk@newsroom.example)", "allow_loopback": True, "retry_pause_s": 0.0}
        client = HttpClient(ClientSettings(**{**plain, **settings}), now, gate)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture(autouse=True)
def _no_gap() -> Iterator[None]:
    """Leaves the gate of the process as it was found."""
    gap_s = shared_gate().gap_s
    yield
    shared_gate(gap_s)
