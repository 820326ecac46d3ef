"""Which addresses may be asked: expected values from the IANA registries and the URL Standard."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.fetch.addresses import (
    Refused,
    Target,
    check_url,
    goes_past_proxy,
    host_of,
    is_allowed_address,
    is_loopback_host,
)
from transforms.urls import without_logins

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8: all there is in a network with IPv6 only
    "::ffff:8.8.8.8",
]
REFUSED = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255"),
    *("127.0.0.1", "127.255.255.254", "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.192"),
    *("192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.7"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::8.8.8.8"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::1"),
    *("2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254"),
    *("fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1", "5f00::1", "100::1"),
    *("", "localhost", "0177.0.0.1", "127.1", "2130706433", "0x7f000001", "1.2.3.4 ", "1.2.3.4/8"),
]


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_are_allowed(ip: str) -> None:
    assert is_allowed_address(ip)


@pytest.mark.parametrize("ip", REFUSED)
def test_other_addresses_are_refused(ip: str) -> None:
    assert not is_allowed_address(ip)


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.8.9.10", "::1"])
def test_loopback_opens_on_request(ip: str) -> None:
    assert is_allowed_address(ip, allow_loopback=True)


@pytest.mark.parametrize("ip", [ip for ip in REFUSED if not ip.startswith("127.") and ip != "::1"])
def test_the_request_for_loopback_opens_nothing_else(ip: str) -> None:
    assert not is_allowed_address(ip, allow_loopback=True)


@given(st.ip_addresses(v=4))
def test_what_the_standard_library_calls_private_is_refused_in_every_dress(ip: ipaddress.IPv4Address) -> None:
    embedded = [f"::ffff:{ip}", f"64:ff9b::{ip}"]
    if not ip.is_global or ip.is_multicast:
        assert not any(is_allowed_address(text) for text in [str(ip), *embedded])
    assert not is_allowed_address(f"::{ip}")
    assert len({is_allowed_address(text) for text in [str(ip), *embedded]}) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://0177.0.0.01:8080/x",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1./",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://news.localhost/",
        "http:\\\\127.0.0.1\\admin",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",  # 169.254.169.254
        "http://metadata.google.internal/",
        "http://printer.local/",
        "http://intranet/",
        "http://router.home.arpa/",
    ],
)
def test_spellings_of_inner_hosts_are_blocked(url: str) -> None:
    checked = check_url(url)
    assert isinstance(checked, Refused)
    assert checked.outcome == "blocked_address"


@pytest.mark.parametrize("url", ["http://127.0.0.2/", "http://[::1]/", "http://localhost/"])
def test_a_refusal_of_this_machine_names_the_flag(url: str) -> None:
    checked = check_url(url)
    assert isinstance(checked, Refused)
    assert "--allow-loopback" in checked.detail


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://printer.local/"])
def test_a_refusal_that_no_flag_lifts_names_none(url: str) -> None:
    checked = check_url(url)
    assert isinstance(checked, Refused)
    assert "--allow" not in checked.detail


@pytest.mark.parametrize(
    "url",
    [
        "",
        "news",
        "//news.example/a",
        "ftp://news.example/a",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///a",
        "http://news.example:22/",
        "http://news.example:25/",
        "http://news.example:6379/",
        "http://news.example:65536/",
        "http://1.2.3.4.5/",
        "http://256.0.0.1/",
        "http://1.2.3.08/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://reader:secret@news.example/",
        "http://reader@news.example/",
        "http://news.example/" + "a" * 2048,
        "http://news.example/" + "ü" * 400,
    ],
)
def test_what_is_no_usable_address_is_a_bad_url(url: str) -> None:
    checked = check_url(url)
    assert isinstance(checked, Refused)
    assert checked.outcome == "bad_url"
    assert "secret" not in checked.detail


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("http://news.example", "http://news.example/"),
        ("HTTPS://News.Example:443/A?b=C#frag", "https://news.example/A?b=C"),
        ("http://news.example:8080/a", "http://news.example:8080/a"),
        ("http://bücher.example/straße?ort=köln", "http://xn--bcher-kva.example/stra%C3%9Fe?ort=k%C3%B6ln"),
        ("http://news.example/a b|c", "http://news.example/a%20b%7Cc"),
        ("http://news.example/a%20b%2Fc", "http://news.example/a%20b%2Fc"),
        ("  http://news.example/a\n", "http://news.example/a"),
        ("http://news.example/a/../b/./c", "http://news.example/b/c"),
        ("http://news.example//a//b", "http://news.example//a//b"),
        ("http://news.example?a=1", "http://news.example/?a=1"),
        ("http://my_site.news.example./", "http://my_site.news.example/"),
        ("http://[2606:4700:4700::1111]:8080/", "http://[2606:4700:4700::1111]:8080/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://news.example\\@127.0.0.1:9/", "http://news.example/@127.0.0.1:9/"),
        ("http://news.example/@writer/story", "http://news.example/@writer/story"),
    ],
)
def test_an_address_is_brought_into_the_form_that_is_sent(url: str, sent: str) -> None:
    checked = check_url(url)
    assert isinstance(checked, Target)
    assert checked.url == sent
    assert check_url(sent) == checked


def test_a_target_knows_its_parts() -> None:
    target = check_url("https://[::1]:8443/a?b", allow_loopback=True)
    assert target == Target("https://[::1]:8443/a?b", "https", "::1", 8443, "/a?b")
    assert isinstance(target, Target)
    assert target.authority == "[::1]:8443"
    assert target.origin == "https://[::1]:8443"


@given(st.text(max_size=80))
def test_no_text_makes_the_check_fail(text: str) -> None:
    for url in (text, f"http://{text}", f"http://news.example/{text}", f"http://news.example:{text}/"):
        checked = check_url(url)
        if isinstance(checked, Target):
            assert checked.url.isascii()
            assert check_url(checked.url) == checked


@pytest.mark.parametrize(
    ("host", "no_proxy", "direct"),
    [
        ("intranet.example", ["intranet.example"], True),
        ("a.intranet.example", ["intranet.example"], True),
        ("a.intranet.example", [".intranet.example"], True),
        ("a.intranet.example", ["*.intranet.example"], True),
        ("notintranet.example", ["intranet.example"], False),
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("fd00::1", ["fd00::/8", "x"], True),
        ("news.example", ["*"], True),
        ("news.example", ["", ".", "10.0.0.0/8"], False),
    ],
)
def test_no_proxy_takes_hosts_domains_and_networks(host: str, no_proxy: list[str], direct: bool) -> None:
    assert goes_past_proxy(host, no_proxy) is direct


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://me:pass@news.example/a@b", "https://news.example/a@b"),
        ("https://me@x:p@news.example/", "https://news.example/"),
        ("https://news.example/?q=a@b", "https://news.example/?q=a@b"),
        ("https:\\\\me:pass@news.example", "https:\\\\news.example"),
        ("nonsense", "nonsense"),
    ],
)
def test_credentials_are_taken_out_of_addresses(url: str, clean: str) -> None:
    assert without_logins(url) == clean


def test_hosts_are_named_for_the_gate() -> None:
    assert host_of("http://News.Example:8080/a") == "news.example"
    assert host_of("http://[::1]:8080/a") == "::1"
    assert host_of("mailto:a@b.example") == ""


def test_loopback_hosts_are_told_by_their_spelling() -> None:
    assert all(map(is_loopback_host, ("localhost", "a.localhost", "127.0.0.2", "[::1]", "::1")))
    assert not any(map(is_loopback_host, ("", "news.example", "10.0.0.1", "localhost.example", "::2")))
