"""Two readings of one document made into one: ours decides, feedparser's fills what ours has not.

Texts are filled only where the item has no podcast or media elements, because feedparser may have taken a
caption for them. If feedparser finds entries where we find fewer, its entries are taken.
"""

from __future__ import annotations

from transforms.feeds.model import RawFeed, RawItem


def fill_gaps(ours: RawFeed, theirs: RawFeed | None) -> RawFeed:
    """Returns our reading with its gaps filled."""
    if theirs is None:
        return ours
    warnings = ours.warnings
    if len(theirs.items) > len(ours.items):
        items = theirs.items
        warnings = (*warnings, "second_reader")
    elif len(theirs.items) == len(ours.items):
        items = tuple(_filled(mine, other) for mine, other in zip(ours.items, theirs.items, strict=True))
    else:
        items = ours.items
    return ours._replace(
        title=ours.title or theirs.title,
        description=ours.description or theirs.description,
        language=ours.language or theirs.language,
        links=ours.links or theirs.links,
        items=items,
        warnings=warnings,
    )


def _filled(mine: RawItem, other: RawItem) -> RawItem:
    if mine.title and other.title and mine.title[:20] != other.title[:20] and mine.id != other.id:
        return mine  # not the same entry
    has_text = mine.summary_html or mine.content_html or mine.image_caption or mine.image_url
    return mine._replace(
        id=mine.id or other.id,
        links=mine.links or other.links,
        title=mine.title or other.title,
        summary_html=mine.summary_html if has_text else other.summary_html,
        authors=mine.authors or other.authors,
        published=mine.published or (other.published if not mine.updated else ()),
        categories=mine.categories or other.categories,
        enclosures=mine.enclosures or other.enclosures,
        language=mine.language or other.language,
    )
