"""Content codings: sound, stacked, lied about, damaged, exploding."""

from __future__ import annotations

import contextlib
import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.fetch.coding import BadCodingError, TooBigError, decode_body, unpack_gzip, zstd

PAGE = b"<html><body>" + b"<p>The bridge at Orlow opens again on Monday.</p>" * 200 + b"</body></html>"
LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("name", PACKERS)
def test_each_coding_is_undone(name: str) -> None:
    assert decode_body(PACKERS[name](PAGE), name, LIMIT) == PAGE
    assert decode_body(PACKERS[name](PAGE), name.upper(), LIMIT) == PAGE


@given(st.binary(max_size=5000), st.lists(st.sampled_from(sorted(PACKERS)), min_size=1, max_size=5))
def test_stacked_codings_are_undone_from_the_last_to_the_first(data: bytes, names: list[str]) -> None:
    packed = data
    for name in names:
        packed = PACKERS[name](packed)
    assert decode_body(packed, ", ".join(names), LIMIT) == data


def test_raw_deflate_is_taken_for_deflate() -> None:
    assert decode_body(raw_deflate(PAGE), "deflate", LIMIT) == PAGE


def test_an_empty_body_is_empty_in_every_coding() -> None:
    assert [decode_body(b"", name, LIMIT) for name in PACKERS] == [b""] * len(PACKERS)
    assert [decode_body(pack(b""), name, LIMIT) for name, pack in PACKERS.items()] == [b""] * len(PACKERS)


@pytest.mark.parametrize("name", ["", "identity", "none", "utf-8", "x-unknown", "Identity, identity"])
def test_no_coding_or_one_that_nobody_knows_leaves_the_body(name: str) -> None:
    assert decode_body(PAGE, name, LIMIT) == PAGE


@pytest.mark.parametrize("name", [*PACKERS, "gzip, br", "gzip, gzip"])
def test_a_plain_body_with_a_lying_header_is_taken_as_it_is(name: str) -> None:
    assert decode_body(PAGE, name, LIMIT) == PAGE
    for text in (b"\xef\xbb\xbf\n" + PAGE, b"User-agent: *\nDisallow: /\n" * 9, "Überflutung: ärgerlich".encode()):
        assert decode_body(text, name, LIMIT) == text
        assert decode_body(text, name, LIMIT, cut=True) == text


def test_a_coding_announced_twice_and_applied_once_is_undone_once() -> None:
    assert decode_body(gzip.compress(PAGE), "gzip, gzip", LIMIT) == PAGE


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_stream_that_ends_too_early_is_bad(name: str) -> None:
    packed = PACKERS[name](PAGE)
    with pytest.raises(BadCodingError):
        decode_body(packed[: len(packed) // 2], name, LIMIT)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_a_damaged_stream_is_bad(name: str) -> None:
    packed = bytearray(PACKERS[name](PAGE))
    packed[len(packed) // 2] ^= 0xFF
    packed[-1] ^= 0xFF
    with pytest.raises(BadCodingError):
        decode_body(bytes(packed), name, LIMIT)


def test_binary_under_a_brotli_header_is_bad() -> None:
    with pytest.raises(BadCodingError):
        decode_body(b"\x89PNG\r\n\x1a\n" + b"\0\xff" * 100, "br", LIMIT)


def test_more_codings_than_anybody_needs_are_bad() -> None:
    with pytest.raises(BadCodingError):
        decode_body(PAGE, ", ".join(["gzip"] * 6), LIMIT)


def test_members_and_frames_in_a_row_are_one_body() -> None:
    assert decode_body(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", LIMIT) == b"one two"
    assert decode_body(zstd.compress(b"one ") + zstd.compress(b"two"), "zstd", LIMIT) == b"one two"


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
@pytest.mark.parametrize("tail", [b"\n", b"\0" * 512, b"<!-- served by cache-7 -->"])
def test_what_follows_the_stream_is_passed_over(name: str, tail: bytes) -> None:
    assert decode_body(PACKERS[name](PAGE) + tail, name, LIMIT) == PAGE


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_endless_empty_members_are_bad(name: str) -> None:
    with pytest.raises(BadCodingError):
        decode_body(PACKERS[name](b"") * 5000, name, LIMIT)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, zstd, gzip", ""])
def test_a_body_over_the_limit_is_too_big_and_one_at_the_limit_is_not(name: str) -> None:
    packed, full = b"a" * 100_000, b"a" * 100_000
    for part in filter(None, name.split(", ")):
        packed = PACKERS[part](packed)
    assert decode_body(packed, name, 100_000) == full
    with pytest.raises(TooBigError):
        decode_body(packed, name, 99_999)
    assert decode_body(packed, name, 99_999, cut=True) == full[:-1]


def test_a_bomb_between_two_codings_is_too_big() -> None:
    with pytest.raises(TooBigError):
        decode_body(gzip.compress(gzip.compress(b"\0" * 50) + b"\0" * 2_000_000), "gzip, gzip", LIMIT)


def test_a_zstd_window_over_8_mb_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.enable_long_distance_matching: 1}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(b"a" * 1000) + packer.flush()
    with pytest.raises(BadCodingError):
        decode_body(packed, "zstd", LIMIT)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_cut_takes_what_there_is_of_a_broken_stream(name: str) -> None:
    data = bytes(range(256)) * 4000
    packed = PACKERS[name](data)
    part = decode_body(packed[:-3], name, LIMIT, cut=True)
    assert data.startswith(part)


def test_gzip_files_are_known_by_their_first_bytes() -> None:
    assert unpack_gzip(gzip.compress(PAGE), LIMIT) == PAGE
    assert unpack_gzip(PAGE, LIMIT) == PAGE
    with pytest.raises(TooBigError):
        unpack_gzip(gzip.compress(PAGE), 100)
    with pytest.raises(BadCodingError):
        unpack_gzip(b"\x1f\x8bnot gzip at all", LIMIT)


@given(st.binary(max_size=300), st.sampled_from([*sorted(PACKERS), "gzip, br", "zstd, deflate"]))
def test_no_bytes_raise_anything_else(body: bytes, name: str) -> None:
    for cut in (False, True):
        with contextlib.suppress(TooBigError, BadCodingError):
            assert len(decode_body(body, name, 1000, cut=cut)) <= 1000
