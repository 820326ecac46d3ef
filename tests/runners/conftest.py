"""Tells after the tests of runners what they could reach, and what listened meanwhile."""

from __future__ import annotations

import socket

import pytest

from tests.runners.processes import SEEN


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Adds the interfaces and listeners to the end of the report."""
    if SEEN:
        terminalreporter.write_line(f"network interfaces: {', '.join(name for _, name in socket.if_nameindex())}")
        for what, addresses in SEEN.items():
            terminalreporter.write_line(f"listened on beside {what}: {' '.join(addresses)}")
