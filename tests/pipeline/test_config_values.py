"""Single values: what is read, what is refused, and with which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import values


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("5s", 5),
        ("15m", 900),
        ("1h30m", 5400),
        ("7d", 604_800),
        ("2w", 1_209_600),
        ("250ms", 0.25),
        ("0.5s", 0.5),
        ("0", 0),
        (" 5s ", 5),
    ],
)
def test_durations(written, seconds):
    assert values.duration(written) == seconds


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("15", "has no unit; write 15s, 15m, 15h or 15d"),
        ("5 min", "is not a duration"),
        ("-5s", "is not a duration"),
        ("1m1m", "names a unit twice"),
        ("9999w", "longer than 10 years"),
        ("", "is not a duration"),
        ("٣s", "is not a duration"),
    ],
)
def test_wrong_durations_say_how_to_write_them(written, words):
    with pytest.raises(ValueError, match=words):
        values.duration(written)


@given(st.integers(min_value=0, max_value=300_000_000))
def test_durations_are_read_back_as_they_are_written(milliseconds):
    seconds = milliseconds / 1000
    assert values.duration(values.duration_text(seconds)) == pytest.approx(seconds)


@pytest.mark.parametrize(("written", "value"), [("true", True), ("True", True), ("FALSE", False), (True, True)])
def test_truth_values(written, value):
    assert values.flag(written) is value


@pytest.mark.parametrize(("written", "meant"), [("yes", "true"), ("on", "true"), ("no", "false"), ("off", "false")])
def test_words_that_only_old_yaml_takes_for_truth_values_are_refused_with_the_right_one(written, meant):
    with pytest.raises(ValueError, match=f"write {meant}"):
        values.flag(written)


@pytest.mark.parametrize("written", ["-1", "1.5", "1_000", "1e3", "", "ten", "9999999999999999999999", "٣"])
def test_wrong_numbers(written):
    with pytest.raises(ValueError, match="not a whole number"):
        values.count(written)


@pytest.mark.parametrize("written", ["no", "NO", "en", "pt-BR", "zh-Hans-CN", "es-419"])
def test_languages_stay_as_written(written):
    assert values.language(written) == written


@pytest.mark.parametrize("written", ["english", "e", "en_US", "e n", ""])
def test_wrong_languages(written):
    with pytest.raises(ValueError, match=r"is not a language tag|is empty"):
        values.language(written)


def test_countries_are_codes_of_two_letters():
    assert values.country("no") == "NO"
    with pytest.raises(ValueError, match="country code"):
        values.country("USA")


@pytest.mark.parametrize("written", ["America/Chicago", "UTC", "-05:00", "+05:30", "Z"])
def test_time_zones(written):
    assert values.time_zone(written) == written


@pytest.mark.parametrize("written", ["Mars/Olympus", "5", "+25:00", "../../etc/passwd"])
def test_wrong_time_zones(written):
    with pytest.raises(ValueError, match="is not a time zone"):
        values.time_zone(written)


@pytest.mark.parametrize("written", ["", "desk@harbour.example", "https://harbour.example/bot"])
def test_contacts(written):
    assert values.contact(written) == written


@pytest.mark.parametrize(
    "written", ["me", "me@nowhere", "a@b.example\r\nX-Evil: 1", "ftp://x.example", "bücher@x.example"]
)
def test_contacts_that_cannot_stand_in_a_header(written):
    with pytest.raises(ValueError, match=r"neither a mail|control characters|plain ASCII"):
        values.contact(written)


@pytest.mark.parametrize(
    "written", ["http://", "ftp://x.example/f", "x.example/feed", "http://a b.example/", "javascript:alert(1)"]
)
def test_wrong_addresses(written):
    with pytest.raises(ValueError, match="is not an http"):
        values.web_address(written)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ann:pw@harbour.example/feed", "https://harbour.example/feed"),
        ("https://harbour.example/feed?api_key=abc&page=2", "https://harbour.example/feed?api_key=***&page=2"),
        ("https://harbour.example/feed?page=2", "https://harbour.example/feed?page=2"),
        ("feeds.yaml", "feeds.yaml"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_addresses_in_messages_hold_no_secrets(address, shown):
    assert values.without_secrets(address) == shown


def test_text_of_several_lines_is_refused():
    with pytest.raises(ValueError, match="control characters"):
        values.text("a\nb")
