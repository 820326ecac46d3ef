"""Lists of feeds in our own form: fields, defaults, places of mistakes, the same feed twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config.load import load_config, load_feeds, load_setup
from transforms.yaml_file import ProblemsError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def feeds_of(text, name="feeds.yaml", **settings):
    Path(name).write_text(text, encoding="utf-8")
    return load_feeds(load_config(None, {"feeds": [name], **settings}, {}))


def mistakes(text, name="feeds.yaml"):
    with pytest.raises(ProblemsError) as raised:
        feeds_of(text, name)
    return [str(problem).removeprefix(f"{Path.cwd()}/") for problem in raised.value.problems]


def test_a_feed_in_full():
    (feed,) = feeds_of(
        "version: 1\n"
        "feeds:\n"
        "  - url: https://lantern.example/feed\n"
        "    id: lantern\n"
        "    name: The Lantern\n"
        "    language: es\n"
        "    interval: 1h30m\n"
        "    time_zone: America/Denver\n"
        "    conditional: never\n"
        "    robots: true\n"
        "    tags: [local, harbour]\n"
        "    country: NO\n"
        "    state: Vestland\n"
        "    note: asked for by the desk\n"
    )
    assert feed.url == "https://lantern.example/feed"
    assert (feed.source_id, feed.source_name, feed.language) == ("lantern", "The Lantern", "es")
    assert (feed.interval_s, feed.time_zone, feed.conditional) == (5400, "America/Denver", "never")
    assert feed.robots is True
    assert feed.tags == ("local", "harbour")


def test_a_bare_list_of_addresses_is_enough():
    feeds = feeds_of("- https://lantern.example/feed\n- https://ferry.example:8080/rss\n")
    assert [(feed.url, feed.source_id, feed.interval_s) for feed in feeds] == [
        ("https://lantern.example/feed", "lantern.example", 900),
        ("https://ferry.example:8080/rss", "ferry.example", 900),
    ]


def test_what_a_feed_leaves_open_comes_from_defaults_and_then_from_the_config():
    first, second = feeds_of(
        "defaults: {interval: 1h, language: es, tags: [all]}\n"
        "feeds:\n"
        "  - {url: https://lantern.example/feed, language: en, tags: [local]}\n"
        "  - {url: https://ferry.example/feed, robots: false}\n",
        robots_for_feeds=True,
    )
    assert (first.interval_s, first.language, first.tags, first.robots) == (3600, "en", ("local", "all"), True)
    assert (second.interval_s, second.language, second.tags, second.robots) == (3600, "es", ("all",), False)


OPML = """<?xml version="1.0"?>
<opml version="2.0"><head><title>Desk</title></head><body>
<outline text="Harbour">
<outline type="rss" text="Lantern" xmlUrl="https://lantern.example/feed" language="es"/>
<outline type="rss" text="Broken" xmlUrl="ht!tp://ann:pw@"/>
</outline>
<outline text="Hills"><outline type="rss" text="Lantern" xmlUrl="http://lantern.example/feed"/></outline>
<outline type="rss" xmlUrl="feed://meadow.example/rss"/>
</body></opml>
"""


def test_lists_of_other_readers_go_in_and_what_is_wrong_in_them_is_said(caplog):
    first, second = feeds_of(OPML, "export.opml")
    assert (first.url, first.source_name, first.language) == ("https://lantern.example/feed", "Lantern", "es")
    assert first.tags == ("Harbour", "Hills")
    assert (second.url, second.source_id) == ("https://meadow.example/rss", "meadow.example")
    (said,) = caplog.messages
    assert "export.opml: left out: line 5: " in said
    assert "pw" not in said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.txt", "# ours\nhttps://lantern.example/feed\n\nferry.example/rss\n"),
        ("f.csv", "title;url\nLantern;https://lantern.example/feed\nFerry;https://ferry.example/rss\n"),
        ("f", "https://lantern.example/feed\r\nhttps://ferry.example/rss\r\n"),
    ],
)
def test_plain_lists(name, text):
    assert [feed.url for feed in feeds_of(text, name)] == ["https://lantern.example/feed", "https://ferry.example/rss"]


def test_a_file_without_any_feed_is_a_mistake():
    (mistake,) = mistakes("<html><body>no feeds here</body></html>", "page.xml")
    assert mistake.startswith("page.xml: lists no feed that can be used (line 1: ")
    assert mistakes("", "f.txt") == ["f.txt: lists no feed that can be used"]


def test_addresses_and_files_may_stand_side_by_side():
    Path("a.yaml").write_text("- https://lantern.example/feed\n")
    Path("b.yaml").write_text("- https://ferry.example/feed\n")
    config = load_config(None, {"feeds": ["https://meadow.example/feed", "*.yaml"]}, {})
    assert [feed.source_id for feed in load_feeds(config)] == ["meadow.example", "lantern.example", "ferry.example"]


def test_feeds_may_be_written_out_in_the_config():
    Path("c.yaml").write_text(
        "feeds:\n  - {url: https://lantern.example/feed, id: lantern}\n  - https://ferry.example/feed\n"
    )
    assert [feed.source_id for feed in load_feeds(load_config("c.yaml", {}, {}))] == ["lantern", "ferry.example"]


def test_mistakes_name_file_line_column_and_key():
    assert mistakes(
        "defaults:\n"
        "  intervall: 1h\n"
        "feeds:\n"
        "  - url: https://lantern.example/feed\n"
        "    lang: english\n"
        "  - name: Ferry\n"
        "  - ftp://meadow.example/feed\n"
        "fedes: []\n"
    ) == [
        'feeds.yaml:2:3: defaults.intervall: unknown key; did you mean "interval"?',
        'feeds.yaml:5:11: feeds[0].lang: "english" is not a language tag (BCP 47) such as en, es or pt-BR',
        "feeds.yaml:6:5: feeds[1].url: is missing; every entry needs it",
        'feeds.yaml:7:5: feeds[2].url: "ftp://meadow.example/feed" is not an http:// or https:// address',
        'feeds.yaml:8:1: fedes: unknown key; did you mean "feeds"?',
    ]


def test_mistakes_in_a_bare_list_have_their_places():
    assert mistakes("- https://lantern.example/feed\n- {url: x}\n")[0].startswith("feeds.yaml:2:9: feeds[1].url: ")


def test_the_same_feed_twice_in_a_file_names_both_lines():
    assert mistakes(
        "- https://lantern.example/feed\n- https://ferry.example/feed\n- https://lantern.example/feed\n"
    ) == ["feeds.yaml:3:3: https://lantern.example/feed is listed twice, first in line 1"]


def test_the_same_feed_in_two_files_is_one_feed_with_the_tags_of_both():
    Path("a.yaml").write_text("- {url: https://lantern.example/feed, id: first, tags: [a]}\n")
    Path("b.yaml").write_text("- {url: https://lantern.example/feed, id: second, tags: [b]}\n")
    (feed,) = load_feeds(load_config(None, {"feeds": ["a.yaml", "b.yaml"]}, {}))
    assert (feed.source_id, feed.tags) == ("first", ("a", "b"))


def test_the_same_feed_by_another_spelling_is_the_same():
    text = "- https://lantern.example/feed\n- http://www.lantern.example/feed/\n"
    assert mistakes(text) == ["feeds.yaml:2:3: http://www.lantern.example/feed/ is listed twice, first in line 1"]


def test_a_file_that_is_not_there_is_named(here):
    with pytest.raises(ProblemsError, match=f"{here}/nix.yaml: No such file"):
        load_feeds(load_config(None, {"feeds": ["nix.yaml"]}, {}))


def test_a_pattern_that_matches_nothing_is_a_mistake(here):
    with pytest.raises(ProblemsError, match="no file matches"):
        load_feeds(load_config(None, {"feeds": ["*.opml"]}, {}))


def test_mistakes_of_all_files_come_at_once():
    Path("a.yaml").write_text("- {url: https://lantern.example/feed, intervall: 1h}\n")
    Path("c.yaml").write_text("keep: taged\nfeeds: a.yaml\ntopics: nix.yaml\ndataset: a.yaml\n")
    with pytest.raises(ProblemsError) as raised:
        load_setup("c.yaml", {}, {})
    places = [str(problem).partition(": ")[0] for problem in raised.value.problems]
    assert [Path(place.partition(":")[0]).name for place in places] == ["a.yaml", "c.yaml", "c.yaml", "c.yaml"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ca_bundle: nix.pem", "cannot be read: "),
        ("entity_model: xx_not_here", "no spaCy model xx_not_here; install it"),
        ("dataset: c.yaml/out", "c.yaml is a file, not a folder"),
        ("topics: nix.yaml", "no such file: "),
        ("feeds: https://lantern.example/feed", "is needed, since lantern.example would be asked"),
    ],
)
def test_what_cannot_work_is_seen_before_anything_is_done(line, says):
    Path("c.yaml").write_text(line + "\n")
    with pytest.raises(ProblemsError) as raised:
        load_setup("c.yaml", {}, {})
    (problem,) = raised.value.problems
    assert says in problem.message


def test_loopback_is_asked_without_a_contact():
    assert len(load_setup(None, {"feeds": ["http://127.0.0.1:9/feed"]}, {}).feeds) == 1


def test_passwords_of_feeds_stay_out_of_messages():
    text = "- https://ann:pw@lantern.example/feed\n- https://ann:pw@lantern.example/feed\n"
    assert "pw" not in mistakes(text)[0]


def test_variables_keep_passwords_out_of_the_file(monkeypatch):
    monkeypatch.setenv("LANTERN_LOGIN", "ann:pw")
    (feed,) = feeds_of("- https://${LANTERN_LOGIN}@lantern.example/feed\n")
    assert feed.url == "https://ann:pw@lantern.example/feed"
