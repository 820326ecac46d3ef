import pytest
import spacy
from make_taxonomy import article, load

from transforms.tag.entities import EntityFinder
from transforms.tag.tagger import Tagger, TagSettings

TOPICS = "topics: [{id: sea, thresholds: {relevant: 1}, terms: [ferry]}]\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that knows two names, saved as any spaCy model is."""
    path = tmp_path_factory.mktemp("model")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "PERSON", "pattern": "Rita Orrin"}, {"label": "GPE", "pattern": "Dunmore"}]
    )
    nlp.to_disk(path)
    return str(path)


def test_entities_of_tagged_articles_are_stored(tmp_path, model):
    tagger = Tagger(load(tmp_path, TOPICS), TagSettings(entity_model=model))
    text = "Rita Orrin took the ferry to Dunmore. Dunmore cheered Rita Orrin."
    assert tagger.tag(article(text)).entities == (
        ("Rita Orrin", "PERSON", 0, 2),
        ("Dunmore", "GPE", 29, 2),
    )


def test_untagged_articles_and_runs_without_a_model_have_none(tmp_path, model):
    taxonomy = load(tmp_path, TOPICS)
    assert Tagger(taxonomy, TagSettings(entity_model=model)).tag(article("Rita Orrin slept.")).entities == ()
    assert Tagger(taxonomy).tag(article("Rita Orrin took the ferry.")).entities == ()


def test_a_missing_model_is_an_error():
    with pytest.raises(OSError, match="no_such_model"):
        EntityFinder("no_such_model").find("text")
