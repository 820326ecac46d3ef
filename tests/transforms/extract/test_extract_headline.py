import pytest

from transforms.extract.headline import choose_headline, plain, strip_site_name
from transforms.extract.page import parse_tree, read_page

HEADLINE = "Ferry landing reopens after winter storm"
SITE = ("Brackwater Post", "brackwater-post.example")


def choose(body: str, head: str = "", declared: str | None = None, announced: str | None = None):
    tree = parse_tree(f"<html><head>{head}</head><body>{body}</body></html>".encode())
    return choose_headline(read_page(tree), declared, SITE, announced)


def test_the_heading_that_agrees_with_the_head_wins():
    body = f"<h1>Brackwater Post</h1><div><h1>{HEADLINE}</h1></div><h1>Newsletter</h1>"
    assert choose(body, f'<meta property="og:title" content="{HEADLINE} | Brackwater Post">') == (HEADLINE, "h1")


def test_a_menu_in_a_heading_is_no_headline():
    assert choose("<h1>Main menu</h1>", f"<title>{HEADLINE} - Brackwater Post</title>") == (HEADLINE, "title_tag")


def test_without_a_heading_the_declared_headline_counts():
    assert choose("", f"<title>Brackwater Post: {HEADLINE}</title>", declared=HEADLINE) == (HEADLINE, "json_ld")


def test_a_heading_of_the_breadcrumb_trail_is_left_aside():
    body = '<nav class="x"><h1>A shorter headline in the trail</h1></nav>'
    assert choose(body, "<title>A shorter headline in the trail</title>", declared=HEADLINE) == (HEADLINE, "json_ld")


def test_the_kicker_is_no_part_of_the_headline():
    body = f'<h1><span class="title__kicker">Harbour</span> <span>{HEADLINE}</span></h1>'
    assert choose(body, f'<meta property="og:title" content="{HEADLINE}">') == (HEADLINE, "h1")


def test_the_kicker_stays_if_the_head_counts_it_in():
    body = f'<h1><span class="title__kicker">Harbour</span> <span>{HEADLINE}</span></h1>'
    assert choose(body, declared=f"Harbour: {HEADLINE}")[0] == f"Harbour: {HEADLINE}"


def test_the_feeds_title_helps_to_choose_the_heading():
    assert choose(f"<h1>Welcome aboard</h1><h1>{HEADLINE}</h1>", announced=HEADLINE) == (HEADLINE, "h1")


def test_a_page_without_any_title_has_none():
    assert choose("<p>text</p>") == (None, "none")


@pytest.mark.parametrize(
    "title",
    [f"{HEADLINE} | Brackwater Post", f"{HEADLINE} - Brackwater Post", f"{HEADLINE} – brackwater-post.example",
     f"Brackwater Post: {HEADLINE}", f"{HEADLINE} | The Brackwater Post", HEADLINE],
)  # fmt: skip
def test_the_name_of_the_site_is_taken_off(title):
    assert strip_site_name(title, SITE) == HEADLINE


@pytest.mark.parametrize("title", ["War and peace - a new reading", "Mayor: “The quay is open”", "Brackwater Post"])
def test_other_parts_of_a_title_stay(title):
    assert strip_site_name(title, SITE) == title


def test_entities_are_resolved_even_twice():
    assert plain("Fish &amp;amp; chips &quot;dear&quot;\u200b") == 'Fish & chips "dear"'
