"""Adding to the text of a YAML file: nothing that stands there changes, whatever its form."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigError
from pipeline.feeds.yaml_edit import add_feeds, scalar
from transforms.yaml_file import load_yaml

PLAIN = {"url": "https://lantern.example/feed"}
FULL = {"url": "https://ferry.example/rss", "name": "The Ferry", "tags": ("local", "harbour")}


def edited(text, *feeds):
    return add_feeds(text, feeds or [PLAIN], "feeds.yaml")


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("", "feeds:\n  - https://lantern.example/feed\n", 2),
        ("# mine\nversion: 1", "# mine\nversion: 1\nfeeds:\n  - https://lantern.example/feed\n", 4),
        ("feeds: []\n", "feeds:\n  - https://lantern.example/feed\n", 2),
        ("feeds: []  # none\nversion: 1\n", "feeds:  # none\n  - https://lantern.example/feed\nversion: 1\n", 2),
        ("feeds:\nversion: 1\n", "feeds:\n  - https://lantern.example/feed\nversion: 1\n", 2),
        ("feeds: ~\n", "feeds:\n  - https://lantern.example/feed\n", 2),
        ("- https://a.example/f", "- https://a.example/f\n- https://lantern.example/feed\n", 2),
        ("[https://a.example/f]\n", "[https://a.example/f, https://lantern.example/feed]\n", 1),
        ("{feeds: [], version: 1}\n", "{feeds: [https://lantern.example/feed], version: 1}\n", 1),
        ("feeds: [\n  a, # one\n]\n", "feeds: [\n  a, # one\nhttps://lantern.example/feed]\n", 3),
        ("feeds: [a # one, two\n]\n", "feeds: [a # one, two\n, https://lantern.example/feed]\n", 2),
        ("---\nfeeds:\n- a\n...\n", "---\nfeeds:\n- a\n- https://lantern.example/feed\n...\n", 4),
        ("feeds: &all\n   - a\n", "feeds: &all\n   - a\n   - https://lantern.example/feed\n", 3),
    ],
)
def test_every_form_of_list_gets_the_feed_at_its_end(before, after, line):
    assert edited(before) == (after, (line,))


def test_comments_order_and_keys_below_stay():
    before = (
        "# Our feeds\n"
        "feeds:\n"
        "  # --- harbour\n"
        "  - url: https://a.example/f   # the first\n"
        "    name: 'A: B'\n"
        "    # interval: 2h\n"
        "\n"
        "# --- the end\n"
        "defaults: {language: en}\n"
    )
    added = "  - url: https://ferry.example/rss\n    name: The Ferry\n    tags: [local, harbour]\n"
    head, tail = before[: before.index("\n\n") + 1], before[before.index("\n\n") + 1 :]
    assert edited(before, FULL) == (head + added + tail, (7,))


def test_a_list_of_one_line_feeds_goes_on_in_that_form():
    before = "feeds:\n  - {url: https://a.example/f}\n"
    line = "  - {url: https://ferry.example/rss, name: The Ferry, tags: [local, harbour]}\n"
    assert edited(before, FULL).text == before + line


def test_windows_line_ends_are_kept():
    assert edited("- https://a.example/f\r\n", FULL).text.count("\r\n") == 4


def test_many_feeds_know_their_lines():
    assert edited("feeds:\n- a\n\n# end\n", PLAIN, FULL, PLAIN).lines == (3, 4, 7)


@pytest.mark.parametrize(
    "text", ["feeds: ''\n", "just words\n", "feeds: {a: 1}\n", "feeds: &x\n- &y a\n- *y\n", "a: [\n"]
)
def test_what_cannot_be_edited_safely_is_said_with_the_lines_to_add(text):
    with pytest.raises(ConfigError, match="cannot be edited safely") as raised:
        edited(text)
    assert "- url: https://lantern.example/feed" in raised.value.message


def test_an_alias_elsewhere_is_not_changed_with_the_list():
    with pytest.raises(ConfigError):
        edited("other: &x [a]\nfeeds: *x\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The Ferry", "The Ferry"),
        ("https://a.example/f?x=1&y=2", "'https://a.example/f?x=1&y=2'"),
        ("Señal 5", "Señal 5"),
        ("no", "'no'"),
        ("12:30", "'12:30'"),
        ("News: today", "'News: today'"),
        ("it's", "it's"),
        ("# one", "'# one'"),
        ("a, b", "'a, b'"),
        ("0?", "'0?'"),
        ("", "''"),
        ("line\u2028break", '"line\\U00002028break"'),
    ],
)
def test_texts_are_quoted_only_where_yaml_needs_it(text, written):
    assert scalar(text) == written


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
def test_every_text_comes_back_as_it_was(text):
    assert edited("feeds: []\n", PLAIN | {"name": text, "tags": (text, "x")}).lines == (2,)
    assert yaml.safe_load(f"[{scalar(text)}]") == [text]


@given(
    st.lists(
        st.sampled_from(["- a", "- {url: b} # c", "- url: d\n  name: e", "# f", "", "- |-\n  g", "- 'h'"]), max_size=6
    ),
    st.sampled_from(["", "feeds:\n", "version: 1\nfeeds:\n"]),
    st.sampled_from(["", "\n# end\n", "\n\n"]),
)
def test_what_was_there_is_still_there(items, head, tail):
    text = head + "\n".join(items) + tail
    before = load_yaml("f", text)
    after = load_yaml("f", edited(text, FULL).text)
    items_before = before.data if isinstance(before.data, list) else (before.data or {}).get("feeds") or []
    items_after = after.data if isinstance(after.data, list) else after.data["feeds"]
    assert items_after == [*items_before, {key: v if isinstance(v, str) else list(v) for key, v in FULL.items()}]
    assert [line for line in text.splitlines() if "#" in line] == [
        line for line in edited(text, FULL).text.splitlines() if "#" in line
    ]
