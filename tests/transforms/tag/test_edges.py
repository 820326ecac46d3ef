import pytest

from transforms.tag.edges import has_left_edge, has_right_edge, hashtag_start, is_hashtag_edge, run_on
from transforms.tag.fold import fold


def edges(text: str, word: str) -> tuple[bool, bool]:
    folded, wanted = fold(text), fold(word)
    start = folded.index(wanted)
    return has_left_edge(folded, start), has_right_edge(folded, start + len(wanted))


@pytest.mark.parametrize(
    ("text", "word", "left", "right"),
    [
        ("deportment", "deport", True, False),
        ("Tradeport", "deport", False, True),
        ("anti-immigration", "immigration", True, True),
        ("ICE's", "ICE", True, True),
        ("l'immigration", "immigration", True, True),
        ("visa2", "visa", True, False),
        ("snake_visa_", "visa", True, True),
        # Latin among Chinese, Japanese, Korean
        ("美国ICE官员", "ICE", True, True),
        ("JUSTICE移民局", "移民", True, True),
        ("JUSTICE移民局", "ICE", False, True),
        ("ICE가 왔다", "ICE", True, True),
        # no blanks between words
        ("難民申請者", "難民", True, True),
        ("ผู้ลี้ภัยในไทย", "ผู้ลี้ภัย", True, True),
        # Katakana words are runs of their own
        ("ビザンティン", "ビザ", True, False),
        ("就労ビザを", "ビザ", True, True),
        # Korean: particles behind, nothing before
        ("이민자들이", "이민자", True, True),
        ("어린이민속", "이민", False, True),
        # Cyrillic
        ("иммигрантка", "мигрант", False, False),
        ("мигрант-строитель", "мигрант", True, True),
        # small words before Arabic and Hebrew nouns
        ("واللاجئين", "لاجئين", True, True),
        ("بالهجرة", "هجرة", True, True),
        ("מהמהגרים", "מהגרים", True, True),
        ("תמהגרים", "מהגרים", False, True),
        # a mark belongs to its letter
        ("शरणार्थी", "शरणार्थ", True, False),
    ],
)
def test_edges_are_judged_by_script(text, word, left, right):
    assert edges(text, word) == (left, right)


def test_a_star_runs_to_the_end_of_the_word_and_not_for_ever():
    assert run_on("asylpolitik heute", 4) == 11
    assert run_on("asyl-politik", 4) == 4
    assert run_on("a" * 5000, 4) is None


@pytest.mark.parametrize(
    ("tag", "word", "is_word"),
    [
        ("#SanctuaryCities", "Cities", True),
        ("#SanctuaryCities", "Sanctuary", True),
        ("#AbolishICENow", "ICE", True),
        ("#ABOLISHICE", "ICE", False),
        ("#immigrationreform", "immigration", False),
        ("#Title42Ends", "42", True),
        ("#no_visa", "visa", True),
    ],
)
def test_hashtags_part_words_by_capitals_digits_and_underscores(tag, word, is_word):
    start = tag.index(word)
    begin = hashtag_start(tag, start)
    assert begin == 1
    assert (is_hashtag_edge(tag, 1, start) and is_hashtag_edge(tag, 1, start + len(word))) is is_word


def test_a_word_without_hash_is_no_hashtag():
    assert hashtag_start("SanctuaryCities", 9) is None
