import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.extract.jsonld import Graph, read_blocks

ARTICLE = {"@type": "NewsArticle", "headline": "Quay reopens", "datePublished": "2026-03-04T09:00:00Z"}


def first(*texts: str) -> dict:
    articles = Graph(read_blocks(texts)).articles()
    return articles[0] if articles else {}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ARTICLE),
        json.dumps([ARTICLE]),
        json.dumps([[ARTICLE]]),
        json.dumps({"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, ARTICLE]}),
        json.dumps({"@type": "WebPage", "mainEntity": ARTICLE}),
        json.dumps(ARTICLE | {"@type": "http://schema.org/NewsArticle"}),
        json.dumps(ARTICLE | {"@type": ["Article", "ReportageNewsArticle"]}),
        json.dumps(ARTICLE) + json.dumps({"@type": "Organization"}),
        json.dumps(ARTICLE) + ";",
        "<!-- " + json.dumps(ARTICLE) + " -->",
        "//<![CDATA[\n" + json.dumps(ARTICLE) + "\n//]]>",
        json.dumps(ARTICLE).replace('"', "&quot;"),
        json.dumps(ARTICLE)[:-1] + ",}",
        '{"@type": "NewsArticle", "headline": "Quay reopens", "description": "two\nlines\tand a tab"}',
        r'{"@type": "NewsArticle", "headline": "Quay reopens", "description": "it\'s"}',
        '{"headline": "Quay reopens", "datePublished": "2026-03-04"}',
        '{"@type": "NewsArticle", "headline": "Quay reopens", "datePublished": "2026-03-04", "oops": unquoted}',
        '{"@type": "NewsArticle", "headline": "Quay reopens", "datePublished": "2026-03-04", "articleBody": "cut of',
    ],
)  # fmt: skip
def test_the_article_is_found_however_it_is_written(text):
    assert first(text)["headline"] == "Quay reopens"


def test_a_specific_type_comes_before_a_generic_one():
    generic = {"@type": "BlogPosting", "headline": "Site news", "datePublished": "2020-01-01"}
    assert first(json.dumps([generic, ARTICLE]))["headline"] == "Quay reopens"


def test_references_are_followed_and_nested_lists_opened():
    graph = Graph(
        read_blocks(
            [
                json.dumps(
                    {
                        "@graph": [
                            ARTICLE | {"author": [[{"@id": "#ada"}], {"name": "Ivo Brandt"}]},
                            {"@type": "Person", "@id": "#ada", "name": "Ada Quennell"},
                        ]
                    }
                )
            ]
        )
    )
    names = [value["name"] for value in graph.values(graph.articles()[0], "author")]
    assert names == ["Ada Quennell", "Ivo Brandt"]


def test_a_reference_to_itself_ends():
    graph = Graph(read_blocks(['{"@type": "Article", "@id": "#a", "headline": "x", "author": {"@id": "#a"}}']))
    assert len(list(graph.values(graph.articles()[0], "author"))) == 1


def test_deep_nesting_ends():
    assert read_blocks(["[" * 100_000]) == []
    assert Graph(read_blocks(["[" * 500 + "]" * 500])).nodes == []


@given(st.text(max_size=300))
def test_no_text_raises(text):
    Graph(read_blocks([text, '{"headline": "' + text])).articles()


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=5), lambda c: st.lists(c) | st.dictionaries(
    st.sampled_from(["@type", "@graph", "@id", "author", "headline", "x"]), c), max_leaves=20))  # fmt: skip
def test_no_structure_raises(value):
    graph = Graph([value])
    for node in graph.articles():
        graph.text(node, "headline")
        list(graph.values(node, "author"))
