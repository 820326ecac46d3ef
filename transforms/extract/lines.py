"""What the lines of a text are: story, credit, notice, teaser or noise. What is taken out is put where it belongs.

Credits ("Reporting by ...", notes on authors, picture credits) and notices (paywall, consent and newsletter
prompts) leave the text for columns of their own; labels of the page go and are only traced; lines that read
as teasers of other stories stay, marked as ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from transforms.counters import is_counter
from transforms.extract import line_rules as rules
from transforms.extract.names import same_name, split_names
from transforms.records import Boilerplate

_END_LINES = 8
_HEAD_LINES = 5
_CREDIT_LIMIT_CHARS = 500
_NOTICE_LIMIT_CHARS = 320
_CHROME_LIMIT_CHARS = 80
_SCRIPT_LIMIT_CHARS = 4000
_PICTURE_LIMIT_CHARS = 120
_CODE_ENDS = ";})]>"
_STAMP_LIMIT_CHARS = 80
_TEASER_WORDS_MIN = 6
_PROMO_LIMIT_CHARS = 160
_CAPITALS_MIN = 12
_CAPITALS_SHARE_MAX = 0.3
_WORD = re.compile(r"\w+")
_STAMP = re.compile(r"(?:19|20)\d\d|\d{1,2}[:.]\d{2}")
_AGENCY_LINE = re.compile(r"\W*([A-Za-zČ][\w .-]{1,24}?)(?:\s*[/,]\s*[\w.-]{2,12})*\W*")
_DATELINE = re.compile(r"[^\n]{0,80}?\(([A-Za-zČ][\w -]{1,24})\)\s*[-–—:.]")
_CREDITED_TO = re.compile(
    r"\b(?:the )?(" + "|".join(re.escape(n) for n in rules.AGENCIES if len(n) > 4) + r"|AFP|dpa|EFE)\b", re.I
)
_ABOUT = re.compile(r"\b(?:is|was|ist|est|es|è|covers|writes|has)\b")
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？", ":", ";", ",")
_QUOTES = "'\"”’»“"


class Sorted(NamedTuple):
    """The lines of a text in their places.

    Attributes:
        text: What remains, a paragraph a line.
        credits: Lines on who made the report.
        notices: Prompts of the house.
        boilerplate: Ranges of ``text`` that are no part of the story.
        syndication_credit: Agency that the text is credited to.
        dropped: Labels, repeated headlines, dates and code that were taken out.
    """

    text: str
    credits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    boilerplate: tuple[Boilerplate, ...] = ()
    syndication_credit: str | None = None
    dropped: tuple[str, ...] = ()


def is_capitals(text: str) -> bool:
    """Tells whether a text is all in capitals and long enough for that to mean something."""
    if text.upper() != text or text.lower() == text:
        return False
    return sum(character.isalpha() for character in text) >= _CAPITALS_MIN


def is_notice(line: str) -> bool:
    """Tells whether a line is a prompt of the house to its readers."""
    return len(line) <= _NOTICE_LIMIT_CHARS and rules.is_prompt(line)


def is_credit(line: str) -> bool:
    """Tells whether a line says who made the report, and nothing else."""
    if len(line) > _CREDIT_LIMIT_CHARS:
        return False
    return rules.CREDIT.fullmatch(line) is not None or _agency_of_line(line) is not None


def sort_text_lines(text: str) -> Sorted:
    """Sorts the lines of a clean text that is no page: credits and notices leave it, nothing is dropped.

    Empty lines stay: there a paragraph ends, while a single break may be one inside of a paragraph.
    """
    return _sort(text.split("\n"), _place_of_text_line)


def sort_page_lines(text: str, titles: Iterable[str] = (), authors: Sequence[str] = ()) -> Sorted:
    """Sorts the lines of a page's text.

    Args:
        text: Clean text, a paragraph a line.
        titles: The headline in its spellings; lines at the start that repeat it are dropped.
        authors: Names of the authors; a line at the start or end that says no more is dropped.
    """
    heads = {_key(title) for title in titles if title}

    def place(line: str, index: int, count: int) -> str:
        line = line.strip()
        if not any(character.isalnum() for character in line):
            return "dropped"
        if index < _HEAD_LINES and (_key(line) in heads or _is_stamp(line)):
            return "dropped"
        if (index < _HEAD_LINES or index >= count - 2) and _is_byline(line, authors):
            return "dropped"
        if len(line) <= _CHROME_LIMIT_CHARS and rules.CHROME.fullmatch(line):
            return "dropped"
        if line[-1] in _CODE_ENDS and len(line) <= _SCRIPT_LIMIT_CHARS and rules.SCRIPT.fullmatch(line):
            return "dropped"
        if (len(line) <= _PICTURE_LIMIT_CHARS and rules.PICTURE_CREDIT.fullmatch(line)) or (
            index >= count - _END_LINES and index and _is_author_note(line, authors)
        ):
            return "credits"
        return _place_of_text_line(line, index, count)

    return _sort([line for line in text.split("\n") if line.strip()], place)


def _place_of_text_line(line: str, index: int, count: int) -> str:
    if is_notice(line):
        return "notices"
    # The only line of a text is the text.
    return "credits" if index >= max(1, count - _END_LINES) and is_credit(line) else "text"


def _sort(lines: list[str], place: Callable[[str, int, int], str]) -> Sorted:
    placed: dict[str, list[str]] = {"text": [], "credits": [], "notices": [], "dropped": []}
    count = sum(bool(line.strip()) for line in lines)
    index, is_behind_empty = 0, False
    for line in lines:
        if not line.strip():
            is_behind_empty = True
            continue
        kind = place(line, index, count)
        index += 1
        if kind == "text" and is_behind_empty:
            placed["text"] += [""] if placed["text"] else []
            is_behind_empty = False
        placed[kind].append(line)
    text = "\n".join(placed["text"])
    credit_lines = tuple(dict.fromkeys(placed["credits"]))
    notices = tuple(dict.fromkeys(placed["notices"]))
    return Sorted(
        text, credit_lines, notices, mark_boilerplate(text), find_agency(text, credit_lines), tuple(placed["dropped"])
    )


def _key(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _is_stamp(line: str) -> bool:
    """Tells whether a line is only a date, with or without words such as "Published"."""
    return (
        len(line) <= _STAMP_LIMIT_CHARS
        and _STAMP.search(line) is not None
        and (is_counter(line) or is_counter(f"Published {line.lstrip('-–—| ')}"))
    )


def _is_byline(line: str, authors: Sequence[str]) -> bool:
    if not authors or len(line) > 40 * (len(authors) + 1):
        return False
    names = split_names(line)
    return bool(names) and all(any(same_name(name, author) for author in authors) for name in names)


def _is_author_note(line: str, authors: Sequence[str]) -> bool:
    if len(line) > _CREDIT_LIMIT_CHARS + 100:
        return False
    begins_with_author = any(line.startswith(author) for author in authors)
    return (begins_with_author and _ABOUT.search(line[:120]) is not None) or rules.AUTHOR_NOTE.fullmatch(
        line
    ) is not None


def _agency_of_line(line: str) -> str | None:
    match = _AGENCY_LINE.fullmatch(line) if len(line) <= 60 else None
    return rules.AGENCIES.get(match[1].strip().lower()) if match else None


def find_agency(text: str, credit_lines: tuple[str, ...] = (), authors: tuple[str, ...] = ()) -> str | None:
    """Returns the news agency that a text is credited to: by its dateline, its credits or its authors."""
    dateline = _DATELINE.match(text)
    if dateline and dateline[1].strip().lower() in rules.AGENCIES:
        return rules.AGENCIES[dateline[1].strip().lower()]
    for line in credit_lines:
        credited = _CREDITED_TO.search(line)
        agency = _agency_of_line(line) or (rules.AGENCIES.get(credited[1].lower()) if credited else None)
        if agency:
            return agency
    return next((rules.AGENCIES[name.lower()] for name in authors if name.lower() in rules.AGENCIES), None)


def mark_boilerplate(text: str) -> tuple[Boilerplate, ...]:
    """Returns the ranges of lines that announce other stories: in capitals (``teaser``), or "Read more" (``promo``)."""
    ranges: list[Boilerplate] = []
    offset = 0
    lines = text.split("\n")
    for line in lines:
        kind = _boilerplate_kind(line)
        if kind:
            ranges.append(Boilerplate(offset, offset + len(line), kind))
        offset += len(line) + 1
    filled = sum(1 for line in lines if line.strip())
    if sum(found.kind == "teaser" for found in ranges) > filled * _CAPITALS_SHARE_MAX:
        # A text that is written in capitals has no teasers that could be told by them.
        ranges = [found for found in ranges if found.kind != "teaser"]
    return tuple(ranges)


def _boilerplate_kind(line: str) -> str | None:
    ends_open = not line.rstrip(_QUOTES).endswith(_SENTENCE_END)
    if ends_open and len(line.split()) >= _TEASER_WORDS_MIN and is_capitals(line):
        return "teaser"
    if len(line) <= _PROMO_LIMIT_CHARS and rules.LEAD_IN.match(line) and not line.rstrip(_QUOTES).endswith((".", "。")):
        return "promo"
    return None
