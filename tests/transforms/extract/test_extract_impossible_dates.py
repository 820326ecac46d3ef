"""Dates that cannot be: published_at is null, the raw text is kept, and a warning says why."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from transforms.extract.article import extract_traced
from transforms.records import Document, Entry

NOW = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)
TEXT = "The harbor board of Port Amsel put off the vote on the new bridge toll until the spring. " * 6
PAGE = (
    '<html lang="en"><head><title>Toll vote put off</title><meta property="article:published_time" content="{}">'
    "</head><body><article><h1>Toll vote put off</h1><p>" + TEXT + "</p></article></body></html>"
)


def extracted(kind, body, **entry):
    announced = Entry("https://amsel.example/toll-vote-put-off", "k", "v", "amsel", **entry)
    found, _ = extract_traced(Document(announced, kind, body.encode(), "0" * 64, NOW))
    return found


@pytest.mark.parametrize(
    ("raw", "warning"),
    [
        ("9999-12-31T23:59:00-09:00", "published_unreadable"),  # beyond the calendar in UTC
        ("2099-01-01T00:00:00Z", "published_implausible"),
        ("0001-01-01T00:00:00Z", "published_implausible"),
        ("1970-01-01T00:00:00Z", "published_implausible"),
        ("2026-12-02T12:00:01Z", "published_implausible"),  # a second more than 48 hours ahead
        ("soon", "published_unreadable"),
    ],
)
def test_a_date_of_feed_or_page_that_is_not_believed_is_kept_as_written(raw, warning):
    of_feed = extracted("feed_content", f"<p>{TEXT}</p>", discovered_via="feed", published_raw=raw)
    of_page = extracted("page", PAGE.format(raw), discovered_via="urls")
    for found in (of_feed, of_page):
        assert (found.published_at, found.published_raw) == (None, raw)
        assert warning in found.warnings


def test_a_date_of_the_page_makes_good_what_the_feed_says_wrong():
    found = extracted("page", PAGE.format("2026-11-29T08:00:00Z"), discovered_via="feed", published_raw="9999-12-31")
    assert found.published_raw == "2026-11-29T08:00:00Z"
    assert found.published_at == datetime(2026, 11, 29, 8, tzinfo=timezone.utc)
    assert not any(warning.startswith("published_") for warning in found.warnings)


def test_a_page_without_a_date_has_no_warning():
    found = extracted(
        "page", PAGE.replace('<meta property="article:published_time" content="{}">', ""), discovered_via="urls"
    )
    assert (found.published_at, found.published_raw) == (None, None)
    assert found.warnings == ()
