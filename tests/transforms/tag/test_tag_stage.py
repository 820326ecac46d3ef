import pickle
from collections import Counter

import apache_beam as beam
import pytest
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.util import assert_that
from make_taxonomy import NOW, SHIPPED, article, load

from transforms.records import Reject, RunContext, TaggedArticle, Tally
from transforms.tag.stage import TagTopics, shared_tagger
from transforms.tag.tagger import Tagger, TagSettings
from transforms.tag.taxonomy import load_taxonomy

RUN = RunContext("20260310T060000Z-0a0a", NOW, NOW.timestamp())
TEXTS = [
    "Migrants waited at the border.",
    "Bread rose slowly.",
    "The deportation was halted.",
    "A sanctuary city voted.",
]


def articles():
    return [article(text, title="News", number=number) for number, text in enumerate(TEXTS)]


def run(taxonomy, keep, check_tagged, check_side, bundles=1):
    with TestPipeline(argv=[]) as pipeline:
        parts = []
        for number in range(bundles):
            parts.append(pipeline | f"Make {number}" >> beam.Create(articles()[number::bundles], reshuffle=False))
        out = parts | beam.Flatten() | TagTopics(taxonomy, RUN, keep)
        assert_that(out.tagged, check_tagged, label="tagged")
        assert_that(out.side, check_side, label="side")


def tallies(side):
    found = Counter()
    for item in side:
        if isinstance(item, Tally):
            assert item.stage == "tag"
            found[item.outcome] += item.items
    return dict(found)


@pytest.mark.parametrize("bundles", [1, 4])
def test_every_article_comes_out_once_with_the_tags_of_the_tagger(bundles):
    taxonomy = load_taxonomy([SHIPPED])
    expected = sorted((item.article_id, Tagger(taxonomy).tag(item)) for item in articles())

    def check_tagged(found):
        assert all(isinstance(item, TaggedArticle) for item in found)
        assert sorted((item.article.article_id, item.tags) for item in found) == expected

    def check_side(found):
        assert tallies(found) == {"in": 4, "passed": 4}
        assert all(isinstance(item, Tally) for item in found)

    run(taxonomy, "all", check_tagged, check_side, bundles)


def test_untagged_articles_are_refused_on_demand():
    def check_tagged(found):
        assert sorted(item.article.text for item in found) == sorted([TEXTS[2], TEXTS[3]])

    def check_side(found):
        assert tallies(found) == {"in": 4, "passed": 2, "rejected": 2}
        rejects = [item for item in found if isinstance(item, Reject)]
        assert sorted(reject.url for reject in rejects) == [f"https://harbour-post.example/{n}" for n in (0, 1)]
        for reject in rejects:
            assert (reject.stage, reject.reason, reject.payload) == ("tag", "untagged", None)
            assert reject.feed_url == "https://harbour-post.example/feed"
            assert reject.failed_at >= NOW

    run(load_taxonomy([SHIPPED]), "tagged", check_tagged, check_side)


def test_the_transform_can_be_pickled_and_refuses_bad_options():
    taxonomy = load_taxonomy([SHIPPED])
    pickle.loads(pickle.dumps(TagTopics(taxonomy, RUN)))
    with pytest.raises(ValueError, match="keep"):
        TagTopics(taxonomy, RUN, keep="some")


def test_one_tagger_serves_a_process(tmp_path):
    taxonomy = load(tmp_path, "topics: [{id: sea, terms: [ferry]}]\n")
    again = pickle.loads(pickle.dumps(taxonomy))
    assert shared_tagger(taxonomy, TagSettings()) is shared_tagger(again, TagSettings())
