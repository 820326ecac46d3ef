"""``newsbeam topics test`` and ``topics eval`` as a user meets them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import ExitCode

SENTENCE = "The council of Orrin voted to stay a sanctuary city."


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def topics(capsys, *words):
    """Exit code, the lines of stdout and those of stderr."""
    code = main(["topics", *words])
    told = capsys.readouterr()
    return code, told.out.splitlines(), told.err.splitlines()


def from_stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_hits_are_shown_and_also_those_that_do_not_count(capsys):
    code, shown, _ = topics(capsys, "test", "Migrants met at the donkey sanctuary.")
    assert code == ExitCode.DONE
    assert shown == [
        "immigration  mention  3 x 0 (title) + 1.5 x 1 (lead) + 0 (body) = 1.5",
        "  en:migrant: [Migrants] met at the donkey sanctuary.",
        "does not count:",
        "  sanctuary_city  en:sanctuary: Migrants met at the donkey [sanctuary].  (an exclude phrase covers it)",
    ]


def test_a_title_weighs_three_times_and_json_stays_json(capsys):
    code, shown, told = topics(capsys, "test", "The donkey sanctuary is full.", "--title", SENTENCE, "--json")
    assert code == ExitCode.DONE
    found = {topic["topic"]: topic["score"] for topic in json.loads("\n".join(shown))}
    assert found == {"sanctuary_city": 3.0, "immigration": 0.0}
    assert told[0] == "does not count:"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["test", ""], "newsbeam: the text is empty; see newsbeam topics test --help"),
        (["test", " \u200b\n"], "newsbeam: the text is empty; see newsbeam topics test --help"),
        (["test", "nix.txt"], "newsbeam: no such file: nix.txt"),
        (
            ["test", "A vote.", "--language", "english"],
            'newsbeam: --language: "english" is no language tag; did you mean en?',
        ),
        (["test", "A vote.", "--language", "xx-!"], 'newsbeam: --language: "xx-!" is no language tag; write it as en,'),
        (["test", "A vote.", "--topics", "."], f"--topics: {Path.cwd().root}"),
        (["eval", "."], "newsbeam: . is a directory; name a file in it"),
        (["test", "a" * 1_000_001], "newsbeam: the text is longer than 1,000,000 characters; run it as a seed file"),
    ],
)
def test_what_is_no_text_is_told_in_a_line(capsys, words, line):
    code, shown, told = topics(capsys, *words)
    assert (code, shown, len(told)) == (ExitCode.USAGE, [], 1)
    assert told[0].startswith(line)


@pytest.mark.parametrize(
    ("data", "code", "first"),
    [
        (SENTENCE.encode(), ExitCode.DONE, "sanctuary_city  relevant  "),
        (SENTENCE.encode("utf-16"), ExitCode.DONE, "sanctuary_city  relevant  "),
        (b"<!DOCTYPE html><body><p>" + SENTENCE.encode() + b"</p></body>", ExitCode.DONE, "stdin.html"),
        (b"", ExitCode.USAGE, "newsbeam: the text is empty; "),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, ExitCode.USAGE, "newsbeam: the standard input is no text; "),
        (b"a" * 1_000_001, ExitCode.USAGE, "newsbeam: the text is longer than 1,000,000 characters; "),
    ],
)
def test_the_standard_input_is_read_whatever_it_is(capsys, monkeypatch, data, code, first):
    from_stdin(monkeypatch, data)
    found, shown, told = topics(capsys, "test", "-")
    assert found == code
    assert (shown or told)[0].startswith(first)


def test_a_file_is_read_as_a_seed_and_a_refused_one_is_told(capsys):
    Path("page.html").write_text(
        f"<html><body><nav>Migrants</nav><article><h1>Orrin votes once more on Tuesday</h1><p>{SENTENCE}</p></article>"
    )
    code, shown, _ = topics(capsys, "test", "page.html")
    assert code == ExitCode.DONE
    assert shown[0] == "page.html: Orrin votes once more on Tuesday"
    assert shown[1].startswith("sanctuary_city  ")
    Path("empty.txt").write_text("")
    code, shown, told = topics(capsys, "test", "empty.txt")
    assert (code, shown) == (ExitCode.FAILED, [])
    assert told == ["newsbeam: empty.txt was refused: empty: the file is empty"]


LABELLED = [
    {"text": SENTENCE, "topics": ["sanctuary_city"]},
    {"text": "The wall was built by masons.", "topics": ["immigration"]},
    {"text": "Migrants came to the fair; migrants, migrants.", "topics": []},
]


def labelled(*records, name="labelled.jsonl"):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    Path(name).write_text("\n".join(lines), encoding="utf-8")
    return name


def test_eval_shows_figures_and_the_worst_mistakes(capsys):
    code, shown, told = topics(capsys, "eval", labelled(*LABELLED))
    assert code == ExitCode.DONE
    assert [line.split() for line in shown[:1] + shown[2:8]] == [
        ["topic", "labelled", "level", "precision", "recall", "F1", "right", "wrong", "missed"],
        ["immigration", "1", "mention", "0.000", "0.000", "0.000", "0", "1", "1"],
        ["relevant", "0.000", "0.000", "0.000", "0", "1", "1"],
        ["primary", "-", "0.000", "0.000", "0", "0", "1"],
        ["sanctuary_city", "1", "mention", "1.000", "1.000", "1.000", "1", "0", "0"],
        ["relevant", "1.000", "1.000", "1.000", "1", "0", "0"],
        ["primary", "-", "0.000", "0.000", "0", "0", "1"],
    ]
    rest = "\n".join(shown[8:])
    assert "worst misses: labelled immigration, not relevant\n  labelled.jsonl:2  nothing  no hit counts\n" in rest
    assert "worst false hits: not labelled immigration, at least relevant\n  labelled.jsonl:3  relevant  " in rest
    assert "…[Migrants] came to the fair" in rest
    assert told == [
        "newsbeam: note: no text is labelled deportation: not measured; --topic measures it all the same",
        "3 texts judged",
    ]


def test_eval_of_several_files_as_json(capsys):
    one, other = labelled(LABELLED[0], name="a.jsonl"), labelled(*LABELLED[1:], name="b.jsonl")
    code, shown, _ = topics(capsys, "eval", one, other, "--json", "--topic", "immigration", "--worst", "1")
    assert code == ExitCode.DONE
    found = json.loads("\n".join(shown))
    assert (found["texts"], list(found["topics"])) == (3, ["immigration"])
    assert found["topics"]["immigration"]["relevant"] == {
        "precision": 0.0, "recall": 0.0, "f1": 0.0, "right": 0, "wrong": 1, "missed": 1,
    }  # fmt: skip
    (miss,) = found["misses"]
    assert (miss["file"], miss["line"], miss["evidence"][0]["surface"]) == ("b.jsonl", 1, "The wall")


def test_eval_names_bad_lines_and_goes_on(capsys):
    code, _, told = topics(capsys, "eval", labelled("nonsense", *LABELLED, "{}"), "--topic", "immigration")
    assert code == ExitCode.DONE
    assert told[0].startswith("labelled.jsonl:1:1: no JSON: ")
    assert told[1].startswith('labelled.jsonl:5:1: the object needs "text" or "title"')
    assert told[2:] == ["newsbeam: 2 lines are left out", "3 texts judged"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nix.jsonl"], "newsbeam: no such file: nix.jsonl"),
        (["--topic", "imigration", "good.jsonl"], 'there is no topic "imigration"; did you mean "immigration"?'),
        (["empty.jsonl"], "newsbeam: empty.jsonl: no labelled text; see newsbeam topics eval --help for the format"),
        (["wrong.jsonl"], 'wrong.jsonl:1:1: topics: there is no topic "deportations"; did you mean "deportation"?'),
        (["cut.jsonl.gz"], "newsbeam: cut.jsonl.gz: the compressed file is cut or damaged: "),
        (["good.jsonl", "--worst", "-1"], "newsbeam: --worst must be 0 or more"),
    ],
)
def test_what_eval_cannot_use_ends_it_before_anything_is_measured(capsys, words, line):
    labelled(*LABELLED, name="good.jsonl")
    labelled("", name="empty.jsonl")
    labelled({"text": "x", "topics": ["deportations"]}, name="wrong.jsonl")
    Path("cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    code, shown, told = topics(capsys, "eval", *words)
    assert (code, shown) == (ExitCode.USAGE, [])
    assert line in told[0]


def test_mistakes_of_a_taxonomy_are_json_too(capsys):
    Path("bad.yaml").write_text("topics:\n  - id: Housing\n    terms: [rent]\n")
    code, shown, told = topics(capsys, "lint", "--topics", "bad.yaml", "--json")
    assert code == ExitCode.USAGE
    (problem,) = json.loads("\n".join(shown))["problems"]
    assert (problem["file"], problem["line"]) == ("bad.yaml", 2)
    assert problem["message"] in told[0]


def test_an_example_that_does_not_hold_is_json_with_its_place(capsys):
    Path("sea.yaml").write_text("topics:\n  - id: sea\n    terms: [harbour]\n    examples: {match: [A quiet field.]}\n")
    code, shown, _ = topics(capsys, "lint", "--topics", "sea.yaml", "--json")
    assert code == ExitCode.USAGE
    (problem,) = json.loads("\n".join(shown))["problems"]
    assert (problem["line"], problem["key"]) == (4, "sea.examples")
