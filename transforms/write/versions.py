"""Which of the texts that one run brings of an article become rows of it, and in which order.

A page that is fetched says what the article is now: of several fetched in one run (other addresses of it, the feed's
own content where a page failed) the fullest stands for all. Records of seeds may be of any time: different texts are
versions, as if each were given in a run of its own, in the order of their dates. A poor copy beside a better one is
none. docs/decisions/0015 tells why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

from transforms.dedupe.fold import is_poor

if TYPE_CHECKING:
    from transforms.write.settle import ArticleItem

_NO_DATE = datetime.min.replace(tzinfo=timezone.utc)
_PLACE = re.compile(r"(.*?)(?:#L?(\d+))?", re.DOTALL)
# Of a longer text that holds it whole: below this share a text is a teaser, above it the other one has grown.
_TEASER_SHARE = 0.6


class Versions(NamedTuple):
    """The items of one article.

    Attributes:
        kept: What become rows unless they are known, the earliest first; at least one.
        others: Duplicates of these.
    """

    kept: tuple[ArticleItem, ...]
    others: tuple[ArticleItem, ...]


def versions_of(items: Sequence[ArticleItem]) -> Versions:
    """Parts the items of one article into versions and duplicates, in whatever order they come."""
    if len(items) == 1:
        return Versions(tuple(items), ())
    by_fullness = sorted(items, key=_preference)
    page = next((item for item in by_fullness if not is_seed(item)), None)
    found = [item for item in by_fullness if is_seed(item) or item is page]
    found = [item for item in found if not is_poor(item.row)] or found
    kept = tuple(_without_repeats(sorted(_without_copies(found), key=_order)))
    ids = set(map(id, kept))
    return Versions(kept, tuple(item for item in by_fullness if id(item) not in ids))


def is_seed(item: ArticleItem) -> bool:
    """Tells whether an article was given, not fetched."""
    return item.row["raw_uri"] is not None


def _preference(item: ArticleItem) -> tuple[Any, ...]:
    row = item.row
    # Beyond text and address only so that the choice never depends on the order of arrival.
    return (
        -item.text_length, row["url"], row["content_sha256"], row["entry_version"] or "", row["source_id"],
        row["feed_url"] or "", row["entry_id"] or "", row["body_sha256"], row["raw_uri"] or "", row["fetched_at"],
    )  # fmt: skip


def _date(item: ArticleItem) -> datetime | None:
    found: datetime | None = item.row["modified_at"] or item.row["published_at"]
    return found


def _order(item: ArticleItem) -> tuple[Any, ...]:
    """Archived versions by date and then by file and line; last what the page says now."""
    place = _PLACE.fullmatch(item.row["raw_uri"] or "")
    file, number = place.groups() if place else ("", None)
    return (not is_seed(item), _date(item) or _NO_DATE, file, int(number or 0))


def _without_copies(found: Iterable[ArticleItem]) -> Iterator[ArticleItem]:
    """Leaves out the poor copies of a longer text of the same date, or of no other that is known."""
    first: ArticleItem | None = None
    longest: dict[datetime | None, ArticleItem] = {}
    for item in found:
        date = _date(item)
        longer = (first,) if date is None else (longest.get(date), longest.get(None))
        if not any(other is not None and _is_copy(item, other) for other in longer):
            yield item
        first = first or item
        longest.setdefault(date, item)


def _is_copy(item: ArticleItem, longer: ArticleItem) -> bool:
    if is_poor(item.row):
        return True
    is_short = item.text_length < _TEASER_SHARE * longer.text_length
    return is_short and _letters(item) in _letters(longer)


def _letters(item: ArticleItem) -> str:
    """The text as far as it is stored, without white space."""
    return "".join(str(item.row["text"] or "").split())


def _without_repeats(versions: Iterable[ArticleItem]) -> Iterator[ArticleItem]:
    last: ArticleItem | None = None
    for item in versions:
        if last is None or item.row["content_sha256"] != last.row["content_sha256"]:
            yield item
        last = item
