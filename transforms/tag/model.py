"""What a taxonomy is once it has been read: plain, immutable, picklable records, and their canonical form.

Reading and checking the files is left to ``taxonomy.py``; what is made of terms for the search to
``patterns.py``. The hash of the canonical form names in each stored row what tagged it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from transforms.yaml_file import Mark, Problem

RULES_VERSION = 2
"""Part of the canonical form: raised when the same file would tag otherwise than before."""

LEVELS = ("mention", "relevant", "primary")
"""Lowest first; the same list as ``schema.LEVELS``, without loading Arrow."""

Thresholds = tuple[float, float, float]
"""Least scores of ``mention``, ``relevant`` and ``primary``."""


class Phrase(NamedTuple):
    """A phrase of a condition or of an exclusion, and whether its case counts."""

    text: str
    case_exact: bool = False


class Near(NamedTuple):
    """Phrases that stand within ``distance`` tokens of a hit."""

    phrases: tuple[Phrase, ...]
    distance: int


class Conditions(NamedTuple):
    """When a hit counts.

    Attributes:
        any_near: One of these must stand near, in the same field.
        any_in_doc: One of these must stand somewhere in title or text.
        none_near: None of these may stand near,
        unless_in_doc: unless one of these stands somewhere in title or text.
    """

    any_near: Near | None = None
    any_in_doc: tuple[Phrase, ...] = ()
    none_near: Near | None = None
    unless_in_doc: tuple[Phrase, ...] = ()


class Term(NamedTuple):
    """A term of a topic in one language.

    Attributes:
        text: The term as written; with the language it is the term's id.
        forms: Other forms as written: plurals, verb forms, spellings.
        inflect: ``none``, ``noun`` or ``verb``: which regular forms are added.
        case_exact: Whether upper and lower case must be as written (ICE is not ice).
        weight: What a hit adds to the score.
    """

    text: str
    language: str
    forms: tuple[str, ...] = ()
    inflect: str = "none"
    case_exact: bool = False
    weight: float = 1.0
    conditions: Conditions = Conditions()
    mark: Mark = Mark("", 1, 1)

    @property
    def term_id(self) -> str:
        """The id that matches carry: ``en:sanctuary city``."""
        return f"{self.language}:{self.text}"


class Exclusion(NamedTuple):
    """A phrase that takes away every hit of its topic that it overlaps."""

    text: str
    language: str
    mark: Mark = Mark("", 1, 1)


class Example(NamedTuple):
    """A sentence that must (or must not) be tagged; ``topics lint`` tries them all."""

    text: str
    matches: bool
    language: str | None
    mark: Mark = Mark("", 1, 1)


class Topic(NamedTuple):
    """A topic: what is evidence for it and how much evidence is needed."""

    id: str
    label: dict[str, str]
    scope_note: str
    broader: tuple[str, ...]
    implies: tuple[str, ...]
    thresholds: Thresholds
    terms: tuple[Term, ...]
    exclude: tuple[Exclusion, ...]
    conditions: Conditions
    examples: tuple[Example, ...] = ()
    mark: Mark = Mark("", 1, 1)


class Taxonomy(NamedTuple):
    """All topics of one or several files.

    Attributes:
        version: As written; ``1.10`` stays ``1.10``.
        sha256: Of ``canonical_json``: comments, key order, labels, notes and examples do not count.
        default_language: Terms of this language are looked for in every article.
        notes: What was odd but could be read, such as a term that was not NFC; told by ``lint``.
    """

    id: str
    version: str
    sha256: str
    default_language: str
    topics: tuple[Topic, ...]
    notes: tuple[Problem, ...] = ()

    def topic(self, topic_id: str) -> Topic:
        """Returns a topic by its id.

        Raises:
            KeyError: If there is none.
        """
        for topic in self.topics:
            if topic.id == topic_id:
                return topic
        raise KeyError(topic_id)


def canonical_json(taxonomy: Taxonomy) -> str:
    """Returns all that decides what is tagged and how, as JSON with sorted keys and no blanks."""
    content = {
        "rules": RULES_VERSION,
        "id": taxonomy.id,
        "version": taxonomy.version,
        "default_language": taxonomy.default_language,
        "topics": [_topic(topic) for topic in sorted(taxonomy.topics, key=lambda topic: topic.id)],
    }
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def with_sha256(taxonomy: Taxonomy) -> Taxonomy:
    """Returns the taxonomy with the hash of its canonical form."""
    return taxonomy._replace(sha256=hashlib.sha256(canonical_json(taxonomy).encode()).hexdigest())


def _topic(topic: Topic) -> dict[str, Any]:
    return {
        "id": topic.id,
        "broader": sorted(topic.broader),
        "implies": sorted(topic.implies),
        "thresholds": topic.thresholds,
        "terms": [_term(term) for term in sorted(topic.terms, key=lambda term: (term.language, term.text))],
        "exclude": sorted([item.language, item.text] for item in topic.exclude),
        "conditions": _conditions(topic.conditions),
    }


def _term(term: Term) -> dict[str, Any]:
    return {
        "text": term.text,
        "language": term.language,
        "forms": sorted(term.forms),
        "inflect": term.inflect,
        "case_exact": term.case_exact,
        "weight": term.weight,
        "conditions": _conditions(term.conditions),
    }


def _conditions(conditions: Conditions) -> dict[str, Any]:
    return {
        "any_near": _near(conditions.any_near),
        "any_in_doc": sorted(conditions.any_in_doc),
        "none_near": _near(conditions.none_near),
        "unless_in_doc": sorted(conditions.unless_in_doc),
    }


def _near(near: Near | None) -> Any:
    return None if near is None else {"distance": near.distance, "phrases": sorted(near.phrases)}
