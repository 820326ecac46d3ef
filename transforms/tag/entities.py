"""Named entities of tagged articles by a spaCy model; off unless a model is named in the settings."""

from __future__ import annotations

import threading
from typing import Any

from transforms.records import Entity

ENTITY_LIMIT = 100
_TEXT_LIMIT = 20_000


class EntityFinder:
    """A loaded spaCy model; safe to share between threads."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._pipeline: Any = None
        self._lock = threading.Lock()

    def find(self, text: str) -> tuple[Entity, ...]:
        """Returns the entities of the first 20,000 characters, in order of their first place.

        Raises:
            OSError: If there is no such model.
        """
        with self._lock:
            if self._pipeline is None:
                self._pipeline = load_model(self.model)
            with self._pipeline.memory_zone():
                spans = [(span.text, span.label_, span.start_char) for span in self._pipeline(text[:_TEXT_LIMIT]).ents]
        found: dict[tuple[str, str], Entity] = {}
        for surface, label, start in spans:
            entity = found.get((surface, label)) or Entity(surface, label, start, 0)
            found[surface, label] = entity._replace(occurrences=entity.occurrences + 1)
        return tuple(found.values())[:ENTITY_LIMIT]


def load_model(name: str) -> Any:
    """Loads a spaCy model with what entities need only.

    Raises:
        OSError: If there is no such model.
    """
    import spacy  # heavy, and off by default

    return spacy.load(name, exclude=["parser", "lemmatizer", "attribute_ruler", "tagger", "senter"])
