"""``newsbeam explain --url``: expectations worked out by hand from the rules, the ids with ``sha256sum``."""

from __future__ import annotations

import json

import pytest

from pipeline.cli import main
from pipeline.explain_url import RULES, explain_url

# printf %s https://harbour.example/a/1 | sha256sum | head -c 32
HARBOUR = "1-97c4b89f40c3502dbaf3e7602dd41692"


@pytest.mark.parametrize(
    ("url", "form", "rules"),
    [
        ("https://harbour.example/a/1", "https://harbour.example/a/1", []),
        ("http://harbour.example/a/1", "https://harbour.example/a/1", ["scheme"]),
        ("https://Harbour.Example:443/a/1", "https://harbour.example/a/1", ["host_spelling", "default_port"]),
        ("https://www.m.harbour.example/a/1/", "https://harbour.example/a/1", ["sub_host:www.m", "trailing_slash"]),
        ("https://ann:pw@harbour.example/a/./x/../1", "https://harbour.example/a/1", ["user_info", "dot_segments"]),
        ("https://harbour.example//a/1;jsessionid=A9", "https://harbour.example/a/1", ["session_id", "double_slash"]),
        (
            "https://harbour.example/%61/1?utm_source=n&fbclid=Q#top",
            "https://harbour.example/a/1",
            ["percent_encoding", "tracking:utm_source,fbclid", "fragment"],
        ),
        (
            "https://harbour.example/beds-for-all.amp.html",
            "https://harbour.example/beds-for-all.html",
            ["amp"],
        ),
        (
            "https://harbour-example.cdn.ampproject.org/c/s/harbour.example/a/1",
            "https://harbour.example/a/1",
            ["amp_cache"],
        ),
        ("https://harbour.example/?p=8&b=1", "https://harbour.example/?b=1&p=8", ["query_order"]),
        ("https://harbour.example/#!/a/1", "https://harbour.example/#!/a/1", []),
        ("https://harbour.example/story.php?id=101", "https://harbour.example/story.php?id=101", []),
        ("https://hafen-bühne.example/a", "https://xn--hafen-bhne-geb.example/a", ["host_spelling"]),
    ],
)
def test_an_address_is_explained_by_the_rules_that_acted_in_order(url, form, rules):
    explained = explain_url(url)
    assert explained.error == ""
    assert explained.canonical_form == form
    assert list(explained.rules) == rules
    assert {rule.partition(":")[0] for rule in explained.rules} <= set(RULES)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "no http:// or https:// in front"),
        ("harbour.example/a", "no http:// or https:// in front"),
        ("harbour.example:8080/a", "no http:// or https:// in front"),
        ("ftp://harbour.example/a", "ftp: is no web address"),
        ("mailto:desk@harbour.example", "mailto: is no web address"),
        ("http://", "its host or port cannot be used"),
        ("https://harbour.example:99999/", "its host or port cannot be used"),
        ("https://a b.example/", "its host or port cannot be used"),
        ("https://harbour.example/" + "a" * 5000, "longer than 4,096 characters"),
    ],
)
def test_what_is_no_address_says_why(url, why):
    explained = explain_url(url)
    assert why in explained.error
    assert explained.article_id == ""


def test_all_spellings_are_told_with_one_id_and_the_rules_by_name(capsys):
    assert main(["explain", "--url", "http://www.harbour.example/a/1#c", "https://harbour.example/a/1"]) == 0
    told = capsys.readouterr()
    assert told.out.count(HARBOUR) == 2
    rules = [line.removeprefix("  rules").split()[0] for line in told.out.splitlines() if "   " in line][2:5]
    assert rules == ["scheme", "sub_host:www", "fragment"]
    assert "none: it is its own canonical form" in told.out
    assert told.err == ""


def test_a_bad_address_is_one_line_and_exit_1_and_the_others_are_explained(capsys):
    assert main(["explain", "--json", "--url", "ftp://harbour.example/a", "https://harbour.example/a/1"]) == 1
    told = capsys.readouterr()
    bad, good = map(json.loads, told.out.splitlines())
    assert set(bad) == {"url", "error"}
    assert good == {
        "url": "https://harbour.example/a/1",
        "fetched": "https://harbour.example/a/1",
        "canonical_form": "https://harbour.example/a/1",
        "article_id": HARBOUR,
        "host": "harbour.example",
        "domain": "harbour.example",
        "rules": [],
    }
    assert told.err.splitlines() == [
        "newsbeam: ftp://harbour.example/a: ftp: is no web address; only http and https are"
    ]


@pytest.mark.parametrize("words", [[], ["seeds/council-vote.txt", "--url", "https://harbour.example/"]])
def test_a_document_and_addresses_exclude_each_other_and_one_is_needed(words, capsys):
    assert main(["explain", *words]) == 2
    assert "explain wants a FILE_OR_URL, or addresses after --url" in capsys.readouterr().err
