"""The contract of the dataset: the Arrow schema of every table, and nothing else.

All other forms (dictionary, BigQuery, DDL, views) are generated from here by ``write/meta.py``. The
columns of a major version are frozen: each exists from the first file on and is null or empty until it
is filled; what has no column yet goes into ``extra``. Columns marked *volatile* may differ between two
runs over the same input. Partition columns are folders, never columns of a file.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = "1.0"

DISCOVERED_VIA = ("feed", "urls", "seed_text", "seed_html", "seed_jsonl", "seed_feed")
TITLE_SOURCES = ("json_ld", "h1", "meta", "title_tag", "feed", "seed", "none")
TEXT_SOURCES = ("page", "feed_content", "seed")
PUBLISHED_SOURCES = ("json_ld", "meta", "time_tag", "htmldate", "feed", "seed", "none")
PRECISIONS = ("second", "minute", "day", "none")
ACCESS = ("free", "paywalled", "unknown")
AI_RESERVATIONS = ("none", "noai", "tdm")
LEVELS = ("mention", "relevant", "primary")

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.string()
_INT = pa.int32()
_LONG = pa.int64()
_FLOAT = pa.float64()
_FLAG = pa.bool_()


def _list_of(element: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", element, nullable=False))


def _struct_of(**fields: pa.DataType) -> pa.DataType:
    """A struct; a name that ends in ``_or_null`` makes a nullable field without that ending."""
    return pa.struct(
        [pa.field(name.removesuffix("_or_null"), kind, name.endswith("_or_null")) for name, kind in fields.items()]
    )


def _column(name: str, kind: pa.DataType, comment: str, volatile: bool = False) -> pa.Field:
    """A column; ``name?`` makes it nullable."""
    metadata = {"comment": comment} | ({"volatile": "true"} if volatile else {})
    return pa.field(name.removesuffix("?"), kind, nullable=name.endswith("?"), metadata=metadata)


def _table(name: str, columns: list[pa.Field]) -> pa.Schema:
    return pa.schema(columns, metadata={"newsbeam.table": name, "newsbeam.schema_version": SCHEMA_VERSION})


_RUN_ID = _column("run_id", _TEXT, "Run that wrote the row; its manifest is _runs/<run_id>.json", volatile=True)

ARTICLES = _table(
    "articles",
    [
        _column("title?", _TEXT, "Headline, plain text (schema.org headline)"),
        _column("published_at?", _TIME, "First publication as an instant; null if unknown, never the time of the run"),
        _column(
            "domain", _TEXT, "Registrable domain of the address, lower case, A-label; empty for a seed without address"
        ),
        _column("url", _TEXT, "Address as announced and fetched; urn:newsbeam:<article_id> for a seed without one"),
        _column("topics", _list_of(_TEXT), "Topics at level relevant or primary, implied ones too, best score first"),
        _column("text?", _TEXT, "Clean text, NFC, a paragraph a line; null if the run does not store text"),
        _column(
            "article_id", _TEXT, "1- and 32 hex digits; the same for all revisions and all spellings of the address"
        ),
        _column("revision", _INT, "1 for the first text seen, then counted up"),
        _column(
            "content_sha256",
            _TEXT,
            "Hash of title and text without white space and counters; a change makes a revision",
        ),
        _column("final_url?", _TEXT, "Address after redirects, if another"),
        _column(
            "canonical_url?", _TEXT, "Address that the page names as its own (rel=canonical, og:url), if plausible"
        ),
        _column("url_key", _TEXT, "Hash of the normal form of url; the key under which an entry is known"),
        _column("entry_version?", _TEXT, "Hash of what the feed said of the entry (title, summary, updated)"),
        _column("source_id", _TEXT, "Source as named in the configuration; else the host, or seeds"),
        _column("source_name?", _TEXT, "Name of the source for readers (schema.org publisher)"),
        _column("feed_url?", _TEXT, "Feed that announced it"),
        _column("entry_id?", _TEXT, "The feed's own id of the entry (guid, atom:id)"),
        _column("discovered_via", _TEXT, "One of: " + ", ".join(DISCOVERED_VIA)),
        _column("title_source", _TEXT, "One of: " + ", ".join(TITLE_SOURCES)),
        _column("description?", _TEXT, "Summary by the page or the feed (Dublin Core abstract)"),
        _column("text_source", _TEXT, "One of: " + ", ".join(TEXT_SOURCES)),
        _column("word_count", _INT, "Words of the text (runs of letters and digits)"),
        _column("authors", _list_of(_TEXT), "Names as printed, in order (schema.org author)"),
        _column("credits", _list_of(_TEXT), "Lines such as 'X contributed to this report', taken out of the text"),
        _column("syndication_credit?", _TEXT, "Agency that the text is credited to (AP, Reuters ...)"),
        _column(
            "published_raw?",
            _TEXT,
            "The date as written where published_at was read; also one that is not believed (published_at is null then)",
        ),
        _column("published_source", _TEXT, "One of: " + ", ".join(PUBLISHED_SOURCES)),
        _column("published_precision", _TEXT, "One of: " + ", ".join(PRECISIONS)),
        _column("published_zone_known", _FLAG, "False if the zone was assumed"),
        _column("feed_published_at?", _TIME, "Publication as the feed says"),
        _column("modified_at?", _TIME, "Last change as the page says (schema.org dateModified)"),
        _column("fetched_at", _TIME, "When the bytes came", volatile=True),
        _column("ingested_at", _TIME, "When the row was made", volatile=True),
        _column("first_seen_at", _TIME, "fetched_at of revision 1", volatile=True),
        _column("language?", _TEXT, "BCP 47 primary tag found in the text; und if there is too little of it"),
        _column("language_declared?", _TEXT, "BCP 47 tag that page, feed or seed declares"),
        _column("section?", _TEXT, "Section of the paper (schema.org articleSection)"),
        _column("publisher_keywords", _list_of(_TEXT), "The publisher's own tags; never used for topics"),
        _column("article_type?", _TEXT, "schema.org type, such as NewsArticle, LiveBlogPosting, OpinionNewsArticle"),
        _column("image_url?", _TEXT, "Lead image"),
        _column("access", _TEXT, "One of: " + ", ".join(ACCESS)),
        _column("is_truncated", _FLAG, "True if the text is known to be cut (paywall, teaser)"),
        _column("notices", _list_of(_TEXT), "Lines of paywall and consent prompts, taken out of the text"),
        _column(
            "live_posts",
            _list_of(_struct_of(at_or_null=_TIME, title_or_null=_TEXT, text=_TEXT)),
            "Posts of a live blog, kept apart from the text",
        ),
        _column(
            "boilerplate",
            _list_of(_struct_of(start=_INT, end=_INT, kind=_TEXT)),
            "Ranges of the text that are no part of the story; no topic is scored there",
        ),
        _column("extractor", _TEXT, "Name and version of what made the text"),
        _column("extraction_confidence", _FLOAT, "0 to 1: how far two independent extractions agree"),
        _column(
            "topic_scores",
            _list_of(
                _struct_of(
                    topic=_TEXT,
                    level=_TEXT,
                    score=_FLOAT,
                    match_count=_INT,
                    title_count=_INT,
                    lead_count=_INT,
                    body_count=_INT,
                    implied=_FLAG,
                )
            ),
            "Every topic with a hit, mention level too",
        ),
        _column(
            "matches",
            _list_of(
                _struct_of(
                    topic=_TEXT,
                    term_id=_TEXT,
                    surface=_TEXT,
                    field=_TEXT,
                    start=_INT,
                    end=_INT,
                    weight=_FLOAT,
                    in_boilerplate=_FLAG,
                    language=_TEXT,
                )
            ),
            "Every hit; start and end are 0-based Unicode code points into field (title or text), end exclusive",
        ),
        _column("matches_truncated", _FLAG, "True if there were more hits than are stored"),
        _column(
            "entities",
            _list_of(_struct_of(text=_TEXT, label=_TEXT, start=_INT, count=_INT)),
            "Named entities, if a spaCy model is configured",
        ),
        _column("taxonomy_id", _TEXT, "Taxonomy that tagged the row"),
        _column("taxonomy_version", _TEXT, "Its version"),
        _column("taxonomy_sha256", _TEXT, "Hash of its canonical form"),
        _column("text_fingerprint", _TEXT, "Hash of the words of the text; equal for copies of one text"),
        _column(
            "duplicate_of?",
            _TEXT,
            "article_id of an earlier article with the same words; fixed when the row is written",
        ),
        _column("http_status?", _INT, "Of the page; null for seeds"),
        _column("content_type?", _TEXT, "Media type as declared"),
        _column("body_sha256", _TEXT, "Hash of the bytes that the article was made from"),
        _column("raw_uri?", _TEXT, "Where those bytes lie: a seed file, file#L12 for a line", volatile=True),
        _column("ai_reservation", _TEXT, "Opt-out that the page states. One of: " + ", ".join(AI_RESERVATIONS)),
        _column("warnings", _list_of(_TEXT), "Codes of what was odd but no reason to refuse"),
        _RUN_ID,
        _column("extra?", _TEXT, "JSON object of what has no column yet"),
    ],
)

ARTICLE_TOPICS = _table(
    "article_topics",
    [
        _column("article_id", _TEXT, "articles.article_id"),
        _column("revision", _INT, "articles.revision"),
        _column("level", _TEXT, "relevant or primary"),
        _column("score", _FLOAT, "3 * title + 1.5 * lead + body / max(1, words / 500), weights summed"),
        _column("match_count", _INT, "Hits in all fields"),
        _column("terms", _list_of(_TEXT), "Terms that hit, most frequent first"),
        _column("snippet?", _TEXT, "Sentence of the best hit; null if the run does not store text"),
        _column("title?", _TEXT, "articles.title"),
        _column("url", _TEXT, "articles.url"),
        _column("domain", _TEXT, "articles.domain"),
        _column("source_id", _TEXT, "articles.source_id"),
        _column("published_at?", _TIME, "articles.published_at"),
        _column("fetched_at", _TIME, "articles.fetched_at", volatile=True),
        _column("taxonomy_sha256", _TEXT, "articles.taxonomy_sha256"),
        _RUN_ID,
    ],
)

REJECTS = _table(
    "rejects",
    [
        _column(
            "reject_id", _TEXT, "Hash of stage, reason, address and body; one row for each, however often it comes"
        ),
        _column("stage", _TEXT, "Stage that refused it"),
        _column("reason", _TEXT, "Why; the closed list is docs/rejects.md"),
        _column("detail", _TEXT, "The same in words, with figures"),
        _column("retryable", _FLAG, "True if another try may succeed"),
        _column("attempts", _INT, "Tries made"),
        _column("source_id?", _TEXT, "Source as named in the configuration"),
        _column("feed_url?", _TEXT, "Feed that announced it"),
        _column("url?", _TEXT, "Address of the refused item itself"),
        _column("input_uri?", _TEXT, "Seed file, file#L12 for a line", volatile=True),
        _column("http_status?", _INT, "HTTP status"),
        _column("body_sha256?", _TEXT, "Hash of the refused bytes: a page, a seed file, a line of one"),
        _column("failed_at", _TIME, "When", volatile=True),
        _column("payload?", pa.binary(), "First bytes of what was refused"),
        _column("payload_truncated", _FLAG, "True if there were more"),
        _RUN_ID,
    ],
)

FETCHES = _table(
    "fetches",
    [
        _column("kind", _TEXT, "feed, page, robots or sitemap"),
        _column("url", _TEXT, "Address asked"),
        _column("url_key?", _TEXT, "Hash of the normal form of url"),
        _column("final_url?", _TEXT, "Address after redirects, if another"),
        _column("host", _TEXT, "Host of url"),
        _column("started_at", _TIME, "When", volatile=True),
        _column("elapsed_ms", _LONG, "Duration, milliseconds", volatile=True),
        _column("http_status?", _INT, "HTTP status; null if there was no answer"),
        _column("outcome", _TEXT, "One of a closed list, see docs/rejects.md"),
        _column("etag?", _TEXT, "Validator to send next time"),
        _column("last_modified?", _TEXT, "Validator to send next time"),
        _column("body_sha256?", _TEXT, "Hash of the body"),
        _column("bytes", _LONG, "Size of the decoded body"),
        _column("entries_seen?", _INT, "Entries of the feed"),
        _column("entries_new?", _INT, "Those not seen before"),
        _column(
            "overlap_ratio?", _FLOAT, "Share of entries seen in the poll before; 0 means that some were missed perhaps"
        ),
        _column("gap_suspected", _FLAG, "True if no entry was shared with the poll before"),
        _column("failures", _INT, "Failed polls in a row"),
        _column("attempts", _INT, "Tries of this page in all runs"),
        _column("next_due_at?", _TIME, "When the next try is due", volatile=True),
        _column("retry_after_until?", _TIME, "Until when the server asked us to stay away", volatile=True),
        _column(
            "entry_json?",
            _TEXT,
            "The entry, if its page is still due; of a feed what its next poll must know (hashes of the entries last seen, times, pace, failures)",
            volatile=True,
        ),
        _column("moved_to?", _TEXT, "New address, once the server has named it for good for a day"),
        _column("redirects", _INT, "Redirects followed"),
        _column("source_id?", _TEXT, "Source as named in the configuration"),
        _RUN_ID,
    ],
)

STORIES = _table(
    "stories",
    [
        _column("article_id", _TEXT, "articles.article_id"),
        _column("story_id", _TEXT, "article_id of the earliest copy of the story"),
        _column("duplicate_of?", _TEXT, "Copy that it resembles most"),
        _column("similarity", _FLOAT, "0 to 1"),
        _column("as_of", _TIME, "When it was grouped", volatile=True),
    ],
)

TABLES: dict[str, pa.Schema] = {
    "articles": ARTICLES,
    "article_topics": ARTICLE_TOPICS,
    "rejects": REJECTS,
    "fetches": FETCHES,
    "stories": STORIES,
}

PARTITIONS: dict[str, tuple[str, ...]] = {
    "articles": ("ingest_date",),
    "article_topics": ("topic", "ingest_date"),
    "rejects": ("ingest_date",),
    "fetches": ("ingest_date",),
    "stories": ("ingest_date",),
}


def volatile_columns(table: str) -> frozenset[str]:
    """Returns the columns of a table that may differ between two runs over the same input."""
    return frozenset(field.name for field in TABLES[table] if b"volatile" in (field.metadata or {}))
