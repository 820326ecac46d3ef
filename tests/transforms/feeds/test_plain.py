from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.feeds.plain import headline, literal, markup_text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("  Tide \n turns\u00a0again ", "Tide turns again"),
        ("<b>Tide</b> turns", "Tide turns"),
        ("<p>Tide <i>turns</i></p>", "Tide turns"),
        ("Tide<br/>turns", "Tide turns"),
        ("The <b> tag and the <div> tag", "The <b> tag and the <div> tag"),
        ("2 < 3 > 1", "2 < 3 > 1"),
        ("I <3 tides", "I <3 tides"),
        ("Salt &amp; Sons", "Salt & Sons"),
        ("Salt &amp;amp; Sons", "Salt & Sons"),
        ("R&D, AT&T, &copy=1", "R&D, AT&T, &copy=1"),
        ("&#8216;Tide&#x2019;", "‘Tide’"),
        ("<![CDATA[Tide]]>", "Tide"),
        ("Ti\u00adde\u200b tu\ufeffrns", "Tide turns"),
        ("Café", "Café"),
        ("", None),
        ("&nbsp;", None),
    ],
)
def test_headlines(written: str, meant: str | None) -> None:
    assert headline(written) == meant


def test_text_that_is_declared_as_text_is_left_alone() -> None:
    assert literal(" Use <b>five</b> &amp; six ") == "Use <b>five</b> &amp; six"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>two <b>three</b></p>", "One two three"),
        ("One<script>x()</script><style>y{}</style><!-- z --> two", "One two"),
        ("One &amp;amp; two&nbsp;three", "One & two three"),
        ("1 < 2, 3 < 4 and <b>bold", "1 < 2, 3 < 4 and bold"),
        ("<img src='x'>", None),
        ("<script>never closed", None),
    ],
)
def test_teasers(markup: str, text: str | None) -> None:
    assert markup_text(markup) == text


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["<b>", "</b>", "<p>", "&amp;", "&lt;", "<", ">", "&", "a", " ", "\u0301", "\x00", "<!--", "]]>"]
        ),
        max_size=20,
    ).map("".join)
)
def test_plain_text_is_one_line_and_reading_it_never_fails(text: str) -> None:
    for found in (headline(text), literal(text), markup_text(text)):
        assert found is None or (found == " ".join(found.split()) and found)
