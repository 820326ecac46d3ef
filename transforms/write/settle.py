"""What becomes of the rows that meet in one shard: chosen, compared with what is known, made into files.

No Beam, no disk: rows and the state of what is known in, files as bytes and what they mean out. The same
input gives the same bytes, in whatever order the rows come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.dedupe.fold import is_poor
from transforms.dedupe.state import CommittedRevision, KnownState
from transforms.records import Alias, Tally
from transforms.write.encode import cut_parts, data_path, encode, sort_rows
from transforms.write.rows import alias_of, topic_rows
from transforms.write.versions import is_seed, versions_of

Row = dict[str, Any]
TopicRows = Mapping[tuple[str, int], list[tuple[str, Row]]]  # by article_id and revision


class ArticleItem(NamedTuple):
    """An article on its way to the writer.

    Attributes:
        row: Row of ``articles``, not yet numbered.
        text_length: Code points of its whole text, stored or not.
        snippets: Sentence of the best hit by topic.
    """

    row: Row
    text_length: int
    snippets: dict[str, str]


class RejectItem(NamedTuple):
    """A row of ``rejects`` on its way to the writer."""

    row: Row


_EXCHANGE = ("kind", "url", "started_at", "outcome", "entry_json")


class FetchItem(NamedTuple):
    """A row of ``fetches`` on its way to the writer."""

    row: Row


Item = ArticleItem | RejectItem | FetchItem


class TopicTally(NamedTuple):
    """Rows of a topic in one shard, and its best example with the rank by which shards are compared."""

    topic: str
    primary: int
    relevant: int
    rank: tuple[Any, ...]
    example: dict[str, str] | None


class Summary(NamedTuple):
    """What the rows of a shard mean, for the manifest."""

    topics: tuple[TopicTally, ...] = ()
    no_topic: int = 0
    rejects: Mapping[str, int] = {}
    feeds: Mapping[str, int] = {}


class DataFile(NamedTuple):
    """A file of the dataset before it is staged."""

    table: str
    path: str
    rows: int
    data: bytes


class Settled(NamedTuple):
    """The outcome of ``settle``; ``rows`` are those of the files, without ``article_topics``, by table."""

    files: tuple[DataFile, ...]
    aliases: tuple[Alias, ...]
    tallies: tuple[Tally, ...]
    summary: Summary
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


def settle(items: Iterable[Item], known: KnownState, ingest_date: str, stem: str, run_id: str = "") -> Settled:
    """Decides what is written of the rows of a shard, and encodes it.

    Of the texts that come of one article ``versions_of`` says which are versions. Each is a revision, one more than
    that before it; the same content again is none.

    Args:
        items: All rows of the shard.
        known: What is committed.
        ingest_date: Value of the partition.
        stem: ``<run_id>.<shard>``; the number of the part is added.
        run_id: Set in all rows if it is not empty.
    """
    articles: list[ArticleItem] = []
    rejects: list[Row] = []
    fetches: list[Row] = []
    for item in items:
        if isinstance(item, ArticleItem):
            articles.append(item)
        else:
            (rejects if isinstance(item, RejectItem) else fetches).append(item.row)
    counts: Counter[str] = Counter()
    aliases: list[Alias] = []
    written = [item for group in _by_article(articles) for item in _number(group, known, aliases, counts)]
    kept_rejects = _new_rejects(rejects, known, counts)
    # One exchange may be told of by two walks (robots.txt); what is told twice is one row.
    exchanges = {tuple(row[name] for name in _EXCHANGE): row for row in fetches}
    kept_fetches = [
        row for row in exchanges.values() if not known.has_fetch(row["kind"], row["url"], row["started_at"])
    ]
    if run_id:
        for row in [*(item.row for item in written), *kept_rejects, *kept_fetches]:
            row["run_id"] = run_id
    topics = {_revision_key(item.row): topic_rows(item.row, item.snippets) for item in written}
    files = _article_files(written, topics, ingest_date, stem)
    for table, rows in (("rejects", kept_rejects), ("fetches", kept_fetches)):
        files += _plain_files(table, rows, ingest_date, stem)
    return Settled(
        tuple(files),
        tuple(sorted(set(aliases), key=_alias_order)),
        tuple(Tally("write", outcome, count) for outcome, count in sorted((+counts).items())),
        _summarise(written, topics, kept_rejects, kept_fetches),
        {
            "articles": [item.row for item in written],
            "rejects": kept_rejects,
            "fetches": sort_rows("fetches", kept_fetches),
        },
    )


def _alias_order(alias: Alias) -> tuple[str, ...]:
    return (alias.url_key, alias.entry_version or "", alias.article_id, alias.outcome)


def _by_article(articles: Iterable[ArticleItem]) -> Iterable[list[ArticleItem]]:
    groups: dict[str, list[ArticleItem]] = {}
    for item in articles:
        groups.setdefault(item.row["article_id"], []).append(item)
    return (groups[article_id] for article_id in sorted(groups))


def _number(
    group: Sequence[ArticleItem], known: KnownState, aliases: list[Alias], counts: Counter[str]
) -> Iterator[ArticleItem]:
    """Yields what is written of one article, with revision, first_seen_at and duplicate_of; the rest is known."""
    kept, others = versions_of(group)
    entries = {_entry_key(item.row) for item in kept}
    counts["duplicate"] += len(others)
    aliases += [alias_of(item.row, "duplicate") for item in others if _entry_key(item.row) not in entries]
    last = known.revision_of(kept[0].row["article_id"])
    for item in kept:
        row = item.row
        if last is not None and _is_no_news(item, last, known):
            counts["known"] += 1
            aliases.append(alias_of(row, "unchanged"))
            continue
        counts["new" if last is None else "revised"] += 1
        first_seen_at = row["fetched_at"] if last is None else last.first_seen_at
        copy_of = known.duplicate_of(row["text_fingerprint"]) if row["text_fingerprint"] else None
        revision = 1 if last is None else last.revision + 1
        last = CommittedRevision(revision, row["content_sha256"], first_seen_at, is_poor(row))
        numbered = row | {
            "revision": last.revision,
            "first_seen_at": first_seen_at,
            "duplicate_of": copy_of if copy_of != row["article_id"] else None,
        }
        yield item._replace(row=numbered)


def _entry_key(row: Row) -> tuple[str, str | None]:
    return row["url_key"], row["entry_version"]


def _revision_key(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["article_id"], row["revision"]


def _is_no_news(item: ArticleItem, last: CommittedRevision, known: KnownState) -> bool:
    """Tells whether a text is that of the last revision, or a poor copy of the article that is there whole."""
    is_same = last.content_sha256 == item.row["content_sha256"]
    return is_same or (is_poor(item.row) and not last.is_poor) or _is_committed_seed(item, known)


def _is_committed_seed(item: ArticleItem, known: KnownState) -> bool:
    """Tells whether this very record is committed; it comes again where a stream goes back."""
    version = item.row["entry_version"]
    return is_seed(item) and version is not None and known.is_committed(item.row["url_key"], version)


def _new_rejects(rows: Sequence[Row], known: KnownState, counts: Counter[str]) -> list[Row]:
    kept: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: (row["reject_id"], row["failed_at"], row["input_uri"] or "")):
        if known.has_reject(row["reject_id"]):
            counts["known"] += 1
            counts["refused"] += 1  # of the known, for the summary
        elif row["reject_id"] in kept:
            counts["duplicate"] += 1
        else:
            counts["rejected"] += 1
            kept[row["reject_id"]] = row
    return list(kept.values())


def _article_files(items: Sequence[ArticleItem], topics: TopicRows, ingest_date: str, stem: str) -> list[DataFile]:
    """The files of articles, and beside each those of its topics under the same stem."""
    files = []
    for number, part in enumerate(cut_parts(sort_rows("articles", [item.row for item in items]))):
        part_stem = f"{stem}.{number}"
        path = data_path("articles", {"ingest_date": ingest_date}, part_stem)
        files.append(DataFile("articles", path, len(part), encode("articles", part)))
        by_topic: dict[str, list[Row]] = {}
        for row in part:
            for topic, topic_row in topics[_revision_key(row)]:
                by_topic.setdefault(topic, []).append(topic_row)
        for topic in sorted(by_topic):
            rows = sort_rows("article_topics", by_topic[topic])
            path = data_path("article_topics", {"topic": topic, "ingest_date": ingest_date}, part_stem)
            files.append(DataFile("article_topics", path, len(rows), encode("article_topics", rows)))
    return files


def _plain_files(table: str, rows: Sequence[Row], ingest_date: str, stem: str) -> list[DataFile]:
    files = []
    for number, part in enumerate(cut_parts(sort_rows(table, rows))):
        path = data_path(table, {"ingest_date": ingest_date}, f"{stem}.{number}")
        files.append(DataFile(table, path, len(part), encode(table, part)))
    return files


def _summarise(
    written: Sequence[ArticleItem], topic_rows_of: TopicRows, rejects: Sequence[Row], fetches: Sequence[Row]
) -> Summary:
    levels: Counter[tuple[str, str]] = Counter()
    best: dict[str, tuple[tuple[Any, ...], dict[str, str] | None]] = {}
    for item in written:
        for topic, row in topic_rows_of[_revision_key(item.row)]:
            levels[topic, row["level"]] += 1
            rank = (row["snippet"] is not None, row["level"] == "primary", row["score"], row["article_id"])
            if topic not in best or rank > best[topic][0]:
                best[topic] = (rank, _example(topic, item))
    topics = tuple(
        TopicTally(topic, levels[topic, "primary"], levels[topic, "relevant"], *best[topic]) for topic in sorted(best)
    )
    return Summary(
        topics,
        sum(not item.row["topics"] for item in written),
        dict(sorted(Counter(f"{row['stage']}:{row['reason']}" for row in rejects).items())),
        feed_counts(fetches),
    )


def _example(topic: str, item: ArticleItem) -> dict[str, str] | None:
    snippet = item.snippets.get(topic)
    if snippet is None:
        return None
    surfaces = [match["surface"] for match in item.row["matches"] if match["topic"] == topic]
    hit = next((surface for surface in surfaces if surface in snippet), "")
    source = item.row["source_name"] or item.row["source_id"]
    return {"snippet": snippet, "hit": hit, "source": source}


def feed_counts(fetches: Iterable[Row]) -> dict[str, int]:
    """Returns how many feed documents were asked for and how it ended; those put off were not asked for."""
    outcomes = [row["outcome"] for row in fetches if row["kind"] == "feed" and row["outcome"] != "deferred"]
    ok, not_modified = outcomes.count("ok"), outcomes.count("not_modified")
    failed = len(outcomes) - ok - not_modified
    return {"polled": len(outcomes), "ok": ok, "not_modified": not_modified, "failed": failed}
