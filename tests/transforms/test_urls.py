from __future__ import annotations

import csv
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms import urls

PAIRS_FILE = Path(__file__).parents[1] / "data" / "url_pairs.tsv"


def _pairs() -> list[tuple[str, str, bool, str]]:
    with PAIRS_FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    signs = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}
    written_out = [
        [re.sub(r"\\[tn\\]", lambda found: signs[found[0]], row[column]) for column in ("a", "b")] for row in rows
    ]
    return [(a, b, row["same"] == "1", row["why"]) for (a, b), row in zip(written_out, rows, strict=True)]


def test_the_table_is_large_enough():
    pairs = _pairs()
    assert len(pairs) >= 60
    assert sum(not same for _, _, same, _ in pairs) >= 20


@pytest.mark.parametrize(("a", "b", "same", "why"), _pairs())
def test_addresses_are_one_or_two_articles_as_the_table_says(a: str, b: str, same: bool, why: str):
    assert (urls.article_id_of_url(a) == urls.article_id_of_url(b)) is same, why


any_text = st.text(max_size=60) | st.text(alphabet="htps:/.@#?&;=%!ap0+-~ \\[]wm\u00fc\ud800", max_size=60)
addresses = st.builds(
    lambda host, rest: f"https://{host}/{rest}",
    st.sampled_from(["courier.example", "www.m.amp.courier.example", "www.google.com/amp", "bücher.example", "[::1]"]),
    any_text,
)


@given(any_text | addresses)
def test_the_normal_form_of_a_normal_form_is_itself(url: str):
    once = urls.normal_form(url)
    assert urls.normal_form(once) == once


@given(any_text | addresses)
def test_nothing_raises_and_keys_have_their_shape(url: str):
    assert re.fullmatch(r"[0-9a-f]{32}", urls.url_key(url))
    assert re.fullmatch(r"1-[0-9a-f]{32}", urls.article_id_of_url(url))
    assert re.fullmatch(r"1-[0-9a-f]{32}", urls.article_id_of_text(url))
    urls.domain_of(url)
    urls.is_plausible_canonical(url, url)


@given(any_text | addresses)
def test_what_can_be_fetched_is_ascii_and_stays_as_it_is(url: str):
    fetchable = urls.to_fetchable(url)
    if fetchable is not None:
        assert fetchable.isascii()
        assert not re.search(r"[\s\x00-\x1f]", fetchable)
        assert urls.to_fetchable(fetchable) == fetchable
        assert urls.url_key(fetchable) == urls.url_key(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://courier.example/a/ä", "https://courier.example/a/%C3%A4"),
        ("  https://courier.example/a/2  ", "https://courier.example/a/2"),
        ("\ufeffhttps://courier.example/a/2", "https://courier.example/a/2"),
        ("HTTP://新聞.example/記事?q=ä#x", "http://xn--efvv70d.example/%E8%A8%98%E4%BA%8B?q=%C3%A4#x"),
        ("https://courier.example", "https://courier.example/"),
        ("https://courier.example/a%2fb?x=1&utm_source=a", "https://courier.example/a%2fb?x=1&utm_source=a"),
        ("https://courier.example:8443/a b", "https://courier.example:8443/a%20b"),
        ("http://127.0.0.2:8000/feed.xml", "http://127.0.0.2:8000/feed.xml"),
        ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a"),
        ("http://xn--a.example/a", "http://xn--a.example/a"),
    ],
)
def test_an_address_becomes_one_that_can_be_sent(url: str, expected: str):
    assert urls.to_fetchable(url) == expected
    assert urls.is_http_url(url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "courier.example/a",
        "/a/31",
        "ftp://courier.example/a",
        "mailto:desk@courier.example",
        "javascript:alert(1)",
        "urn:newsbeam:1-00",
        "http:///a",
        "http://",
        "https://.",
        "http://a b.example/",
        "http://courier..example/a",
        "http://courier.example:99999/",
        "http://[::1/",
        "http://[zz]/",
        "http://cou<rier.example/",
        "http://kestrel[bay.example/",
        "http://kestrel]bay.example/",
        "http://[kestrel.example]/",
        "http://[[::1]/",
        "http://[fe80::1%25eth0]/",
        "http://cou,rier.example/",
        "http://cou rier.example/",
        "http://cou\trier .example/",
        "http://cou\u00a0rier.example/",
        "http://cou%20rier.example/",
        "http://-.\u200b.example/",
        "http://a.-\ufffd.example/",
        "http://courier.example:65536/",
        "http://courier.example:0/",
        "http://courier.example:000/",
        "http://courier.example:8o/",
        "http://courier.example:-1/",
        "http://courier.example:" + "9" * 4000 + "/",
        "http://:80/",
        "http://reader@/",
        "http://reader:secret@:80/",
        "http://courier.example/a\x00b",
        "http://courier.example/a?b=\x1b[31m",
        "http://courier.example/a\x7fb",
        "http://courier.example/a\x9b31m",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "https://courier.example/" + "a" * urls.URL_LENGTH_LIMIT,
    ],
)
def test_what_is_no_web_address_cannot_be_fetched(text: str):
    assert urls.to_fetchable(text) is None
    assert not urls.is_http_url(text)


@pytest.mark.parametrize(
    ("url", "sent", "shown"),
    [
        ("https://me:pass@courier.example/a@b", "https://courier.example/a@b", "https://courier.example/a@b"),
        ("https://me@x:pass@courier.example/", "https://courier.example/", "https://courier.example/"),
        ("https://me:p[ass@courier.example/", "https://courier.example/", "https://courier.example/"),
        ("https://:pass@courier.example", "https://courier.example/", "https://courier.example"),
        ("https:\\\\me:pass@courier.example/", "https://courier.example/", "https:\\\\courier.example/"),
        ("ht\ntps://me:pa\tss@courier.example/", "https://courier.example/", None),
        ("https://courier.example/@writer/1", "https://courier.example/@writer/1", "https://courier.example/@writer/1"),
        ("https://courier.example:80/@a", "https://courier.example:80/@a", "https://courier.example:80/@a"),
        (
            "https://courier.example/?q=a:b@c&d",
            "https://courier.example/?q=a:b@c&d",
            "https://courier.example/?q=a:b@c&d",
        ),
        ("https://[::1]:80/@a", "https://[::1]:80/@a", "https://[::1]:80/@a"),
        ("https://me:pa/ss@courier.example/", None, "https://***@courier.example/"),
        ("https://me:pa?ss#1@courier.example/", None, "https://***@courier.example/"),
        ('{"url": "https:\\/\\/me:pass@courier.example"}', None, '{"url": "https:\\/\\/courier.example"}'),
        ("ftp://me:pass@courier.example/a, b", None, "ftp://courier.example/a, b"),
        ("me:pass@courier.example/a", None, "***@courier.example/a"),
        ("mailto:desk@courier.example", None, "mailto:desk@courier.example"),
        ("see https://courier.example: or ask desk@courier.example", None, None),
    ],
)
def test_a_login_is_neither_sent_nor_shown(url: str, sent: str | None, shown: str | None):
    assert urls.to_fetchable(url) == sent
    if shown is not None:
        assert urls.safe_to_show(url) == shown
    if "pass" in url and sent:
        assert urls.has_login(url)


def test_a_text_full_of_half_logins_is_cleaned_in_time():
    for text in ("https://a:" * 400, "://" * 1300, "a:b" * 1300, ":" * 4000, "https://a:b" + "/" * 4000):
        started_s = time.perf_counter()
        urls.safe_to_show(text + "@")
        assert time.perf_counter() - started_s < 1


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("https://www.courier.example/a", "www.courier.example", "courier.example"),
        ("https://news.bbc.co.uk/a", "news.bbc.co.uk", "bbc.co.uk"),
        ("https://WWW.City.Kawasaki.jp/a", "www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("https://a.b.kawasaki.jp/", "a.b.kawasaki.jp", "a.b.kawasaki.jp"),
        ("https://writer.github.io/", "writer.github.io", "writer.github.io"),
        ("https://desk.bücher.example/", "desk.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("https://新聞.公司.cn/", "xn--efvv70d.xn--55qx5d.cn", "xn--efvv70d.xn--55qx5d.cn"),
        ("http://127.0.0.2:8000/feed", "127.0.0.2", "127.0.0.2"),
        ("http://[::1]:8000/feed", "[::1]", "[::1]"),
        ("http://localhost:8000/", "localhost", "localhost"),
        ("http://co.uk/", "co.uk", "co.uk"),
        ("urn:newsbeam:1-00", "", ""),
    ],
)
def test_host_and_registrable_domain(url: str, host: str, domain: str):
    assert urls.host_of(url) == host
    assert urls.domain_of(url) == domain


def test_the_rules_that_acted_are_told():
    url = "http://www.courier.example:80/a/?b=1&utm_source=x&fbclid=y&a=2#top"
    form, rules = urls.explain_normal_form(url)
    assert form == "https://courier.example/a?a=2&b=1"
    assert rules == (
        "scheme",
        "sub_host:www",
        "default_port",
        "trailing_slash",
        "tracking:utm_source,fbclid",
        "query_order",
        "fragment",
    )
    assert urls.explain_normal_form(form) == (form, ())


def test_an_address_that_is_none_is_its_own_normal_form():
    assert urls.normal_form(" urn:newsbeam:1-00 ") == "urn:newsbeam:1-00"


def test_the_id_of_a_text_does_not_depend_on_white_space():
    assert urls.article_id_of_text("One two.\n\nThree") == urls.article_id_of_text(" One  two. Three\n")
    assert urls.article_id_of_text("One two.") != urls.article_id_of_text("One three.")


PAGE = "https://www.courier.example/news/2026/beds-for-forty-more"


@pytest.mark.parametrize(
    ("canonical", "page"),
    [
        (PAGE, PAGE),
        ("https://courier.example/news/2026/beds-for-forty-more/", PAGE + "?utm_source=x"),
        ("https://courier.example/news/2026/beds-for-forty-more", "https://courier.example/?p=77"),
        ("https://courier.example/brexit", "https://courier.example/?p=77"),
        ("https://courier.example/news/beds-for-all-of-us", "https://m.courier.example/n/31415"),
        ("https://courier.example/a/31", "https://courier.example/a/31?ref=home"),
        ("https://courier.example/story.php?id=31", "https://courier.example/story.php?id=31&view=full"),
        ("https://sport.courier.example/cup-final-goes-north", "https://courier.example/sport/31415"),
        (PAGE, "https://www-courier-example.cdn.ampproject.org/c/s/www.courier.example/x/31415"),
        (PAGE, ""),
        (PAGE, "urn:newsbeam:1-00"),
    ],
)
def test_a_canonical_address_is_believed_if_it_names_the_story(canonical: str, page: str):
    assert urls.is_plausible_canonical(canonical, page)


@pytest.mark.parametrize(
    ("canonical", "page"),
    [
        ("https://www.courier.example/", PAGE),
        ("https://www.courier.example", ""),
        ("https://www.courier.example/index.html", PAGE),
        ("https://www.courier.example/news", PAGE),
        ("https://www.courier.example/news/2026/", PAGE),
        ("https://www.courier.example/sport", PAGE),
        ("https://courier.example/story.php", "https://courier.example/story.php?id=31"),
        ("https://wire.example/news/2026/beds-for-forty-more", PAGE),
        ("https://courier.example/news/beds-for-forty-more", "http://127.0.0.2:8000/page"),
        ("/news/2026/beds-for-forty-more", PAGE),
        ("javascript:void(0)", PAGE),
        ("https:///news", PAGE),
        ("", PAGE),
    ],
)
def test_a_canonical_address_is_not_believed_if_it_may_be_of_many_stories(canonical: str, page: str):
    assert not urls.is_plausible_canonical(canonical, page)
