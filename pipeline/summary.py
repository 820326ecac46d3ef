"""What a run tells at its end: the sum, stage by stage, the topics with an example each, the next command.

Everything comes from the manifests, so that what is shown is what was committed. ``summarise`` adds up the
manifests of one command, ``as_text`` and ``as_json`` show it.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from pipeline.cli.output import command_name, plural, printable, styled
from transforms.records import Tally
from transforms.write.manifest import ITEM_OUTCOMES, Manifest, TopicCount, check_sum, sum_tallies

_SHOWN_TABLES = ("articles", "article_topics", "rejects", "fetches")
_STAGE_COLUMNS = ("in", "passed", "new", "revised", "known", "duplicate", "deferred", "too_old", "rejected")
_SNIPPET_WIDTH = 60


class Summary(NamedTuple):
    """The manifests of one command, added up.

    Attributes:
        run_ids: The runs, in order.
        items: ``in`` and what became of it.
        adds_up: Whether the sum is right.
        rows: Rows written, by table.
        held: What the dataset holds now: ``articles`` and a count of articles by topic.
    """

    root: str
    run_ids: tuple[str, ...]
    inputs: Mapping[str, int]
    items: Mapping[str, int]
    adds_up: bool
    stages: tuple[Tally, ...]
    feeds: Mapping[str, int]
    topics: tuple[TopicCount, ...]
    no_topic: int
    rejects: Mapping[str, int]
    rows: Mapping[str, int]
    held: Mapping[str, int]
    elapsed_s: float


def summarise(root: str, manifests: Sequence[Manifest], held: Mapping[str, int], elapsed_s: float) -> Summary:
    """Adds up the manifests of one command.

    Args:
        root: The dataset as the user named it.
        manifests: At least one.
        held: What the dataset holds now.
        elapsed_s: Duration of the command.
    """
    inputs: Counter[str] = Counter()
    items: Counter[str] = Counter(dict.fromkeys(("in", *ITEM_OUTCOMES), 0))
    feeds: Counter[str] = Counter()
    rejects: Counter[str] = Counter()
    rows: Counter[str] = Counter(dict.fromkeys(_SHOWN_TABLES, 0))
    for manifest in manifests:
        inputs.update({name: count for name, count in manifest.inputs.items() if isinstance(count, int)})
        items.update(manifest.items)
        feeds.update(manifest.feeds)
        rejects.update(manifest.rejects)
        for file in manifest.files:
            rows[file.table] += file.rows
    stages = sum_tallies(tally for manifest in manifests for tally in manifest.stages)
    return Summary(
        root=root,
        run_ids=tuple(manifest.run_id for manifest in manifests),
        inputs=dict(inputs),
        items=dict(items),
        adds_up=all(check_sum(manifest.items) for manifest in manifests),
        stages=stages,
        feeds=dict(feeds),
        topics=_add_topics(manifests),
        no_topic=sum(manifest.no_topic for manifest in manifests),
        rejects=dict(sorted(rejects.items())),
        rows=dict(rows),
        held=held,
        elapsed_s=elapsed_s,
    )


def _add_topics(manifests: Sequence[Manifest]) -> tuple[TopicCount, ...]:
    found: dict[str, TopicCount] = {}
    for topic in (topic for manifest in manifests for topic in manifest.topics):
        before = found.get(topic.topic, TopicCount(topic.topic, 0, 0))
        found[topic.topic] = TopicCount(
            topic.topic,
            before.primary + topic.primary,
            before.relevant + topic.relevant,
            before.example or topic.example,
        )
    return tuple(sorted(found.values(), key=lambda topic: (-(topic.primary + topic.relevant), topic.topic)))


def as_json(summary: Summary, exit_code: int) -> dict[str, Any]:
    """Returns the summary as plain data, for ``--json``."""
    data = summary._asdict()
    data["stages"] = [{"stage": t.stage, "outcome": t.outcome, "n": t.items} for t in summary.stages]
    data["topics"] = [topic._asdict() for topic in summary.topics]
    data["elapsed_s"] = round(summary.elapsed_s, 3)
    return data | {"exit_code": exit_code}


def as_text(summary: Summary, stream: TextIO) -> str:
    """Returns the summary as lines for people; colours only if the stream is a terminal that wants them."""
    lines = [_headline(summary), _sum_line(summary, stream)]
    lines += _stage_lines(summary)
    lines += _topic_lines(summary, stream)
    lines += _reject_lines(summary, stream)
    lines.append(_written_line(summary))
    lines.append(_next_line(summary))
    return "\n".join(lines)


def _headline(summary: Summary) -> str:
    inputs = summary.inputs
    parts = [plural(inputs.get("seed_files", 0), "seed file"), plural(inputs.get("feeds", 0), "feed")]
    if inputs.get("url_lists"):
        parts.append(plural(inputs["url_lists"], "address list"))
    requests = summary.rows.get("fetches", 0)
    parts.append(plural(requests, "fetch") if requests else "nothing fetched")
    runs = summary.run_ids[-1] if len(summary.run_ids) == 1 else f"{len(summary.run_ids)} runs to {summary.run_ids[-1]}"
    return ", ".join(parts) + f" · run {runs}"


def _sum_line(summary: Summary, stream: TextIO) -> str:
    items = summary.items
    terms = " + ".join(f"{outcome} {items[outcome]:,}" for outcome in ITEM_OUTCOMES)
    verdict = styled("ok", "green", stream) if summary.adds_up else styled("DOES NOT ADD UP", "red", stream)
    return f"  in {items['in']:,} = {terms}   {verdict}"


def _stage_lines(summary: Summary) -> list[str]:
    """A line a stage that something went through: ``known  12 in · 12 passed``."""
    by_stage: dict[str, dict[str, int]] = {}
    for tally in summary.stages:
        by_stage.setdefault(tally.stage, {})[tally.outcome] = tally.items
    lines = []
    for stage, counts in by_stage.items():
        counts = {**counts, "in": counts.get("in", counts.get("item", 0))}
        shown = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in _STAGE_COLUMNS if counts.get(name)]
        if shown:
            lines.append(f"    {stage:<8} {' · '.join(shown)}")
    return lines


def _topic_lines(summary: Summary, stream: TextIO) -> list[str]:
    if not summary.rows.get("articles"):
        held = dict(summary.held)
        articles = held.pop("articles", 0)
        topics = ", ".join(f"{topic} {count:,}" for topic, count in held.items())
        return [f"  the dataset holds {plural(articles, 'article')}" + (f": {topics}" if topics else "")]
    width = max([len("no topic"), *(len(topic.topic) for topic in summary.topics)])
    lines = [f"  {'topic':<{width}}  primary  relevant"]
    for topic in summary.topics:
        line = f"  {topic.topic:<{width}}  {topic.primary:>7,}  {topic.relevant:>8,}"
        lines.append(line + (f"   e.g. {_example(topic.example, stream)}" if topic.example else ""))
    lines.append(f"  {'no topic':<{width}}  {summary.no_topic:>7,}")
    return lines


def _example(example: Mapping[str, str], stream: TextIO) -> str:
    """A piece of the snippet around the hit, which stands in brackets."""
    snippet, hit = " ".join(printable(example["snippet"]).split()), printable(example["hit"])
    at = max(snippet.find(hit), 0)
    start, end = _cut(snippet, max(0, at - _SNIPPET_WIDTH // 2)), at + len(hit) + _SNIPPET_WIDTH // 2
    before = ("..." if start else "") + snippet[start:at].lstrip()
    rest = snippet[at + len(hit) : end]
    after = rest.rsplit(" ", 1)[0] + "..." if end < len(snippet) else rest
    return f'"{before}{styled(f"[{hit}]", "hit", stream)}{after}" ({printable(example["source"])})'


def _cut(text: str, start: int) -> int:
    """The next start of a word."""
    return start if start == 0 else text.find(" ", start) + 1


def _reject_lines(summary: Summary, stream: TextIO) -> list[str]:
    lines = []
    if summary.rejects:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in summary.rejects.items())
        lines.append(f"rejected: {reasons}")
    if refused := _refused_before(summary):
        again = f"{command_name()} dataset replay{_root_flag(summary)} --stage STAGE"
        was = "was" if refused == 1 else "were"
        lines.append(f"known: {refused:,} of them {was} refused by an earlier run; to try again: {again}")
    if summary.feeds.get("failed"):
        lines.append(f"{plural(summary.feeds['failed'], 'feed')} of {summary.feeds['polled']:,} failed: see fetches")
    if _count(summary, "not_due") and not summary.feeds.get("polled"):
        lines.append("no feed was due; --due-now asks them all the same")
    return [styled(f"  {line}", "yellow", stream) for line in lines]


def _count(summary: Summary, outcome: str) -> int:
    return sum(tally.items for tally in summary.stages if tally.outcome == outcome)


def _refused_before(summary: Summary) -> int:
    """How many of the known are no articles, but were refused before."""
    return _count(summary, "refused")


def _written_line(summary: Summary) -> str:
    rows = summary.rows
    first = f"articles {plural(rows['articles'], 'row')}"
    others = " · ".join(f"{table} {rows[table]:,}" for table in _SHOWN_TABLES[1:])
    return f"{summary.root.rstrip('/')}/  {first} · {others} · {summary.elapsed_s:.1f} s"


_ASK_REJECTS = "SELECT stage, reason, coalesce(url, input_uri) AS item, detail FROM rejects"
_ASK_FEEDS = "SELECT url, outcome, http_status, next_due_at FROM fetches WHERE kind = 'feed' ORDER BY started_at DESC"
_ASK_PAGES = "SELECT url, outcome, next_due_at FROM fetches WHERE kind = 'page' ORDER BY started_at DESC"
_ASK_ARTICLES = "SELECT coalesce(title, '[' || left(text, 60) || ']') AS title, topics FROM articles_latest"


def _next_line(summary: Summary) -> str:
    question = _next_question(summary)
    return f'Next: {command_name()} query{_root_flag(summary)} "{question}" · {command_name()} run --help'


def _next_question(summary: Summary) -> str:
    """What a user asks next: why something failed, else what is there."""
    if summary.rejects or _refused_before(summary):
        return _ASK_REJECTS
    if summary.feeds.get("failed"):
        return _ASK_FEEDS
    if summary.held.get("articles"):
        return _ASK_ARTICLES
    return _ASK_PAGES if summary.items.get("deferred") else _ASK_FEEDS


def _root_flag(summary: Summary) -> str:
    return "" if summary.root == "out" else f" -d {shlex.quote(summary.root)}"
