from __future__ import annotations

import pytest

from transforms.feeds.hints import period_minutes, ttl_minutes

WEEK_MIN = 10080


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("60", 60),
        (" 15 minutes", 15),
        ("90.0", 90),
        ("0", None),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("9999999", WEEK_MIN),
    ],
)
def test_ttl(text: str, minutes: int | None) -> None:
    assert ttl_minutes(text) == minutes


@pytest.mark.parametrize(
    ("period", "frequency", "minutes"),
    [
        ("hourly", "1", 60),
        ("Hourly", "", 60),
        ("hourly", "4", 15),
        ("daily", "2", 720),
        ("dayly", "1", 1440),
        ("weekly", "1", WEEK_MIN),
        ("monthly", "1", WEEK_MIN),
        ("hourly", "0", 60),
        ("hourly", "0.5", 120),
        ("hourly", "many", 60),
        ("hourly", "5/minute", 1),
        ("always", "1", None),
        ("", "2", None),
    ],
)
def test_period_and_frequency(period: str, frequency: str, minutes: int | None) -> None:
    assert period_minutes(period, frequency) == minutes
