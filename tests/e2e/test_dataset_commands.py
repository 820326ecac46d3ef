"""The commands of ``newsbeam dataset`` as users run them, on datasets that newsbeam made."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from tests.program import ROOT, items_of, newsbeam, page, rss, run_json, story
from tests.rows import read_rows
from tests.servers import Answer, NewsServer
from transforms.schema import TABLES
from transforms.write.lock import acquire

TOPICS = """
id: vale
version: "2"
default_language: en
topics:
  - id: marsh
    terms: [marsh, marshes]
    thresholds: {mention: 0.1, relevant: 0.2, primary: 9}
"""


def seed_line(number: int) -> str:
    title, paragraphs = story(number)
    return json.dumps({"url": f"https://vale-post.example/{number}", "title": title, "text": "\n".join(paragraphs)})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A dataset of three runs on two days that are over."""
    folder = tmp_path_factory.mktemp("made")
    for day, numbers in (("01T10", range(3)), ("01T11", range(3, 6)), ("02T10", range(6, 8))):
        seeds = folder / f"seeds-{day}.jsonl"
        seeds.write_text("".join(seed_line(number) + "\n" for number in numbers) + ("{}\n" if day == "01T10" else ""))
        newsbeam("run", "--seeds", seeds, "-d", folder / "out", "--now", f"2026-09-{day}:00:00Z", "-q")
    return folder / "out"


@pytest.fixture
def root(made, tmp_path):
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"


def dataset(command, root, *words, **how):
    return newsbeam("dataset", command, "-d", root, *words, **how)


def dataset_json(command, root, *words, **how):
    return json.loads(dataset(command, root, *words, "--json", **how).stdout)


def rows_of(root):
    return {table: read_rows(root, table) for table in TABLES}


def test_no_command_writes_where_a_manifest_is_missing_or_there_twice(root, made):
    first, second, _ = sorted((root / "_runs").glob("*.json"))
    before = sorted(root.rglob("*.parquet"))
    content = first.read_bytes()
    first.unlink()
    for command in (("run", "--seeds", made.parent / "seeds-*.jsonl"), ("dataset", "compact")):
        assert_refused((*command, "-d", root), "commit 1 has no manifest any more")
    first.write_bytes(content)
    shutil.copy(second, second.with_stem("20260901T120000Z-aaaaaa"))
    assert_refused(("dataset", "compact", "-d", root), "2 manifests say that they are commit 2")
    assert sorted(root.rglob("*.parquet")) == before


def assert_refused(words, message):
    done = newsbeam(*words, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert message in done.stderr


def test_compact_verify_and_a_further_run(root, made):
    before = rows_of(root)
    found = dataset_json("compact", root)
    assert (found["days"], found["rows"]) == (1, 6 + sum(row["ingest_date"][-1] == "1" for row in topics(before)))
    assert rows_of(root) == before
    assert dataset("compact", root).stdout == "nothing to compact\n"
    clean = dataset("verify", root)
    assert clean.stdout.startswith("clean: 4 runs, ")
    again = run_json("--seeds", made.parent / "seeds-*.jsonl", "-d", root)
    assert items_of(again) == {"in": 9, "known": 9}
    assert rows_of(root) == before


def topics(rows):
    return rows["article_topics"]


def test_verify_names_what_is_wrong_and_repairs_what_it_can(root):
    lost = next((root / "article_topics").glob("*/ingest_date=2026-09-02/*.parquet"))
    stray = root / "rejects" / "ingest_date=2026-09-01" / "notes.txt"
    stray.write_text("mine")
    found = dataset("verify", root, check=False)
    assert found.returncode == 1
    assert (
        found.stdout.splitlines()[0]
        == "rejects/ingest_date=2026-09-01/notes.txt: belongs to no run, but readers see it"
    )
    assert "--repair" in found.stderr
    assert dataset("verify", root, "--repair").stdout.startswith("moved rejects/")
    lost.unlink()
    told = dataset_json("verify", root, "--repair", check=False)
    assert [finding["kind"] for finding in told["findings"]] == ["missing", "topics"]
    assert told["repaired"] == []


def test_prune_asks_first_and_nothing_comes_again(root, made):
    before = rows_of(root)
    refused = dataset("prune", root, "--before", "2026-09-02", check=False)
    assert refused.returncode == 2
    assert "say so with --yes" in refused.stderr
    assert rows_of(root) == before
    done = dataset("prune", root, "--before", "2026-09-02", "--yes")
    assert "6 of articles" in done.stdout
    assert len(read_rows(root, "articles")) == 2
    shutil.rmtree(root / "_meta" / "state")
    again = run_json("--seeds", made.parent / "seeds-*.jsonl", "-d", root)
    assert items_of(again) == {"in": 9, "known": 9}
    assert dataset("verify", root).stdout.startswith("clean: ")
    future = dataset("prune", root, "--before", "2999-01-01", "--yes", check=False)
    assert (future.returncode, future.stderr.count("\n")) == (2, 1)


def test_retag_and_what_it_would_change(root, tmp_path):
    (tmp_path / "topics.yaml").write_text(TOPICS)
    new = ["--topics", tmp_path / "topics.yaml"]
    told = newsbeam("topics", "diff", ROOT / "configs/topics.yaml", tmp_path / "topics.yaml", "-d", root).stdout
    # Of the stories 0 to 7 these speak of a marsh restoration, by the text that was made for them.
    marsh = {f"https://vale-post.example/{n}" for n in range(8) if "marsh" in " ".join([story(n)[0], *story(n)[1]])}
    assert marsh
    assert {line.split()[-1] for line in told.splitlines() if line.startswith("+marsh")} == marsh
    planned = dataset("retag", root, "--plan", *new).stdout
    assert planned.startswith("8 of 8 articles carry another taxonomy than vale 2\n")
    assert dataset_json("retag", root, *new)["rows"] == 8
    assert {row["url"] for row in read_rows(root, "article_topics")} == marsh
    assert dataset("retag", root, *new).stdout == "every article is tagged with vale 2 already\n"
    assert dataset("verify", root).stdout.startswith("clean: ")


def test_retag_is_refused_where_no_text_is_stored(tmp_path):
    (tmp_path / "newsbeam.yaml").write_text("store_text: none\ndataset: out\n")
    (tmp_path / "a.jsonl").write_text(seed_line(1) + "\n")
    newsbeam("run", "-c", tmp_path / "newsbeam.yaml", "--seeds", tmp_path / "a.jsonl", "-q")
    (tmp_path / "topics.yaml").write_text(TOPICS)
    words = ["dataset", "retag", "-c", tmp_path / "newsbeam.yaml", "--topics", tmp_path / "topics.yaml"]
    refused = newsbeam(*words, check=False)
    assert refused.returncode == 1
    assert "holds no texts (store_text: none)" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_refused_page_comes_in_by_replay_and_only_once(tmp_path):
    root = tmp_path / "out"
    with NewsServer({}, host="127.0.0.2") as server:
        gone, lost = server.url("/gone"), server.url("/lost")
        server.routes["/feed.xml"] = rss([gone, lost])
        words = ["--feeds", server.url("/feed.xml"), "-d", root, "--allow-loopback", "--host-gap", "0s"]
        assert items_of(run_json(*words, "--max-age", "3000d")) == {"in": 2, "rejected": 2}
        server.routes["/gone"] = Answer(body=page(4))
        assert items_of(run_json(*words, "--due-now")) == {"in": 2, "known": 2}, "a final refusal is final"

        nothing = dataset("replay", root, "--plan", "--allow-loopback").stdout
        assert nothing.startswith("0 rejects would go in again"), "a 404 is not called retryable"
        chosen = ["--stage", "fetch", "--reason", "not_found", "--allow-loopback"]
        assert dataset_json("replay", root, *chosen, "--plan")["rows"] == {"fetch:not_found": 2}
        found = dataset_json("replay", root, *chosen)
        assert (found["replayed"], found["items"]["new"], found["items"]["known"]) == (2, 1, 1)
        assert [row["url"] for row in read_rows(root, "articles")] == [gone]
        assert len(read_rows(root, "rejects")) == 2, "what is refused again is not written twice"
        again = dataset_json("replay", root, *chosen)
        assert (again["replayed"], again["left"]) == (1, {"its article is here by now": 1})
        assert items_of(run_json(*words, "--due-now")) == {"in": 2, "known": 2}
    assert dataset("verify", root).stdout.startswith("clean: ")


def test_a_refused_seed_is_read_again_from_its_file(tmp_path):
    root, seeds = tmp_path / "out", tmp_path / "a.jsonl"
    plain = json.dumps({"url": "https://vale-post.example/bread", "title": "Bread", "text": "The bakery sold out."})
    seeds.write_text(f"{seed_line(2)}\n{plain}\n")
    assert items_of(run_json("--seeds", seeds, "-d", root, "--keep", "tagged"))["rejected"] >= 1
    refused = [row["reason"] for row in read_rows(root, "rejects")]
    assert refused.count("untagged") == len(refused)
    found = dataset_json("replay", root, "--stage", "tag")
    assert found["items"]["new"] == len(refused)
    assert len(read_rows(root, "articles")) == 2
    seeds.unlink()
    assert dataset_json("replay", root, "--stage", "tag")["left"] == {"its file is gone": len(refused)}


@pytest.mark.parametrize(
    "words", [["--stage", "fetc"], ["--reason", "not_fond"], ["--stage", "tag", "--reason", "gone"]]
)
def test_a_wrong_name_is_answered_with_the_right_ones(made, words):
    told = dataset("replay", made, *words, check=False)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert words[-1] in told.stderr


def test_no_dataset_no_traceback_and_no_folder(tmp_path):
    for command in ("verify", "compact", "retag", "replay"):
        told = dataset(command, tmp_path / "none", check=False)
        assert (told.returncode, told.stderr.count("\n")) == (2, 1), told.stderr
        assert "no dataset there" in told.stderr
    assert not (tmp_path / "none").exists()


def test_a_busy_dataset_is_exit_4(root):
    with acquire(str(root)):
        for command in ("verify", "compact"):
            told = dataset(command, root, check=False)
            assert (told.returncode, told.stderr.count("\n")) == (4, 1)


def test_killed_in_the_middle_of_a_compaction(root):
    before = rows_of(root)
    code = (
        "import os, signal, sys\n"
        "from pipeline.cli import main\n"
        "from transforms.write.storage import LocalStorage\n"
        "left = [3]\n"
        "real = LocalStorage.delete\n"
        "def delete(self, path):\n"
        "    if not left[0]:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    left[0] -= 1\n"
        "    real(self, path)\n"
        "LocalStorage.delete = delete\n"
        "main(sys.argv[1:])\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, "dataset", "compact", "-d", str(root)], cwd=ROOT)
    assert killed.returncode == -9
    told = dataset("verify", root, check=False)
    assert told.returncode == 1
    assert "a commit was interrupted" in told.stdout
    assert "finished the interrupted run" in dataset("compact", root).stderr
    assert rows_of(root) == before
    assert dataset("verify", root).stdout.startswith("clean: ")


def test_the_flags_are_read_without_anything_heavy():
    code = "import sys\nfrom pipeline.cli.parser import build_parser\nbuild_parser()\nprint(sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout
    assert not [name for name in ("pyarrow", "apache_beam", "pydantic") if f"'{name}'" in modules]
