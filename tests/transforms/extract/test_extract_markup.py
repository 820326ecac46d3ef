"""What happens to the tree before and beside extraction: teasers, spacing, recovery, standfirst, deep nesting."""

from __future__ import annotations

import pytest
from extract_examples import HEADLINE, PARAGRAPHS
from lxml import etree
from lxml.html import HtmlElement

from transforms.extract.page import parse_tree, read_page
from transforms.extract.plain import fragment_text, split_feed_tail
from transforms.extract.recover import recover_paragraphs
from transforms.extract.region import article_region
from transforms.extract.spacing import part_words
from transforms.extract.standfirst import find_standfirst
from transforms.extract.state import state_text
from transforms.extract.teasers import drop_link_teasers


def tree_of(body: str, head: str = "") -> HtmlElement:
    tree = parse_tree(f"<html><head>{head}</head><body>{body}</body></html>".encode())
    assert tree is not None
    return tree


def text_in(tree: HtmlElement) -> str:
    return " ".join("".join(tree.itertext()).split())


@pytest.mark.parametrize(
    "teaser",
    [
        '<p><a href="/a">Divers find an older quay below the new one</a></p>',
        '<p><a href="/a"><strong>MAYOR CALLS FERRY PLAN A DISASTER</strong></a></p>',
        '<div><a href="/a">MAYOR CALLS FERRY PLAN A DISASTER</a></div>',
        '<p><em>Related: <a href="/a">Oxmere vote delayed</a></em></p>',
        '<div class="x"><span>Lesen Sie auch: <a href="/a">Die Fähre fährt wieder</a></span></div>',
        '<ul><li><a href="/a">Divers find an older quay</a></li><li><a href="/b">Mayor calls the ferry a disaster</a></li></ul>',
    ],
)
def test_blocks_that_are_only_links_to_other_stories_go(teaser):
    tree = tree_of(f"<p>{PARAGRAPHS[0]}</p>{teaser}<p>{PARAGRAPHS[1]}</p>")
    assert drop_link_teasers(tree)
    assert text_in(tree) == f"{PARAGRAPHS[0]}{PARAGRAPHS[1]}"


@pytest.mark.parametrize(
    "block",
    [
        '<p>The council, which <a href="/a">voted on Tuesday</a>, gave no reason.</p>',
        '<ul><li>Fares: as before</li><li>First boat: <a href="/a">six</a></li></ul>',
        '<h2><a href="/a">What the divers found</a></h2>',
        '<p>He wrote on <a href="/a">NATO</a> and the <a href="/b">BBC</a>.</p>',
    ],
)
def test_sentences_with_links_stay(block):
    tree = tree_of(f"<p>{PARAGRAPHS[0]}</p>{block}")
    before = text_in(tree)
    assert drop_link_teasers(tree) == []
    assert text_in(tree) == before


def test_text_after_a_teaser_is_kept():
    tree = tree_of('<div>Before <p><a href="/a">Divers find an older quay</a></p> after</div>')
    drop_link_teasers(tree)
    assert text_in(tree) == "Before after"


def test_words_that_only_markup_parts_are_parted():
    tree = tree_of(
        "<div><span>Oxmere</span><span>4 March</span></div><div>The storm passed.<div>Boats sail.</div></div>"
    )
    part_words(tree)
    assert text_in(tree) == "Oxmere 4 MarchThe storm passed. Boats sail."


def test_a_drop_cap_stays_joined():
    tree = tree_of("<p><span>T</span><span>he storm passed on the 2</span><span>nd.</span></p>")
    part_words(tree)
    assert text_in(tree) == "The storm passed on the 2nd."


def split_story() -> str:
    half = [f'<p class="b">{text}</p>' for text in PARAGRAPHS]
    return (
        f'<section><div class="col"><div class="body">{"".join(half[:3])}</div></div></section>'
        "<section><p>Shop our calendar of old ferries today</p></section>"
        f'<section><div class="col"><div class="body">{"".join(half[3:])}</div></div></section>'
    )


def test_paragraphs_of_the_same_make_are_recovered_in_order():
    other = "\n\n".join([*PARAGRAPHS[:3], "Shop our calendar of old ferries today", *PARAGRAPHS[3:]])
    assert recover_paragraphs(tree_of(split_story()), "\n".join(PARAGRAPHS[:3]), other) == "\n".join(PARAGRAPHS)


def test_nothing_is_recovered_that_the_second_opinion_lacks():
    text = "\n".join(PARAGRAPHS[:3])
    assert recover_paragraphs(tree_of(split_story()), text, text) == text


LONG = tuple(f"{text} {text}" for text in PARAGRAPHS)


def body_of(paragraphs: tuple[str, ...], name: str = "article-body") -> str:
    return f'<div class="{name}">{"".join(f"<p>{text}</p>" for text in paragraphs)}</div>'


def test_the_body_is_the_part_that_is_named_so_with_the_most_text():
    tree = tree_of(f"<p>Outside</p>{body_of(('Teaser of another story',), 'post-content')}{body_of(LONG)}<p>After</p>")
    region = article_region(tree)
    assert region is not None
    assert text_in(region) == "".join(LONG)
    assert "Outside" in text_in(tree)


def test_a_body_in_parts_is_whole_within_its_article_only():
    own = f"<article>{body_of(LONG[:3])}<div>Advert</div>{body_of(LONG[3:])}</article>"
    next_one = f"<article>{body_of(('The next story of an endless page',))}</article>"
    region = article_region(tree_of(own + next_one))
    assert region is not None
    assert text_in(region) == "".join(LONG)


def test_without_a_named_body_the_first_article_counts():
    region = article_region(tree_of(f"<article>{''.join(f'<p>{text}</p>' for text in LONG)}</article><p>After</p>"))
    assert region is not None
    assert text_in(region) == "".join(LONG)
    assert article_region(tree_of("".join(f"<p>{text}</p>" for text in LONG))) is None
    assert article_region(tree_of(body_of(PARAGRAPHS[:1]))) is None


def test_the_standfirst_is_found_by_the_description_or_beside_the_headline():
    standfirst = "After two winters of waiting, the boats to Oxmere will cross again."
    story = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
    text = "\n".join(PARAGRAPHS)
    described = tree_of(f"<h1>{HEADLINE}</h1><div><div>{standfirst}</div></div><div>{story}</div>")
    assert find_standfirst(described, text, (standfirst,)) == standfirst
    marked = tree_of(
        f'<header><h1>{HEADLINE}</h1><p class="article-standfirst">{standfirst}</p></header><div>{story}</div>'
    )
    assert find_standfirst(marked, text, ()) == standfirst
    assert find_standfirst(described, f"{standfirst}\n{text}", (standfirst,)) is None
    elsewhere = tree_of(f"<h1>{HEADLINE}</h1><div>{story}</div><aside><p>{standfirst}</p></aside>")
    assert find_standfirst(elsewhere, text, (standfirst,)) is None


def test_what_lies_in_a_tower_of_elements_is_not_lost():
    tree = parse_tree(
        b"<html><body>" + b"<div>" * 3000 + b"<p>The quay is open.</p>" + b"</div>" * 3000 + b"</body></html>"
    )
    assert tree is not None
    assert text_in(tree) == "The quay is open."


@pytest.mark.parametrize(
    "html", [b'<!DOCTYPE html PUBLIC "-//W3C//DTD/x" /><p>Quay</p>', b"<html lang='en' /><p>Quay</p>", b"<p>Quay"]
)
def test_faulty_starts_are_read(html):
    tree = parse_tree(html)
    assert tree is not None
    assert text_in(tree) == "Quay"


def test_the_head_is_read_once_and_whole():
    head = (
        '<title>Quay</title><link rel="canonical" href="https://a.example/x"><meta property="og:title" content="Quay &amp; sea">'
        '<meta name="AUTHOR" content="Ada"><meta name="author" content="Ivo"><script type="application/ld+json">{"@type":"Article"}</script>'
    )
    page = read_page(tree_of('<h1>One</h1><time itemprop="datePublished" datetime="2026-03-04">x</time>', head))
    assert page.meta("missing", "og:title") == "Quay & sea"
    assert page.metas["author"] == ["Ada", "Ivo"]
    assert (page.title_tag, page.canonical_link) == ("Quay", "https://a.example/x")
    assert page.properties["datepublished"] == ["2026-03-04"]
    assert page.times[0].is_publication
    assert len(page.graph.articles()) == 1


def test_text_in_the_state_of_a_script_application():
    markup = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
    import json

    once = json.dumps({"body": markup}).replace("<", "\\u003c")
    page = f"<html><body><div id='app'></div><script>window.state = {once};</script></body></html>"
    assert state_text(page.encode()) == "\n".join(PARAGRAPHS)
    twice = json.dumps(["1", once])
    assert state_text(f"<script>push({twice})</script><p></p>".encode()) == "\n".join(PARAGRAPHS)
    assert state_text(b"<html><body><p>Quay</p><script>var a = '<p>x</p>'</script></body></html>") == ""


def test_a_fragment_gives_its_blocks_as_lines():
    tree = tree_of(
        "<p>One <b>two</b></p>three<br>four<ul><li>five</li></ul><figure><figcaption>no</figcaption></figure><script>no</script>"
    )
    assert fragment_text(tree) == "One two\nthree\nfour\nfive"


@pytest.mark.parametrize(
    ("text", "kept", "is_cut"),
    [
        ("A.\nThe post Quay opens appeared first on Brackwater Post.", "A.", False),
        ("A.\nContinue reading...", "A.", True),
        ("A boat […]", "A boat […]", True),
        ("A boat sailed.", "A boat sailed.", False),
        ("Read more", "Read more", True),
    ],
)
def test_the_tail_of_a_feeds_text(text, kept, is_cut):
    assert split_feed_tail(text) == (kept, is_cut)


def test_the_tree_is_not_changed_by_reading_it():
    tree = tree_of(split_story(), "<title>x</title>")
    before = etree.tostring(tree)
    read_page(tree)
    recover_paragraphs(tree, "\n".join(PARAGRAPHS[:3]), "\n".join(PARAGRAPHS))
    article_region(tree)
    find_standfirst(tree, "\n".join(PARAGRAPHS), ("After two winters of waiting, the boats will cross again.",))
    assert etree.tostring(tree) == before
