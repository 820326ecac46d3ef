"""Language codes that a taxonomy may use: ISO 639-1, and some of ISO 639-3 that the press writes in."""

from __future__ import annotations

import re

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
ast ceb ckb fil hsb kab kmr mai prs pcm rom szl tet yue zgh
"""
_KNOWN = frozenset(_CODES.split())
# What people write instead: codes of countries, old codes, names.
_MEANT = {
    "jp": "ja", "cn": "zh", "cz": "cs", "ua": "uk", "gr": "el", "dk": "da", "rs": "sr", "il": "he", "iw": "he",
    "in": "id", "us": "en", "gb": "en", "at": "de", "br": "pt", "mx": "es", "vn": "vi", "ir": "fa", "pk": "ur",
    "english": "en", "spanish": "es", "español": "es", "french": "fr", "français": "fr", "german": "de",
    "deutsch": "de", "portuguese": "pt", "português": "pt", "italian": "it", "italiano": "it", "chinese": "zh",
    "japanese": "ja", "korean": "ko", "russian": "ru", "arabic": "ar", "hebrew": "he", "norwegian": "no",
}  # fmt: skip


def is_language_code(code: str) -> bool:
    """Tells whether this is a language code in lower case, without a region."""
    return code in _KNOWN


def nearest_language_code(text: str) -> str | None:
    """Returns the code that was probably meant: ``ja`` for ``jp``, ``en`` for ``en-US`` or ``English``."""
    base = re.split(r"[-_]", text.lower())[0]
    return _MEANT.get(base) or (base if base in _KNOWN else None)
