from __future__ import annotations

import pytest

from transforms.feeds.classify import classify


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("<rss version='2.0'>", "rss"),
        ("<?xml version='1.0'?>\n<!-- html --><?xml-stylesheet href='x'?><rss>", "rss"),
        ("<!DOCTYPE rss PUBLIC '-//x' 'y'><RSS>", "rss"),
        ("Notice: <b>html</b> is odd<br/><feed xmlns='x'>", "atom"),
        ("<atom:feed>", "atom"),
        ("<rdf:RDF>", "rdf"),
        ("<channel><item/></channel>", "rss"),
        ("<entry><id>x</id></entry>", "atom"),
        ("<urlset>", "sitemap"),
        ("<sitemapindex>", "sitemap_index"),
        ("<opml version='2.0'>", "opml"),
        ("<!doctype HTML>\n<p><rss>", "html"),
        ("<html><body><rss>", "html"),
        ("<head><title>x</title>", "html"),
        ("<script>x</script>", "html"),
        ("<note><body>x</body><channel/></note>", "unknown"),
        ('{"version": 1}', "json"),
        ("[1]", "json"),
        ("plain words", "unknown"),
        ("<!-- <rss> never closed", "unknown"),
    ],
)
def test_kind_by_the_first_element(text: str, kind: str) -> None:
    assert classify(text.encode()).name == kind


def test_start_is_where_the_first_element_begins() -> None:
    text = b"<?xml version='1.0'?><!-- <feed> --><rss></rss>"
    assert text[classify(text).start :] == b"<rss></rss>"
