"""Bytes of a feed to UTF-8 that an XML or JSON reader can take. Never raises; linear in the size.

Which encoding a feed has is decided by its bytes first: mark, strict UTF-8, then what document and
header say, then a guess. A few bad bytes do not make UTF-8 another encoding.
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import NamedTuple

from transforms import decoding

SIZE_LIMIT = 15 * 1024 * 1024

_MISUSED_LIMIT = 20_000
_SAMPLE_BYTES = 256 * 1024

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']\s*([\w.:-]{1,40})", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
# Letters and signs that bytes of Windows-1252 stand for and bytes of its Central European and Turkish kin do not.
_SURELY_WESTERN = re.compile("[\x00-\x7f\u00a0áàâäãÁÀÂÄéèêëÉÈÊËíîïÍÎóôöÓÔÖúùüÚÜçÇñÑß‘’“”„–—…«»°•·€]*")
_LETTER_RUN = re.compile("[À-ÿ]{3}")
_LOW = bytes(range(128))
WINDOWS_CHARACTERS = {
    code: bytes([code]).decode("cp1252").encode("utf-8")
    for code in range(0x80, 0xA0)
    if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
"""Windows-1252 between 0x80 and 0x9F as UTF-8: feeds write its bytes as if they were code points."""


class CleanBytes(NamedTuple):
    """UTF-8 without mark, control characters and padding; ``warnings`` are codes of what was done."""

    data: bytes
    warnings: tuple[str, ...]


def clean_bytes(body: bytes, content_type: str | None = None) -> CleanBytes:
    """Unpacks, decodes and cleans a body.

    Args:
        body: As received, after the transfer's content coding; a gzip file is unpacked.
        content_type: Value of the header, for its charset.
    """
    warnings: list[str] = []
    if body.startswith(b"\x1f\x8b"):
        body = _gunzip(body, warnings)
    if len(body) > SIZE_LIMIT:
        body = body[:SIZE_LIMIT]
        warnings.append("too_big")
    data = _to_utf8(body, content_type or "", warnings)
    data = data.translate(None, _CONTROLS)
    if not data.isascii():
        data = _without_misused(data)
    return CleanBytes(data.strip(), tuple(warnings))


def _without_misused(data: bytes) -> bytes:
    """Takes out code points that are no characters, and reads C1 controls as the Windows-1252 that they are."""
    data = re.sub(
        rb"\xc2([\x80-\x9f])", lambda match: WINDOWS_CHARACTERS.get(match[1][0], b""), data, count=_MISUSED_LIMIT
    )
    for noncharacter in (b"\xef\xbf\xbe", b"\xef\xbf\xbf"):
        data = data.replace(noncharacter, b"")
    return data


def _gunzip(body: bytes, warnings: list[str]) -> bytes:
    """Unpacks a gzip file of one or more members, at most to the size limit; of a broken one what can be had."""
    out = bytearray()
    rest = body
    while rest.startswith(b"\x1f\x8b") and len(out) <= SIZE_LIMIT:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            out += unpacker.decompress(rest, SIZE_LIMIT + 1 - len(out))
        except zlib.error:
            warnings.append("broken_gzip")
            break
        if not unpacker.eof:
            if len(out) <= SIZE_LIMIT:
                warnings.append("broken_gzip")
            break
        rest = unpacker.unused_data
    return bytes(out)


def _to_utf8(body: bytes, content_type: str, warnings: list[str]) -> bytes:
    if body.startswith(codecs.BOM_UTF8):
        body = body[3:]
    elif wide := _wide_encoding(body):
        return body.decode(wide, "replace").lstrip("\ufeff").encode("utf-8", "replace")
    if body.isascii() and b"\x1b$" not in body:
        return body
    names = _declared_names(body, content_type)
    if names and names[0].startswith("iso2022") and b"\x1b" in body:
        return body.decode(names[0], "replace").encode("utf-8", "replace")
    if _is_utf8(body):
        return body
    text = _by_declaration(body, names, warnings)
    if text is None:
        name = _guessed_encoding(_sample(body))
        text = body.decode(name, "replace")
        warnings.append(f"encoding_guessed:{name}")
    return text.encode("utf-8", "replace")


def _wide_encoding(body: bytes) -> str | None:
    """UTF-16 or UTF-32: by mark, or by the zeros around the first sign of markup or JSON."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    sign = re.search(rb"[<{\[]", body[:256])
    if sign is None or b"\0" not in body[:256]:
        return None
    at = sign.start()
    before, after = body[max(0, at - 3) : at], body[at + 1 : at + 4]
    if at % 4 == 3 and before == b"\0\0\0":
        return "utf-32-be"
    if at % 4 == 0 and after == b"\0\0\0":
        return "utf-32-le"
    if at % 2 and before.endswith(b"\0"):
        return "utf-16-be"
    return "utf-16-le" if at % 2 == 0 and after.startswith(b"\0") else None


def _declared_names(body: bytes, content_type: str) -> list[str]:
    """Encodings that document and header name, as Python knows them, the document's first."""
    declared = _DECLARED.search(body[:4096])
    charset = _CHARSET.search(content_type)
    names = [declared[1].decode("ascii", "replace")] if declared else []
    names += [charset[1]] if charset else []
    known = [decoding.known_encoding(name) for name in names]
    return [name for name in known if name and not name.startswith(("utf-16", "utf-32"))]


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _by_declaration(body: bytes, names: list[str], warnings: list[str]) -> str | None:
    """Decodes by what is declared, if the bytes bear it out; UTF-8 is tried even if nobody names it."""
    first = re.search(rb"[\x80-\xff]", body)
    sample = body[first.start() :][:_SAMPLE_BYTES] if first else b""
    high = len(sample.translate(None, _LOW))
    trusted = not names or "utf-8" in names
    for name in dict.fromkeys(["utf-8", *names]):
        bad = sample.decode(name, "replace").count("\ufffd")
        # Text in another encoding has hardly any valid UTF-8 in it; in a mixed file the greater part wins.
        if bad * (2 if name == "utf-8" and trusted else 10) <= high:
            text = body.decode(name, "replace")
            if "\ufffd" in text:
                warnings.append("bad_bytes_replaced")
            return text
    return None


def _guessed_encoding(sample: bytes) -> str:
    western = sample.decode("cp1252", "replace")
    if _SURELY_WESTERN.fullmatch(western) and not _LETTER_RUN.search(western):
        return "cp1252"  # without the language model, which takes most of a second to load
    guess = decoding.decode(sample)
    return guess[1] if guess else "cp1252"


def _sample(body: bytes) -> bytes:
    """A stretch that is enough to guess by, from the first letter beyond ASCII on, not cut inside a character."""
    first = re.search(rb"[\x80-\xff]", body)
    sample = body[first.start() : first.start() + 30_000] if first else body[:30_000]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"))
    return sample[:end] if end > 0 and len(sample) == 30_000 else sample
