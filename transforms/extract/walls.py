"""Pages that are no article at all: consent walls, redirect stubs, app shells. Judged by what little text they have."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from transforms.extract.lines import is_notice
from transforms.extract.page import Page

_STUB_LIMIT_CHARS = 300
_WALL_LIMIT_CHARS = 3000
_REFRESH = re.compile(r"^\s*\d+(?:\.\d+)?\s*[;,]\s*(?:url\s*=\s*)?\S+", re.IGNORECASE)
_CONSENT = re.compile(
    r"cookies?\b|consent|partners|vendors|privacy|gdpr|personali[sz]ed ad|zustimm|einwillig|datenschutz|consentement|"
    r"traceurs|confidentialité|consentimiento|privacidad|consenso|informativa|consentimento|toestemming|samtycke|samtykke|"
    r"同意|개인정보",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"verify (?:that )?you are (?:a )?human|enable javascript and cookies|checking your browser|are you a robot|"
    r"access (?:to this page has been )?denied|unusual traffic|javascript is (?:required|disabled)|"
    r"please enable javascript",
    re.IGNORECASE,
)
_CONSENT_SENTENCES_SHARE = 0.5


def visible_text(tree: HtmlElement, limit_chars: int = 20_000) -> str:
    """Returns the text of the body without scripts and styles, white space squeezed, cut at a limit."""
    body = tree.find("body")
    parts: list[str] = []
    size = 0
    for element in (body if body is not None else tree).iter():
        if element.tag not in ("script", "style", "noscript", "template") and element.text:
            parts.append(element.text)
            size += len(element.text)
        if element.tail:
            parts.append(element.tail)
            size += len(element.tail)
        if size > limit_chars:
            break
    return " ".join(" ".join(parts).split())


def is_refresh_stub(page: Page, text: str) -> bool:
    """Tells whether a page only sends its reader elsewhere."""
    refresh = page.meta("refresh")
    return bool(refresh and _REFRESH.match(refresh) and len(text) < _STUB_LIMIT_CHARS)


def is_consent_wall(text: str) -> bool:
    """Tells whether most sentences of a short text are about cookies and consent."""
    if not text or len(text) > _WALL_LIMIT_CHARS or not _CONSENT.search(text):
        return False
    sentences = [s for s in re.split(r"(?<=[.!?。])\s+|\n+", text) if len(s) > 15]
    if not sentences:
        return False
    about = sum(len(s) for s in sentences if _CONSENT.search(s) or is_notice(s))
    strong = sum(1 for s in sentences if is_notice(s) or len(_CONSENT.findall(s)) >= 2)
    return strong > 0 and about >= _CONSENT_SENTENCES_SHARE * sum(map(len, sentences))


def why_no_article(page: Page, text: str, has_scripts: bool) -> str | None:
    """Returns the reason (``rejects.py``, stage extract) why a page holds no article, or ``None`` if it may hold one.

    Args:
        page: The parsed page.
        text: What extraction found on it, perhaps nothing.
        has_scripts: Whether scripts might show what the mark-up does not.
    """
    if is_refresh_stub(page, text):
        return "stub"
    if is_consent_wall(text):
        return "cookie_wall"
    if len(text) >= _STUB_LIMIT_CHARS:
        return None
    if text and not _CHALLENGE.search(text):
        return None
    whole = visible_text(page.tree)
    if is_refresh_stub(page, whole):
        return "stub"
    if is_consent_wall(whole):
        return "cookie_wall"
    if _CHALLENGE.search(whole[:1000]) or (len(whole) < _STUB_LIMIT_CHARS and has_scripts):
        return "stub"
    return "empty" if not whole else "no_text" if not text else None
