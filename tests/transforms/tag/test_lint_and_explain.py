import pytest
from make_taxonomy import SHIPPED, load, tagger

from transforms.tag.explain import explain, segments
from transforms.tag.lint import lint
from transforms.tag.taxonomy import load_taxonomy

FERRY = """
topics:
  - {id: sea, label: {en: Sea, fr: Mer}, terms: [harbour]}
  - id: ferry
    implies: [sea]
    thresholds: {relevant: 1}
    terms: [ferry]
    exclude: [toy ferry]
    examples:
      match:
        - The ferry sails.
        - A ship sails.
      no_match:
        - A toy ferry sank.
        - {text: The ferry sank., language: fr}
"""


def test_examples_that_do_not_hold_are_told_with_place_and_mend(tmp_path):
    problems = lint(load(tmp_path, FERRY))
    assert [(problem.mark.line, problem.mark.column, problem.key) for problem in problems] == [
        (12, 11, "ferry.examples"),
        (15, 18, "ferry.examples"),
    ]
    assert 'nothing of ferry was found in "A ship sails."' in problems[0].message
    assert '"ferry" was found in "The ferry sank."' in problems[1].message


def test_lint_tells_the_notes_too(tmp_path):
    (note,) = lint(load(tmp_path, "topics: [{id: sea, terms: [cafe\u0301]}]\n"))
    assert "NFC" in note.message


def test_the_shipped_topics_are_clean():
    taxonomy = load_taxonomy([SHIPPED])
    assert [str(problem) for problem in lint(taxonomy)] == []
    assert {topic.id for topic in taxonomy.topics} == {"immigration", "sanctuary_city", "deportation"}
    for topic in taxonomy.topics:
        assert set(topic.label) == {"en", "es", "fr", "de", "pt", "it"}
        assert {term.language for term in topic.terms} == set(topic.label)
        assert {example.matches for example in topic.examples} == {True, False}


def test_a_topic_is_explained_by_its_arithmetic(tmp_path):
    marine = tagger(tmp_path, FERRY)
    text = "The ferry left. " + "word " * 1000 + "Another ferry came."
    tags = marine.tag_text("A ferry", text, "en")
    ferry, sea = explain(marine.taxonomy, tags, 1006, "fr")
    assert (ferry.topic, ferry.level, ferry.score) == ("ferry", "relevant", 4.997)
    assert ferry.arithmetic == "3 x 1 (title) + 1.5 x 1 (lead) + 1 / 2.012 (body) = 4.997"
    assert ferry.missing == pytest.approx(2.003)
    assert [match.surface for match in ferry.matches] == ["ferry", "ferry", "ferry"]
    assert (sea.topic, sea.label, sea.level, sea.implied_by) == ("sea", "Mer", "relevant", ("ferry",))


def test_a_topic_that_the_taxonomy_no_longer_has_can_be_explained(tmp_path):
    marine = tagger(tmp_path, FERRY)
    tags = marine.tag_text(None, "The ferry left.", "en")
    other = load(tmp_path, "topics: [{id: sky, terms: [cloud]}]\n")
    assert [item.label for item in explain(other, tags, 3)] == ["ferry", "sea"]


def test_segments_joined_are_the_text(tmp_path):
    marine = tagger(tmp_path, "topics: [{id: a, terms: [old ferry]}, {id: b, terms: [ferry]}]\n")
    text = "An old ferry left."
    found = segments(text, marine.tag_text(None, text, "en").matches)
    assert [(part.text, part.topics) for part in found] == [
        ("An ", ()),
        ("old ", ("a",)),
        ("ferry", ("a", "b")),
        (" left.", ()),
    ]
    assert segments("", ()) == ()
