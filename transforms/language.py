"""The language of a text, by the text alone: deterministic, and ``und`` where there is too little to judge.

py3langid is loaded on first use and once a process. What pages and feeds declare is kept elsewhere.
"""

from __future__ import annotations

import functools
import io
import re
import types
import unicodedata
from collections import Counter
from typing import Any

UNDETERMINED = "und"

_SAMPLE_CHARACTERS = 2000
_NOISE = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[@#]\w+|[\d_]+")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,4}")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT_LANGUAGES = {
    "HANGUL": "ko", "HIRAGANA": "ja", "KATAKANA": "ja", "THAI": "th", "GREEK": "el", "ARMENIAN": "hy",
    "GEORGIAN": "ka", "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml", "GUJARATI": "gu",
    "GURMUKHI": "pa", "SINHALA": "si", "KHMER": "km", "LAO": "lo", "MYANMAR": "my",
}  # fmt: skip
"""Scripts that one language of the press uses nearly alone, by the first word of a character's Unicode name."""
_SCRIPT_LETTERS_NEEDED = 4
_KANA_SHARE = 0.05  # Japanese mixes kana with far more Chinese characters
_HAN_LETTERS_NEEDED = 6
_LETTERS_NEEDED = 18
_WORDS_NEEDED = 4
_LONG_LETTERS = 200
_SURE = 0.8
_SURE_IF_LONG = 0.5
# Varieties that the model tells apart and the press does not are left out, which makes it surer of the rest.
_LANGUAGES = [
    "af", "am", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et",
    "eu", "fa", "fi", "fr", "ga", "gl", "ha", "he", "hi", "hr", "ht", "hu", "hy", "id", "is", "it", "ja", "ka",
    "kk", "km", "ko", "ku", "ky", "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms", "mt", "my", "ne", "nl",
    "no", "pa", "pl", "ps", "pt", "ro", "ru", "rw", "si", "sk", "sl", "so", "sq", "sr", "sv", "sw", "ta", "te",
    "tg", "th", "tk", "tl", "tr", "ug", "uk", "ur", "uz", "vi", "xh", "yo", "zh", "zu",
]  # fmt: skip
_ALIASES = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "nn": "no", "fil": "tl", "cmn": "zh", "mo": "ro"}


def detect(text: str) -> str:
    """Returns the language of a text as a BCP 47 primary tag, or ``und`` if it is too short or too unclear.

    Capitals are no evidence: headlines in capitals are judged in lower case. The same text gives the same answer in
    every process.
    """
    sample = _NOISE.sub(" ", text[:_SAMPLE_CHARACTERS])
    words = _WORD.findall(sample)
    letters = "".join(words)
    if not letters:
        return UNDETERMINED
    by_script = _by_script(letters)
    if by_script is not None:
        return by_script
    if len(letters) < _LETTERS_NEEDED or len(words) < _WORDS_NEEDED:
        return UNDETERMINED
    if sum(map(str.isupper, letters)) * 2 > len(letters):
        sample = sample.lower()
    language, probability = _identifier().classify(" ".join(sample.split()))
    needed = _SURE_IF_LONG if len(letters) >= _LONG_LETTERS else _SURE
    return str(language) if probability >= needed else UNDETERMINED


def _by_script(letters: str) -> str | None:
    """Answers where the script alone decides; ``None`` for scripts that many languages share."""
    if letters.isascii():
        return None
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters[:500])
    total = sum(scripts.values())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana >= _SCRIPT_LETTERS_NEEDED and kana >= _KANA_SHARE * total:
        return "ja"
    script, count = scripts.most_common(1)[0]
    if count * 2 < total:
        return None
    if script == "CJK":
        return "zh" if count >= _HAN_LETTERS_NEEDED and not kana else UNDETERMINED
    language = _SCRIPT_LANGUAGES.get(script)
    if language is None:
        return None
    return language if count >= _SCRIPT_LETTERS_NEEDED else UNDETERMINED


@functools.cache
def _identifier() -> Any:
    from py3langid import modelio  # half a second, and not needed by the command line
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError:  # the model unpacks itself into a temporary file of 70 MB; where there is no room, into memory
        modelio.tempfile = types.SimpleNamespace(TemporaryFile=lambda **_: io.BytesIO())
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES)
    return identifier


def primary_tag(tag: str | None) -> str:
    """Returns the primary subtag of a BCP 47 tag in its present form (``iw-IL`` -> ``he``), else ``und``."""
    first = re.split(r"[-_.@]", (tag or "").strip().lower(), maxsplit=1)[0]
    if not re.fullmatch(r"[a-z]{2,3}", first):
        return UNDETERMINED
    return _ALIASES.get(first, first)


def language_tag(text: str | None) -> str | None:
    """Returns what a feed or record declares as a BCP 47 tag (``en_US`` -> ``en-US``); ``None`` if it is none."""
    tag = (text or "").strip()
    return tag.replace("_", "-") if _TAG.fullmatch(tag) else None


def same_language(a: str | None, b: str | None) -> bool:
    """Tells whether two BCP 47 tags name one language, whatever their regions and scripts."""
    return primary_tag(a) == primary_tag(b)
