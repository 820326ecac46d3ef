import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from make_taxonomy import SHIPPED, article, surfaces, tagger

from transforms.records import Boilerplate
from transforms.tag.score import MATCH_LIMIT, score_of
from transforms.tag.tagger import Tagger
from transforms.tag.taxonomy import load_taxonomy
from transforms.text import word_count


@pytest.fixture(scope="module")
def shipped():
    return Tagger(load_taxonomy([SHIPPED]))


def topics_of(tagger, text, language="en", title=None):
    """Topics with evidence of their own."""
    return {score.topic for score in tagger.tag_text(title, text, language).scores if score.match_count}


PORT = """
topics:
  - id: port
    terms:
      en:
        - sanctuary city
        - self-deport
        - {text: ferry, forms: [ferries]}
        - {text: ICE, case: exact}
        - {text: visa, case: exact, weight: 0.5}
      de: [Asyl*, {text: Flüchtling, forms: [Flüchtlinge]}]
      fr: [demandeur d'asile]
      vi: [tị nạn]
    exclude: [toy ferry, ferry tale]
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    return tagger(tmp_path_factory.mktemp("port"), PORT)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A sanctuary city.", ["sanctuary city"]),
        ("SANCTUARY CITY rules", ["SANCTUARY CITY"]),
        ("The sanctuary-city rule", ["sanctuary-city"]),
        ("The sanctuary\u2011city rule", ["sanctuary\u2011city"]),
        ("the “sanctuary” city", ["sanctuary” city"]),
        ("the sanctuary ‘city’", ["sanctuary ‘city"]),
        ("the sanctuary city’s mayor", ["sanctuary city"]),
        ("#SanctuaryCity now", ["SanctuaryCity"]),
        ("#sanctuarycity now", ["sanctuarycity"]),
        ("SanctuaryCity without its hash", []),
        ("They may self deport, selfdeport, self-deport.", ["self deport", "selfdeport", "self-deport"]),
        ("The Ferry and the ferries", ["Ferry", "ferries"]),
        ("A toy ferry beside a ferry", ["ferry"]),
        ("ICE is not ice", ["ICE"]),
        ("POLICE and JUSTICE", []),
        ("A visa, a Visa card", ["visa"]),
        ("mail ferry@harbour.example or see https://harbour.example/ferry", []),
        ("sanc\u00adtuary city", ["sanc\u00adtuary city"]),
    ],
)
def test_terms_are_found_as_people_write_them(port, text, found):
    assert surfaces(port, text) == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("They saw the sanctuary\ncity lights.", 1),
        ("They saw the sanctuary\r\ncity lights.", 1),
        ("They saw the sanctuary \u3000\t city lights.", 1),
        ("They saw the Sanctuary\nCity sign.", 1),
        ("They left the sanctuary\n\ncity crews came.", 0),
        ("They left the sanctuary\n \t\n city crews came.", 0),
        ("They left the sanctuary\nCity crews came.", 0),
        ("They left the sanctuary. City crews came.", 0),
    ],
)
def test_a_phrase_crosses_a_line_break_but_no_paragraph(port, text, count):
    assert len(surfaces(port, text)) == count


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("Die Asylpolitik der Flüchtlinge und Fluechtlinge", "de", ["Asylpolitik", "Flüchtlinge", "Fluechtlinge"]),
        ("Die Asylpolitik", "en", []),
        ("Die Asylpolitik", "und", ["Asylpolitik"]),
        ("Die Asylpolitik", None, ["Asylpolitik"]),
        ("Die Asylpolitik", "de-AT", ["Asylpolitik"]),
        ("A ferry", "de", ["ferry"]),
        ("un demandeur d’asile", "fr", ["demandeur d’asile"]),
        ("Cô ấy xin tị nạn", "vi", ["tị nạn"]),
        ("Cô ấy xin ti nàn", "vi", []),
    ],
)
def test_terms_of_the_language_and_of_the_default_one_count(port, text, language, found):
    assert surfaces(port, text, language) == found


def test_offsets_are_code_points(port):
    text = "🚢👩‍👩‍👧 A ferry for “Zoë”"
    (match,) = port.tag_text(None, text, "en").matches
    assert (match.start, match.end) == (9, 14)


def test_only_title_and_text_count(shipped):
    baker = article("Mix flour and water. Bake for an hour.", "How to bake rye bread")
    entry = baker.entry._replace(source_name="Deportation Watch", categories=("Immigration",))
    baker = baker._replace(
        entry=entry, url="https://harbour-post.example/immigration", authors=("Rita Asylum",),
        publisher_keywords=("Immigration",), description="On deportation",
    )  # fmt: skip
    assert shipped.tag(baker).scores == ()


def test_each_match_names_its_field_and_term(port):
    tags = port.tag_text("A ferry", "One ferry more.", "en")
    assert [(match.field, match.term_id, match.start) for match in tags.matches] == [
        ("title", "en:ferry", 2),
        ("text", "en:ferry", 4),
    ]


def test_the_longest_term_of_a_topic_wins_and_topics_may_overlap(shipped):
    tags = shipped.tag_text(None, "Unaccompanied alien children came. ICE agents met asylum seekers.", "en")
    assert [match.surface for match in tags.matches] == [
        "Unaccompanied alien children", "ICE agents", "asylum seekers",
    ]  # fmt: skip
    both = shipped.tag_text(None, "The ICE detainer stood.", "en")
    assert {(match.topic, match.surface) for match in both.matches} == {
        ("immigration", "ICE detainer"),
        ("sanctuary_city", "ICE detainer"),
    }


CONDITIONS = """
topics:
  - id: ice
    terms:
      - {text: raid, requires: {any_near: [ICE, migrant workers], distance: 5}}
      - {text: removal, requires: {any_in_doc: [visa, visas]}}
      - {text: expel, none_near: {terms: [school*], distance: 3, unless_in_doc: [visa]}}
    none_near: {terms: [video game], distance: 4}
"""


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        (None, "A raid by ICE", ["raid"]),
        (None, "A raid on ice", []),
        (None, "A raid, one two three ICE", ["raid"]),
        (None, "A raid, one two three four ICE", []),
        ("ICE", "A raid", []),
        (None, "Migrant workers fled a raid", ["raid"]),
        (None, "A removal without papers", []),
        ("No visa", "A removal without papers", ["removal"]),
        (None, "A removal. Read https://harbour.example/visa", []),
        (None, "They expel him from the schools", ["expel"]),
        (None, "They expel the schoolboy", []),
        (None, "They expel the schoolboy. His visa ended.", ["expel"]),
        (None, "A video game raid by ICE", []),
    ],
)
def test_conditions_decide_whether_a_hit_counts(tmp_path, title, text, found):
    assert surfaces(tagger(tmp_path, CONDITIONS), text, title=title) == found


def test_what_does_not_count_is_told_with_its_reason(tmp_path):
    conditional = tagger(tmp_path, CONDITIONS + "    exclude: [stage raid]\n")
    text = "A stage raid. A raid on ice. They expel the schoolboy."
    assert [(match.surface, reason) for match, reason in conditional.refused(None, text, "en")] == [
        ("raid", "exclude"),
        ("raid", "requires"),
        ("expel", "none_near"),
    ]


ACRONYMS = "topics: [{id: dhs, terms: [{text: DACA, case: exact}, {text: WHO, case: exact}, dreamers]}]\n"


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("WHO WILL WIN THE CUP?", "The match begins at noon.", []),
        ("WHO will win", "The match begins at noon.", ["WHO"]),
        ("DACA RULING TODAY", "The dreamers wait.", ["DACA", "dreamers"]),
        ("DACA RULING TODAY", "The DACA order stands.", ["DACA", "DACA"]),
        ("美国DACA的命运", "无", ["DACA"]),
    ],
)
def test_in_capitals_an_acronym_needs_other_evidence(tmp_path, title, text, found):
    assert surfaces(tagger(tmp_path, ACRONYMS), text, title=title) == found


def test_hits_in_boilerplate_are_stored_without_weight(port):
    text = "The ferry sails.\nMore ferry news of the week"
    tags = port.tag_text(None, text, "en", [Boilerplate(17, len(text), "teaser")])
    assert [(match.weight, match.in_boilerplate) for match in tags.matches] == [(1.0, False), (0.0, True)]
    assert tags.scores[0].match_count == 1
    assert port.tag_text(None, text, "en", [Boilerplate(0, len(text), "teaser")]).scores == ()


@pytest.mark.parametrize(
    "line",
    [
        "READ MORE: Orrin votes on the ferry",
        "Related: ferry prices",
        "Lesen Sie auch: ferry",
        "Lire aussi : le ferry",
        "MAYOR OF DUNMORE ANNOUNCES THE END OF THE FERRY",
        "Sign up for our ferry newsletter",
    ],
)
def test_teaser_lines_in_a_plain_text_have_no_weight(port, line):
    tags = port.tag_text(None, f"The council met on Monday in the town hall.\n\n{line}\n\nNobody spoke.", "en")
    assert [match.in_boilerplate for match in tags.matches] == [True]
    assert tags.topics == ()


def test_score_levels_and_implied_topics(tmp_path):
    both = tagger(
        tmp_path,
        """
topics:
  - {id: sea, terms: [sea]}
  - {id: ship, implies: [sea], thresholds: {relevant: 1.5, primary: 4}, terms: [ship, {text: boat, weight: 0.4}]}
""",
    )
    tags = both.tag_text("A ship", "A boat.", "en")
    # 3 x 1 in the title and 1.5 x 0.4 in the lead.
    assert [(score.topic, score.level, score.score, score.implied) for score in tags.scores] == [
        ("ship", "relevant", 3.6, False),
        ("sea", "relevant", 0.0, True),
    ]
    assert tags.topics == ("ship", "sea")
    assert tags.snippets == {"ship": "A boat.", "sea": "A boat."}
    mention = both.tag_text(None, "A boat.", "en")
    assert [(score.topic, score.level) for score in mention.scores] == [("ship", "mention")]
    assert (mention.topics, mention.snippets) == ((), {})


def test_the_body_weighs_less_in_a_long_text(tmp_path):
    one = tagger(tmp_path, "topics: [{id: sea, terms: [sea]}]\n")
    text = "word " * 990 + "sea " * 10
    (score,) = one.tag_text(None, text, "en").scores
    assert (score.lead_count, score.body_count, score.score) == (0, 10, 5.0)


TEXTS = st.lists(
    st.sampled_from(
        [
            "migrants", "Immigration", "deported", "sanctuary city", "sanctuary", "ICE", "ICE agents", "Nazi", "visa",
            "alien", "the", "house", "\n", "\n\n", ".", "“", "#AbolishICE", "https://a.example/visa", "Asylpolitik",
            "移民",
            "READ MORE: migrants", "gun rights", "\u00a0", "é", "e\u0301", "🚢", "NO MIGRANTS IN THE TOWN HALL TODAY",
        ]
    ),
    max_size=60,
).map(" ".join)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(TEXTS, st.text(max_size=200)),
    title=st.one_of(st.none(), TEXTS),
    language=st.sampled_from(["en", "de", None]),
)
def test_laws_hold_for_any_text(shipped, text, title, language):
    tags = shipped.tag_text(title, text, language)
    words = word_count(text)
    for match in tags.matches:
        source = text if match.field == "text" else title or ""
        assert source[match.start : match.end] == match.surface
    for score in tags.scores:
        own = [match for match in tags.matches if match.topic == score.topic]
        counts = (score.title_count, score.lead_count, score.body_count)
        assert score_of(own, counts, words) == score.score
        assert sum(counts) == score.match_count == sum(not match.in_boilerplate for match in own)
    assert list(tags.scores) == sorted(tags.scores, key=lambda score: (-score.score, score.topic))
    assert tags.topics == tuple(score.topic for score in tags.scores if score.level != "mention")
    assert set(tags.snippets) == set(tags.topics)
    assert shipped.tag_text(title, text, language) == tags


def test_tags_do_not_depend_on_order_or_thread(shipped):
    texts = [f"Migrants and deportation number {number} in a sanctuary city near the border." for number in range(40)]
    one_by_one = [shipped.tag_text(None, text, "en") for text in texts]
    assert [shipped.tag_text(None, text, "en") for text in reversed(texts)] == one_by_one[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: shipped.tag_text(None, text, "en"), texts)) == one_by_one


def test_a_tagger_made_from_a_pickled_taxonomy_says_the_same(shipped):
    again = Tagger(pickle.loads(pickle.dumps(shipped.taxonomy)))
    text = "Migrants feared deportation from the sanctuary city."
    assert again.tag_text(None, text, "en") == shipped.tag_text(None, text, "en")


@pytest.mark.parametrize("text", ["", " ", "\n", "a", "migrants"])
def test_small_texts(shipped, text):
    assert len(shipped.tag_text(None, text, "en").matches) == (text == "migrants")


def test_many_matches_are_cut_fairly_and_the_score_still_adds_up(shipped):
    text = "A migrant met a migrant. " * 400 + "The deportation was halted."
    tags = shipped.tag_text(None, text, "en")
    assert len(tags.matches) == MATCH_LIMIT
    assert tags.matches_truncated
    by_topic = {score.topic: score for score in tags.scores}
    assert by_topic["immigration"].match_count == 800
    assert by_topic["deportation"].match_count == 1
    for score in tags.scores:
        own = [match for match in tags.matches if match.topic == score.topic]
        counts = (score.title_count, score.lead_count, score.body_count)
        assert score_of(own, counts, word_count(text)) == score.score


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "migrants " * 1_100_000,
        "bird migration Nazi deported " * 350_000,
        "@" * 10_000_000,
        "a." * 5_000_000,
        "sanctuary" + " " * 10_000_000 + "city",
        "#" + "SanctuaryCity" * 770_000,
        "“" * 3_000_000 + "移民" * 3_000_000,
    ],
    ids=["one word", "all hits", "conditions", "at", "dots", "blanks", "hashtag", "marks"],
)
def test_ten_megabytes_take_bounded_time(shipped, text):
    start = time.process_time()
    tags = shipped.tag_text(None, text, "en")
    assert time.process_time() - start < 30
    assert len(tags.matches) <= MATCH_LIMIT
