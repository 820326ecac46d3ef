"""The records that travel between the stages, in the order in which a piece of news becomes them.

``Entry`` (something was announced) -> ``Document`` (its bytes or text are here) -> ``Article`` (clean
text and metadata) -> ``TaggedArticle`` (topics with evidence). Beside them run the side records that
must reach the dataset too: ``Reject``, ``Fetch``, ``Alias`` and ``Tally``. Nothing here does I/O.
All times are aware datetimes in UTC unless a field says otherwise.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import NamedTuple


class RunContext(NamedTuple):
    """What every stage knows of the run; small, pickled into the DoFns.

    Attributes:
        run_id: ``<UTC start as YYYYMMDDTHHMMSSZ>-<6 hex>``; no dot in it.
        started_at: The run's start by the clock that schedules are judged by (``--now`` sets it).
        started_epoch_s: The real time of that start, seconds since 1970.
    """

    run_id: str
    started_at: datetime
    started_epoch_s: float

    def now(self) -> datetime:
        """Returns the present by the run's clock: ``started_at`` plus the time that has passed."""
        return self.started_at + timedelta(seconds=max(0.0, time.time() - self.started_epoch_s))


class FeedSource(NamedTuple):
    """A feed to poll, as the user configured it.

    Attributes:
        url: Its address.
        source_id: The user's id for the source; default: the host.
        source_name: What readers call the source.
        language: BCP 47 tag that the user declared.
        interval_s: Shortest time between two polls, seconds.
        time_zone: IANA zone or offset for dates without one; ``None`` means UTC.
        conditional: ``auto`` or ``never``: whether validators (ETag, Last-Modified) are sent.
        robots: Whether robots.txt is asked for the feed itself (pages always ask).
        tags: Folders or labels, for the user's own grouping.
    """

    url: str
    source_id: str
    source_name: str | None = None
    language: str | None = None
    interval_s: int = 900
    time_zone: str | None = None
    conditional: str = "auto"
    robots: bool = False
    tags: tuple[str, ...] = ()


class Entry(NamedTuple):
    """One announced piece of news: a feed item, a listed address, a record of a seed file.

    Attributes:
        url: Address as announced (absolute); ``None`` for a seed without one.
        url_key: ``urls.url_key(url)``; for a seed without address the sha256 of the record's bytes.
        entry_version: Hash of what the feed says of the entry (title, summary, updated); for seeds the
            sha256 of the record's bytes; ``None`` for a bare address.
        source_id: Id of the source.
        discovered_via: One of ``schema.DISCOVERED_VIA``.
        entry_id: The feed's own id (guid, atom:id), as written.
        title: Title as announced, plain text.
        summary: Teaser as announced, plain text.
        content_html: The feed's own full content, HTML, if it carries any.
        published_at, updated_at: Instants as announced; ``published_raw`` as written.
        published_zone_known: False if a default zone was applied.
        published_precision: One of ``schema.PRECISIONS``.
        language: BCP 47 tag as declared by feed, record or user.
        attempts: Failed fetches of this entry in earlier runs.
        first_failed_at: When the first of them was.
        rechecks: How often the page was fetched again to see corrections.
    """

    url: str | None
    url_key: str
    entry_version: str | None
    source_id: str
    discovered_via: str
    source_name: str | None = None
    feed_url: str | None = None
    entry_id: str | None = None
    title: str | None = None
    summary: str | None = None
    content_html: str | None = None
    authors: tuple[str, ...] = ()
    published_at: datetime | None = None
    published_raw: str | None = None
    published_zone_known: bool = False
    published_precision: str = "none"
    updated_at: datetime | None = None
    language: str | None = None
    categories: tuple[str, ...] = ()
    image_url: str | None = None
    attempts: int = 0
    first_failed_at: datetime | None = None
    rechecks: int = 0


class Document(NamedTuple):
    """An entry whose content is here, ready for extraction.

    Attributes:
        kind: ``page`` (HTML bytes), ``text`` (plain text of a seed) or ``feed_content`` (HTML bytes from the
            feed, because the page could not be had).
        body: The bytes: HTML as received (after content coding), or UTF-8 text.
        body_sha256: Hex sha256 of the bytes as they came (page body, seed file or seed line).
        content_type: Media type as declared, with its charset parameter.
        http_status: Of a fetched page.
        final_url: After redirects, if it differs from the entry's URL.
        fetched_at: When the bytes came; for seeds the run's start.
        raw_uri: Where the bytes lie: seed path, ``path#L12`` for a line; ``None`` for pages.
        warnings: Codes from reading, such as ``repaired_comma`` or ``page_failed:timeout``.
        x_robots_tag: The header of that name, which may hold ``noai``.
        tdm_reservation: The header of that name; ``1`` reserves the rights of text and data mining.
    """

    entry: Entry
    kind: str
    body: bytes
    body_sha256: str
    fetched_at: datetime
    content_type: str | None = None
    http_status: int | None = None
    final_url: str | None = None
    raw_uri: str | None = None
    warnings: tuple[str, ...] = ()
    x_robots_tag: str = ""
    tdm_reservation: str = ""


class LivePost(NamedTuple):
    """One post of a live blog."""

    at: datetime | None
    title: str | None
    text: str


class Boilerplate(NamedTuple):
    """A range of the text that is not part of the story; ``kind`` says what (``teaser``, ``promo`` ...)."""

    start: int
    end: int
    kind: str


class Article(NamedTuple):
    """Clean text and metadata of one document; the columns of ``articles`` before tagging.

    ``text`` is NFC, paragraphs are lines, offsets are Unicode code points. What a field means and its
    closed lists stand in ``transforms/schema.py``.
    """

    article_id: str
    url: str
    domain: str
    entry: Entry
    text: str
    title: str | None
    title_source: str
    text_source: str
    body_sha256: str
    content_sha256: str
    text_fingerprint: str
    fetched_at: datetime
    final_url: str | None = None
    canonical_url: str | None = None
    description: str | None = None
    word_count: int = 0
    authors: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()
    syndication_credit: str | None = None
    published_at: datetime | None = None
    published_raw: str | None = None
    published_source: str = "none"
    published_precision: str = "none"
    published_zone_known: bool = False
    modified_at: datetime | None = None
    language: str | None = None
    language_declared: str | None = None
    section: str | None = None
    publisher_keywords: tuple[str, ...] = ()
    article_type: str | None = None
    image_url: str | None = None
    access: str = "unknown"
    is_truncated: bool = False
    notices: tuple[str, ...] = ()
    live_posts: tuple[LivePost, ...] = ()
    boilerplate: tuple[Boilerplate, ...] = ()
    extractor: str = ""
    extraction_confidence: float = 0.0
    http_status: int | None = None
    content_type: str | None = None
    raw_uri: str | None = None
    ai_reservation: str = "none"
    warnings: tuple[str, ...] = ()


class Match(NamedTuple):
    """One hit of a term. Offsets are code points into ``field`` (``title`` or ``text``), end exclusive."""

    topic: str
    term_id: str
    surface: str
    field: str
    start: int
    end: int
    weight: float
    in_boilerplate: bool
    language: str


class TopicScore(NamedTuple):
    """What a topic scored in one article; ``level`` is ``mention``, ``relevant`` or ``primary``."""

    topic: str
    level: str
    score: float
    match_count: int
    title_count: int
    lead_count: int
    body_count: int
    implied: bool


class Entity(NamedTuple):
    """A named entity that a spaCy model found (off by default)."""

    text: str
    label: str
    start: int
    occurrences: int


class Tags(NamedTuple):
    """All that tagging adds to an article.

    Attributes:
        topics: Ids at level ``relevant`` or ``primary``, implied ones too, best score first, then by id.
        scores: Every topic with a hit or implied, in the same order.
        matches: Every hit, by field (title first) and offset; at most ``MATCH_LIMIT``.
        snippets: Topic id -> the sentence of its best hit.
    """

    topics: tuple[str, ...]
    scores: tuple[TopicScore, ...]
    matches: tuple[Match, ...]
    matches_truncated: bool
    snippets: dict[str, str]
    taxonomy_id: str
    taxonomy_version: str
    taxonomy_sha256: str
    entities: tuple[Entity, ...] = ()


class TaggedArticle(NamedTuple):
    """An article with its topics, ready to be written."""

    article: Article
    tags: Tags


class Reject(NamedTuple):
    """An item that was refused, and why. ``stage`` and ``reason`` come from ``transforms/rejects.py``.

    Attributes:
        url: Address of the refused item itself (never of its feed).
        input_uri: Seed file, ``path#L12`` for a line.
        retryable: Whether another try may succeed with the same input.
        body_sha256: Of the refused bytes, part of the reject's identity.
        payload: First bytes of what was refused, for a look.
    """

    stage: str
    reason: str
    detail: str
    failed_at: datetime
    retryable: bool = False
    attempts: int = 1
    source_id: str | None = None
    feed_url: str | None = None
    url: str | None = None
    input_uri: str | None = None
    http_status: int | None = None
    body_sha256: str | None = None
    payload: bytes | None = None


class Fetch(NamedTuple):
    """One HTTP exchange or feed poll, and when the next is due. The columns of ``fetches``.

    ``outcome`` comes from ``rejects.FETCH_OUTCOMES``. ``entry_json`` is set on a page that is still due.
    """

    kind: str
    url: str
    host: str
    started_at: datetime
    outcome: str
    elapsed_ms: int = 0
    url_key: str | None = None
    final_url: str | None = None
    http_status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_sha256: str | None = None
    bytes: int = 0
    entries_seen: int | None = None
    entries_new: int | None = None
    overlap_ratio: float | None = None
    gap_suspected: bool = False
    failures: int = 0
    attempts: int = 1
    next_due_at: datetime | None = None
    retry_after_until: datetime | None = None
    entry_json: str | None = None
    moved_to: str | None = None
    redirects: int = 0
    source_id: str | None = None


class Alias(NamedTuple):
    """An entry that brought nothing new but must be known from now on.

    It led to an article that is committed or chosen in this run (``duplicate``, ``unchanged``).
    """

    url_key: str
    entry_version: str | None
    article_id: str
    outcome: str


class Tally(NamedTuple):
    """How many items left a stage by which outcome; ``in`` counts what came in."""

    stage: str
    outcome: str
    items: int


Side = Reject | Fetch | Alias | Tally
