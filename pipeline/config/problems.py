"""Turns what pydantic finds into ``Problem``s: the place, the key, what is wrong, the nearest right word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pipeline.config.model import keys_of
from transforms.yaml_file import KeyPath, Mark, Problem, dotted, suggest

# Place of the value at a path, or of its key.
Place = Callable[[KeyPath, bool], Mark]

# Words of other tools, and what they are called here.
_OTHER_WORDS = {"output": "dataset", "out": "dataset", "taxonomy": "topics", "keywords": "topics", "sources": "feeds"}


def problems_of(
    error: ValidationError, place: Place, models: dict[str, type[BaseModel]], top: KeyPath = ()
) -> list[Problem]:
    """Returns one ``Problem`` for each mistake.

    Args:
        error: What pydantic found.
        place: Tells where a path stands.
        models: Which model holds the keys below a top-level key; ``""`` names the model of the top level.
        top: Path of the validated value inside its file.
    """
    found = [_problem(details, place, models, top) for details in error.errors(include_url=False)]
    # A flag or a variable names the key already.
    return [problem if problem.mark.line else problem._replace(key="") for problem in found]


def _problem(details: ErrorDetails, place: Place, models: dict[str, type[BaseModel]], top: KeyPath) -> Problem:
    # The union of the feeds list adds its tags to the path; no key looks like them.
    found = tuple(part for part in details["loc"] if not (isinstance(part, str) and part.startswith("<")))
    path = (*top, *found)
    kind = details["type"]
    if kind == "extra_forbidden":
        word = str(path[-1])
        allowed = keys_of(models[str(path[0])] if len(path) > 1 and str(path[0]) in models else models[""])
        return Problem(place(path, True), dotted(path), "unknown key" + _advice(word, allowed))
    if kind == "missing":
        return Problem(place(path[:-1], False), dotted(path), "is missing; every entry needs it")
    return Problem(place(path, False), dotted(path), _message(details))


def _advice(word: str, allowed: tuple[str, ...]) -> str:
    near = suggest(word, allowed)
    if not near and _OTHER_WORDS.get(word) in allowed:
        near = f'; did you mean "{_OTHER_WORDS[word]}"?'
    return near or "; known are: " + ", ".join(allowed)


def _message(details: ErrorDetails) -> str:
    context: dict[str, Any] = details.get("ctx", {})
    if details["type"] == "value_error":
        return str(context["error"])
    if details["type"] == "literal_error":
        given = details["input"]
        shown = f'"{given}"' if isinstance(given, str) else "this"
        allowed = str(context["expected"]).replace("'", "")
        return f"{shown} is not allowed; write {allowed}" + suggest(
            str(given), allowed.replace(" or ", ", ").split(", ")
        )
    if details["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return "must hold keys and values, such as `key: value`"
    return details["msg"][0].lower() + details["msg"][1:]
