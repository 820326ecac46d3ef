"""Reads conditions (``requires``, ``none_near``) and the named lists that they may use as ``$name``."""

from __future__ import annotations

from typing import Any, NamedTuple

from transforms.tag.model import Conditions, Near, Phrase
from transforms.tag.term_text import term_fault
from transforms.tag.values import Values
from transforms.yaml_file import KeyPath, suggest

DISTANCE_LIMIT = 500
_PHRASE_KEYS = ("text", "case")


class NamedList(NamedTuple):
    """A list of phrases that a file defines under ``lists``; read where it is used."""

    values: Values
    data: Any
    path: KeyPath


class Lists:
    """The named lists of all files; a later file replaces a list of the same name."""

    def __init__(self) -> None:
        self._lists: dict[str, NamedList] = {}
        self._read: dict[str, tuple[Phrase, ...]] = {}

    def add(self, values: Values, data: Any, path: KeyPath) -> None:
        """Takes the ``lists`` block of a file."""
        if not isinstance(data, dict):
            values.wrong(path, "lists must be a block of `name: [phrase, phrase]`")
            return
        for name, items in data.items():
            self._lists[name] = NamedList(values, items, (*path, name))

    def check_all(self) -> None:
        """Reads every list once, so that mistakes in unused ones are found too."""
        for name in self._lists:
            self._phrases_of(name, ())

    def phrases(self, values: Values, data: Any, path: KeyPath, above: tuple[str, ...] = ()) -> tuple[Phrase, ...]:
        """Reads phrases; ``$name`` stands for all phrases of a list."""
        found: dict[Phrase, None] = {}
        for item, place in values.items(data, path, "phrases"):
            if isinstance(item, str) and item.startswith("$"):
                name = str(item[1:])
                if name not in self._lists:
                    hint = suggest(name, self._lists) or "; define it under `lists:`"
                    values.wrong(place, f"there is no list ${name}{hint}")
                elif name in above:
                    values.wrong(place, f"the list contains itself: {' -> '.join((*above, name))}")
                else:
                    found.update(dict.fromkeys(self._phrases_of(name, above)))
                continue
            phrase = _phrase(values, item, place)
            if phrase is not None:
                found[phrase] = None
        return tuple(found)

    def _phrases_of(self, name: str, above: tuple[str, ...]) -> tuple[Phrase, ...]:
        if name not in self._read:
            named = self._lists[name]
            self._read[name] = self.phrases(named.values, named.data, named.path, (*above, name))
        return self._read[name]


def _phrase(values: Values, item: Any, path: KeyPath) -> Phrase | None:
    if isinstance(item, dict):
        block = values.mapping(item, path, _PHRASE_KEYS, "a phrase")
        path = (*path, "text")
        text = values.text(block.get("text"), path, "the phrase")
        case = values.choice(block.get("case", "fold"), (*path[:-1], "case"), ("fold", "exact"), "case")
        is_exact = case == "exact"
    else:
        text = values.text(item, path, "the phrase")
        # Capitals only are an acronym: the context ICE is not ice.
        is_exact = text is not None and len(text) > 1 and text.isupper()
    if text is None:
        return None
    fault = term_fault(text, is_exact)
    if fault:
        values.wrong(path, fault)
    return None if fault else Phrase(text, is_exact)


def read_conditions(values: Values, lists: Lists, block: dict[str, Any], path: KeyPath) -> Conditions:
    """Reads ``requires`` and ``none_near`` of a term or topic."""
    any_near: Near | None = None
    any_in_doc: tuple[Phrase, ...] = ()
    if "requires" in block:
        here = (*path, "requires")
        keys = ("any_near", "distance", "any_in_doc")
        requires = values.mapping(block["requires"], here, keys, "requires")
        if "any_near" in requires:
            any_near = _near(values, lists, requires, here, "any_near")
        if "any_in_doc" in requires:
            any_in_doc = lists.phrases(values, requires["any_in_doc"], (*here, "any_in_doc"))
        is_whole = isinstance(block["requires"], dict) and len(requires) == len(block["requires"])
        if "any_near" not in requires and "any_in_doc" not in requires and is_whole:
            values.wrong(here, "requires needs any_near (with distance) or any_in_doc")
    if "none_near" not in block:
        return Conditions(any_near, any_in_doc)
    here = (*path, "none_near")
    forbids = values.mapping(block["none_near"], here, ("terms", "distance", "unless_in_doc"), "none_near")
    none_near = _near(values, lists, forbids, here, "terms")
    unless = lists.phrases(values, forbids.get("unless_in_doc", []), (*here, "unless_in_doc"))
    return Conditions(any_near, any_in_doc, none_near, unless)


def _near(values: Values, lists: Lists, block: dict[str, Any], path: KeyPath, key: str) -> Near | None:
    known = len(values.problems)
    phrases = lists.phrases(values, block.get(key, []), (*path, key))
    if not phrases and block and len(values.problems) == known:
        values.wrong(path, f"{key} needs at least one phrase")
    if "distance" not in block:
        if block:
            values.wrong((*path, "distance"), f"{key} needs a distance in words; add `distance: 20`")
        return None
    distance = values.number(block["distance"], (*path, "distance"), "distance (in words)")
    if distance is None or not phrases:
        return None
    if distance > DISTANCE_LIMIT or distance != int(distance):
        values.wrong((*path, "distance"), f"distance must be a whole number up to {DISTANCE_LIMIT}; use any_in_doc")
        return None
    return Near(phrases, int(distance))
