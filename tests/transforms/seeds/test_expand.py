from __future__ import annotations

import os
from pathlib import Path

import pytest

from transforms.seeds.expand import expand_seeds, is_seed_name, local_path


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("seeds/council.txt", True),
        ("seeds/.council.txt", False),
        ("seeds/README.md", False),
        ("readme", False),
        ("seeds/ReadMe_first.txt", False),
        ("seeds/my-readme.txt", True),
        (".hidden/council.txt", True),
        ("seeds/~$council.txt", False),
        ("gs://bucket/news/a.jsonl", True),
        ("gs://bucket/news/", False),
    ],
)
def test_hidden_files_and_readmes_are_no_seeds(path: str, wanted: bool):
    assert is_seed_name(path) is wanted


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.txt",
        "a.txt",
        ".hidden.txt",
        "README.txt",
        "x/c.txt",
        "x/y/d.txt",
        "x/y/readme.md",
        "x/.git/e.txt",
        "x/page.html",
        "odd [1].txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Forty more beds.")
    return tmp_path


def names(tree: Path, *patterns: str) -> list[str]:
    found = expand_seeds([f"{tree}/{pattern}" for pattern in patterns])
    return [os.path.relpath(path, tree) for path in found.paths]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["a.txt", "b.txt", "odd [1].txt"]),
        ("**", ["a.txt", "b.txt", "odd [1].txt", "x/c.txt", "x/page.html", "x/y/d.txt"]),
        ("**/*.txt", ["a.txt", "b.txt", "odd [1].txt", "x/c.txt", "x/y/d.txt"]),
        ("x/**/*.txt", ["x/c.txt", "x/y/d.txt"]),
        ("*/y/*.txt", ["x/y/d.txt"]),
        ("**/**/y/*", ["x/y/d.txt"]),
        ("[ab].txt", ["a.txt", "b.txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        ("a.txt", ["a.txt"]),
        ("odd [1].txt", ["odd [1].txt"]),
        ("x/*", ["x/c.txt", "x/page.html"]),
    ],
)
def test_patterns_stand_for_files(tree: Path, pattern: str, expected: list[str]):
    assert names(tree, pattern) == expected


def test_a_file_that_two_patterns_match_comes_once(tree: Path):
    assert names(tree, "*.txt", "a.txt", "x/../a.txt") == ["a.txt", "b.txt", "odd [1].txt"]


def test_patterns_that_match_nothing_are_told(tree: Path):
    patterns = [f"{tree}/{name}" for name in ("none.txt", "*.csv", "README*", "none/**", "a.txt")]
    found = expand_seeds(patterns)
    assert found.unmatched == tuple(patterns[:4])
    assert found.problems == ()


def test_a_directory_is_a_problem_with_advice(tree: Path):
    found = expand_seeds([str(tree / "x")])
    assert found.paths == ()
    assert found.problems == (f"{tree}/x is a directory; use {tree}/x/** for all files in it",)


def test_links_in_a_circle_end(tree: Path):
    (tree / "x" / "loop").symlink_to(tree)
    (tree / "x" / "link.txt").symlink_to(tree / "a.txt")
    assert names(tree, "x/**/*.txt") == ["x/c.txt", "x/link.txt", "x/y/d.txt"]


def test_pipes_are_no_seeds(tree: Path):
    os.mkfifo(tree / "pipe.txt")
    assert "pipe.txt" not in names(tree, "*.txt")
    assert expand_seeds([f"{tree}/pipe.txt"]).problems == (f"{tree}/pipe.txt is no regular file",)


def test_relative_patterns_stay_relative(tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tree)
    assert expand_seeds(["*.txt"]).paths == ("a.txt", "b.txt", "odd [1].txt")
    assert expand_seeds(["**/d.txt"]).paths == ("x/y/d.txt",)


def test_a_name_that_is_no_utf8_travels_as_an_address(tree: Path):
    odd = os.fsencode(tree) + b"/k\xfcste.txt"
    with open(odd, "wb") as file:
        file.write(b"Forty more beds.")
    (path,) = expand_seeds([f"{tree}/k*.txt"]).paths
    assert path.endswith("/k%FCste.txt")
    assert path.isascii()
    assert os.fsencode(local_path(path)) == odd
    assert expand_seeds([path]).paths == (path,)


def test_what_is_no_seed_by_its_name_is_told(tree: Path):
    found = expand_seeds([f"{tree}/**"])
    assert [os.path.relpath(path, tree) for path in found.left_out] == [".hidden.txt", "README.txt", "x/y/readme.md"]
    assert expand_seeds([f"{tree}/*.jsonl"]).left_out == ()
    assert expand_seeds([f"{tree}/README.txt"]).left_out == (f"{tree}/README.txt",)
