import pytest

from transforms.tag.guard import is_address


def covers(text: str, word: str) -> bool:
    start = text.index(word)
    return is_address(text, start, start + len(word))


@pytest.mark.parametrize(
    "text",
    [
        "https://courier.example/visa/a",
        "see (https://courier.example/a?visa=1).",
        "HTTP://COURIER.EXAMPLE/visa",
        "www.visa-news.example",
        "visa.org",
        "go to courier.com/visa today",
        "plan-visa.pdf",
        "write to visa@courier.example",
        "mail rita@visa.example now",
        "says @visa_desk",
        "详见https://courier.example/visa移民",
        "https://courier.example/移民/visa",
        "[the law](https://courier.example/visa)",
        "mailto:visa@courier.example",
    ],
)
def test_words_in_addresses_are_covered(text):
    assert covers(text, "visa")


@pytest.mark.parametrize(
    "text",
    [
        "a visa.",
        "a visa.Then he left",
        "visa/passport",
        "U.S. visa rules",
        "U.S.-visa",
        "the “visa” queue",
        "10 @ visa desk",
        "https://courier.example/ visa",
        "https://courier.example/a，visa",
        "(visa)",
        "[visa](https://courier.example)",
        "e.g. visa",
        "visa: who needs one?",
    ],
)
def test_words_beside_addresses_are_not_covered(text):
    assert not covers(text, "visa")


def test_a_long_run_without_blanks_is_looked_at_near_the_word_only():
    text = "x" * 200_000 + "@visa" + "y" * 200_000
    assert covers(text, "visa")
