import pytest
from make_taxonomy import load

from transforms.tag.labelled import LabelledText
from transforms.tag.measure import Figures, measure
from transforms.tag.tagger import Tagger
from transforms.yaml_file import Mark

TOPICS = """
topics:
  - {id: sea, terms: [sea, {text: ice, requires: {any_near: [floe], distance: 3}}]}
  - {id: ship, implies: [sea], thresholds: {relevant: 1.5, primary: 4}, terms: [ship]}
"""


@pytest.fixture
def by(tmp_path):
    return Tagger(load(tmp_path, TOPICS))


def text(line, words, *topics, title=None, judged=None):
    return LabelledText(Mark("f", line, 1), title, words, "en", frozenset(topics), judged)


def figures_of(measured):
    return {(item.topic, item.level): (item.right, item.wrong, item.missed) for item in measured.figures}


def test_texts_are_counted_by_topic_and_level(by):
    # In the lead a hit gives 1.5, in the title 3; sea is relevant from 3, primary from 7.
    texts = [
        text(1, "The sea.", "sea"),
        text(2, "The sea and the sea.", "sea"),
        text(3, "Sea, sea, sea.", "sea", title="The sea"),
        text(4, "No water.", "sea"),
        text(5, "A sea of flowers."),
        text(6, "A ship.", "ship"),
    ]
    measured = measure(by, texts, ["sea", "ship"])
    assert measured.texts == 6
    assert figures_of(measured) == {
        ("sea", "mention"): (3, 1, 1),
        ("sea", "relevant"): (2, 0, 2),
        ("sea", "primary"): (1, 0, 3),
        ("ship", "mention"): (1, 0, 0),
        ("ship", "relevant"): (1, 0, 0),
        ("ship", "primary"): (0, 0, 1),
    }


def test_precision_recall_and_f1():
    figures = Figures("sea", "mention", right=3, wrong=1, missed=2)
    assert (figures.precision, figures.recall) == (0.75, 0.6)
    assert figures.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))
    nothing = Figures("sea", "mention")
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)


def test_a_topic_that_a_label_implies_is_neither_asked_for_nor_wrong(by):
    measured = measure(by, [text(1, "A ship.", "ship"), text(2, "A ship.")], ["sea"])
    assert figures_of(measured)["sea", "relevant"] == (0, 1, 0), "only the second text is judged"
    (mistake,) = measured.false_hits
    assert (mistake.mark.line, mistake.reason) == (2, "implied by ship")


def test_a_text_that_was_judged_for_some_topics_counts_for_these(by):
    measured = measure(by, [text(1, "The sea. A ship.", judged=frozenset(["ship"]))], ["sea", "ship"], "mention")
    assert figures_of(measured)["sea", "mention"] == (0, 0, 0)
    assert figures_of(measured)["ship", "mention"] == (0, 1, 0)


def test_the_worst_mistakes_come_first_with_their_evidence(by):
    texts = [
        text(1, "The sea.", "sea"),
        text(2, "Cold ice on the pond.", "sea"),
        text(3, "Nothing at all.", "sea", title="Calm"),
        text(4, "The sea, the sea."),
        text(5, "The sea, the sea, the sea."),
    ]
    measured = measure(by, texts, ["sea"], worst=2)
    assert [(miss.mark.line, miss.level, miss.reason, miss.excerpt) for miss in measured.misses] == [
        (2, None, "no hit counts", "Cold ice on the pond."),
        (3, None, "no term of the topic stands in it", "Calm"),
    ]
    (ice,) = measured.misses[0].evidence
    assert (ice.term_id, ice.before, ice.surface, ice.after, ice.refusal) == (
        "en:ice", "Cold ", "ice", " on the pond.", "requires",
    )  # fmt: skip
    assert [(hit.mark.line, hit.score, hit.level) for hit in measured.false_hits] == [
        (5, 4.5, "relevant"),
        (4, 3.0, "relevant"),
    ]
    assert measured.false_hits[1].reason == "3 x 0 (title) + 1.5 x 2 (lead) + 0 (body) = 3"
    assert [(hit.before, hit.refusal) for hit in measured.false_hits[1].evidence] == [
        ("The ", None),
        ("The sea, the ", None),
    ]


def test_mistakes_are_told_for_the_level_that_is_asked_for(by):
    texts = [text(1, "The sea.", "sea"), text(2, "The sea.")]
    assert [len(measure(by, texts, ["sea"], level).misses) for level in ("mention", "relevant")] == [0, 1]
    assert [len(measure(by, texts, ["sea"], level).false_hits) for level in ("mention", "relevant")] == [1, 0]
    assert measure(by, texts, ["sea"], worst=0).misses == ()
