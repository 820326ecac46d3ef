import pytest

from transforms.tag.words import SNIPPET_LIMIT, Words


@pytest.fixture(scope="module")
def words():
    return Words()


def snippet(words, text, hit, language="en"):
    start = text.index(hit)
    return words.snippet(text, start, start + len(hit), language)


@pytest.mark.parametrize(
    ("text", "hit", "expected"),
    [
        ("Rain fell. The ferry sailed at dawn. Nobody cheered.", "ferry", "The ferry sailed at dawn."),
        ("Rain fell. Mr. Orrin of the U.S. Navy took the ferry! Good.", "ferry",
         "Mr. Orrin of the U.S. Navy took the ferry!"),
        ("A heading\nThe ferry sailed\nAnother line", "ferry", "The ferry sailed"),
        ("A hard-wrapped text about\nthe ferry that sails\nat dawn. More.", "ferry",
         "A hard-wrapped text about the ferry that sails at dawn."),
        ("Rain fell.\r\n\r\nThe ferry  sailed.\r\n\r\nNo.", "ferry", "The ferry sailed."),
        ("He said: “The ferry sails.” “When?” she asked.", "ferry", "He said: “The ferry sails.”"),
        ("ferry", "ferry", "ferry"),
    ],
)  # fmt: skip
def test_the_snippet_is_the_sentence_of_the_hit(words, text, hit, expected):
    assert snippet(words, text, hit) == expected


def test_sentences_of_other_scripts(words):
    for language in ("ja", "zh", None):
        assert snippet(words, "天気は良い。難民が来た。終わり。", "難民", language) == "難民が来た。"


@pytest.mark.parametrize("language", ["en", "de", "th", "ja", "vi", "xx", "qq", None])
def test_every_language_has_a_tokenizer(words, language):
    assert snippet(words, "Eins. Die Fähre fährt. Zwei.", "Fähre", language) == "Die Fähre fährt."


@pytest.mark.parametrize("place", [0, 30, 80, 149])
def test_a_long_sentence_is_cut_at_blanks_around_the_hit(words, place):
    parts = [f"word{number}" for number in range(150)]
    parts[place] = "ferry"
    text = " ".join(parts)
    found = snippet(words, text, "ferry")
    assert len(found) <= SNIPPET_LIMIT + 4
    assert "ferry" in found.split()
    assert set(found.split()) - {"…"} <= set(parts)
    assert found.startswith("… ") is (place > 20)
    assert found.endswith(" …") is (place < 140)


def test_text_without_blanks_is_cut_anywhere(words):
    text = "海" * 500 + "難民" + "海" * 500
    found = snippet(words, text, "難民", "zh")
    assert "難民" in found
    assert len(found) <= SNIPPET_LIMIT + 4


@pytest.mark.parametrize(
    ("between", "tokens"),
    [("", 0), (" ", 0), (" one two ", 2), (" don't stop, ", 4), ("   \n", 0), (" a-b ", 3), ("漢字", 2)],
)
def test_tokens_are_counted_as_spacy_parts_them(words, between, tokens):
    assert words.count_is_within(between, tokens, "en")
    if tokens:
        assert not words.count_is_within(between, tokens - 1, "en")


def test_the_vocabulary_is_dropped_when_it_grows_too_large(words, monkeypatch):
    small = Words()
    monkeypatch.setattr("transforms.tag.words._VOCABULARY_LIMIT", 1000)
    first = small._pipeline("en", "w")
    first.make_doc(" ".join(f"w{number}x" for number in range(2000)))
    assert small._pipeline("en", "w") is not first
