"""Reads the topics of one file into drafts, which ``taxonomy.py`` merges over all files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from transforms.tag.conditions import Lists, read_conditions
from transforms.tag.model import LEVELS, Conditions, Example, Exclusion, Term
from transforms.tag.term_text import term_fault
from transforms.tag.values import Values
from transforms.yaml_file import KeyPath, Mark

INFLECTIONS = ("none", "noun", "verb")
TOPIC_KEYS = (
    "id", "label", "scope_note", "broader", "implies", "thresholds", "terms", "exclude", "requires", "none_near",
    "examples", "replace",
)  # fmt: skip
TERM_KEYS = ("text", "forms", "inflect", "case", "weight", "requires", "none_near")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass
class TopicDraft:
    """A topic as one file states it; what it leaves out is ``None`` or empty."""

    id: str
    mark: Mark
    path: KeyPath
    values: Values
    replace: bool = False
    label: dict[str, str] = field(default_factory=dict)
    scope_note: str | None = None
    broader: tuple[tuple[str, Mark], ...] | None = None
    implies: tuple[tuple[str, Mark], ...] | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    terms: list[Term] = field(default_factory=list)
    exclude: list[Exclusion] = field(default_factory=list)
    conditions: Conditions | None = None
    examples: list[Example] = field(default_factory=list)


class TopicReader:
    """Reads topics; all mistakes go into ``values``."""

    def __init__(self, values: Values, lists: Lists, default_language: str) -> None:
        self._values = values
        self._lists = lists
        self._default_language = default_language

    def read_all(self, data: Any, path: KeyPath) -> list[TopicDraft]:
        """Reads ``topics``: a list of topics, or a block ``id: topic``."""
        drafts: list[TopicDraft] = []
        if isinstance(data, dict):
            for topic_id, block in data.items():
                drafts += self._read(topic_id, block, (*path, topic_id))
            return drafts
        if not isinstance(data, list):
            self._values.wrong(path, "topics must be a list: `- id: name` and below it `terms: [phrase, phrase]`")
            return drafts
        seen: dict[str, Mark] = {}
        for index, block in enumerate(data):
            here = (*path, index)
            for draft in self._read(None, block, here):
                if draft.id in seen:
                    message = f'a second topic "{draft.id}", the first is in line {seen[draft.id].line}; join or rename'
                    self._values.wrong((*here, "id"), message)
                    continue
                seen[draft.id] = draft.mark
                drafts.append(draft)
        return drafts

    def _read(self, topic_id: str | None, data: Any, path: KeyPath) -> list[TopicDraft]:
        values = self._values
        if isinstance(data, list) and topic_id is not None:
            data = {"terms": data}
        block = values.mapping(data, path, TOPIC_KEYS, "a topic")
        topic_id = self._topic_id(topic_id, block, path, bool(block) or not isinstance(data, dict))
        if topic_id is None:
            return []
        draft = TopicDraft(topic_id, values.file.mark_of(path), path, values)
        draft.replace = (
            values.choice(block.get("replace", "false"), (*path, "replace"), ("true", "false"), "replace") == "true"
        )
        draft.label = self._label(block.get("label"), (*path, "label")) if "label" in block else {}
        if "scope_note" in block:
            draft.scope_note = values.text(block["scope_note"], (*path, "scope_note"), "the scope note")
        draft.broader = self._topic_ids(block, "broader", path)
        draft.implies = self._topic_ids(block, "implies", path)
        if "thresholds" in block:
            draft.thresholds = read_thresholds(values, block["thresholds"], (*path, "thresholds"))
        if "requires" in block or "none_near" in block:
            draft.conditions = read_conditions(values, self._lists, block, path)
        draft.terms = self._terms(block.get("terms", []), (*path, "terms"))
        draft.exclude = self._exclude(block.get("exclude", []), (*path, "exclude"))
        draft.examples = self._examples(block.get("examples", {}), (*path, "examples"))
        return [draft]

    def _topic_id(self, key: str | None, block: dict[str, Any], path: KeyPath, is_block: bool) -> str | None:
        written = block.get("id", key)
        place = (*path, "id") if "id" in block else path
        if written is None and "id" not in block:
            if is_block:
                self._values.wrong(path, "a topic needs an id, such as `id: border_wall`")
            return None
        text = written if key is not None else self._values.text(written, place, "the id")
        if text is None:
            return None
        if not _ID.fullmatch(text):
            mend = re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_-") or "my_topic"
            message = f'an id has lower-case letters a-z, digits, "_" and "-" only; write "{mend}"'
            self._values.wrong(place, message, at_key=key is not None)
            return None
        return str(text)

    def _label(self, data: Any, path: KeyPath) -> dict[str, str]:
        if not isinstance(data, dict):
            text = self._values.text(data, path, "the label")
            return {self._default_language: text} if text else {}
        labels: dict[str, str] = {}
        for code, label in data.items():
            language = self._values.language(code, (*path, code), at_key=True)
            text = self._values.text(label, (*path, code), "the label")
            if language and text:
                labels[language] = text
        return labels

    def _topic_ids(self, block: dict[str, Any], key: str, path: KeyPath) -> tuple[tuple[str, Mark], ...] | None:
        if key not in block:
            return None
        found = []
        for item, place in self._values.items(block[key], (*path, key), key):
            text = self._values.text(item, place, "the topic's id")
            if text:
                found.append((text, self._values.file.mark_of(place)))
        return tuple(found)

    def _by_language(self, data: Any, path: KeyPath, what: str) -> list[tuple[str, Any, KeyPath]]:
        """Items with their language: a plain list is of the default language."""
        if not isinstance(data, dict):
            return [(self._default_language, item, place) for item, place in self._values.items(data, path, what)]
        found = []
        for code, items in data.items():
            language = self._values.language(code, (*path, code), at_key=True)
            for item, place in self._values.items(items, (*path, code), what):
                if language is not None:
                    found.append((language, item, place))
        return found

    def _terms(self, data: Any, path: KeyPath) -> list[Term]:
        terms = (self._term(*item) for item in self._by_language(data, path, "terms"))
        return [term for term in terms if term is not None]

    def _term(self, language: str, data: Any, path: KeyPath) -> Term | None:
        values = self._values
        mark = values.file.mark_of(path)
        if not isinstance(data, dict):
            text = values.text(data, path, "the term")
            return Term(text, language, mark=mark) if text and self._is_good(text, path, False) else None
        block = values.mapping(data, path, TERM_KEYS, "a term")
        if "text" not in block:
            values.wrong(path, "a term needs `text: ...`; or write the phrase alone")
            return None
        case = values.choice(block.get("case", "fold"), (*path, "case"), ("fold", "exact"), "case")
        inflect = values.choice(block.get("inflect", "none"), (*path, "inflect"), INFLECTIONS, "inflect")
        weight = values.number(block.get("weight", "1"), (*path, "weight"), "weight")
        text = values.text(block["text"], (*path, "text"), "the term")
        forms = []
        for item, place in values.items(block.get("forms", []), (*path, "forms"), "forms"):
            form = values.text(item, place, "the form")
            if form and self._is_good(form, place, case == "exact"):
                forms.append(form)
        conditions = read_conditions(values, self._lists, block, path)
        if not text or not self._is_good(text, (*path, "text"), case == "exact"):
            return None
        return Term(text, language, tuple(forms), inflect or "none", case == "exact", weight or 1.0, conditions, mark)

    def _is_good(self, text: str, path: KeyPath, case_exact: bool) -> bool:
        fault = term_fault(text, case_exact)
        if fault:
            self._values.wrong(path, fault)
        return fault is None

    def _exclude(self, data: Any, path: KeyPath) -> list[Exclusion]:
        found = []
        for language, item, place in self._by_language(data, path, "exclude"):
            text = self._values.text(item, place, "the phrase")
            if text and self._is_good(text, place, False):
                found.append(Exclusion(text, language, self._values.file.mark_of(place)))
        return found

    def _examples(self, data: Any, path: KeyPath) -> list[Example]:
        values = self._values
        block = values.mapping(data, path, ("match", "no_match"), "examples")
        found = []
        for kind, items in block.items():
            for item, place in values.items(items, (*path, kind), "examples"):
                language = None
                if isinstance(item, dict):
                    fields = values.mapping(item, place, ("text", "language"), "an example")
                    if "language" in fields:
                        language = values.language(fields["language"], (*place, "language"))
                    item, place = fields.get("text"), (*place, "text")
                text = values.text(item, place, "the example")
                if text:
                    found.append(Example(text, kind == "match", language, values.file.mark_of(place)))
        return found


def read_thresholds(values: Values, data: Any, path: KeyPath) -> dict[str, float]:
    """Reads ``{mention: 0.01, relevant: 3, primary: 7}``; each may be left out."""
    found = {}
    for level, written in values.mapping(data, path, LEVELS, "thresholds").items():
        number = values.number(written, (*path, level), "a threshold")
        if number is not None:
            found[level] = number
    return found
