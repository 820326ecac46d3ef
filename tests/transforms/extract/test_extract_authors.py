import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.extract.authors import find_authors
from transforms.extract.names import split_names
from transforms.extract.page import parse_tree, read_page

HOUSE = ("Brackwater Post", "brackwater-post.example", "brackwater-post")


def authors(body: str = "", head: str = "", node: dict | None = None):
    tree = parse_tree(f"<html><head>{head}</head><body>{body or '<p>x</p>'}</body></html>".encode())
    return find_authors(read_page(tree), node, HOUSE)


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        ("By Ada Quennell", ["Ada Quennell"]),
        ("Von Ada Quennell und Ivo Brandt", ["Ada Quennell", "Ivo Brandt"]),
        ("Ada Quennell, Ivo Brandt and Mia de la Cruz", ["Ada Quennell", "Ivo Brandt", "Mia de la Cruz"]),
        ("Ada Quennell; Ivo Brandt", ["Ada Quennell", "Ivo Brandt"]),
        ("Par Ada Quennell et Ivo Brandt", ["Ada Quennell", "Ivo Brandt"]),
        ("João Costa e Silva", ["João Costa e Silva"]),
        ("AFP, MANILA", ["AFP, MANILA"]),
        ("Ada Quennell, Jr.", ["Ada Quennell Jr."]),
        ("Ada Quennell / Journalist", ["Ada Quennell"]),
        ("Ada Quennell, senior political correspondent", ["Ada Quennell"]),
        ("Ada Quennell (AP)", ["Ada Quennell"]),
        ("Ada Quennell ada@brackwater-post.example", ["Ada Quennell"]),
        ("구현모 기자", ["구현모"]),
        ("大渡 美咲", ["大渡 美咲"]),
        ("https://www.facebook.com/brackwater", []),
        ("admin", []),
        ("4 March 2026", []),
        ("2 min read", []),
        ("We asked five captains what they think of the new quay.", []),
        ("", []),
    ],
)
def test_bylines_become_names(raw, names):
    assert split_names(raw) == names


def test_particles_of_a_name_stay_in_fields_for_names():
    assert authors(node={"author": [{"name": "Da Silva Ana"}, "von Roth, Mia"]})[0][0] == "Da Silva Ana"


def test_structured_data_comes_first_and_each_name_once():
    node = {"author": [{"name": "Ada Quennell"}, {"name": "ada quennell"}, {"name": "Ivo Brandt"}]}
    assert authors(head='<meta name="author" content="Someone Else">', node=node) == (
        ("Ada Quennell", "Ivo Brandt"),
        "json_ld",
    )


def test_the_house_is_no_author_where_a_person_is_named():
    node = {"author": [{"@type": "Organization", "name": "Brackwater Post"}, {"name": "Ada Quennell"}]}
    assert authors(node=node) == (("Ada Quennell",), "json_ld")
    node = {"author": {"name": "Brackwater Post"}}
    assert authors('<p class="byline">By <a rel="author" href="/a">Ada Quennell</a></p>', node=node)[0] == (
        "Ada Quennell",
    )


def test_the_house_counts_if_the_article_names_it_alone():
    assert authors(node={"author": {"@type": "Organization", "name": "Brackwater Post"}}) == (
        ("Brackwater Post",),
        "json_ld",
    )


def test_the_house_in_a_meta_tag_is_no_author():
    head = (
        '<meta name="author" content="Brackwater Post Media Group"><meta name="dc.creator" content="Brackwater Post">'
    )
    assert authors(head=head) == ((), "none")
    assert authors('<span class="author-name">Ada Quennell</span>', head)[0] == ("Ada Quennell",)


def test_commenters_and_authors_of_other_stories_are_left_aside():
    body = (
        '<div class="comments"><span class="author">Rita Loudmouth</span></div>'
        '<aside><span class="byline">By Otto Elsewhere</span></aside>'
    )
    assert authors(body) == ((), "none")


def test_names_in_strings_and_nested_lists():
    assert authors(node=json.loads('{"author": [["Ada Quennell"], [{"name": ["Ivo Brandt"]}]]}'))[0] == (
        "Ada Quennell",
        "Ivo Brandt",
    )


@given(st.text(max_size=200))
def test_no_text_raises_and_splitting_is_stable(raw):
    for name in split_names(raw):
        assert 2 <= len(name) <= 80
