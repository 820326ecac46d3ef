import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.extract.decode import PAGE_LIMIT_BYTES, decode_page

TEXT = "Čapek přišel do přístavu a řekl: „Dnes večer pluje loď.“"


def page(text: str, declared: str = "") -> str:
    meta = f'<meta charset="{declared}">' if declared else ""
    return f"<html><head>{meta}<title>x</title></head><body><p>{text}</p></body></html>"


def decoded(body: bytes, content_type: str | None = None) -> str:
    result = decode_page(body, content_type)
    assert result is not None
    return result.html.decode()


def test_valid_utf8_is_utf8_whatever_the_header_says():
    assert TEXT in decoded(page(TEXT).encode(), "text/html; charset=iso-8859-1")


@pytest.mark.parametrize("encoding", ["windows-1250", "iso-8859-2"])
def test_the_header_names_the_encoding(encoding):
    text = TEXT.replace("„", "").replace("“", "")
    assert text in decoded(page(text).encode(encoding), f"text/html; charset={encoding}")


def test_the_page_names_the_encoding():
    assert TEXT in decoded(page(TEXT, "windows-1250").encode("windows-1250"), "text/html")


def test_latin_1_means_windows_1252_as_in_browsers():
    text = "“Quotes” – and a dash"
    assert text in decoded(page(text, "iso-8859-1").encode("windows-1252"))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("東京都は四日、新しい港の計画を発表した。" * 3, "shift_jis"),
        ("오늘 서울시는 새로운 항구 계획을 발표했다.", "euc-kr"),
        ("今天上海市公布了新的港口计划。", "gb2312"),
        ("Сегодня город объявил о новом плане порта.", "koi8-r"),
    ],
)
def test_old_encodings_of_other_scripts(text, encoding):
    assert text in decoded(page(text, encoding).encode(encoding))


def test_utf16_without_a_mark():
    assert "Quay reopens" in decoded(page("Quay reopens").encode("utf-16-le"))


def test_one_broken_byte_does_not_change_the_encoding_of_a_utf8_page():
    body = page(TEXT * 20, "utf-8").encode() + b"<p>\xff</p>"
    assert TEXT in decoded(body)


@pytest.mark.parametrize(
    "body", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"%PDF-1.7\n%\xe2\xe3", b"\x1f\x8b\x08\x00" * 9]
)
def test_binary_is_no_page(body):
    assert decode_page(body) is None


def test_inline_images_are_cut():
    image = "data:image/png;base64," + "A" * 8_000_000
    result = decoded(page(f'<img src="{image}">Quay reopens').encode())
    assert len(result) < 1000
    assert "Quay reopens" in result


def test_scripts_and_styles_go_structured_data_stays():
    html = """<script>var a = "</p>";</script><STYLE>p {}</STYLE>
    <script type="application/ld+json">{"headline": "a <style> of its own"}</script><p>Quay reopens</p>"""
    result = decoded(html.encode())
    assert "var a" not in result
    assert "p {}" not in result
    assert "a <style> of its own" in result
    assert "Quay reopens" in result


def test_a_script_that_never_ends_takes_the_rest_with_it():
    assert decoded(b"<p>Quay</p><script>var a = 1; <p>never shown</p>") == "<p>Quay</p>"


def test_a_huge_page_is_cut_to_its_beginning():
    result = decode_page(b"<p>Quay reopens</p>" + "<p>Přístav</p>".encode() * 400_000)
    assert result is not None
    assert result.is_cut
    assert len(result.html) <= PAGE_LIMIT_BYTES
    result.html.decode()


@given(
    st.binary(max_size=400), st.sampled_from([None, "text/html; charset=big5", "charset=nonsense", "charset=utf-16"])
)
def test_no_bytes_raise_and_what_comes_out_is_utf8_without_controls(body, content_type):
    result = decode_page(body, content_type)
    if result is not None:
        text = result.html.decode()
        assert not set(text) & set(map(chr, range(9)))
