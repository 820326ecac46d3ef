"""Seeds that are plain text: one article a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transforms.decoding import decode, looks_binary
from transforms.records import Document, Reject
from transforms.seeds.common import Place, reject, seed_document, seed_entry, sha256_hex
from transforms.text import clean_text, lines_of

TITLE_LENGTH_LIMIT = 120
_SENTENCE_END = re.compile(r"[.,;:…—–-][\"'”’»)\]]*$")
_ABBREVIATION_END = re.compile(r"\b(?:[A-Z]\.)+$")
_BYLINE = re.compile(r"(?:by|von|por|par|di|da|door|od)\s+[^\W\d_]", re.IGNORECASE)


def read_text(place: Place, data: bytes, warnings: tuple[str, ...] = ()) -> Iterator[Document | Reject]:
    """Yields the article of a text file, or its reject.

    The encoding is found by ``decode``; the warning ``decoded_as:NAME`` says so where it was guessed, and
    ``repaired_encoding`` where bad bytes became U+FFFD.
    """
    decoded = decode(data)
    if decoded is None:
        yield reject_bytes(place, data)
        return
    text, encoding = decoded
    title, body = split_title(text)
    if not any(character.isalnum() for character in clean_text(body)):
        yield reject(place, "empty", "the file holds no text", data)
        return
    digest = sha256_hex(data)
    yield seed_document(
        place,
        seed_entry(None, digest, "seed_text")._replace(title=title),
        "text",
        body.encode("utf-8", "replace"),
        body_sha256=digest,
        content_type="text/plain; charset=utf-8",
        warnings=warnings + encoding_warnings(data, text, encoding),
    )


def reject_bytes(place: Place, data: bytes) -> Reject:
    """Returns the reject of bytes that ``decode`` gave back."""
    if looks_binary(data):
        return reject(place, "binary", "the file holds binary data, not text", data)
    return reject(place, "bad_encoding", "no encoding fits the bytes; save the file as UTF-8", data)


def encoding_warnings(data: bytes, text: str, encoding: str) -> tuple[str, ...]:
    """Returns the warnings that belong to a decoding: guessed code pages and bytes that were replaced."""
    if encoding.startswith("utf-"):
        replaced = encoding == "utf-8" and "\ufffd" in text and b"\xef\xbf\xbd" not in data
        return ("repaired_encoding",) if replaced else ()
    return (f"decoded_as:{encoding}",)


def split_title(text: str) -> tuple[str | None, str]:
    """Splits a leading title off a text.

    The first line is a title only if it is short, stands alone above an empty line with text below, and reads
    like a headline: it does not end like a sentence, does not start in lower case and is no byline.

    Returns:
        The title, or ``None``, and the text without it.
    """
    lines = lines_of(text)
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None or first + 1 >= len(lines) or lines[first + 1].strip():
        return None, text
    rest = lines[first + 1 :]
    title = " ".join(clean_text(lines[first]).split()).lstrip("# ")
    if not any(line.strip() for line in rest) or not _reads_like_title(title):
        return None, text
    return title, "\n".join(rest)


def _reads_like_title(line: str) -> bool:
    if not 0 < len(line) <= TITLE_LENGTH_LIMIT or not any(map(str.isalpha, line)):
        return False
    if _SENTENCE_END.search(line) and not _ABBREVIATION_END.search(line):
        return False
    return not line[0].islower() and not _BYLINE.match(line)
