"""Lines and sentences that are only a counter, an age or a bumped date: they change by themselves.

What is judged is always a whole line or a whole sentence, so that a figure inside a sentence of the
story is never touched.
"""

from __future__ import annotations

import re

_NUMBER = r"\d[\d.,\u00a0\u202f' ]*(?:[km]\b|mil\b|tsd\.?|mio\.?)?"

_THINGS = (
    # What pages count, in the languages of most of the press.
    r"(?:user |reader |new |more )?comments?|shares?|views?|likes?|reads?|readers?|retweets?|reposts?|reactions?|"
    r"replies|reply|votes?|upvotes?|downvotes?|followers?|subscribers?|bookmarks?|clicks?|page ?views|visits?|"
    r"visitors?|plays|people reading(?: this)?(?: now)?|readers? online|watching(?: now)?|claps?|"
    r"comentarios?|compartid[oa]s?|visitas|vistas|lecturas|lectores|me gusta|veces compartido|"
    r"commentaires?|partages?|vues?|lectures?|lecteurs|j'aime|réactions?|"
    r"kommentare?|aufrufe|leser|likes|mal geteilt|reaktionen|"
    r"comentários?|compartilhamentos?|visualizações|leituras|curtidas|"
    r"commenti|commento|condivisioni|visualizzazioni|lettori|letture|"
    r"reacties|komentarzy|komentarze|комментари(?:й|я|ев)|просмотр(?:а|ов)?"
)
_LABELS = rf"(?:{_THINGS}|share|shared|like|liked|view|read|compartir|teilen|partager|condividi|compartilhar)"
_AGE_UNIT = (
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|"
    r"segundos?|minutos?|horas?|días?|dias?|semanas?|meses|"
    r"secondes?|heures?|jours?|semaines?|mois|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|"
    r"second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae])"
)
_AGE_COUNT = r"(?:\d+|an?|one|few|a few|un[aeo]?|einer?|einem|just)"
_AGE = (
    rf"(?:{_AGE_COUNT} ?{_AGE_UNIT} (?:ago|fa|atrás)|(?:hace|há|il y a|vor) {_AGE_COUNT} ?{_AGE_UNIT}|"
    r"just now|moments ago|ahora mismo|à l'instant|gerade eben)"
)
_DATE_WORD = (
    r"(?:\d[\d.:/,-]*(?:st|nd|rd|th|h|am|pm)?|\d{4}-\d\d-\d\dt[\d:.]+z?|[ap]\.?m\.?|at|on|um|uhr|den|am|de|del|le|à|"
    r"a las|el|gmt|utc|z|[a-z]{1,2}[sd]t|[ecmp]t|ces?t|bst|ist|"
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|"
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|"
    r"diciembre|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|"
    r"januar|februar|märz|juni|juli|oktober|dezember)\.?,?"
)
_BUMP = (
    r"(?:(?:last |first )?(?:updated|modified|published|posted|edited)|actualizado|actualizada|publicado|"
    r"mis à jour|publié|aktualisiert|veröffentlicht|stand|atualizado|aggiornato)"
)

_ITEM = (
    rf"(?:{_NUMBER} ?{_LABELS}(?: this)?|{_LABELS}\W*{_NUMBER}|(?:{_BUMP}\W*)?{_AGE}"
    rf"|{_BUMP}\W*{_DATE_WORD}(?:[ ,|–-]+{_DATE_WORD}){{0,11}})"
)
_COUNTER = re.compile(rf"\W*{_ITEM}(?:\W+{_ITEM}){{0,3}}\W*", re.IGNORECASE)
_COUNTER_LENGTH_LIMIT = 90
_TEXT_LENGTH_LIMIT = 200_000  # longer than any article; bounds the time
_DIGIT = re.compile(r"\d")
_SENTENCE_END = re.compile(r"(?<=[.!?…|·•])\s+")


def is_counter(text: str) -> bool:
    """Tells whether a line or sentence holds nothing but counters (``12 comments``), an age or an update time."""
    text = " ".join(text.split())
    return 0 < len(text) <= _COUNTER_LENGTH_LIMIT and _COUNTER.fullmatch(text) is not None


def strip_counters(text: str) -> str:
    """Returns the text without lines and sentences that are only counters; the rest is as it was."""
    if len(text) > _TEXT_LENGTH_LIMIT:
        return text
    lines = []
    for line in text.split("\n"):
        if is_counter(line):
            continue
        if _DIGIT.search(line) or " ago" in line:
            line = _strip_sentences(line)
        lines.append(line)
    return "\n".join(lines)


def _strip_sentences(line: str) -> str:
    sentences = _SENTENCE_END.split(line)
    kept = [sentence for sentence in sentences if not is_counter(sentence)]
    return line if len(kept) == len(sentences) else " ".join(kept)
