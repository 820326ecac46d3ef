"""Reads sitemaps, news sitemaps and sitemap indexes. See sitemaps.org and Google's news extension.

``lastmod`` says when a page changed, not when the story came out, so it never becomes a publication date.
A sitemap without news tags lists a whole site; the caller is told and decides.
"""

from __future__ import annotations

from lxml import etree

from transforms.feeds import plain
from transforms.feeds.model import ITEM_LIMIT, Link, RawFeed, RawItem
from transforms.feeds.xml_names import Fields, Names, text_of


def read_sitemap(root: etree._Element, kind: str) -> RawFeed:
    """Reads a ``urlset`` (kind sitemap) or a ``sitemapindex``, whose items are the sitemaps it lists."""
    names = Names(root)
    wanted = "url" if kind == "sitemap" else "sitemap"
    items: list[RawItem] = []
    has_news = False
    for element in root.iter():
        if names.of(element) != ("", wanted):
            continue
        fields = names.fields(element)
        news = next((names.fields(e) for e in fields.get(("news", "news"), [])), {})
        has_news = has_news or bool(news)
        items.append(_item(fields, news, names))
        if len(items) == ITEM_LIMIT:
            break
    warnings = ("no_news_tags",) if kind == "sitemap" and items and not has_news else ()
    publication = next((item.authors[0] for item in items if item.authors), None)
    return RawFeed(
        kind,
        title=publication,
        items=tuple(item._replace(authors=()) for item in items),
        warnings=warnings,
    )


def _item(fields: Fields, news: Fields, names: Names) -> RawItem:
    """An entry; ``authors`` holds the name of the publication for a moment."""
    publication = next((names.fields(e) for e in news.get(("news", "publication"), [])), {})
    images = next((names.fields(e) for e in fields.get(("image", "image"), [])), {})
    keywords = _text(news, "news", "keywords")[:2000].split(",")
    name = _text(publication, "news", "name")
    return RawItem(
        links=tuple(Link(address) for address in [_text(fields, "", "loc")] if address),
        title=plain.headline(_text(news, "news", "title")),
        published=tuple(filter(None, [_text(news, "news", "publication_date")])),
        updated=tuple(filter(None, [_text(fields, "", "lastmod")])),
        categories=tuple(dict.fromkeys(word.strip() for word in keywords if word.strip()))[:50],
        image_url=_text(images, "image", "loc") or None,
        language=_text(publication, "news", "language") or None,
        authors=(name[:200],) if name else (),
    )


def _text(fields: Fields, space: str, name: str) -> str:
    return text_of(fields[space, name][0]).strip() if (space, name) in fields else ""
