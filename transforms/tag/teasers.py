"""Lines that are no part of the story though they stand in its text: links to other stories, prompts, labels.

Extraction marks what it can see in the page; this is for texts that come without a page. Judged line by
line, and only the lines that hold a hit.
"""

from __future__ import annotations

import re

_LENGTH_LIMIT = 300
_SHOUT_LETTERS_NEEDED = 20
_SHARE_OF_CAPITALS = 0.8
_SAMPLE_CHARACTERS = 4000
_GLANCE = 20

_LABEL = re.compile(
    r"\W*(?:"
    # A label that is followed by a colon, a dash or nothing.
    r"(?:read|see|view|watch|listen|hear|learn|find out)(?: more| also| next| now| this)?(?: here| on this)?"
    r"|(?:more|also|related|recommended|videos?|photos?|must[- ]read)"
    r"(?: (?:stor(?:y|ies)|articles?|news|coverage|reading|content|links?|topics?|videos?))?"
    r"|(?:filed under|tags?|topics?|keywords?|categor(?:y|ies)|in this article|share this(?: article| story)?)"
    r"|relacionad[oa]s?|más información|etiquetas|temas|vídeo|mots[- ]clés|en vidéo|vidéo|thèmes?"
    r"|mehr|schlagw[oö]rter|themen|zum thema|correlat[oi]|argomenti|relacionadas?|etiquetas"
    r")\s*(?:[:|>»→–—]|-\s|$)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:"
    # Words with which no sentence of a story begins.
    r"(?:click|tap) here\b|read more\b|read also\b|also read\b|see also\b"
    r"|you (?:may|might) (?:also )?(?:like|be interested)"
    r"|don['’]t miss\b|more from\b|what to read next\b"
    r"|continue reading\b|advertisement\b"
    r"|lee también|lea también|leer más|lea más|le puede interesar|te puede interesar|ver también|vea también"
    r"|(?:à )?lire (?:aussi|également)|à lire\s*:|voir aussi|sur le même sujet"
    r"|lesen sie (?:auch|mehr)|lies auch|mehr zum thema|siehe auch|auch interessant|das könnte (?:sie|dich)"
    r"|leia (?:também|mais)|veja (?:também|mais)|saiba mais"
    r"|leggi (?:anche|di più)|vedi anche|guarda anche|approfondisci|potrebbe interessar(?:ti|vi)"
    r")",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"\W*(?:get|sign up|subscribe|download|follow|join|register|suscríb[ea]\w*|síg[au]\w*|abonnez|inscrivez|suivez|"
    r"abonnieren|folgen sie|assine|inscreva|siga|iscriviti|abbonati|seguici)\b"
    r".{0,100}\b(?:newsletters?|apps?|alerts?|updates|inbox|twitter|facebook|instagram|telegram|whatsapp|youtube|"
    r"podcasts?|bolet[ií]n|correo|canal|lettre|kanal)\b",
    re.IGNORECASE,
)


def is_teaser(line: str) -> bool:
    """Tells whether a line is a link, prompt or label by its words."""
    if len(line) > _LENGTH_LIMIT:
        return False
    return (_LABEL.match(line) or _OPENING.match(line) or _PROMPT.match(line)) is not None


def is_shouted(line: str) -> bool:
    """Tells whether a line is in capitals, so that case says nothing in it.

    Letters of scripts without case count against it: ICE between Chinese words is no shouting.
    """
    if len(line) > _LENGTH_LIMIT or sum(map(str.islower, line[:_GLANCE])) > _GLANCE // 2:
        return False
    letters = [character for character in line if character.isalpha()]
    capitals = sum(map(str.isupper, letters))
    return len(letters) >= 2 and capitals >= _SHARE_OF_CAPITALS * len(letters)


def is_headline_inside(line: str, text: str) -> bool:
    """Tells whether a line in capitals (``is_shouted``) is a headline of another story.

    It is one inside a text in usual letters if it is long; the first line may be the story's own headline.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    sample = text[:_SAMPLE_CHARACTERS]
    capitals = sum(map(str.isupper, line))
    if capitals < _SHOUT_LETTERS_NEEDED or sample.lstrip().startswith(line.strip()):
        return False
    return sum(map(str.islower, sample)) > sum(map(str.isupper, sample)) - capitals
