"""Which entry is which: the key of an entry inside its feed, and the version of what the feed says of it.

A guid is believed only as far as it tells entries apart; publishers give all entries one guid, count
revisions in its fragment, change its scheme. What is not unique in a document is no key.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from transforms.counters import strip_counters
from transforms.urls import is_http_url, normal_form

_KEY_LENGTH_LIMIT = 500
_REVISION = re.compile(r"#([0-9]{1,6})$")

_THINGS = (
    r"(?:comments?|replies|views?|shares?|likes?|votes?|points?|reactions?|comentarios?|comentários?|commentaires?|"
    r"commenti|kommentare?|reacties|visitas|vistas|vues|aufrufe)"
)
_UNITS = (
    r"(?:secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|segundos?|minutos?|horas?|días?|semanas?|"
    r"secondes?|heures?|jours?|semaines?|mois|sekunden?|minuten?|stunden?|tagen?|wochen?|ore|ora|minuti|giorni)"
)
_COUNTERS = re.compile(
    rf"[(\[]?\b\d[\d.,]{{0,11}}\s?[km]?\s{_THINGS}\b[)\]]?|\b{_THINGS}\s?[:(]\s?\d[\d.,]{{0,11}}\)?|"
    rf"\b(?:\d{{1,4}}|an?|one)\s{_UNITS}\s(?:ago|fa)\b|\bjust now\b|"
    rf"\b(?:hace|há|il y a|vor)\s(?:\d{{1,4}}|un[ae]?|einer?)\s{_UNITS}\b",
    re.IGNORECASE,
)


class ItemFacts(NamedTuple):
    """What an entry's key is made of; ``url`` is absolute, ``page`` its normal form, ``date`` as written."""

    id: str | None
    url: str | None
    page: str | None
    title: str | None = None
    date: str | None = None
    body: str | None = None


def item_keys(items: Sequence[ItemFacts]) -> list[str]:
    """Returns the key of every entry of one document.

    The normalised guid, if no other entry has it; else the normal form of the link, if no other entry has it;
    else a hash of title, date and body. Entries that are equal in all get equal keys.
    """
    pages = Counter(item.page for item in items if item.page)
    keys = []
    for item, guid in zip(items, _guids(items), strict=True):
        if guid is not None:
            keys.append(_bounded(guid))
        elif item.page and pages[item.page] == 1:
            keys.append(_bounded(item.page))
        else:
            keys.append(_digest("entry", item.title or "", item.date or "", item.body or "", item.page or ""))
    return keys


def _guids(items: Sequence[ItemFacts]) -> list[str | None]:
    """Normalised guids; ``None`` for those that are missing or tell nothing."""
    whole = [
        item.page if item.id and item.id == item.url and "#" not in item.id else _plain_guid(item.id) for item in items
    ]
    bases = [_REVISION.sub("", guid) if guid else None for guid in whole]
    pages: dict[str, set[str | None]] = defaultdict(set)
    for item, base in zip(items, bases, strict=True):
        if base:
            pages[base].add(item.page)
    counts = Counter(guid for guid in whole if guid)
    found: list[str | None] = []
    for item, guid, base in zip(items, whole, bases, strict=True):
        revision = _REVISION.search(guid or "")
        counts_revisions = revision is not None and base is not None and len(pages[base]) == 1
        # A fragment that the link has too names a place on the page.
        if counts_revisions and revision is not None and not (item.url or "").endswith(revision[0]):
            found.append(base)
        else:
            found.append(guid if guid and counts[guid] == 1 else None)
    return found


def _plain_guid(guid: str | None) -> str | None:
    """One spelling: web addresses in their normal form, but with their fragment, which often is what differs."""
    text = " ".join((guid or "").split())
    if not text:
        return None
    if is_http_url(text):
        page, sign, fragment = text.partition("#")
        return normal_form(page) + sign + fragment
    return text.lower() if text.lower().startswith("urn:uuid:") else text


def revision_of(guid: str | None) -> int:
    """Returns the revision that a guid counts in its fragment (``...#3``), 0 if it counts none."""
    match = _REVISION.search((guid or "").strip())
    return int(match[1]) if match else 0


def entry_version(title: str | None, summary: str | None, updated: datetime | None) -> str:
    """Returns a hash of what a feed says of an entry, 32 hex digits; it changes when the entry was edited.

    Case, white space, counters (``12 comments``) and ages (``3 hours ago``) do not count.
    """
    stamp = updated.isoformat(timespec="seconds") if updated else ""
    return _digest("version", _settled(title or ""), _settled(summary or ""), stamp)


def _settled(text: str) -> str:
    text = _COUNTERS.sub(" ", strip_counters(" ".join(text.split())))
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def key_without_page(source_id: str, key: str) -> str:
    """Returns the ``url_key`` of an entry that has no page of its own, from its key in the feed."""
    return _digest("urn", source_id, key)


def _bounded(key: str) -> str:
    return key if len(key) <= _KEY_LENGTH_LIMIT else _digest("long", key)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
