"""YAML as people write it: values stay text, places are right, hostile files are bounded."""

from __future__ import annotations

import pickle
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from transforms import yaml_file
from transforms.yaml_file import Mark, Problem, ProblemsError, dotted, is_trap, load_yaml, suggest


@pytest.fixture(params=["libyaml", "pure"], autouse=True)
def loader(request, monkeypatch):
    """Both parsers must say the same."""
    if request.param == "pure":
        monkeypatch.setattr(yaml_file, "_LOADER", yaml.SafeLoader)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML has no libyaml here")
    return request.param


def problems_of(text):
    return [str(problem) for problem in load_yaml("f.yaml", text).problems]


@pytest.mark.parametrize(
    "written",
    [
        "NO",
        "no",
        "yes",
        "on",
        "off",
        "true",
        "22:30",
        "0123",
        "0x1F",
        "1e3",
        "1.10",
        "1_000",
        "2026-03-10",
        ".inf",
        "287",
    ],
)
def test_scalars_stay_as_written(written):
    value = load_yaml("f.yaml", f"key: {written}").data["key"]
    assert value == written
    assert value.plain


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL"])
def test_nothing_is_none(written):
    assert load_yaml("f.yaml", f"key: {written}").data == {"key": None}


@pytest.mark.parametrize("written", ["''", '"~"', "'null'", '"on"'])
def test_quoted_words_are_text_and_no_trap(written):
    value = load_yaml("f.yaml", f"key: {written}").data["key"]
    assert isinstance(value, str)
    assert not value.plain
    assert not is_trap(value)


@pytest.mark.parametrize(
    "written", ["on", "off", "yes", "no", "~", "287", "1_000", "22:30", "0123", "1.10", "2026-03-10"]
)
def test_unquoted_words_that_other_readers_change_are_traps(written):
    assert is_trap(load_yaml("f.yaml", f"- {written}").data[0])


@pytest.mark.parametrize("written", ["asylum", "ICE", "287(g)", "Section 12", "nope"])
def test_other_words_are_no_traps(written):
    assert not is_trap(load_yaml("f.yaml", f"- {written}").data[0])


def test_places_of_values_and_keys():
    file = load_yaml("f.yaml", "feeds:\n  - name: Übersee\n    url:  x\n")
    assert file.mark_of(("feeds", 0, "url")) == Mark("f.yaml", 3, 11)
    assert file.key_mark_of(("feeds", 0, "url")) == Mark("f.yaml", 3, 5)
    assert file.mark_of(("feeds", 0, "nothing", "below")) == Mark("f.yaml", 2, 5)


def test_double_keys_name_both_lines_and_the_first_counts():
    file = load_yaml("f.yaml", "topics:\n  harbour: a\n  ferry: b\n  harbour: c\n")
    assert [str(problem) for problem in file.problems] == [
        "f.yaml:4:3: topics.harbour: the same key twice, first in line 2; remove or rename one"
    ]
    assert file.data["topics"]["harbour"] == "a"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 'open\nb: 1\n", "f.yaml:1:4", "quote that opens here is not closed"),
        ("a: [1, 2\nb: 3\n", "f.yaml:1:4", "bracket that opens here"),
        ("a:\n\t- x\n", "f.yaml:2:1", "a tab cannot indent"),
        ("a: @x\n", "f.yaml:1:4", 'cannot begin with "@"'),
        ("a: *star\n", "f.yaml:1:4", "begins with *"),
        ("a: b: c\n", "f.yaml:1:5", "second colon"),
        ("- a\nb: c\n", "f.yaml:2:1", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1", "second document"),
        ("é: ok\nb: \x07\n", "f.yaml:2:4", "not valid YAML"),
    ],
)
def test_syntax_errors_have_their_place_and_plain_words(text, place, words):
    (problem,) = problems_of(text)
    assert problem.startswith(place + ": ")
    assert words in problem


def test_a_key_must_be_a_word():
    assert problems_of("? [a, b]\n: c\n") == ["f.yaml:1:3: a key must be a word"]


@pytest.mark.parametrize(
    "text", ["[" * 1200, "- " * 5000 + "x", "{a: " * 1200, "\n".join(" " * i + "a:" for i in range(2000))]
)
def test_deep_nesting_is_a_mistake_and_no_crash(text):
    assert len(problems_of(text)) == 1


def test_nesting_over_the_limit_is_a_mistake():
    assert problems_of("[" * 60 + "]" * 60)[0].endswith("nested too deep or within itself")


def test_an_alias_inside_itself_is_a_mistake():
    file = load_yaml("f.yaml", "a: &a\n  b: *a\n")
    assert "within itself" in str(file.problems[0])


def test_aliases_are_usable():
    file = load_yaml("f.yaml", "a: &terms [x, y]\nb: *terms\n")
    assert file.data == {"a": ["x", "y"], "b": ["x", "y"]}
    assert not file.problems


def test_a_billion_laughs_cost_nothing():
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    began = time.monotonic()
    found = problems_of("\n".join(lines))
    assert time.monotonic() - began < 5
    assert len(found) == 1
    assert "aliases repeat too much" in found[0]


def test_tags_construct_nothing():
    file = load_yaml("f.yaml", "a: !!python/object/apply:os.system ['true']\nb: !!int 5\n")
    assert file.data == {"a": ["true"], "b": "5"}


def test_a_huge_file_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(yaml_file, "MAX_BYTES", 1000)
    path = tmp_path / "big.yaml"
    path.write_text("a: " + "x" * 2000)
    file = load_yaml(path)
    assert file.data is None
    assert "larger than" in str(file.problems[0])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_editors_write(tmp_path, encoding):
    path = tmp_path / "f.yaml"
    path.write_text("name: Ærø Tidende\n", encoding=encoding)
    assert load_yaml(path).data == {"name": "Ærø Tidende"}


def test_another_encoding_is_named_with_its_place(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes("a: 1\nname: Café\n".encode("cp1252"))
    assert str(load_yaml(path).problems[0]) == f"{path}:2:10: not UTF-8; save the file as UTF-8"


def test_line_ends_do_not_matter():
    assert load_yaml("f.yaml", "a: 1\r\nb:\r\n  - c\r\n").data == {"a": "1", "b": ["c"]}


def test_an_empty_file_is_none():
    assert load_yaml("f.yaml", "# only a comment\n") == ("f.yaml", None, {}, [])


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_yaml(tmp_path / "none.yaml")


def test_a_place_without_a_line_is_only_a_name():
    assert str(Problem(Mark("--host-gap", 0, 0), "", "is wrong")) == "--host-gap: is wrong"


def test_problems_travel_between_processes():
    error = ProblemsError([Problem(Mark("f.yaml", 1, 2), "a", "is wrong")])
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_paths_as_people_write_them():
    assert dotted(("feeds", 0, "url")) == "feeds[0].url"
    assert dotted((0, "url")) == "[0].url"


def test_the_nearest_word_is_suggested():
    assert suggest("intervall", ["interval", "url"]) == '; did you mean "interval"?'
    assert suggest("zebra", ["interval", "url"]) == ""


@given(st.text(max_size=300))
def test_no_text_whatsoever_raises(text):
    load_yaml("f.yaml", text)


@given(st.text(alphabet="ab:@\t -\r\n\x85\u2028%`", max_size=60))
def test_no_odd_line_end_raises(text):
    load_yaml("f.yaml", text)


@given(st.text(alphabet="ab:-[]{}'\"*&!|>#%@ \n\t,?~", max_size=80))
def test_no_odd_syntax_raises(text):
    load_yaml("f.yaml", text)
