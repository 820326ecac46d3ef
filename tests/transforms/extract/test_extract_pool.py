"""Child processes: a page that fails costs itself, its neighbours are done, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from extract_examples import HEADLINE, PARAGRAPHS, article_html, page_document

from transforms.extract import pool as pools
from transforms.extract.article import Extraction, extract
from transforms.records import Document, Reject

FAULTS = "worker_faults:extract_or_fail"
ROOT = Path(__file__).resolve().parents[3]


def good(number: int = 0) -> Document:
    paragraphs = (*PARAGRAPHS, f"Boat number {number} was the first to be named by the children of the harbour school.")
    return page_document(article_html(paragraphs))


def bad(fault: str) -> Document:
    return page_document(article_html(), {"title": fault})


@pytest.fixture(scope="module")
def shared() -> Iterator[pools.ExtractPool]:
    made = pools.ExtractPool(pools.PoolSettings(2, timeout_s=3.0, function=FAULTS))
    yield made
    made.close()


@pytest.fixture
def pool() -> Iterator[pools.ExtractPool]:
    made = pools.ExtractPool(pools.PoolSettings(2, timeout_s=3.0, function=FAULTS))
    yield made
    made.close()


def children_of(pool: pools.ExtractPool) -> list[int]:
    return [child.process.pid for child in tuple(pool._children)]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int], limit_s: float) -> list[int]:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and any(map(is_running, pids)):
        time.sleep(0.05)
    return [pid for pid in pids if is_running(pid)]


def test_a_child_gives_the_same_answer_as_this_process(shared: pools.ExtractPool) -> None:
    document = good()
    assert shared.submit(document).result(timeout=60) == extract(document)


@pytest.mark.parametrize(
    ("fault", "reason", "detail"),
    [
        ("hang", "timeout", "not done after 3 s"),
        ("hang in C", "timeout", "not done after 3 s"),
        ("allocate", "memory", "more than 1536 MB of address space"),
        ("kill", "crash", "its process died: signal 9"),
        ("exit", "crash", "its process died: exit code 3"),
        ("raise", "crash", "ValueError: not today"),
    ],
)
def test_a_failing_page_costs_only_itself(shared: pools.ExtractPool, fault: str, reason: str, detail: str) -> None:
    start = time.monotonic()
    before = [shared.submit(good(i)) for i in range(4)]
    failing = shared.submit(bad(fault))
    after = [shared.submit(good(i)) for i in range(4, 8)]
    result = failing.result(timeout=60)
    assert isinstance(result, Reject)
    assert (result.stage, result.reason, result.detail) == ("extract", reason, detail)
    assert result.retryable
    for future in before + after:
        done = future.result(timeout=60)
        assert isinstance(done, Extraction)
        assert done.title == HEADLINE
    assert time.monotonic() - start < 300


def test_children_are_replaced_after_their_share_of_pages(
    pool: pools.ExtractPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "CHILD_PAGES", 2)
    pids = [pool.submit(bad("pid")).result(timeout=60) for _ in range(5)]
    assert len(set(pids)) == 3


def test_children_start_only_when_there_is_work(pool: pools.ExtractPool) -> None:
    assert children_of(pool) == []
    pool.submit(good()).result(timeout=60)
    assert len(children_of(pool)) == 1


def test_closing_ends_the_children_at_once_even_a_hanging_one(pool: pools.ExtractPool) -> None:
    hanging = pool.submit(bad("hang"))
    pool.submit(good()).result(timeout=60)
    pids = children_of(pool)
    assert pids
    pool.close()
    assert wait_until_gone(pids, 2) == []
    # On a busy machine the page may not have reached a child yet.
    assert isinstance(hanging.exception(timeout=5) or hanging.result(), (Reject, pools.PoolError))
    with pytest.raises(pools.PoolError, match="closed"):
        pool.submit(good())


def test_a_pool_that_cannot_start_says_so_after_three_tries(capfd: pytest.CaptureFixture[str]) -> None:
    pool = pools.ExtractPool(pools.PoolSettings(1, function="no_such_module:extract"))
    with pytest.raises(pools.PoolError, match=r"do not start \(3 tries, exit code 1\)"):
        pool.submit(good()).result(timeout=60)
    with pytest.raises(pools.PoolError, match="do not start"):
        pool.submit(good()).result(timeout=60)
    pool.close()
    assert "no_such_module" in capfd.readouterr().err


def test_one_pool_a_process_is_shared_until_its_last_user_is_gone() -> None:
    settings = pools.PoolSettings(1, function=FAULTS)
    first, second = pools.acquire_pool(settings), pools.acquire_pool(settings)
    assert first is second
    first.submit(good()).result(timeout=60)
    pids = children_of(first)
    pools.release_pool(first)
    assert isinstance(second.submit(good()).result(timeout=60), Extraction)
    pools.release_pool(second)
    assert wait_until_gone(pids, 2) == []


def test_runs_in_a_row_share_the_children_of_a_pool_that_is_kept() -> None:
    settings = pools.PoolSettings(1, function=FAULTS)
    pids = []
    with pools.kept_pool(settings):
        for number in range(2):
            pool = pools.acquire_pool(settings)
            assert isinstance(pool.submit(good(number)).result(timeout=60), Extraction)
            pids.append(children_of(pool))
            pools.release_pool(pool)
    assert pids[0] == pids[1] != []
    assert wait_until_gone(pids[0], 2) == []


def test_kill_pools_ends_every_child() -> None:
    pool = pools.acquire_pool(pools.PoolSettings(2, timeout_s=30, function=FAULTS))
    pool.submit(bad("hang"))
    pool.submit(good()).result(timeout=60)
    pids = children_of(pool)
    pools.kill_pools()
    assert wait_until_gone(pids, 2) == []
    pools.release_pool(pool)


_PARENT = """
import os, signal, sys, time
sys.path[:0] = {path!r}
from extract_examples import article_html, page_document
from transforms.extract import pool as pools

def end(number, frame):
    pools.kill_pools()
    os._exit(128 + number)

signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
pool = pools.acquire_pool(pools.PoolSettings(2, timeout_s=2.0, function={function!r}))
for future in [pool.submit(page_document(article_html())) for _ in range(4)]:
    future.result()
pool.submit(page_document(article_html(), {{"title": "hang in C"}}))
time.sleep(0.5)
print(*[child.process.pid for child in pool._children], flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_its_parent(number: int, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    path = [str(ROOT), str(Path(__file__).parent)]
    script.write_text(textwrap.dedent(_PARENT.format(path=path, function=FAULTS)))
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    assert parent.stdout is not None
    pids = list(map(int, parent.stdout.readline().split()))
    assert len(pids) == 2
    if number == signal.SIGINT:
        os.killpg(parent.pid, number)  # Ctrl-C reaches the whole group
    else:
        os.kill(parent.pid, number)
    parent.wait(timeout=10)
    parent.stdout.close()
    # After kill -9 the kernel's alarm ends the hanging child, at twice the page's time limit.
    assert wait_until_gone(pids, 8) == []
