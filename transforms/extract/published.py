"""When a page was first published and last changed: an instant, how exactly it is known, and from where.

Structured data and the publishers' own meta tags are trusted; marked ``<time>`` elements next; htmldate
searches the page only where all of them are silent. Nothing here knows what day it is: what is not
possible is judged by the time at which the page was fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from lxml import etree

from transforms import urls
from transforms.dates import ParsedDate, parse_date
from transforms.extract.jsonld import Node
from transforms.extract.page import Page

_FUTURE_SLACK = timedelta(days=1)
_FEED_TOLERANCE = timedelta(hours=48)
# Two spellings of one moment that differ only in their zone lie at most this far apart.
_ZONE_SPAN = timedelta(hours=26)
_RAW_LIMIT_CHARS = 200
_SEARCH_LIMIT_ELEMENTS = 10_000  # pages have a tenth of that; the search takes up to a millisecond for each
_SEARCH_LIMIT_CHARS = 500_000
_TEXT_LENGTH = etree.XPath("string-length(.)")
_ELEMENT_COUNT = etree.XPath("count(//*)")
# Measured on pages of known date: these meta tags name the publication; the others often something else.
_TRUSTED_META = ("article:published_time", "datepublished", "og:article:published_time", "article:published")
_OTHER_META = (
    "parsely-pub-date", "sailthru.date", "cxenseparse:recs:publishtime", "cxenseparse:publishtime",
    "citation_publication_date", "dcterms.issued", "dc.date.issued", "dcterms.date", "dc.date", "dcterms.created",
    "dc.date.created", "publishdate", "publish-date", "publication_date", "publication-date", "published_time",
    "pubdate", "pub_date", "date", "article.published", "article_date_original", "originalpublicationdate",
    "displaydate", "iso-8601-publish-date", "og:published_time", "rnews:datepublished", "last-published",
    "published", "datecreated", "article.created",
)  # fmt: skip
_MODIFIED_META = (
    "article:modified_time", "datemodified", "og:updated_time", "og:article:modified_time", "dcterms.modified",
    "last-modified", "article.updated", "modified", "revised",
)  # fmt: skip
# Country domains whose country has a single civil time (tzdata, zone1970.tab).
_HOME_ZONES = {
    "at": "Europe/Vienna", "be": "Europe/Brussels", "bg": "Europe/Sofia", "ch": "Europe/Zurich",
    "cz": "Europe/Prague", "de": "Europe/Berlin", "dk": "Europe/Copenhagen", "ee": "Europe/Tallinn",
    "fi": "Europe/Helsinki", "gr": "Europe/Athens", "hr": "Europe/Zagreb", "hu": "Europe/Budapest",
    "ie": "Europe/Dublin", "il": "Asia/Jerusalem", "in": "Asia/Kolkata", "is": "Atlantic/Reykjavik",
    "it": "Europe/Rome", "jp": "Asia/Tokyo", "ke": "Africa/Nairobi", "kr": "Asia/Seoul", "lb": "Asia/Beirut",
    "lt": "Europe/Vilnius", "lu": "Europe/Luxembourg", "lv": "Europe/Riga", "ng": "Africa/Lagos",
    "nl": "Europe/Amsterdam", "no": "Europe/Oslo", "pk": "Asia/Karachi", "pl": "Europe/Warsaw",
    "ro": "Europe/Bucharest", "rs": "Europe/Belgrade", "se": "Europe/Stockholm", "sg": "Asia/Singapore",
    "si": "Europe/Ljubljana", "sk": "Europe/Bratislava", "th": "Asia/Bangkok", "tr": "Europe/Istanbul",
    "tw": "Asia/Taipei", "tz": "Africa/Dar_es_Salaam", "ua": "Europe/Kyiv", "vn": "Asia/Ho_Chi_Minh",
    "za": "Africa/Johannesburg",
}  # fmt: skip


class Published(NamedTuple):
    """When a page was published; the fields are those of ``records.Article``."""

    published_at: datetime | None = None
    published_raw: str | None = None
    published_source: str = "none"
    published_precision: str = "none"
    published_zone_known: bool = False
    modified_at: datetime | None = None
    date_conflict: bool = False


class _Candidate(NamedTuple):
    source: str
    date: ParsedDate


def find_published(
    page: Page, node: Node | None, url: str | None, fetched_at: datetime, feed_at: datetime | None = None
) -> Published:
    """Finds the publication date of a page.

    Args:
        page: The parsed page.
        node: The JSON-LD object of the article.
        url: Address of the page: many carry the day in it.
        fetched_at: When the page came; nothing later than a day after it is believed.
        feed_at: The feed's date, a witness: more than 48 hours off is a conflict, and a date that was
            only searched for then gives way.
    """
    home = home_zone(url)
    candidates = [*_candidates(_trusted(page, node), fetched_at, home)]
    if not candidates:
        candidates = list(_candidates(_marked(page, node), fetched_at, home))
    if not candidates:
        searched = _search(page, url, fetched_at)
        shown = (("time_tag", tag.value) for tag in page.times)
        candidates = [searched, *_candidates(shown, fetched_at, home)] if searched else []
    modified = next((c.date.instant for c in _candidates(_modified(page, node), fetched_at, home)), None)
    if not candidates:
        written = next((raw.strip() for _, raw in _trusted(page, node) if raw.strip()), None)
        return Published(published_raw=written[:_RAW_LIMIT_CHARS] if written else None, modified_at=modified)
    best = _most_exact(candidates)
    conflict = feed_at is not None and abs(best.date.instant - feed_at) > _tolerance(best.date)
    if conflict and best.source in ("htmldate", "time_tag"):
        return Published(modified_at=modified, date_conflict=True)
    instant = best.date.instant
    return Published(
        instant,
        best.date.raw[:_RAW_LIMIT_CHARS],
        best.source,
        best.date.precision,
        best.date.zone_known,
        modified if modified and modified >= instant - timedelta(days=1) else None,
        conflict,
    )


def home_zone(url: str | None) -> str | None:
    """Returns the zone of a country in which there is one, by the address: clocks on pages without a zone are local."""
    host = urls.host_of(url) if url else ""
    return _HOME_ZONES.get(host.rpartition(".")[2])


def _tolerance(date: ParsedDate) -> timedelta:
    return _FEED_TOLERANCE + timedelta(days=1) if date.precision == "day" else _FEED_TOLERANCE


def _candidates(raws: Iterator[tuple[str, str]], fetched_at: datetime, home: str | None) -> Iterator[_Candidate]:
    for source, raw in raws:
        date = parse_date(raw, now=fetched_at)
        if date is not None and home and not date.zone_known and date.precision != "day":
            date = parse_date(raw, now=fetched_at, default_zone=home)
        if date is not None and date.instant <= fetched_at + _FUTURE_SLACK:
            yield _Candidate(source, date)


def _trusted(page: Page, node: Node | None) -> Iterator[tuple[str, str]]:
    if node is not None:
        yield from _texts(page, node, "datePublished", "json_ld")
    for key in _TRUSTED_META:
        yield from (("meta", value) for value in page.metas.get(key, ()))
    yield from (("meta", value) for value in page.properties.get("datepublished", ()))


def _marked(page: Page, node: Node | None) -> Iterator[tuple[str, str]]:
    """Second choice: the page as such, other meta tags, marked times, the day on which it was created."""
    for other in page.graph.pages():
        yield from _texts(page, other, "datePublished", "json_ld")
        yield from _texts(page, other, "uploadDate", "json_ld")
    for key in _OTHER_META:
        yield from (("meta", value) for value in page.metas.get(key, ()))
    yield from (("time_tag", tag.value) for tag in page.times if tag.is_publication)
    if node is not None:
        yield from _texts(page, node, "dateCreated", "json_ld")


def _modified(page: Page, node: Node | None) -> Iterator[tuple[str, str]]:
    if node is not None:
        yield from _texts(page, node, "dateModified", "json_ld")
    for key in _MODIFIED_META:
        yield from (("meta", value) for value in page.metas.get(key, ()))
    yield from (("meta", value) for value in page.properties.get("datemodified", ()))


def _texts(page: Page, node: Node, key: str, source: str) -> Iterator[tuple[str, str]]:
    for value in page.graph.values(node, key):
        if isinstance(value, dict):
            value = value.get("@value")
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            yield source, str(value).strip()


def _most_exact(candidates: list[_Candidate]) -> _Candidate:
    """The first candidate, or another that tells the same moment with its zone or time of day."""
    first = candidates[0]
    for other in candidates[1:]:
        if abs(other.date.instant - first.date.instant) > _ZONE_SPAN:
            continue
        adds_zone = other.date.zone_known and not first.date.zone_known and other.date.precision != "day"
        adds_time = first.date.precision == "day" and other.date.precision != "day"
        if adds_zone or adds_time:
            return other
    return first


def _search(page: Page, url: str | None, fetched_at: datetime) -> _Candidate | None:
    from htmldate import find_date  # loads dateparser, which few pages need

    if _ELEMENT_COUNT(page.tree) > _SEARCH_LIMIT_ELEMENTS or _TEXT_LENGTH(page.tree) > _SEARCH_LIMIT_CHARS:
        return None
    latest = fetched_at.date().isoformat()
    try:
        found = find_date(page.tree, extensive_search=True, original_date=True, url=url, max_date=latest)
    except Exception:  # a search in arbitrary mark-up: whatever it trips over, the answer is "no date"
        found = None
    if found and found.endswith("-01-01") and found not in (url or "").replace("/", "-"):
        return None  # what htmldate makes of a bare year, such as that of a copyright line
    date = parse_date(found, now=fetched_at) if found else None
    return _Candidate("htmldate", date) if date is not None else None
