"""The same spans as spaCy's PhraseMatcher, which served before and is the reference."""

import random

import pytest
import spacy
from make_taxonomy import tagger
from spacy.matcher import PhraseMatcher

TERMS = (
    "ferry", "harbour master", "town hall", "visa", "work visa", "sea", "night ferry", "migrants", "Border Guard",
    "port",
)  # fmt: skip
FILLERS = ("the", "old", "and", "seaside", "report", "in", "of", "visas", "sees", "master", "hall", "night", "guard")
MARKS = (" ", " ", " ", " ", ", ", ". ", " “", "” ", " (", ") ", "; ", ": ", "\n\n", " — ", "? ")


def reference_spans(text):
    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    matcher.add("all", [nlp.make_doc(term) for term in TERMS])
    doc = nlp.make_doc(text)
    spans = spacy.util.filter_spans([doc[start:end] for _, start, end in matcher(doc)])
    return [(span.start_char, span.end_char) for span in spans]


@pytest.mark.parametrize("seed", range(30))
def test_the_spans_are_those_of_the_phrase_matcher(tmp_path, seed):
    chance = random.Random(seed)
    text = ""
    for _ in range(200):
        word = chance.choice(TERMS + FILLERS)
        text += chance.choice((word, word.upper(), word.title())) + chance.choice(MARKS)
    terms = ", ".join(TERMS)
    found = tagger(tmp_path, f"topics: [{{id: all, terms: [{terms}]}}]\n").tag_text(None, text, "en").matches
    assert [(match.start, match.end) for match in found] == reference_spans(text)
