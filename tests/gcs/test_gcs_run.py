"""The whole command on gcp-storage-emulator: ``newsbeam run -d gs://...`` and all that follows."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gcs import stores
from tests.program import ROOT, items_of, page, rss, run_until_killed
from tests.program import newsbeam as _newsbeam
from tests.rows import assert_same_rows, assert_sound
from tests.servers import Answer, NewsServer
from transforms.maintain.verify import verify
from transforms.remote.bucket import bucket_of
from transforms.write.storage import storage_of

pytestmark = pytest.mark.timeout(2000)  # each test is several processes
CONFIG = "configs/newsbeam.yaml"
CLEAN = "clean:"
STEPS = ("decided, before the journal", "in the middle of the moves")  # test_gcs_commit.py has them all


def newsbeam(*words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    return _newsbeam(*words, check=check, timeout_s=400)


def run_json(*words: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(newsbeam("run", *words, "--json").stdout)
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    root = tmp_path_factory.mktemp("local") / "out"
    run_json("-c", CONFIG, "-d", root)
    return root


@pytest.fixture
def filled(emulator_root):
    run_json("-c", CONFIG, "-d", emulator_root)
    return emulator_root


def generations(root: str) -> dict[str, int]:
    bucket, prefix = bucket_of(root)
    return {stat.name: stat.generation for stat in bucket.all_below(f"{prefix}/")}


def query(root: str, sql: str) -> list[dict[str, object]]:
    told = newsbeam("query", "-d", root, sql, "--json").stdout
    return [json.loads(line) for line in told.splitlines()]


def test_a_run_gives_the_rows_of_a_local_one_and_a_rerun_adds_none(filled, local, tmp_path):
    assert_same_rows(local, stores.download(filled, tmp_path / "first"))
    before = generations(filled)

    again = run_json("-c", CONFIG, "-d", filled)

    assert set(items_of(again)) == {"in", "known"}
    new = {name: number for name, number in generations(filled).items() if before.get(name) != number}
    assert [name for name in new if "/_runs/" not in name] == []
    assert_sound(stores.download(filled, tmp_path / "second"))
    assert not [name for name in generations(filled) if "/_staging/" in name or name.endswith("/_lock")]


def test_query_and_every_command_for_datasets(filled, local):
    sql = "SELECT article_id, topics FROM articles_latest ORDER BY article_id"
    assert query(filled, sql) == query(str(local), sql)
    sql = "SELECT topic, day, articles FROM topic_daily ORDER BY ALL"
    assert query(filled, sql) == query(str(local), sql)
    articles = len(query(filled, "SELECT 1 FROM articles_latest"))

    topics = Path(ROOT / "configs" / "topics.yaml").read_text().replace('version: "', 'version: "9', 1)
    bucket, prefix = bucket_of(filled)
    bucket.write(f"{prefix}-conf/topics.yaml", topics.encode())
    newsbeam("dataset", "retag", "-d", filled, "--topics", f"{filled}-conf/topics.yaml")
    newsbeam("dataset", "stories", "-d", filled)
    assert query(filled, "SELECT count(*) AS n FROM stories") == [{"n": articles}]
    newsbeam("dataset", "replay", "-d", filled)
    newsbeam("dataset", "compact", "-d", filled, "--before", "2999-01-01", "--min-files", "1")
    assert CLEAN in newsbeam("dataset", "verify", "-d", filled).stdout
    assert len(query(filled, "SELECT 1 FROM articles_latest")) == articles


def test_prune_keeps_what_was_known(emulator_root):
    run_json("-c", CONFIG, "-d", emulator_root, "--now", "2026-11-02T10:00:00Z")
    newsbeam("dataset", "prune", "-d", emulator_root, "--before", "2026-11-10", "--yes")
    assert query(emulator_root, "SELECT 1 FROM articles_latest") == []
    assert CLEAN in newsbeam("dataset", "verify", "-d", emulator_root).stdout
    assert set(items_of(run_json("-c", CONFIG, "-d", emulator_root))) == {"in", "known"}


def test_verify_tells_of_a_file_that_is_gone_and_repair_moves_orphans(filled):
    bucket, _ = bucket_of(filled)
    articles = next(name for name in generations(filled) if "/articles/" in name)
    bucket.copy(articles, articles.replace(".parquet", "x.0.parquet"))
    told = newsbeam("dataset", "verify", "-d", filled, "--repair", check=False)
    assert "moved" in told.stdout + told.stderr
    assert any("/_orphans/articles/" in name for name in generations(filled))
    bucket.delete(articles)
    told = newsbeam("dataset", "verify", "-d", filled, check=False)
    assert told.returncode == 1
    assert articles.rpartition("/")[2] in told.stdout + told.stderr


def test_configuration_topics_feeds_lists_and_seeds_lie_in_the_bucket(emulator_root, local, tmp_path):
    for name in ("newsbeam.yaml", "topics.yaml"):
        stores.upload(ROOT / "configs" / name, f"{emulator_root}/conf/configs/{name}")
    for seed in sorted((ROOT / "seeds").iterdir()):
        stores.upload(seed, f"{emulator_root}/conf/seeds/{seed.name}")
    config = f"{emulator_root}/conf/configs/newsbeam.yaml"
    assert f"{emulator_root}/conf/out" in newsbeam("check", "-c", config).stdout

    run_json("-c", config)

    assert_same_rows(local, stores.download(f"{emulator_root}/conf/out", tmp_path / "out"))


def test_feeds_and_watch(emulator_root, tmp_path):
    with NewsServer({}, host="127.0.0.2") as server:
        server.routes["/story/1"] = Answer(body=page(1))
        server.routes["/feed.xml"] = rss([server.url("/story/1")])
        (tmp_path / "feeds.txt").write_text(server.url("/feed.xml") + "\n")
        stores.upload(tmp_path / "feeds.txt", f"{emulator_root}/conf/feeds.txt")
        how = ["--feeds", f"{emulator_root}/conf/feeds.txt", "-d", f"{emulator_root}/out", "--allow-loopback"]
        newsbeam("watch", *how, "--every", "10s", "--until", "1s")
    assert len(query(f"{emulator_root}/out", "SELECT 1 FROM articles_latest")) == 1
    assert "/feed.xml" in newsbeam("feeds", "health", "-d", f"{emulator_root}/out", check=False).stdout


def test_a_second_run_at_the_same_time_is_refused_with_a_line(emulator_root):
    routes = {"/story/1": Answer(body=page(1), delay_s=15.0)}
    with NewsServer(routes, host="127.0.0.2") as server:
        server.routes["/feed.xml"] = rss([server.url("/story/1")])
        words = ["run", "--feeds", server.url("/feed.xml"), "-d", emulator_root, "--allow-loopback"]
        first = subprocess.Popen([sys.executable, "-m", "pipeline", *words], cwd=ROOT, stdout=subprocess.DEVNULL)
        bucket, prefix = bucket_of(emulator_root)
        deadline = time.monotonic() + 400
        while bucket.stat(f"{prefix}/_lock") is None and time.monotonic() < deadline:
            time.sleep(0.05)
        second = newsbeam(*words, check=False)
        assert second.returncode == 4
        assert f"process {first.pid} on " in second.stderr
        assert len(second.stderr.strip().splitlines()) == 1
        assert first.wait(timeout=400) == 0
    assert len(query(emulator_root, "SELECT 1 FROM articles")) == 1


@pytest.mark.parametrize("step", STEPS)
def test_the_next_run_completes_what_a_killed_one_left(step, emulator_root, local, tmp_path):
    words = ["run", "-c", CONFIG, "-d", emulator_root]
    run_until_killed(Path(__file__).parent / "killed_run.py", step, *words)

    newsbeam(*words)

    out = stores.download(emulator_root, tmp_path / "out")
    assert_same_rows(local, out)
    assert_sound(out)
    assert verify(storage_of(emulator_root), lambda line: None).findings == ()
