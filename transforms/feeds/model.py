"""What a feed document says: as read (``Raw...``), and as the rest of the program takes it.

Every reader (XML, JSON, sitemap, feedparser) gives a ``RawFeed``; ``finish.py`` makes it a ``ParsedFeed``.
"""

from __future__ import annotations

from typing import NamedTuple

from transforms.dates import ParsedDate
from transforms.records import Entry, Reject


class Enclosure(NamedTuple):
    """A file that belongs to an entry. ``length`` in bytes, as announced."""

    url: str
    type: str | None = None
    length: int | None = None


class ScheduleHints(NamedTuple):
    """What a feed asks of those who poll it.

    Attributes:
        ttl_min: ``ttl`` of RSS 2.0, minutes.
        update_period_min: ``sy:updatePeriod`` divided by ``sy:updateFrequency``, minutes.
        skip_hours: Hours of the day in GMT, 0 to 23.
        skip_days: English names of days.
    """

    ttl_min: int | None = None
    update_period_min: int | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[str, ...] = ()


class FeedItem(NamedTuple):
    """One entry of a feed.

    Attributes:
        key: Identity inside the feed; see ``identity.item_keys``.
        id: guid or atom:id as written; ``None`` if it is empty.
        url: Absolute http(s) address; ``None`` if the entry has no usable one.
        title: Plain text; ``summary`` too.
        content_html: Full content, if the feed carries it.
        published_raw: As written, also if it could not be read; ``updated_raw`` too.
        warnings: Codes, such as ``published_unreadable`` or ``bad_link``.
        link_raw: The link as written, if ``url`` could not be made of it.
        image_caption: Text that belongs to the picture, not to the story.
        link_shared: Whether the page holds no story of its own: a front page, or one that several entries lead to.
    """

    key: str
    id: str | None = None
    url: str | None = None
    title: str | None = None
    summary: str | None = None
    content_html: str | None = None
    authors: tuple[str, ...] = ()
    published: ParsedDate | None = None
    published_raw: str | None = None
    updated: ParsedDate | None = None
    updated_raw: str | None = None
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    image_url: str | None = None
    language: str | None = None
    warnings: tuple[str, ...] = ()
    link_raw: str | None = None
    image_caption: str | None = None
    link_shared: bool = False


class ParsedFeed(NamedTuple):
    """A document as understood.

    Attributes:
        kind: rss, atom, rdf, json, sitemap, sitemap_index, html, empty or unknown.
        site_url: Address of the site that the feed belongs to.
        items: In the order of the document; at most ``ITEM_LIMIT``.
        warnings: Codes of what was odd or had to be repaired.
        image_title: Title of the channel's picture.
    """

    kind: str
    title: str | None = None
    description: str | None = None
    language: str | None = None
    site_url: str | None = None
    items: tuple[FeedItem, ...] = ()
    hints: ScheduleHints = ScheduleHints()
    warnings: tuple[str, ...] = ()
    image_title: str | None = None


class TakenItems(NamedTuple):
    """The entries of a document that a poll takes.

    Attributes:
        entries: Newest first, at most the limit.
        over_limit: The rest of those that are young enough, newest first.
        rejects: Items that cannot be entries.
        too_old: How many items were left aside for their age.
        keys: ``url_key`` of every item of the document that can be an entry, those of too old ones too.
    """

    entries: list[Entry]
    over_limit: list[Entry]
    rejects: list[Reject]
    too_old: int
    keys: tuple[str, ...] = ()


ITEM_LIMIT = 2000
"""Entries that are read of one document."""


class Link(NamedTuple):
    """A link of an entry as written; ``base`` is the ``xml:base`` around it."""

    href: str
    rel: str = "alternate"
    type: str | None = None
    length: str | None = None
    base: str = ""


class RawItem(NamedTuple):
    """An entry as written. Titles are plain text already; dates and links are as written, best first."""

    id: str | None = None
    links: tuple[Link, ...] = ()
    title: str | None = None
    summary_html: str | None = None
    content_html: str | None = None
    authors: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    image_url: str | None = None
    image_caption: str | None = None
    language: str | None = None


class RawFeed(NamedTuple):
    """A document as written."""

    kind: str
    title: str | None = None
    description: str | None = None
    language: str | None = None
    links: tuple[Link, ...] = ()
    image_title: str | None = None
    hints: ScheduleHints = ScheduleHints()
    items: tuple[RawItem, ...] = ()
    warnings: tuple[str, ...] = ()
