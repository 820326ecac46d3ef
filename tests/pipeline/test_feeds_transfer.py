"""``newsbeam feeds import`` and ``export``: lists of other programs in, lists for other programs out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.cli import main
from pipeline.config.model import FeedItem
from pipeline.feeds.transfer import read_feeds, write_feeds

# As readers write them: a feed under each folder, in other spellings; odd schemes; entries that are none.
OPML = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="1.0"><head><title>Subscriptions</title></head><body>
<outline text="Daily"><outline type="rss" text="Lantern" xmlUrl="https://lantern.example/feed"/>
<outline type="rss" text="Meadow &amp; Mill" xmlUrl="https://meadow.example/rss?x=1&amp;y=2"/></outline>
<outline text="Coast"><outline text="Ports"><outline text="The Lantern" xmlUrl="http://www.lantern.example/feed/"/></outline>
<outline type="rss" text="Torn" xmlUrl="ht!tp://"/>
<outline type="rss" text="Gone"/>
<outline type="rss" text="Radio" xmlUrl="feed://ferry.example/pod"/>
<outline type="rss" text="Script" xmlUrl="exec:~/feed.sh"/></outline>
<outline text="Daily"><outline xmlUrl="https://ferry.example/feed"/></outline>
</body></opml>
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(capsys, *words, code=0):
    assert main(["feeds", *words]) == code
    return capsys.readouterr()


def listed(capsys, file="f.yaml"):
    rows = map(json.loads, said(capsys, "list", "--feeds", file, "--json").out.splitlines())
    return [(row["url"], row["name"], row["tags"]) for row in rows]


def test_a_readers_export_comes_in_with_folders_as_tags(capsys):
    Path("subs.opml").write_text(OPML)
    shown = said(capsys, "import", "subs.opml", "--file", "f.yaml")
    assert listed(capsys) == [
        ("https://lantern.example/feed", "Lantern", ["Daily", "Coast", "Ports"]),
        ("https://meadow.example/rss?x=1&y=2", "Meadow & Mill", ["Daily"]),
        ("https://ferry.example/pod", "Radio", ["Coast"]),
        ("https://ferry.example/feed", None, ["Daily"]),
    ]
    assert shown.out.splitlines()[0] == "f.yaml:4: https://lantern.example/feed"
    assert shown.err.splitlines() == [
        "subs.opml:6: not an http(s) address: Torn ht!tp://; left out",
        "subs.opml:7: no address: Gone; left out",
        "subs.opml:9: runs a program or reads a file, which is never done: Script exec:~/feed.sh; left out",
        "f.yaml: 4 added, 0 listed already, 1 repeated, 3 left out",
    ]


def test_a_second_import_adds_nothing(capsys):
    Path("subs.opml").write_text(OPML)
    said(capsys, "import", "subs.opml", "--file", "f.yaml")
    before = Path("f.yaml").read_bytes()
    shown = said(capsys, "import", "subs.opml", "--file", "f.yaml")
    assert shown.out == ""
    assert shown.err.endswith("f.yaml: 0 added, 4 listed already, 1 repeated, 3 left out\n")
    assert Path("f.yaml").read_bytes() == before


def test_what_is_listed_stays_as_it_is_with_its_comments(capsys):
    Path("f.yaml").write_text("# mine\nfeeds:\n  - {url: http://lantern.example/feed, id: lamp}  # keep\n")
    Path("more.txt").write_text("https://lantern.example/feed\nferry.example/rss\n\n# note\nnot an address\n")
    shown = said(capsys, "import", "more.txt", "--file", "f.yaml", "--tag", "new")
    assert shown.err.splitlines()[0] == "more.txt:5: not an http(s) address: an address not; left out"
    assert Path("f.yaml").read_text() == (
        "# mine\nfeeds:\n  - {url: http://lantern.example/feed, id: lamp}  # keep\n"
        "  - {url: https://ferry.example/rss, tags: [new]}\n"
    )


def test_a_spreadsheet_comes_in(capsys):
    Path("list.csv").write_bytes("\ufeffTitle;URL;Tags\nLe Phare;https://phare.example/flux;côte, ville\n".encode())
    said(capsys, "import", "list.csv", "--file", "f.yaml")
    assert listed(capsys) == [("https://phare.example/flux", "Le Phare", ["côte", "ville"])]


def test_a_feeds_file_comes_in_entry_by_entry_with_all_its_keys(capsys):
    Path("other.yaml").write_text(
        "defaults: {language: es, tags: [all]}\n"
        "feeds:\n"
        "  - {url: https://ferry.example/rss, id: ferry, interval: 1h30m, robots: true, name: $$5 Ferry}\n"
        "  - {url: https://ferry.example/rss, intervall: 1h}\n"
        "  - https://${LOGIN}@lantern.example/feed\n"
        "  - {url: http://ferry.example/rss/, tags: [port]}\n"
        "  - 17\n"
    )
    shown = said(capsys, "import", "other.yaml", "--file", "f.yaml")
    (row,) = map(json.loads, said(capsys, "list", "--feeds", "f.yaml", "--json").out.splitlines())
    assert (row["id"], row["name"], row["interval"], row["robots"]) == ("ferry", "$5 Ferry", "1h30m", True)
    assert (row["language"], row["tags"]) == ("es", ["all", "port"])
    assert shown.err.splitlines() == [
        'other.yaml:4:38: intervall: unknown key; did you mean "interval"?; left out',
        "other.yaml:5:5: has a variable, which is not copied; add it by hand; left out",
        'other.yaml:7:5: url: "17" is not an http:// or https:// address; left out',
        "f.yaml: 1 added, 0 listed already, 1 repeated, 3 left out",
    ]


@pytest.mark.parametrize("text", ["", "<opml version='2.0'><body/></opml>", "just words\n"])
def test_a_list_without_a_feed_is_a_failure(capsys, text):
    Path("subs.opml").write_text(text)
    assert "no feed in it can be used" in said(capsys, "import", "subs.opml", "--file", "f.yaml", code=1).err
    assert not Path("f.yaml").exists()


def test_what_stands_in_the_way_is_said(capsys):
    Path("subs.opml").write_text(OPML)
    assert "no such file: nix.opml" in said(capsys, "import", "nix.opml", "--file", "f.yaml", code=2).err
    assert "must be a YAML file" in said(capsys, "import", "subs.opml", "--file", "f.txt", code=2).err
    Path("f.yaml").write_text("feeds:\n  - {url: https://lantern.example/feed, intervall: 1h}\n")
    assert "f.yaml:2:41: feeds[0].intervall" in said(capsys, "import", "subs.opml", "--file", "f.yaml", code=2).err


FEEDS = (
    "feeds:\n"
    "  - {url: https://lantern.example/feed, name: 'Lantern, The', tags: [Daily, Coast], language: en}\n"
    "  - {url: 'https://meadow.example/rss?x=1&y=2', name: 'Meadow <b>'}\n"
    "  - https://ferry.example/rss\n"
)


@pytest.mark.parametrize("name", ["out.opml", "out.csv", "out.yaml"])
def test_what_is_written_comes_back(capsys, name):
    Path("f.yaml").write_text(FEEDS)
    shown = said(capsys, "export", name, "--feeds", "f.yaml")
    assert shown.err == f"{name}: 3 written as {name[4:]}, 0 left out\n"
    said(capsys, "import", name, "--file", "back.yaml")
    names = ["Lantern, The", "Meadow <b>", "https://ferry.example/rss" if name == "out.opml" else None]
    assert [(url, tags) for url, _, tags in listed(capsys, "back.yaml")] == [
        (url, tags) for url, _, tags in listed(capsys)
    ]
    assert [name for _, name, _ in listed(capsys, "back.yaml")] == names


def test_text_is_an_address_a_line_and_a_dash_is_stdout(capsys):
    Path("f.yaml").write_text(FEEDS)
    said(capsys, "export", "out.txt", "--feeds", "f.yaml")
    assert Path("out.txt").read_text().splitlines() == [
        "https://lantern.example/feed",
        "https://meadow.example/rss?x=1&y=2",
        "https://ferry.example/rss",
    ]
    assert said(capsys, "export", "-", "--feeds", "f.yaml").out.startswith("<?xml")
    rows = list(csv.reader(io.StringIO(said(capsys, "export", "-", "--format", "csv", "--feeds", "f.yaml").out)))
    assert rows[:2] == [
        ["url", "title", "tags", "language"],
        ["https://lantern.example/feed", "Lantern, The", "Daily; Coast", "en"],
    ]


def test_passwords_and_tokens_stay_in(capsys):
    Path("f.yaml").write_text(
        "- https://ann:pw1@lantern.example/feed\n- https://a.example/f?token=pw2\n- {url: https://b.example/f}\n"
    )
    shown = said(capsys, "export", "-", "--format", "txt", "--feeds", "f.yaml")
    assert shown.out == "https://b.example/f\n"
    assert "pw" not in shown.err
    assert "-: 1 written as txt, 2 left out" in shown.err
    shown = said(capsys, "export", "-", "--format", "txt", "--feeds", "f.yaml", "--with-secrets")
    assert shown.out.splitlines()[0] == "https://ann:pw1@lantern.example/feed"


def test_a_name_is_no_formula_in_a_spreadsheet(capsys):
    Path("f.yaml").write_text(
        "- {url: https://a.example/f, name: '=HYPERLINK(1)'}\n- {url: https://b.example/f, name: +972 News}\n"
    )
    rows = said(capsys, "export", "-", "--format", "csv", "--feeds", "f.yaml").out.splitlines()
    assert rows[1:] == ["https://a.example/f,'=HYPERLINK(1),,", "https://b.example/f,+972 News,,"]


def test_the_list_itself_is_not_written_over(capsys):
    Path("f.yaml").write_text(FEEDS)
    assert "lists the feeds itself" in said(capsys, "export", "f.yaml", "--feeds", "f.yaml", code=2).err
    assert "end it in .opml, .csv, .txt or .yaml" in said(capsys, "export", "f.doc", "--feeds", "f.yaml", code=2).err
    assert Path("f.yaml").read_text() == FEEDS


_TEXT = st.text(alphabet=st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1, max_size=12)
_NAME = _TEXT.map(lambda text: " ".join(text.split())).filter(bool)


@settings(max_examples=50)
@given(st.lists(st.tuples(_NAME | st.none(), st.lists(_NAME, max_size=3, unique=True)), min_size=1, max_size=5))
def test_our_own_form_brings_everything_back(tmp_path_factory, feeds):
    items = [
        FeedItem(url=f"https://paper{number}.example/feed", name=name, tags=tuple(tags))
        for number, (name, tags) in enumerate(feeds)
    ]
    path = tmp_path_factory.mktemp("lists") / "list.yaml"
    path.write_bytes(write_feeds(items, "yaml"))
    taken = read_feeds(str(path))
    assert (taken.items, taken.problems) == (tuple(items), ())


def test_a_file_that_is_no_list_says_a_few_lines_only(capsys):
    Path("story.txt").write_text("The harbour board met again.\n" * 3000 + "x" * 5000)
    shown = said(capsys, "import", "story.txt", "--file", "f.yaml", code=1)
    lines = shown.err.splitlines()
    assert len(lines) < 30
    assert "2,981 more left out" in shown.err
    assert lines[-1].endswith("no feed in it can be used")
    assert max(map(len, lines)) < 500


def test_a_binary_file_is_one_line(capsys):
    Path("photo.opml").write_bytes(bytes(range(256)) * 40)
    assert said(capsys, "import", "photo.opml", "--file", "f.yaml", code=1).err.splitlines() == [
        "photo.opml: binary data, no list of feeds; left out",
        "newsbeam: photo.opml: no feed in it can be used",
    ]


@pytest.mark.parametrize(("name", "says"), [("nix.opml", "no such file: nix.opml"), (".", ". is a directory")])
def test_a_list_that_is_no_file_is_a_mistake(capsys, name, says):
    assert says in said(capsys, "import", name, "--file", "f.yaml", code=2).err
