"""What ``topics lint`` tells of a taxonomy that could be loaded: oddities, and examples that do not hold."""

from __future__ import annotations

from transforms.tag.model import Example, Taxonomy, Topic
from transforms.tag.tagger import Tagger
from transforms.yaml_file import Problem

_EXCERPT_CHARACTERS = 60


def lint(taxonomy: Taxonomy) -> list[Problem]:
    """Returns what deserves a look, by file and line; an empty list if all is well.

    Mistakes that keep a file from being used are raised by ``load_taxonomy``. Here: terms that were not
    in NFC, and each example that is not tagged as it says.
    """
    tagger = Tagger(taxonomy)
    problems = list(taxonomy.notes)
    for topic in taxonomy.topics:
        problems += (
            problem for example in topic.examples if (problem := _example_problem(tagger, topic, example)) is not None
        )
    return sorted(problems, key=lambda problem: (problem.mark.file, problem.mark.line, problem.mark.column))


def _example_problem(tagger: Tagger, topic: Topic, example: Example) -> Problem | None:
    tags = tagger.tag_text(None, example.text, example.language)
    surfaces = [match.surface for match in tags.matches if match.topic == topic.id and not match.in_boilerplate]
    if bool(surfaces) == example.matches:
        return None
    excerpt = example.text[:_EXCERPT_CHARACTERS] + ("…" if len(example.text) > _EXCERPT_CHARACTERS else "")
    if example.matches:
        message = (
            f'nothing of {topic.id} was found in "{excerpt}"; add a term, or loosen requires, none_near or exclude'
        )
    else:
        found = ", ".join(f'"{surface}"' for surface in dict.fromkeys(surfaces))
        message = f'{found} was found in "{excerpt}"; add it to exclude, or give the term requires or none_near'
    return Problem(example.mark, f"{topic.id}.examples", message)
