"""Checks that need the whole taxonomy: links between topics, double surfaces, terms that can never count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transforms.tag.fold import BLANK, HYPHEN, search_form
from transforms.tag.forms import NOUN_LANGUAGES, VERB_LANGUAGES, regular_forms
from transforms.tag.model import LEVELS, Term, Topic
from transforms.tag.patterns import surface_key
from transforms.tag.term_text import is_prefix, without_star
from transforms.tag.topic_reader import TopicDraft
from transforms.yaml_file import Mark, Problem, suggest


def check_topics(topics: Sequence[Topic], drafts: Mapping[str, TopicDraft], default_language: str) -> list[Problem]:
    """Returns what is wrong with topics that could each be read."""
    implied = {target for topic in topics for target in topic.implies}
    problems: list[Problem] = []
    for topic in topics:
        draft = drafts[topic.id]
        problems += _check_thresholds(topic, draft)
        problems += _check_links(draft, drafts)
        problems += _check_surfaces(topic)
        problems += _check_dead_terms(topic, default_language)
        problems += _check_inflections(topic)
        if not topic.terms and topic.id not in implied and not draft.values.problems:
            message = "a topic needs terms (or another topic that implies it); add `terms: [phrase, phrase]`"
            problems.append(Problem(topic.mark, topic.id, message))
    for kind in ("broader", "implies"):
        problems += _check_cycles(kind, {topic.id: getattr(topic, kind) for topic in topics}, drafts)
    return problems


def _check_thresholds(topic: Topic, draft: TopicDraft) -> Iterator[Problem]:
    mention, relevant, primary = topic.thresholds
    if not mention < relevant < primary:
        found = ", ".join(f"{level} {least:g}" for level, least in zip(LEVELS, topic.thresholds, strict=True))
        mark = draft.values.file.mark_of((*draft.path, "thresholds"))
        message = f"must rise: mention < relevant < primary; here they are {found} (defaults included)"
        yield Problem(mark, f"{topic.id}.thresholds", message)


def _check_links(draft: TopicDraft, drafts: Mapping[str, TopicDraft]) -> Iterator[Problem]:
    for kind, links in (("broader", draft.broader), ("implies", draft.implies)):
        for target, mark in links or ():
            if target not in drafts:
                hint = suggest(target, drafts) or f"; topics are: {', '.join(sorted(drafts))}"
                yield Problem(mark, f"{draft.id}.{kind}", f'there is no topic "{target}"{hint}')


def _check_surfaces(topic: Topic) -> Iterator[Problem]:
    seen: dict[tuple[str, str], Mark] = {}
    for term in topic.terms:
        for surface in (term.text, *term.forms):
            key = (term.language, surface_key(surface, term.case_exact))
            if key in seen:
                message = f'"{surface}" stands twice in {term.language}, first in {seen[key]}; remove one'
                yield Problem(term.mark, f"{topic.id}.terms", message)
            else:
                seen[key] = term.mark
    for term in topic.terms:
        for surface in regular_forms(term.text, term.inflect, term.language):
            other = seen.get((term.language, surface_key(surface, term.case_exact)))
            # What another file adds may well be a form that is there already.
            if other is not None and other != term.mark and other.file == term.mark.file:
                message = f'inflect of "{term.text}" makes "{surface}", which stands in {other} too; remove one'
                yield Problem(term.mark, f"{topic.id}.terms", message)


def _check_dead_terms(topic: Topic, default_language: str) -> Iterator[Problem]:
    masks = [(item, f" {_spaced(item.text)}{'' if is_prefix(item.text) else ' '}") for item in topic.exclude]
    for term in topic.terms:
        for surface in (term.text, *term.forms):
            padded = f" {_spaced(surface)} "
            for item, mask in masks:
                if mask in padded and item.language in (term.language, default_language):
                    message = f'"{surface}" can never count: the exclusion "{item.text}" ({item.mark}) takes it away'
                    yield Problem(term.mark, f"{topic.id}.terms", f"{message}; remove one of the two")
                    break


def _spaced(text: str) -> str:
    return search_form(without_star(text)).replace(HYPHEN, BLANK)


def _check_inflections(topic: Topic) -> Iterator[Problem]:
    for term in topic.terms:
        languages = {"noun": NOUN_LANGUAGES, "verb": VERB_LANGUAGES}.get(term.inflect)
        if languages is not None and (term.language not in languages or is_prefix(term.text)):
            yield Problem(term.mark, f"{topic.id}.terms", _inflection_mend(term, languages))


def _inflection_mend(term: Term, languages: tuple[str, ...]) -> str:
    if is_prefix(term.text):
        return f'"{term.text}" runs on by its star; remove inflect'
    return f"inflect: {term.inflect} knows {', '.join(languages)} only; list the forms: `forms: [...]`"


def _check_cycles(kind: str, links: Mapping[str, Sequence[str]], drafts: Mapping[str, TopicDraft]) -> Iterator[Problem]:
    reported: set[frozenset[str]] = set()
    for start in links:
        path = _way_back(start, links)
        if path and frozenset(path) not in reported:
            reported.add(frozenset(path))
            mark = drafts[start].values.file.mark_of((*drafts[start].path, kind))
            message = f"runs in a circle: {' -> '.join(path)}; remove one of the links"
            yield Problem(mark, f"{start}.{kind}", message)


def _way_back(start: str, links: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns a way from a topic back to itself, or an empty list."""
    waiting = [[start]]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        for target in links.get(path[-1], ()):
            if target == start:
                return [*path, start]
            if target not in seen:
                seen.add(target)
                waiting.append([*path, target])
    return []
