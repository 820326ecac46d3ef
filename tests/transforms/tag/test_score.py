import pytest

from transforms.records import Match
from transforms.tag.score import LEAD_CHARACTERS, field_sums, lead_end, level_of, score_of, select_matches


def match(topic="sea", field="text", start=0, weight=1.0, in_boilerplate=False):
    return Match(topic, "en:sea", "sea", field, start, start + 3, weight, in_boilerplate, "en")


def test_the_formula():
    matches = [match(field="title"), match(weight=0.4), match(weight=0.6), match(weight=2.0)]
    # 3 x 1 + 1.5 x (0.4 + 0.6) + 2 / (1000 / 500)
    assert score_of(matches, (1, 2, 1), 1000) == 5.5
    assert [part.points for part in field_sums(matches, (1, 2, 1), 1000)] == [3.0, 1.5, 1.0]


def test_a_short_text_is_not_inflated():
    assert score_of([match()], (0, 0, 1), 20) == 1.0


def test_boilerplate_counts_for_nothing():
    assert score_of([match(in_boilerplate=True, weight=0.0), match()], (0, 0, 1), 100) == 1.0


def test_hits_that_are_not_stored_count_as_the_stored_ones_do():
    assert score_of([match(weight=0.5), match(weight=1.5)], (0, 0, 10), 100) == 10.0


@pytest.mark.parametrize(
    ("score", "level"), [(0.0, None), (0.01, "mention"), (2.99, "mention"), (3.0, "relevant"), (7.0, "primary")]
)
def test_levels_begin_at_their_threshold(score, level):
    assert level_of(score, (0.01, 3.0, 7.0)) == level


def test_the_lead_is_eighty_words_or_640_characters():
    assert lead_end("ab, " * 200) == 79 * 4 + 2
    assert lead_end("ab cd") == 5
    assert lead_end("海" * 5000) == LEAD_CHARACTERS
    assert lead_end("") == 0


def test_of_many_matches_each_topic_keeps_its_first():
    many = [match(start=10 * number) for number in range(500)]
    few = [match("sky", start=9000), match("sky", start=9010)]
    stored = select_matches([*many, *few])
    assert len(stored) == 200
    assert stored[-2:] == tuple(few)
    assert list(stored[:-2]) == many[:198]


def test_matches_in_boilerplate_are_the_first_to_go():
    teasers = [match(start=number, in_boilerplate=True, weight=0.0) for number in range(150)]
    story = [match(start=1000 + number) for number in range(150)]
    assert [item.in_boilerplate for item in select_matches([*teasers, *story])].count(False) == 150
