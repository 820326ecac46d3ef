"""The closed lists of what can go wrong: stages, reasons, outcomes of a fetch.

docs/rejects.md is generated from this file. A reason is *final* (the same item is not tried again
unless ``dataset replay`` asks for it) or *retryable*.
"""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """A reason for a refusal: its stage, whether a retry may help, and one sentence for people."""

    stage: str
    name: str
    retryable: bool
    meaning: str


STAGES = ("read", "poll", "fetch", "extract", "tag", "write")

REASONS = (
    Reason("read", "unknown_type", False, "The file's kind is not one that seeds can have (PDF, image, archive ...)."),
    Reason("read", "unreadable", True, "The file could not be opened: it vanished, or permission is missing."),
    Reason("read", "empty", False, "The file or record holds no text."),
    Reason("read", "binary", False, "The file looks like text by its name but holds binary data."),
    Reason("read", "bad_encoding", False, "The bytes are no text in any encoding that we could make sure of."),
    Reason("read", "truncated", False, "The compressed file ends too early; nothing of a cut part is used."),
    Reason("read", "too_big", False, "Over 256 MB of records when unpacked, or 16 MB of a text, page, feed or line."),
    Reason("read", "bad_json", False, "The line is not a JSON object."),
    Reason("read", "bad_record", False, "The JSON object lacks text, html and url, or a field has the wrong type."),
    Reason("read", "bad_feed", False, "The saved feed could not be parsed as one."),
    Reason("read", "bad_url", False, "The address is no http(s) address."),
    Reason("poll", "no_link", False, "The feed entry has neither a usable link nor content."),
    Reason("poll", "bad_url", False, "The feed entry links to something that is no http(s) address."),
    Reason("fetch", "not_found", False, "The server says that there is no such page (404)."),
    Reason("fetch", "gone", False, "The server says that the page is gone for good (410, 451)."),
    Reason("fetch", "denied", False, "The server refuses the page to us (401, 402, 403 and other 4xx)."),
    Reason("fetch", "robots", False, "robots.txt of the host asks robots not to fetch the page."),
    Reason("fetch", "blocked_address", True, "The name leads to a private or local address; final after a redirect."),
    Reason("fetch", "bad_url", False, "The address, or one that it redirects to, is not usable."),
    Reason("fetch", "too_many_redirects", False, "More redirects than allowed."),
    Reason("fetch", "too_big", False, "The page is over the size limit."),
    Reason("fetch", "bad_coding", False, "The content coding is broken."),
    Reason("fetch", "not_html", False, "The answer is not a page: an image, a PDF, a video ..."),
    Reason("fetch", "gave_up", False, "The page failed for now in every attempt (6 attempts or 7 days)."),
    Reason("extract", "empty", False, "The page is empty."),
    Reason("extract", "no_text", False, "No article text was found on the page."),
    Reason("extract", "not_html", False, "The bytes are not a page, whatever the header says."),
    Reason("extract", "cookie_wall", False, "The page shows a consent wall instead of the article."),
    Reason("extract", "stub", False, "The page is a redirect stub or an app shell without text."),
    Reason("extract", "timeout", True, "Extraction took longer than the limit; its process was ended."),
    Reason("extract", "memory", True, "Extraction needed more memory than the limit."),
    Reason("extract", "crash", True, "The extraction process died."),
    Reason("tag", "untagged", False, "No topic was found and the run keeps tagged articles only (keep: tagged)."),
    Reason("write", "bad_row", False, "The row does not fit the schema (should not happen; please report it)."),
)

_BY_KEY = {(reason.stage, reason.name): reason for reason in REASONS}

FETCH_KINDS = ("feed", "page", "robots", "sitemap")

FETCH_OUTCOMES = {
    "ok": "A whole answer that could be used.",
    "not_modified": "304: nothing new.",
    "not_found": "404.",
    "gone": "410 or 451.",
    "denied": "401, 402, 403 or another 4xx.",
    "rate_limited": "429, or 503 with Retry-After.",
    "server_error": "5xx.",
    "timeout": "Connecting, reading or the whole took too long.",
    "connect_error": "No connection, or it broke.",
    "dns_error": "The host's name has no address.",
    "tls_error": "No trusted TLS connection.",
    "too_big": "The body is over the size limit.",
    "bad_coding": "The content coding is broken.",
    "bad_url": "Not an http(s) address that can be asked.",
    "too_many_redirects": "More redirects than allowed.",
    "blocked_address": "A private, local or otherwise refused address; no connection was tried.",
    "robots": "robots.txt asks not to.",
    "not_html": "The answer is not a page.",
    "not_feed": "The answer is not a feed (a web page, a challenge, an empty body).",
    "host_down": "Not tried: the host failed several times in this run.",
    "deferred": "Not tried in this run: budget, Retry-After, a limit, or no contact; due again later.",
}


def reason_of(stage: str, name: str) -> Reason:
    """Returns the listed reason.

    Raises:
        KeyError: If the pair is not in the closed list.
    """
    return _BY_KEY[stage, name]
