from __future__ import annotations

import gzip

import pytest

from transforms.feeds.clean import SIZE_LIMIT, clean_bytes

TEXT = "<rss><channel><title>Möwe über Łódź – «Чайка» 海鸥</title></channel></rss>"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("before", ["", "\n  "])
def test_unicode_encodings_are_known_without_being_told(encoding: str, before: str) -> None:
    assert clean_bytes((before + TEXT).encode(encoding)).data.decode() == TEXT


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("koi8-r", "Новая школа открылась в порту после долгих лет ожидания"),
        ("windows-1251", "Новая школа открылась в порту после долгих лет ожидания"),
        ("shift_jis", "港の新しい学校が長い年月を経て開校しました。詳細は後ほど"),
        ("big5", "港口的新學校經過多年等待終於開學了，居民感到非常高興"),
        ("windows-1250", "Příští týden začne v přístavu nová škola, řekl starosta města po dlouhém jednání"),
        ("windows-1250", "Władze miasta zdecydowały wczoraj, że szkoła w porcie zostanie otwarta już wkrótce"),
        ("windows-1252", "L’école du port a ouvert ses portes après des années d’attente, très fière"),
    ],
)
def test_undeclared_encodings_are_guessed_and_told(encoding: str, text: str) -> None:
    cleaned = clean_bytes(f"<rss><channel><item><title>{text}</title></item></channel></rss>".encode(encoding))
    assert text in cleaned.data.decode()
    assert cleaned.warnings[0].startswith("encoding_guessed:")


def test_utf8_outranks_every_declaration() -> None:
    body = f'<?xml version="1.0" encoding="windows-1252"?>{TEXT}'.encode()
    assert clean_bytes(body, "text/xml; charset=iso-8859-1").data == body


def test_controls_and_padding_go() -> None:
    assert clean_bytes(b" \n<rss>a\x08b\x00c\x1fd\te</rss>\n\x00").data == b"<rss>abcd\te</rss>"


def test_windows_codes_written_as_unicode_are_meant() -> None:
    assert clean_bytes("<a>don\u0092t\ufffe</a>".encode()).data.decode() == "<a>don’t</a>"


def test_a_gzip_file_is_unpacked() -> None:
    body = TEXT.encode()
    assert clean_bytes(gzip.compress(body[:10]) + gzip.compress(body[10:])).data == body


def test_of_a_broken_gzip_file_what_can_be_had() -> None:
    cleaned = clean_bytes(gzip.compress(TEXT.encode() * 50)[:-12])
    assert cleaned.data.startswith(b"<rss>")
    assert cleaned.warnings == ("broken_gzip",)
    assert clean_bytes(b"\x1f\x8bnothing").warnings == ("broken_gzip",)


def test_a_bomb_stops_at_the_size_limit() -> None:
    cleaned = clean_bytes(gzip.compress(b"x" * (SIZE_LIMIT + 1000)))
    assert len(cleaned.data) == SIZE_LIMIT
    assert cleaned.warnings == ("too_big",)
