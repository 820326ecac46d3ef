"""What spaCy does here: its tokenizer counts the words between two hits, its sentencizer cuts the snippet.

Only stretches around hits are handed to it. Pipelines are blank (no model) and are made once a language.
"""

from __future__ import annotations

import re
import threading
from typing import Any

from transforms.tag import edges
from transforms.tag.spans import Span

SNIPPET_LIMIT = 300
_WINDOW_CHARACTERS = 180
_VOCABULARY_LIMIT = 200_000
_ANY_LANGUAGE = "xx"
_BY_CHARACTER = "zh"
_LINE_BREAK = re.compile(r"[ \t]*(?:\r?\n|\r)\s*")
# What may end a sentence; whether it does is for spaCy to say.
_STOP = re.compile(r"[.!?…](?=\W*\s)|[。！？]|(?<=[a-z])[.!?](?=[A-Z])")
_TWO_WORDS = re.compile(r"\S+\s+\S+\s+\S+")
_ENDS_SENTENCE = re.compile(r"[.!?…。！？]\W*$")
_OPENING, _CLOSING = " “‘«„([", " ”’»)]"
_GLANCE = 20


class Words:
    """Tokenizers and sentencizers by language; safe to share between threads."""

    def __init__(self) -> None:
        self._pipelines: dict[str, Any] = {}
        self._lock = threading.Lock()

    def count_is_within(self, text: str, limit: int, language: str | None) -> bool:
        """Tells whether a text has at most ``limit`` tokens; spaCy is asked only if it is not plain anyway."""
        if len(text) <= limit:
            return True
        chunks = text.split(None, limit + 1)
        if len(chunks) > limit or not chunks:
            return not chunks
        with self._lock:
            # Blanks closed up: spaCy makes tokens of longer ones.
            tokens = len(self._pipeline(language, chunks[0][0]).make_doc(" ".join(chunks)))
        return tokens <= limit

    def snippet(self, text: str, start: int, end: int, language: str | None) -> str:
        """Returns the sentence around a hit, blanks closed up; a long one is cut at blanks and marked with ``…``."""
        first, last = self._sentence(text, start, end, language)
        room = max(0, SNIPPET_LIMIT - (end - start))
        if last - first > SNIPPET_LIMIT:
            first = max(first, min(start - room // 2, last - SNIPPET_LIMIT))
            last = min(last, max(end, first + SNIPPET_LIMIT))
        is_cut_before, is_cut_behind = _is_inside(text, first), _is_inside(text, last)
        if is_cut_before:
            first = text.find(" ", first, start) + 1 or first
        if is_cut_behind:
            last = max(text.rfind(" ", end, last), end) if " " in text[end:last] else last
        words = " ".join(text[first:last].split()).rstrip(_OPENING).lstrip(_CLOSING)
        return ("… " if is_cut_before else "") + words + (" …" if is_cut_behind else "")

    def _sentence(self, text: str, start: int, end: int, language: str | None) -> Span:
        """Returns the sentence around a hit, or what of it lies in the window."""
        window = first, last = _window(text, start, end)
        for stop in reversed([found.start() for found in _STOP.finditer(text, first, start)]):
            place = self._sentence_end(text, stop, window, language)
            if place is not None and place <= start:
                first = place
                break
        for found in _STOP.finditer(text, end - 1, last):
            place = self._sentence_end(text, found.start(), window, language)
            if place is not None:
                last = place
                break
        return first, last

    def _sentence_end(self, text: str, stop: int, window: Span, language: str | None) -> int | None:
        """Returns where the sentence ends that seems to end at a full stop; ``None`` if spaCy sees none (Mr.).

        The words around the full stop decide, so that only these are tokenized.
        """
        first = max(window[0], text.rfind(" ", window[0], stop) + 1)
        words = _TWO_WORDS.match(text, stop, window[1])
        last = words.end() if words else window[1]
        with self._lock:
            pipeline = self._pipeline(language, text[stop - 1])
            doc = pipeline.get_pipe("sentencizer")(pipeline.make_doc(text[first:last]))
        previous_end = 0
        for token in doc:
            if token.is_sent_start and first + previous_end > stop:
                return first + previous_end
            previous_end = int(token.idx) + len(token)
        return None

    def _pipeline(self, language: str | None, character: str) -> Any:
        # Where words are not parted by blanks, each character is a token, as spaCy does it for Chinese.
        code = _BY_CHARACTER if edges.is_unspaced(character) else language or _ANY_LANGUAGE
        pipeline = self._pipelines.get(code)
        # spaCy keeps every word it has seen; a long stream of news would fill the memory.
        if pipeline is None or len(pipeline.vocab) > _VOCABULARY_LIMIT:
            pipeline = self._pipelines[code] = _blank(code)
        return pipeline


def _blank(code: str) -> Any:
    import spacy  # 0.8 s; only processes that tag pay for it

    try:
        pipeline = spacy.blank(code)
        pipeline.make_doc("a")
    except (ImportError, ValueError):  # unknown language, or one whose tokenizer needs another package
        pipeline = spacy.blank(_ANY_LANGUAGE)
    pipeline.add_pipe("sentencizer")
    return pipeline


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the part of the paragraph that is near a hit."""
    first, last = max(0, start - _WINDOW_CHARACTERS), min(len(text), end + _WINDOW_CHARACTERS)
    for found in _LINE_BREAK.finditer(text, first, last):
        if _is_soft(text, found):
            continue
        if found.end() <= start:
            first = found.end()
        elif found.start() >= end:
            last = found.start()
            break
    return first, last


def _is_soft(text: str, found: re.Match[str]) -> bool:
    """Tells a line break inside a paragraph (hard-wrapped text) from the end of one."""
    return found.group().count("\n") == 1 and text[found.end() : found.end() + 1].islower()


def _is_inside(text: str, position: int) -> bool:
    """Tells whether a cut at this place parts words of one sentence: no end of text, line or sentence is there."""
    before = text[max(0, position - _GLANCE) : position].rstrip()
    if not before or position >= len(text):
        return False
    between = text[position - 1 : position + 1]
    return "\n" not in between and "\r" not in between and _ENDS_SENTENCE.search(before) is None
