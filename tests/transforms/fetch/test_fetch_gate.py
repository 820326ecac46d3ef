"""Turns at hosts, measured with real threads and clocks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from transforms.fetch.gate import HostGate, shared_gate

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)


def visit(gate: HostGate, host: str, seconds: float, spans: list[tuple[float, float]]) -> None:
    with gate.turn(host):
        started_s = time.monotonic()
        time.sleep(seconds)
        spans.append((started_s, time.monotonic()))


def side_by_side(*calls: Callable[[], None]) -> float:
    threads = [threading.Thread(target=call) for call in calls]
    started_s = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - started_s


def test_turns_of_a_host_never_overlap_and_keep_their_gap_from_end_to_start() -> None:
    gate, spans = HostGate(0.1), []  # type: tuple[HostGate, list[tuple[float, float]]]
    side_by_side(*[lambda: visit(gate, "news.example", 0.05, spans)] * 4)
    assert all(later[0] - earlier[1] >= 0.1 for earlier, later in itertools.pairwise(spans))


def test_hosts_do_not_wait_for_each_other() -> None:
    gate, spans = HostGate(5.0), []  # type: tuple[HostGate, list[tuple[float, float]]]
    spent_s = side_by_side(
        lambda: visit(gate, "a.example", 0.3, spans),
        lambda: visit(gate, "b.example", 0.3, spans),
        lambda: visit(gate, "c.example", 0.3, spans),
    )
    assert spent_s < 5.0


def test_who_comes_first_is_served_first() -> None:
    gate, order = HostGate(0.0), []  # type: tuple[HostGate, list[int]]

    def come(number: int) -> None:
        with gate.turn("news.example"):
            order.append(number)

    with gate.turn("news.example"):
        threads = [threading.Thread(target=come, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]


def test_an_error_in_a_turn_ends_the_turn() -> None:
    gate = HostGate(0.0)
    with pytest.raises(ValueError, match="broken"), gate.turn("news.example"):
        raise ValueError("broken")
    with gate.turn("news.example"):
        pass


def test_a_host_may_ask_for_a_longer_gap_but_not_for_a_shorter_one() -> None:
    gate = HostGate(0.1)
    gate.slow_down("slow.example", 0.3)
    gate.slow_down("fast.example", 0.0)
    assert (gate.gap_s_of("slow.example"), gate.gap_s_of("fast.example")) == (0.3, 0.1)
    spans: list[tuple[float, float]] = []
    for _ in range(2):
        visit(gate, "slow.example", 0.0, spans)
    assert spans[1][0] - spans[0][1] >= 0.3


def test_a_hold_lasts_to_its_latest_time() -> None:
    gate = HostGate(0.0)
    assert gate.held_until("news.example") is None
    gate.hold("news.example", NOW + timedelta(hours=2))
    gate.hold("news.example", NOW + timedelta(hours=1))
    assert gate.held_until("news.example") == NOW + timedelta(hours=2)
    assert gate.held_until("other.example") is None
    gate.forget("news.example")
    assert gate.held_until("news.example") is None


def test_a_process_has_one_gate() -> None:
    assert shared_gate(0.25) is shared_gate()
    assert shared_gate().gap_s == 0.25
