from __future__ import annotations

import pytest

from transforms.seeds.txt import split_title

STORY = "EASTWICK — The board voted on Tuesday.\n\nIt was late."


@pytest.mark.parametrize(
    "title",
    [
        "Board pays for forty more beds",
        "Who pays for the beds?",
        "‘Nobody asked us’",
        "Senator returns to the U.S.",
        "Beds: a history",
        "# Board pays for beds",
    ],
)
def test_a_short_first_line_above_an_empty_one_is_the_title(title: str):
    found, text = split_title(f"\ufeff{title}\r\n\r\n{STORY}")
    assert found == title.lstrip("# ")
    assert text.strip() == STORY


@pytest.mark.parametrize(
    "text",
    [
        STORY,
        "One sentence is an article.",
        "Board pays for beds",
        "Board pays for beds\n\n",
        "Board pays for beds\nand goes on in the next line.\n\nMore.",
        "The board voted on Tuesday to pay for more beds.\n\nMore.",
        "By Nora Vance\n\n" + STORY,
        "and then it was over\n\n" + STORY,
        "EASTWICK —\n\n" + STORY,
        "A line that is far too long to be the title of anything, " * 3 + "\n\n" + STORY,
        "12\n\n" + STORY,
        "",
    ],
)
def test_anything_else_is_text(text: str):
    assert split_title(text) == (None, text)
