from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.feeds.opml import FeedList, ListedFeed, feed_address, listed, read_list, read_opml, write_opml
from transforms.records import FeedSource


def opml(body: str) -> FeedList:
    return read_opml(f'<?xml version="1.0"?>\n<opml version="2.0"><head/><body>\n{body}\n</body></opml>'.encode())


def test_nested_folders_are_a_path() -> None:
    found = opml(
        '<outline text="Coast"><outline title="North"><outline text="Tern" xmlUrl="https://tern.example/f"/></outline></outline>'
    )
    assert found == FeedList((ListedFeed("https://tern.example/f", "Tern", ("Coast", "North"), 3),), ())


def test_neither_type_nor_title_is_needed() -> None:
    found = opml('<outline xmlUrl="https://tern.example/f"/>')
    assert [(feed.url, feed.title) for feed in found.feeds] == [("https://tern.example/f", None)]


def test_names_of_attributes_in_any_case() -> None:
    found = opml('<OUTLINE TYPE="RSS" TEXT="Tern" XMLURL="https://tern.example/f" HTMLURL="https://tern.example/"/>')
    assert [(feed.title, feed.site_url) for feed in found.feeds] == [("Tern", "https://tern.example/")]


def test_a_folder_may_be_typed_as_a_feed() -> None:
    found = opml(
        '<outline type="rss" text="Coast"><outline type="rss" text="Tern" xmlUrl="https://tern.example/f"/></outline>'
    )
    assert [(feed.url, feed.folders) for feed in found.feeds] == [("https://tern.example/f", ("Coast",))]
    assert found.problems == ()


def test_a_feed_in_two_folders_and_two_spellings_is_one() -> None:
    found = opml(
        '<outline text="A"><outline type="rss" xmlUrl="https://tern.example/f"/></outline>\n'
        '<outline text="B"><outline type="rss" text="Tern" xmlUrl="http://tern.example/f/"/></outline>'
    )
    assert [(feed.url, feed.title, feed.folders) for feed in found.feeds] == [
        ("https://tern.example/f", "Tern", ("A", "B"))
    ]
    assert found.repeated == 1


def test_what_cannot_be_a_feed_is_told_with_its_line() -> None:
    found = opml(
        '<outline type="rss" text="None"/>\n<outline type="rss" text="Odd" xmlUrl="ht!tp://"/>\n'
        '<outline type="rss" text="Run" xmlUrl="exec:~/tern.sh"/>\n<outline type="rss" text="Pipe" xmlUrl="|cat x"/>\n'
        '<outline type="rss" text="Sieve" xmlUrl="https://tern.example/f" filtercmd="sieve.pl"/>'
    )
    assert found.feeds == ()
    assert [(problem.line, problem.reason.split()[0]) for problem in found.problems] == [
        (3, "no"), (4, "not"), (5, "runs"), (6, "runs"), (7, "needs"),
    ]  # fmt: skip
    assert str(found.problems[0]) == "line 3: no address: None"


def test_damaged_files_are_read() -> None:
    body = (
        '\n<opml version="1.0">\n<body>\n<!-- two\nlines -->\n'
        '<outline text="Salt & Sons" type=rss xmlUrl="https://tern.example/f?a=1&b=2"/>\n'
        '<outline xmlUrl="x" type="rss"/>'
    )
    found = read_opml(body.encode())
    assert [(feed.url, feed.title) for feed in found.feeds] == [("https://tern.example/f?a=1&b=2", "Salt & Sons")]
    found = read_opml(body.replace(" type=rss", "").encode("utf-16"))
    assert [feed.url for feed in found.feeds] == ["https://tern.example/f?a=1&b=2"]


def test_no_opml_is_a_problem_and_no_error() -> None:
    assert read_opml(b"<rss/>").problems[0].reason == "not an OPML file"
    assert read_opml(b"").problems[0].reason == "not an OPML file"
    assert read_opml(b'<opml version="1.0"><head><title>No body</title></head></opml>') == FeedList((), ())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("feed://tern.example/f", "https://tern.example/f"),
        ("feed:http://tern.example/f", "http://tern.example/f"),
        ("tern.example/f", "https://tern.example/f"),
        ("//tern.example/f", "https://tern.example/f"),
        (" https://tern.example/f?a=1&amp;b=2 ", "https://tern.example/f?a=1&b=2"),
        ("ftp://tern.example/f", None),
        ("file:///etc/hosts", None),
        ("word", None),
        ("", None),
    ],
)
def test_addresses_as_people_write_them(written: str, meant: str | None) -> None:
    assert feed_address(written)[0] == meant


def test_a_text_list_has_labels_titles_and_remarks() -> None:
    text = (
        b'# mine\nhttps://tern.example/f "coast" "~The Tern"\n\nhttps://auk.example/f  The Auk\n'
        b'"query:x:y"\nhttps://tern.example/f/ "birds"\n'
    )
    found = read_list(text, "urls")
    assert [(feed.url, feed.title, feed.folders, feed.line) for feed in found.feeds] == [
        ("https://tern.example/f", "The Tern", ("coast", "birds"), 2),
        ("https://auk.example/f", "The Auk", (), 4),
    ]
    assert [problem.line for problem in found.problems] == [5]


@pytest.mark.parametrize(
    "text",
    [
        "title,url,tags\nThe Tern,https://tern.example/f,coast;birds\n",
        "Name;XmlUrl;Folder\nThe Tern;https://tern.example/f;coast|birds\n",
        "https://tern.example/f\tThe Tern\tcoast\tbirds\n",
        'url,title,tags\n"https://tern.example/f","The Tern","coast,birds"\n',
    ],
)
def test_tables_by_their_header_or_by_what_looks_like_an_address(text: str) -> None:
    (feed,) = read_list(text.encode("utf-8-sig"), "feeds.csv").feeds
    assert (feed.url, feed.title, feed.folders) == ("https://tern.example/f", "The Tern", ("coast", "birds"))


def test_read_list_knows_opml_by_its_content() -> None:
    assert (
        len(read_list(b'<opml><body><outline xmlUrl="https://tern.example/f"/></body></opml>', "export.xml").feeds) == 1
    )


LABELS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=",/"), min_size=1, max_size=8)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.lists(LABELS, max_size=3, unique=True), LABELS), max_size=5))
def test_what_is_written_comes_back(rows: list[tuple[list[str], str]]) -> None:
    feeds = [
        ListedFeed(f"https://tern{n}.example/f?a=1&b=2", f"Title <&> {n}", tuple(tags), 0, None, "en")
        for n, (tags, _) in enumerate(rows)
    ]
    back = read_opml(write_opml(feeds, 'My "feeds" & more'))
    assert back.problems == ()
    assert {(feed.url, feed.title, feed.folders, feed.language) for feed in back.feeds} == {
        (feed.url, feed.title, feed.folders, feed.language) for feed in feeds
    }


def test_a_configured_feed_can_be_written() -> None:
    source = FeedSource("https://tern.example/f", "tern", "The Tern", tags=("coast", "birds"))
    (feed,) = read_opml(write_opml([listed(source)])).feeds
    assert (feed.url, feed.title, feed.folders) == ("https://tern.example/f", "The Tern", ("coast", "birds"))


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))),
    st.sampled_from(["a.opml", "a.csv", "a.txt"]),
)
def test_any_bytes_are_read_without_error(data: bytes, name: str) -> None:
    for feed in read_list(data, name).feeds:
        assert feed.url.lower().startswith(("http://", "https://"))
