"""An account of one extraction, for people: where each field comes from, what was dropped, what took how long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from transforms.extract.extraction import Body
from transforms.extract.lines import Sorted


class Trace(NamedTuple):
    """What happened to a document.

    Attributes:
        sources: Field -> where its value comes from (``json_ld``, ``h1``, ``meta``, ``byline``, ``feed`` ...).
        notes: Other facts, such as the encoding.
        escalation: Why the careful extraction was run (``short``, ``surplus``, ``missing``), or an empty string.
        extractor: Which extraction made the text.
        confidence: How far the two extractions agree, 0 to 1.
        teasers: Link teasers dropped from the page before extraction.
        credits, notices, boilerplate: Lines taken out of the text, and lines marked in it.
        dropped: Labels, dates, repeated headlines and code taken out of the text.
        steps_ms: Step -> milliseconds.
    """

    sources: dict[str, str]
    notes: dict[str, str]
    escalation: str
    extractor: str
    confidence: float
    teasers: tuple[str, ...]
    credits: tuple[str, ...]
    notices: tuple[str, ...]
    boilerplate: tuple[str, ...]
    dropped: tuple[str, ...]
    steps_ms: dict[str, float]


class Recorder:
    """Collects the trace while a document is extracted."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        self._notes: dict[str, str] = {}
        self._steps_ms: dict[str, float] = {}
        self._body = Body("", "", 0.0)
        self._placed = Sorted("")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measures a step; the same name twice is added up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._steps_ms[name] = self._steps_ms.get(name, 0.0) + (time.perf_counter() - start) * 1000

    def source(self, field: str, source: str) -> None:
        """Says where a field's value comes from."""
        self._sources[field] = source

    def note(self, name: str, value: str) -> None:
        """Says anything else."""
        self._notes[name] = value

    def body(self, body: Body, placed: Sorted) -> None:
        """Says how the text was made and what was taken out of it."""
        self._body, self._placed = body, placed

    def trace(self) -> Trace:
        """Returns the account."""
        placed = self._placed
        return Trace(
            sources=dict(self._sources),
            notes=dict(self._notes),
            escalation=self._body.escalation,
            extractor=self._body.extractor,
            confidence=self._body.confidence,
            teasers=self._body.teasers,
            credits=placed.credits,
            notices=placed.notices,
            boilerplate=tuple(placed.text[found.start : found.end] for found in placed.boilerplate),
            dropped=placed.dropped,
            steps_ms={name: round(ms, 2) for name, ms in self._steps_ms.items()},
        )
