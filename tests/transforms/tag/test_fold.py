import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.tag.fold import SearchText, fold, search_form


def test_every_character_folds_to_one_character():
    for first in range(0, sys.maxunicode, 0x1000):
        block = "".join(map(chr, range(first, first + 0x1000)))
        assert len(fold(block)) == len(block), hex(first)
    assert len(fold("\u0130")) == 1


@given(st.text())
def test_fold_keeps_the_length_of_any_text(text):
    assert len(fold(text)) == len(text)


@given(st.text(alphabet=st.sampled_from("aé \t\n\r\u00ad\u200b\u0301\u3000-“’移İ")))
def test_every_place_of_the_search_text_leads_to_a_place_of_the_original(text):
    search = SearchText(text)
    reached = 0
    for position in range(len(search.text)):
        start, end = search.span(position, position + 1)
        assert reached <= start < end <= len(text)
        reached = start
    assert len(search.text) <= len(text)


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("SANCTUARY", "sanctuary"),
        ("Inmigración", "inmigracion"),
        ("İstanbul SIĞINMACI", "istanbul siginmaci"),
        ("ΜΕΤΑΝΆΣΤΗΣ", "μεταναστησ"),
        ("ＩＣＥ", "ice"),
        ("l’asile «d'asile»", "l'asile 'd'asile'"),
        ("беженец тоже ещё", "беженец тоже еще"),
    ],
)
def test_letters_are_compared_without_case_accents_and_styles(written, folded):
    assert fold(written) == folded


def test_every_hyphen_and_blank_of_unicode_is_known():
    dashes = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Pd"}
    blanks = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Zs"}
    # The Yezidi hyphen joins no words that we look for; long dashes part clauses.
    assert {dash for dash in dashes if fold(dash) not in ("-", "\x1d")} <= {"\U00010ead"}
    assert {blank for blank in blanks if fold(blank) != " "} == set()
    assert fold("\u2011\u2010\u2013\u2212\u00ad") == "----\x00"


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("a\nb", "a b"),
        ("a\r\nb", "a b"),
        ("a \t\u3000b", "a b"),
        ("a\u00adb\u200bc", "abc"),
        ("self-made", "self made"),
        ("e\u0301te\u0301", "ete"),
    ],
)
def test_breaks_and_blanks_inside_a_paragraph_are_one_blank(text, search):
    assert SearchText(text).text == search


@pytest.mark.parametrize("text", ["a\n\nb", "a\r\n\r\nb", "a\r\rb", "a\n \t\nb", "a\u2029b", "a" + " " * 500 + "b"])
def test_an_empty_line_is_a_wall(text):
    assert "a b" not in SearchText(text).text
    assert "ab" not in SearchText(text).text


def test_combining_marks_stay_with_their_letter():
    search = SearchText("caf\u0065\u0301 noir")
    start = search.text.index("cafe")
    assert search.span(start, start + 4) == (0, 5)


def test_phrases_are_looked_for_without_what_is_invisible():
    assert search_form("  Sans\u00adPapiers \n d\u2019Asile ") == "sanspapiers d'asile"
