"""Why an address has the article id that it has: its normal form and the rules that made it, as plain data."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from transforms.urls import (
    URL_LENGTH_LIMIT,
    article_id_of_url,
    domain_of,
    explain_normal_form,
    host_of,
    to_fetchable,
)

RULES = {
    "amp_cache": "the publisher's address stands inside that of an AMP cache or viewer",
    "scheme": "http is taken for https",
    "user_info": "name and password do not name a page",
    "host_spelling": "lower case, A-labels, no dot at the end",
    "sub_host": "www., m., mobile. and amp. in front of a site lead to the same pages",
    "default_port": "80 and 443 are what the scheme means anyway",
    "percent_encoding": "one spelling of each character (RFC 3986, section 6.2.2)",
    "session_id": "says who reads, not what",
    "dot_segments": ". and .. are resolved",
    "double_slash": "several slashes are one",
    "amp": "the AMP form of a story is the story",
    "trailing_slash": "no slash at the end",
    "tracking": "says how a reader came, not what is read",
    "query_order": "parameters are sorted by name",
    "fragment": "a place on the page; only #! names a page",
}
"""Each rule of the normal form, in the order in which they act, and why it may act."""


class ExplainedUrl(NamedTuple):
    """What becomes of one address.

    Attributes:
        url: As given.
        error: Why it cannot be an article's address; the rest is empty then.
        fetched: As it is sent to the server.
        canonical_form: The normal form: a key, never fetched.
        article_id: That of a new article with this address.
        rules: Rules that changed something, in the order in which they acted: ``name`` or ``name:what``.
    """

    url: str
    error: str = ""
    fetched: str = ""
    canonical_form: str = ""
    article_id: str = ""
    host: str = ""
    domain: str = ""
    rules: tuple[str, ...] = ()


def explain_url(url: str) -> ExplainedUrl:
    """Explains one address; never raises."""
    fetched = to_fetchable(url)
    if fetched is None:
        return ExplainedUrl(url, _what_is_wrong(url))
    form, rules = explain_normal_form(url)
    return ExplainedUrl(url, "", fetched, form, article_id_of_url(url), host_of(url), domain_of(url), rules)


def _what_is_wrong(url: str) -> str:
    text = url.strip()
    if len(text) > URL_LENGTH_LIMIT:
        return f"longer than {URL_LENGTH_LIMIT:,} characters"
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))", text)
    if scheme is None:
        return "no http:// or https:// in front"
    if scheme[1].lower() not in ("http", "https"):
        return f"{scheme[1]}: is no web address; only http and https are"
    return "its host or port cannot be used"


def as_json(explained: ExplainedUrl) -> dict[str, Any]:
    """Returns it as plain data; of a bad address only ``url`` and ``error``."""
    if explained.error:
        return {"url": explained.url, "error": explained.error}
    found = explained._asdict() | {"rules": list(explained.rules)}
    del found["error"]
    return found
