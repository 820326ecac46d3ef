"""Loads taxonomy files: reads them all, merges them, and tells every mistake at once.

Several files make one taxonomy. A topic that a later file names again is extended: its terms, exclusions and
examples are added (a term with the same text and language replaces the earlier one), and what else it
states (label, thresholds, implies ...) takes the place of what stood before. ``replace: true`` in the
later topic drops the earlier definition instead. Of ``id``, ``version`` and ``default_language`` the last
file that states one wins; a list of the same name is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transforms.tag.checks import check_topics
from transforms.tag.conditions import Lists
from transforms.tag.model import LEVELS, Conditions, Taxonomy, Topic, with_sha256
from transforms.tag.patterns import surface_key
from transforms.tag.topic_reader import TopicDraft, TopicReader, read_thresholds
from transforms.tag.values import Values
from transforms.yaml_file import Problem, ProblemsError, load_yaml, suggest

__all__ = ["Taxonomy", "load_taxonomy"]

DEFAULT_THRESHOLDS = {"mention": 0.01, "relevant": 3.0, "primary": 7.0}
_KEYS = ("id", "version", "default_language", "thresholds", "lists", "topics")


def load_taxonomy(paths: Sequence[str | Path]) -> Taxonomy:
    """Reads and merges taxonomy files.

    Args:
        paths: One or several YAML files; later ones extend earlier ones.

    Raises:
        ProblemsError: With every mistake in all files, each with file, line, column and mend.
        OSError: If a file cannot be read.
    """
    files = [_TaxonomyFile(Values(load_yaml(path))) for path in paths]
    lists = Lists()
    for file in files:
        if "lists" in file.block:
            lists.add(file.values, file.block["lists"], ("lists",))
    default_language = next((file.language for file in reversed(files) if file.language), "en")
    thresholds = dict(DEFAULT_THRESHOLDS)
    drafts: dict[str, TopicDraft] = {}
    for file in files:
        thresholds.update(file.thresholds())
        reader = TopicReader(file.values, lists, default_language)
        if file.values.file.data is not None:
            for draft in reader.read_all(file.block.get("topics"), ("topics",)):
                earlier = drafts.get(draft.id)
                drafts[draft.id] = draft if earlier is None or draft.replace else _merged(earlier, draft)
    lists.check_all()
    topics = tuple(_topic(draft, thresholds, default_language) for draft in drafts.values())
    problems = [problem for file in files for problem in file.values.problems]
    problems += check_topics(topics, drafts, default_language)
    if problems:
        raise ProblemsError(sorted(set(problems), key=_place))
    notes = tuple(note for file in files for note in file.values.notes)
    name = next((file.id for file in reversed(files) if file.id), _name_of(paths))
    version = next((file.version for file in reversed(files) if file.version), "1")
    return with_sha256(Taxonomy(name, version, "", default_language, topics, notes))


class _TaxonomyFile:
    """The head of one file."""

    def __init__(self, values: Values) -> None:
        self.values = values
        data = values.file.data
        self.block: dict[str, Any] = {}
        if data is None:
            if not values.problems:
                values.wrong((), "the file is empty; it needs `topics:`")
        else:
            self.block = values.mapping(data, (), _KEYS, "a taxonomy")
        if isinstance(data, dict) and "topics" not in self.block:
            if not any(suggest(str(key), ("topics",)) for key in data):  # that one is told already
                values.wrong((), "the file has no `topics:`")
            self.block["topics"] = []
        self.id = self._text("id", "the id")
        # A version may look like a number: it is kept as written.
        version = self.block.get("version")
        self.version = str(version) if isinstance(version, str) else None
        if "version" in self.block and self.version is None:
            values.wrong(("version",), 'the version must be a text, such as "1.0"')
        self.language: str | None = None
        if "default_language" in self.block:
            self.language = values.language(self.block["default_language"], ("default_language",))

    def _text(self, key: str, what: str) -> str | None:
        return self.values.text(self.block[key], (key,), what) if key in self.block else None

    def thresholds(self) -> dict[str, float]:
        """Returns the thresholds that hold for all topics of the taxonomy."""
        if "thresholds" not in self.block:
            return {}
        return read_thresholds(self.values, self.block["thresholds"], ("thresholds",))


def _name_of(paths: Sequence[str | Path]) -> str:
    return Path(paths[0]).stem if paths else "none"


def _place(problem: Problem) -> tuple[str, int, int, str]:
    return problem.mark.file, problem.mark.line, problem.mark.column, problem.message


def _merged(earlier: TopicDraft, later: TopicDraft) -> TopicDraft:
    """Returns a topic that a later file extends."""
    own = {(term.language, surface_key(term.text, term.case_exact)) for term in later.terms}
    kept = [term for term in earlier.terms if (term.language, surface_key(term.text, term.case_exact)) not in own]
    return TopicDraft(
        id=later.id,
        mark=later.mark,
        path=later.path,
        values=later.values,
        label=earlier.label | later.label,
        scope_note=later.scope_note or earlier.scope_note,
        broader=earlier.broader if later.broader is None else later.broader,
        implies=earlier.implies if later.implies is None else later.implies,
        thresholds=earlier.thresholds | later.thresholds,
        terms=kept + later.terms,
        exclude=list(dict.fromkeys(earlier.exclude + later.exclude)),
        conditions=later.conditions or earlier.conditions,
        examples=earlier.examples + later.examples,
    )


def _topic(draft: TopicDraft, thresholds: dict[str, float], default_language: str) -> Topic:
    least = thresholds | draft.thresholds
    return Topic(
        id=draft.id,
        label=draft.label or {default_language: draft.id},
        scope_note=draft.scope_note or "",
        broader=tuple(topic for topic, _ in draft.broader or ()),
        implies=tuple(topic for topic, _ in draft.implies or ()),
        thresholds=(least[LEVELS[0]], least[LEVELS[1]], least[LEVELS[2]]),
        terms=tuple(draft.terms),
        exclude=tuple(draft.exclude),
        conditions=draft.conditions or Conditions(),
        examples=tuple(draft.examples),
        mark=draft.mark,
    )
