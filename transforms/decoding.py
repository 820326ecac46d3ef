"""Bytes to text when nobody can be trusted to say how they were written.

The order is by strength of proof: a byte order mark, the pattern of UTF-16, strict UTF-8, what was
declared, and only then what the letters look like.
"""

from __future__ import annotations

import codecs
import re

from transforms.language import detect

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_MAGIC = (
    b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh",
    b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd", b"\x7fELF", b"MZ\x90", b"\xd0\xcf\x11\xe0", b"PAR1",
    b"OggS", b"ID3", b"RIFF", b"wOFF", b"wOF2",
    b"SQLite format 3", b"\x00\x00\x01\x00", b"{\\rtf", b"II*\x00", b"MM\x00*",
)  # fmt: skip

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\x0b"))
_ALLOWED_NAME = re.compile(
    r"(?:utf|u8|iso|windows|cp|ibm|koi8|gb|big5|shift|sjis|s_jis|euc|mac|latin|l\d|tis|ascii|us|hz)"
)
# What browsers read under these names (encoding.spec.whatwg.org), where Python is narrower.
_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_STATEFUL = re.compile(rb"\x1b\$[@B]|\x1b\$\)C|~\{")
_LATIN_PAGES = {
    "cp1252": frozenset(
        ["ca", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "gl", "is", "it", "nl", "no", "pt", "sv"]
    ),
    "cp1250": frozenset(["bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"]),
    "cp1254": frozenset(("tr", "az")),
    "cp1257": frozenset(("et", "lt", "lv")),
}  # fmt: skip
_OTHER_PAGES = [
    "cp1251",
    "koi8_r",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
    "cp1253",
    "cp1255",
    "cp1256",
    "cp874",
]
_SAMPLE_BYTES = 32_768
_WESTERN = re.compile("[\\s -~\u00a0-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u2026\u20ac\u2122]*")


def looks_binary(data: bytes) -> bool:
    """Tells whether bytes are no text: the magic number of another kind of file, or many control characters.

    UTF-16 and UTF-32 are text. A stray NUL does not make a text binary.
    """
    if data.startswith(_MAGIC):
        return True
    sample = data[:_SAMPLE_BYTES]
    if wide_encoding(data) is not None:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls * 10 > len(sample) or (controls > 3 and controls * 100 > len(sample))


def decode(data: bytes, declared: str | None = None) -> tuple[str, str] | None:
    """Decodes bytes of unknown make.

    Args:
        data: A whole file or body.
        declared: Encoding that a header or document names; believed only if the bytes do not speak against it.

    Returns:
        The text without byte order mark, and the name of the encoding used; ``None`` if the bytes are binary or
        no encoding can be made sure of. A few bad bytes in UTF-8 become U+FFFD. Never raises.
    """
    if looks_binary(data):
        return None
    wide = wide_encoding(data)
    if wide is not None:
        mark = _mark_of(data)
        return _named(data[len(mark[0]) :] if mark else data, wide)
    wanted = known_encoding(declared)
    if _STATEFUL.search(data[:_SAMPLE_BYTES]):  # seven bits a byte, so that it would pass for UTF-8
        found = _named(data, wanted or "iso2022_jp")
        if found is not None:
            return found
    plain = data.removeprefix(codecs.BOM_UTF8)
    is_marked = len(plain) < len(data)
    found = _named(plain, "utf-8")
    if found is None and wanted is not None and not is_marked:
        found = _named(data, wanted)
    if found is None and (is_marked or mostly_utf8(plain)):
        found = plain.decode("utf-8", "replace"), "utf-8"
    return found or _guess(data)


def mostly_utf8(data: bytes) -> bool:
    """Tells whether bytes are UTF-8 with a few bad ones among them: three good sequences for each bad one."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(character > "\x7f" for character in text) - bad
    return bad > 0 and good >= 3 * bad


def known_encoding(name: str | None) -> str | None:
    """Returns Python's name of a declared text encoding, widened as browsers do; ``None`` if it is unknown."""
    cleaned = (name or "").strip(" \t\r\n'\"").lower()
    if not _ALLOWED_NAME.match(cleaned) or cleaned in ("utf-7", "utf7", "u7") or not cleaned.isascii():
        return None
    try:
        found = codecs.lookup(cleaned).name
    except (LookupError, ValueError):
        return None
    return None if found == "utf-7" else _WIDER.get(found, found)


def wide_encoding(data: bytes) -> str | None:
    """Returns the kind of UTF-16 or UTF-32 that bytes are written in, by their mark or their pattern of NULs."""
    mark = _mark_of(data)
    if mark is not None:
        return None if mark[1] == "utf-8" else mark[1]
    return _utf16_pattern(data[:_SAMPLE_BYTES])


def _mark_of(data: bytes) -> tuple[bytes, str] | None:
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), None)


def _utf16_pattern(sample: bytes) -> str | None:
    """UTF-16 without a mark: in Western text every other byte is NUL."""
    pairs = len(sample) // 2
    even, odd = sample[0 : pairs * 2 : 2].count(0), sample[1 : pairs * 2 : 2].count(0)
    name = None
    if pairs >= 2 and odd * 10 > pairs * 4 and even * 20 <= pairs:
        name = "utf-16-le"
    elif pairs >= 2 and even * 10 > pairs * 4 and odd * 20 <= pairs:
        name = "utf-16-be"
    if name is None:
        return None
    text = sample[: pairs * 2].decode(name, "replace")
    controls = sum(character < " " and character not in "\t\n\r\f" for character in text)
    return name if controls * 10 <= pairs else None


def _named(data: bytes, encoding: str) -> tuple[str, str] | None:
    text = _try(data, encoding)
    return None if text is None else (text, encoding)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, ValueError, LookupError):
        return None


def _guess(data: bytes) -> tuple[str, str] | None:
    """The last resort: a Latin code page whose language the text speaks, else what charset_normalizer is sure of."""
    sample = data[:_SAMPLE_BYTES]
    high = sum(byte > 127 for byte in sample)
    name = _latin_code_page(data, sample) if high * 100 < len(sample) * 35 else None
    name = name or _guess_by_letters(data)
    return _named(data, name) if name else None


def _latin_code_page(data: bytes, sample: bytes) -> str | None:
    for name, languages in _LATIN_PAGES.items():
        if detect(sample.decode(name, "replace")) in languages and _try(data, name) is not None:
            return name
    western = _try(data, "cp1252")
    return "cp1252" if western is not None and _reads_as_western(western[:_SAMPLE_BYTES]) else None


def _reads_as_western(text: str) -> bool:
    """Tells whether the letters beyond ASCII stand where Western languages put them: mostly alone among ASCII."""
    if not _WESTERN.fullmatch(text):
        return False
    letters = re.findall("[\u00c0-\u00ff]+", text)
    return sum(len(run) >= 3 for run in letters) * 10 <= max(1, len(letters))


def _guess_by_letters(data: bytes) -> str | None:
    import charset_normalizer  # only bytes in old encodings pay for it

    lines = [line for line in data.splitlines() if any(byte > 127 for byte in line)]
    sample = b"\n".join(lines)[:_SAMPLE_BYTES]
    best = charset_normalizer.from_bytes(sample, cp_isolation=_OTHER_PAGES, threshold=0.2).best()
    return best.encoding if best is not None else None
