from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms import text as texts

any_text = st.text(alphabet=st.characters(), max_size=200)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("Cafe\u0301", "Café"),
        ("zero\u200bwidth, so\u00adft, \ufeffmark", "zerowidth, soft, mark"),
        ("forty\u00a0more\u2009beds\u3000now", "forty more beds now"),
        ("one\r\ntwo\rthree\x0bfour\x0cfive\u2028six", "one\ntwo\nthree\nfour\nfive\nsix"),
        ("one\u2029two", "one\n\ntwo"),
        ("  one  \t two \n\n\n\n three\n", "one two\n\nthree"),
        ("NUL\x00 bell\x07 del\x7f", "NUL bell del"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("it isnâ€™t much â€” 5 â‚¬", "it isn’t much — 5 €"),
        ("CafÃ© SÃ£o", "Café São"),
        ("left\u202eright", "leftright"),
    ],
)
def test_text_is_cleaned(raw: str, clean: str):
    assert texts.clean_text(raw) == clean


@pytest.mark.parametrize(
    "good",
    [
        "l’été à l’école — «Ça» №5",
        "VENDÃO Ó",
        "São Paulo, AVANÇÃO",
        "می‌خواهم",  # the joiner is part of the Persian word
        "👩‍👩‍👧",
        "Paragraph one.\n\nParagraph two.\nA line of it.",
        "Мэр города. Ελλάδα. 新聞。",
    ],
)
def test_good_text_stays_as_it_is(good: str):
    assert texts.clean_text(good) == good


@given(any_text)
def test_cleaning_is_idempotent_and_leaves_what_can_be_written(raw: str):
    clean = texts.clean_text(raw)
    assert texts.clean_text(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    clean.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u200b]|  |\n\n\n|^\s|\s$", clean)


def test_lines_are_cut_at_line_ends_only():
    assert texts.lines_of("a\nb\r\nc\rd\u2028e\x0cf\x85g") == ["a", "b", "c", "d\u2028e\x0cf\x85g"]


STORY = "The board voted to pay for forty more beds. Twelve people died.\n\nThe centre is full."


@pytest.mark.parametrize(
    "other",
    [
        STORY.replace("\n\n", "\n"),
        "  " + STORY.replace(" ", "\u00a0 ") + "\n",
        STORY + "\n\n12 comments",
        STORY + "\n\nShares 45",
        STORY + " 1,204 readers. Updated 3 minutes ago.",
        STORY + " 1,977 readers. Updated 1 hour ago.",
        "Last updated: 10 March 2026, 09:59 GMT\n\n" + STORY,
        "Hace 3 horas\n" + STORY,
        "vor 5 Minuten\n" + STORY + "\n3 Kommentare",
        STORY + "\n1.2K views • 3 days ago",
        "Updated March 10, 2026 at 10:00 a.m. ET\n" + STORY,
    ],
)
def test_white_space_counters_and_ages_make_no_revision(other: str):
    assert texts.content_sha256("Beds", other) == texts.content_sha256("Beds", STORY)


@pytest.mark.parametrize(
    "other",
    [
        STORY.replace("forty", "fourteen"),
        STORY.replace("Twelve people", "Thirteen people"),
        STORY + "\n\nCorrection: an earlier version gave a wrong number of beds.",
        STORY + "\n12 dead",
        STORY + "\nDeath toll: 12",
        STORY + "\nPolice said 12 shares were sold.",
    ],
)
def test_anything_else_makes_a_revision(other: str):
    assert texts.content_sha256("Beds", other) != texts.content_sha256("Beds", STORY)


def test_figures_of_the_story_count():
    assert texts.content_sha256("", "Dead: 12 people.") != texts.content_sha256("", "Dead: 13 people.")
    assert texts.content_sha256("", "12 dead") != texts.content_sha256("", "13 dead")
    assert texts.content_sha256("12 dead", "x") != texts.content_sha256("13 dead", "x")
    assert texts.content_sha256("", "He lost 12 votes in May.") != texts.content_sha256("", "He lost 13 votes in May.")


def test_title_and_text_do_not_run_into_each_other():
    assert texts.content_sha256("ab", "c") != texts.content_sha256("a", "bc")


def test_copies_share_a_fingerprint_whatever_their_case_and_signs():
    a = "“Nobody,” she said — nobody at all."
    assert texts.text_fingerprint(a) == texts.text_fingerprint('"NOBODY", she  said:\nnobody at all')
    assert texts.text_fingerprint(a) != texts.text_fingerprint("Nobody, he said, nobody at all.")
    assert texts.text_fingerprint(" … ") == ""


def test_words_are_runs_of_letters_and_digits():
    assert texts.word_count("The board, of 12, voted: 7–4!") == 7
    assert texts.word_count("") == 0


@pytest.mark.parametrize(
    ("data", "declared", "expected"),
    [
        ("Küste".encode(), None, ("Küste", "utf-8")),
        (b"\xef\xbb\xbfplain", None, ("plain", "utf-8")),
        (b"", None, ("", "utf-8")),
        ("新聞".encode("utf-16"), None, ("新聞", "utf-16-le")),
        (b"\xfe\xff" + "abc".encode("utf-16-be"), None, ("abc", "utf-16-be")),
        ("abc ä".encode("utf-32"), None, ("abc ä", "utf-32-le")),
        ("a list of beds".encode("utf-16-le"), None, ("a list of beds", "utf-16-le")),
        ("a list of beds".encode("utf-16-be"), None, ("a list of beds", "utf-16-be")),
        ("naïve “café”".encode("cp1252"), None, ("naïve “café”", "cp1252")),
        ("https://courier.example/ä/3".encode("cp1252"), None, ("https://courier.example/ä/3", "cp1252")),
        ("“été”".encode("cp1252"), "iso-8859-1", ("“été”", "cp1252")),
        ("Küste".encode(), "iso-8859-1", ("Küste", "utf-8")),
        ("мэр".encode("koi8-r"), "KOI8-R", ("мэр", "koi8-r")),
        ("市長は水曜日".encode("iso2022_jp"), None, ("市長は水曜日", "iso2022_jp")),
        (b"plain", "utf-7", ("plain", "utf-8")),
        (b"plain", "zlib", ("plain", "utf-8")),
        (b"one NUL \x00 in a long enough line", None, ("one NUL \x00 in a long enough line", "utf-8")),
    ],
)
def test_bytes_are_decoded_by_the_strongest_proof(data: bytes, declared: str | None, expected: tuple[str, str]):
    assert texts.decode(data, declared) == expected


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        (
            "cp1250",
            "Starosta města oznámil ve středu, že rada schválila nový rozpočet. Schůze je v úterý.",
        ),
        ("cp1250", "Burmistrz ogłosił w środę, że rada przyjęła nowy budżet. Następne posiedzenie będzie we wtorek."),
        (
            "cp1254",
            "Belediye başkanı çarşamba günü meclisin yeni bütçeyi kabul ettiğini açıkladı. Toplantı salı.",
        ),
        ("cp1252", "Der Bürgermeister erklärte am Mittwoch, der Rat habe den Haushalt für das Jahr beschlossen."),
        ("cp1251", "Мэр города объявил в среду, что совет принял новый бюджет."),
        ("cp1253", "Η κυβέρνηση ανακοίνωσε την Τετάρτη νέα μέτρα για την οικονομία."),
        ("cp932", "東京都知事は水曜日、新しい予算の計画を発表した。"),
        ("gb18030", "北京市政府星期三宣布了新的预算计划,会议将于下周举行。"),
        ("cp949", "서울시는 수요일 새로운 예산 계획을 발표했다"),
    ],
)
def test_old_code_pages_are_told_apart_by_the_language(encoding: str, words: str):
    assert texts.decode(words.encode(encoding)) == (words, encoding)


def test_a_bad_byte_in_utf8_costs_one_character():
    data = "Die Küste, die Bühne und die Straße ".encode() + b"\xff" + " Größe".encode()
    assert texts.decode(data) == ("Die Küste, die Bühne und die Straße \ufffd Größe", "utf-8")


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7 text", b"\x89PNG\r\n", b"PK\x03\x04rest", b"\x1f\x8b\x08", bytes(range(256)), b"\x00\x01\x02\x03\x04"],
)
def test_binary_data_is_no_text(data: bytes):
    assert texts.looks_binary(data)
    assert texts.decode(data) is None


@given(st.binary(max_size=300), st.sampled_from([None, "utf-8", "cp1252", "shift_jis", "utf-16", "nonsense", "hex"]))
def test_decoding_never_raises(data: bytes, declared: str | None):
    found = texts.decode(data, declared)
    assert found is None or isinstance(found[0], str)


@given(any_text)
def test_utf8_text_comes_back_whole(raw: str):
    data = raw.encode("utf-8", "replace")
    found = texts.decode(data)
    if found is not None and found[1] == "utf-8":
        assert found[0] == data.decode("utf-8").removeprefix("\ufeff")
