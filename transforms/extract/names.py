"""Names of authors: from what pages write to a list of names, without roles, dates, addresses and publishers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from transforms.extract.headline import plain, words_of

NAME_LIMIT_CHARS = 80
AUTHOR_LIMIT = 20
_PREFIX = re.compile(
    r"^(?:(?:written|reported|posted|published|article|text|words|story|interview|analysis|report|von|a)\s+)?"
    r"(?:by|par|por|door|przez|texte?|autor(?:en|in|e)?|author|auteur|redakce|redaktion|от|автор)\s*:?\s+(?=\S)",
    re.IGNORECASE,
)
# "By" in bylines, part of the name elsewhere.
_PARTICLE = re.compile(r"^(?:von|di|da|av|af|od)\s+(?=\S)", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?:text|texte|author|autor(?:in|en)?|auteur|autore|by|von|автор|記者|文)\s*[:：/]\s*", re.IGNORECASE
)
_MAIL_OR_HANDLE = re.compile(r"\S+@\S+\.\S+|(?<!\w)@\w+")
_WEB_ADDRESS = re.compile(r"https?:|www\.|\.(?:com|org|net)/", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]{0,60}[)\]]\s*$")
_ROLE = re.compile(
    r"\s*(?:/|\||,|–|—|·|•|\s-)\s*(?:(?:senior|chief|staff|political|business|world|health|science|sports?|royal|deputy|"
    r"associate|managing|assistant|lead|foreign|special|news|digital|national|freelance|contributing)\s+)*"
    r"(?:journalist(?:in|e)?|reporter(?:in)?|editor|correspondent|writer|author|columnist|contributor|redakteur(?:in)?|"
    r"redaktør|redaktör|photographer|producer|korrespondent(?:in)?|periodista|giornalista|redactor(?:a)?|analyst)\b.*$",
    re.IGNORECASE,
)
_TITLE_AFTER_COMMA = re.compile(r",\s*(?=(?:jr|sr|ph\.?\s?d|m\.?d|ii|iii|esq|rn|dphil|llm|mba)\b\.?)", re.IGNORECASE)
_KOREAN_ROLE = re.compile(r"\s+(?:기자|특파원|논설위원|선임기자)$")
_COMMAS = re.compile(r"\s*[,;|、，؛]\s*|\s+/\s+|\n+")
_AND = re.compile(r"\s+(?:and|und|et|y|e|en|og|och|ja|i|a|и|та|ve|dan|&|\+|και|și)\s+", re.IGNORECASE)
_DATE_LIKE = re.compile(r"\d{4}|\d{1,2}[:.]\d{2}|\d+\s*(?:min|hour|day|std|uhr)", re.IGNORECASE)
_NO_NAME = frozenset((
    "admin", "administrator", "author", "autor", "editor", "editors", "staff", "redaktion", "redaction",
    "webmaster", "root", "user", "unknown", "anonymous", "none", "null", "undefined", "news", "online", "web",
    "desk", "newsroom", "team", "guest", "nan", "test", "developer", "share", "follow", "wordpress",
))  # fmt: skip
_HOUSE_WORDS = frozenset((
    "redaktion", "redaction", "redaccion", "redazione", "staff", "online", "news", "desk", "newsroom", "team",
    "editorial", "editors", "editor", "reporter", "reporters", "com", "de", "net", "org", "the", "web", "digital",
))  # fmt: skip
_ORGANISATION = frozenset((
    "media", "group", "gmbh", "ltd", "inc", "llc", "corp", "corporation", "network", "verlag", "company",
    "publishing", "publications", "broadcasting", "holdings", "plc", "agency", "newspaper", "newspapers",
    "verlagsgesellschaft", "editora", "ediciones",
))  # fmt: skip


def split_names(raw: str, is_byline: bool = True) -> list[str]:
    """Returns the names in a text, in order, each once.

    Commas and the word for "and" part names; ``Costa e Silva`` and ``AFP, MANILA`` stay whole, because a
    part that follows "and" needs two words and a list of single words is no list of people.

    Args:
        raw: As written.
        is_byline: Whether ``von`` and ``di`` at the start mean "by"; in a field for a name they belong to it.
    """
    text = _clean(_PARTICLE.sub("", raw.strip()) if is_byline else raw)
    if not text:
        return []
    parts = [part for part in _COMMAS.split(_TITLE_AFTER_COMMA.sub(" ", text)) if part]
    if len(parts) > 1 and all(len(part.split()) < 2 for part in parts):
        parts = [text]
    names: list[str] = []
    for part in parts:
        pieces = _AND.split(part)
        if len(pieces) > 1 and all(len(piece.split()) >= 2 for piece in pieces):
            names.extend(pieces)
        else:
            names.append(part)
    cleaned = (_clean(name) for name in names)
    return list(dict.fromkeys(name for name in cleaned if is_name(name)))[:AUTHOR_LIMIT]


def _clean(raw: str) -> str:
    text = plain(raw.replace("\n", ", ") if "\n" in raw.strip() else raw)
    text = _MAIL_OR_HANDLE.sub("", text)
    text = _LABEL.sub("", _PREFIX.sub("", text))
    text = _KOREAN_ROLE.sub("", _ROLE.sub("", _IN_BRACKETS.sub("", text)))
    return text.strip(' \t\u00a0,;:|/-–—·•*"“”«»').strip()


def is_name(text: str) -> bool:
    """Tells whether a cleaned text can be the name of a person or an organisation."""
    if not 2 <= len(text) <= NAME_LIMIT_CHARS or _WEB_ADDRESS.search(text) or _DATE_LIKE.search(text):
        return False
    words = words_of(text)
    if not words or len(words) > 8 or not any(c.isalpha() for c in text):
        return False
    return not (len(words) == 1 and words[0] in _NO_NAME) and not _is_sentence(text)


def _is_sentence(text: str) -> bool:
    return text.endswith((".", "!", "?")) and len(text.split()) > 4


def is_publisher(name: str, publishers: Iterable[str]) -> bool:
    """Tells whether a name is the house itself ("Eastwick Post staff"), given what the house calls itself."""
    key = _house_key(name)
    initials = "".join(word[0] for word in words_of(_IN_BRACKETS.sub("", name)))
    return any(
        key == _house_key(publisher) or (len(initials) > 1 and initials == publisher) for publisher in publishers
    )


def _house_key(name: str) -> str:
    words = words_of(name)
    core = [word for word in words if word not in _HOUSE_WORDS]
    return "".join(core or words)


def is_organisation(name: str) -> bool:
    """Tells whether a name says of itself that it is a company ("... Media Group", "... GmbH")."""
    return not _ORGANISATION.isdisjoint(words_of(name))


def same_name(one: str, other: str) -> bool:
    """Tells whether two spellings name the same person: the same words, whatever their case and order."""
    return sorted(words_of(one)) == sorted(words_of(other))
