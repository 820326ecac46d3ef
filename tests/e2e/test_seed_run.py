"""The whole program over the shipped seeds: rows, reruns, splits and order."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.program import ROOT, items_of, newsbeam, run_json, story
from tests.rows import assert_same_rows, assert_sound, read_rows

SEEDS = ROOT / "seeds"


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    root = tmp_path_factory.mktemp("seeds") / "out"
    return root, run_json("-c", ROOT / "configs/newsbeam.yaml", "-d", root)


def test_the_shipped_seeds_give_articles_of_all_topics(first_run):
    root, summary = first_run

    assert summary["adds_up"]
    assert summary["items"]["duplicates"] == 1
    assert summary["items"]["rejected"] == 0
    topics = {topic for row in read_rows(root, "articles") for topic in row["topics"]}
    assert topics == {"immigration", "deportation", "sanctuary_city"}
    assert any(not row["topics"] for row in read_rows(root, "articles"))
    assert any(row["language"] == "es" and row["topics"] for row in read_rows(root, "articles"))
    assert_sound(root)


def test_a_second_run_adds_nothing_and_says_what_the_dataset_holds(first_run):
    root, summary = first_run
    before = sorted(path for path in root.glob("articles/**/*"))

    again = newsbeam("run", "-c", ROOT / "configs/newsbeam.yaml", "-d", root)

    items = summary["items"]["in"]
    assert (
        f"in {items} = new 0 + revised 0 + known {items} + duplicates 0 + deferred 0 + rejected 0   ok" in again.stdout
    )
    assert f"the dataset holds {summary['items']['new']} articles" in again.stdout
    assert sorted(path for path in root.glob("articles/**/*")) == before


def test_bundles_that_run_twice_give_the_same_rows(first_run, tmp_path):
    root, _ = first_run
    flags = ["-c", ROOT / "configs/newsbeam.yaml", "-d", tmp_path / "out"]
    run_json(*flags, "--direct_runner_bundle_repeat=1")

    assert_same_rows(root, tmp_path / "out")


def test_the_order_of_the_files_does_not_matter(tmp_path):
    files = sorted(path for path in SEEDS.iterdir() if path.name != "README.md")
    run_json("--seeds", *files, "-d", tmp_path / "forwards")
    # Other names put the same files into the reverse order.
    (tmp_path / "copies").mkdir()
    for number, file in enumerate(reversed(files)):
        shutil.copy(file, tmp_path / "copies" / f"{number:02d}{file.suffix}")
    run_json("--seeds", tmp_path / "copies" / "*", "-d", tmp_path / "backwards")

    assert_same_rows(tmp_path / "forwards", tmp_path / "backwards")


def test_a_jsonl_file_cut_in_three_gives_the_same_rows(tmp_path):
    records = [json.dumps({"title": story(n)[0], "text": "\n\n".join(story(n)[1])}) for n in range(9)]
    records[4] = json.dumps({"url": "https://vale-post.example/4", "text": story(4)[1][0]})
    (tmp_path / "whole.jsonl").write_text("\n".join(records) + "\n")
    for part in range(3):
        (tmp_path / f"part{part}.jsonl").write_text("\n".join(records[part * 3 : part * 3 + 3]))
    run_json("--seeds", tmp_path / "whole.jsonl", "-d", tmp_path / "a")
    run_json("--seeds", tmp_path / "part*.jsonl", "-d", tmp_path / "b")

    assert len(read_rows(tmp_path / "a", "articles")) == 9
    assert_same_rows(tmp_path / "a", tmp_path / "b")


def test_what_is_no_seed_becomes_rejects_and_the_rest_goes_in(tmp_path):
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "good.txt").write_text("The council of Vale met on Monday and adjourned.")
    (seeds / "paper.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n")
    (seeds / "empty.txt").write_bytes(b"")
    (seeds / "README.md").write_text("not a seed")
    (seeds / ".hidden.txt").write_text("not a seed")
    summary = run_json("--seeds", seeds / "*", "-d", tmp_path / "out")

    assert items_of(summary) == {"in": 3, "new": 1, "rejected": 2}
    assert {(row["reason"], Path(row["input_uri"]).name) for row in read_rows(tmp_path / "out", "rejects")} == {
        ("unknown_type", "paper.pdf"),
        ("empty", "empty.txt"),
    }
    again = run_json("--seeds", seeds / "*", "-d", tmp_path / "out")
    assert items_of(again) == {"in": 3, "known": 3}
