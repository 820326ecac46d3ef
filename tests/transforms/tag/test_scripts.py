"""Terms are found in every script and spelling, as editors write them and as texts come; each case is our own."""

from __future__ import annotations

import unicodedata

import pytest
from make_taxonomy import load, surfaces

from transforms.tag.fold import SearchText, search_form
from transforms.tag.tagger import Tagger
from transforms.text import clean_text

CASES = [
    # One sign for several letters.
    pytest.param("official", "The oﬃcial said no.", ["oﬃcial"], id="ligature ffi"),
    pytest.param("fire", "A ﬁre broke out, a fire.", ["ﬁre", "fire"], id="ligature fi"),
    pytest.param("flight", "The ﬂight left.", ["ﬂight"], id="ligature fl"),
    pytest.param("cœur", "Au cœur, au coeur, AU CŒUR", ["cœur", "coeur", "CŒUR"], id="oe"),
    pytest.param("coeur", "Au cœur et au coeur", ["cœur", "coeur"], id="oe of the text only"),
    pytest.param("oﬀice", "The office, the oﬀice", ["office", "oﬀice"], id="ligature of the term"),
    # Lines.
    pytest.param("self-deport", "They self-\ndeport now.", ["self-\ndeport"], id="break behind a hyphen"),
    pytest.param("sanctuary city", "The sanctuary-\ncity rule", ["sanctuary-\ncity"], id="hyphen and break"),
    pytest.param("sanctuary city", "The sanctuary-\n\ncity rule", [], id="hyphen and wall"),
    pytest.param("庇护城市", "他们说“庇护\n城市”很好", ["庇护\n城市"], id="Chinese broken over a line"),
    pytest.param("庇护城市", "他们说庇护\n\n城市很好", [], id="Chinese over a paragraph"),
    pytest.param("難民申請", "難民\n申請", ["難民\n申請"], id="Japanese broken over a line"),
    pytest.param("sanctuary city", "the sanctuary\u2028city", ["sanctuary\ncity"], id="line separator"),
    pytest.param("sanctuary city", "the sanctuary\u2029city", [], id="paragraph separator"),
    # Underscores part words.
    pytest.param("sanctuary city", "#Sanctuary_City", ["Sanctuary_City"], id="hashtag with underscore"),
    pytest.param("sanctuary city", "a _sanctuary_ city", ["sanctuary_ city"], id="markdown"),
    # Marks that cannot be seen.
    pytest.param("sanctuary city", "The sanc\u00adtu\u00adary city", ["sanctuary city"], id="soft hyphen"),
    pytest.param("deportation", "The de\u200bpor\u2060tation", ["deportation"], id="zero width"),
    # Apostrophes and hyphens.
    *(pytest.param("droit d'asile", f"le droit d{sign}asile", [f"droit d{sign}asile"], id=f"U+{ord(sign):04X}")
      for sign in "'’ʼ‘′＇`´"),
    *(pytest.param("anti-migrant", f"An anti{sign}migrant march", [f"anti{sign}migrant"], id=f"U+{ord(sign):04X}")
      for sign in "-‐‑‒–−﹣－"),
    pytest.param("sanctuary city", "A sanctuary—city of dreams", [], id="a dash parts"),
    # Turkish.
    pytest.param("sınır dışı", "SINIR DIŞI, Sınır dışı", ["SINIR DIŞI", "Sınır dışı"], id="dotless i"),
    pytest.param("istanbul", "İSTANBUL’DA, istanbul'da", ["İSTANBUL", "istanbul"], id="dotted I"),
    # Hebrew and Arabic: small words and marks on the word, endings that make another word.
    pytest.param("מהגרים", "והמהגרים למהגרים", ["מהגרים", "מהגרים"], id="Hebrew prefixes"),
    pytest.param("מקלט", "מקלטים נסגרו", [], id="Hebrew ending"),
    pytest.param("גירוש", "הַגֵּירוּשׁ בוטל", ["גֵּירוּשׁ"], id="Hebrew points"),
    pytest.param("עיר מקלט", "זוהי עיר־מקלט", ["עיר־מקלט"], id="maqaf"),
    pytest.param("צה״ל", 'חיילי צה"ל', ['צה"ל'], id="gershayim"),
    pytest.param("مهاجرين", "وللمهاجرين والمهاجرين", ["مهاجرين", "مهاجرين"], id="Arabic prefixes"),
    pytest.param("ترحيل", "تـرحـيـل وبترحيلهم", ["تـرحـيـل"], id="tatweel"),
    pytest.param("إبعاد", "ابعاد الأجانب", ["ابعاد"], id="hamza"),
    pytest.param("پناه‌جو", "پناه‌جو و پناه جو و پناهجو", ["پناه‌جو", "پناه جو", "پناهجو"], id="Persian joiner"),
    # Cyrillic, Greek, Indic, Thai, Korean, Japanese.
    pytest.param("міграція", "МІГРАЦІЯ зросла", ["МІГРАЦІЯ"], id="Ukrainian capitals"),
    pytest.param("мигрант", "мигранты, иммигрант", [], id="Russian inside of words"),
    pytest.param("μετανάστες", "ΜΕΤΑΝΑΣΤΕΣ στο λιμάνι", ["ΜΕΤΑΝΑΣΤΕΣ"], id="final sigma"),
    pytest.param("प्रवास", "प्रवासी मजदूर, प्रवास", ["प्रवास"], id="Devanagari vowel sign"),
    pytest.param("क़ानून", "नया \u0958ानून आया", ["क़ानून"], id="nukta"),
    pytest.param("அகதி", "அகதிகள், அகதி", ["அகதி"], id="Tamil"),
    pytest.param("ผู้ลี้ภัย", "ช่วยผู้ลี้ภัยที่ชายแดน", ["ผู้ลี้ภัย"], id="Thai"),
    pytest.param("추방", "추방을 당했다, 재추방", ["추방"], id="Korean particle"),
    pytest.param("デモ", "東京でデモが続く、デモクラシー", ["デモ"], id="Katakana"),
    # Capitals.
    pytest.param("élu", "ÉLU ET ELU", ["ÉLU", "ELU"], id="capitals without accents"),
    pytest.param("migrants", "ｍｉｇｒａｎｔｓ came", ["ｍｉｇｒａｎｔｓ"], id="full width"),
]  # fmt: skip


@pytest.fixture(scope="module")
def by_term(tmp_path_factory):
    """A tagger for each term."""
    folder = tmp_path_factory.mktemp("scripts")
    terms = dict.fromkeys(case.values[0] for case in CASES)
    return {term: Tagger(load(folder, f"topics: [{{id: t, terms: ['{term.replace(chr(39), chr(39) * 2)}']}}]\n"))
            for term in terms}  # fmt: skip


@pytest.mark.parametrize(("term", "text", "found"), CASES)
def test_a_term_is_found_however_it_is_written(by_term, term, text, found):
    stored = clean_text(text)
    assert surfaces(by_term[term], stored) == [unicodedata.normalize("NFC", surface) for surface in found]
    decomposed = clean_text(unicodedata.normalize("NFD", text))
    assert surfaces(by_term[term], decomposed) == surfaces(by_term[term], stored)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ﬃx", "ffix"),
        ("a ﬁ b", "a fi b"),
        ("æœ", "aeoe"),
        ("  ﬁ\u00ad ﬂ", " fi fl"),
        ("庇\n护\nthe", "庇护 the"),
        ("a-\nb-\n c", "a b  c"),
    ],
)
def test_each_letter_that_is_searched_lies_in_a_sign_of_the_text(text, seen):
    search = SearchText(text)
    assert search.text == seen
    for place in range(len(seen)):
        start, end = search.span(place, place + 1)
        assert 0 <= start < end <= len(text)
        if seen[place] != " ":
            assert seen[place] in search_form(text[start:end])
    assert search.span(0, len(seen)) == (0, len(text))
