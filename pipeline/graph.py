"""The one place where the stages are joined.

``build`` reads like the picture in docs/architecture.md: what is announced (feeds, lists of addresses,
pages still due) is freed of what is known and fetched; seeds are read and freed of what is known; all
documents are extracted, tagged, written and committed. What is refused, fetched or counted on the way
travels beside the articles and is written by the same step. The graph is the same for bounded and
unbounded sources; only the writer adds a trigger where its input is unbounded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import apache_beam as beam

from transforms.dedupe.stage import DropKnown, DueEntries, TakeFirst
from transforms.dedupe.state import StateLocation
from transforms.extract.stage import ExtractArticles, ExtractSettings
from transforms.feeds.stage import PollFeeds, PollSettings
from transforms.fetch.stage import FetchPages, FetchSettings
from transforms.records import FeedSource, RunContext
from transforms.seeds.stage import ReadSeeds, ReadUrls
from transforms.stream.follow import Reread
from transforms.stream.stage import FollowFeeds
from transforms.tag.stage import TagSettings, TagTopics
from transforms.tag.taxonomy import Taxonomy
from transforms.write.stage import WriteDataset, WriteSettings


class Job(NamedTuple):
    """All that the stages are configured with; plain data that travels inside the pickled graph.

    Attributes:
        run: The run's name and clock.
        state: Where the state of earlier runs lies.
        limit: Most items to take in, ``None`` for all.
        limit_entries_only: Whether seeds, whose text is here already, are free of the limit.
        keep: ``all`` or ``tagged``.
        feeds: Only for a stream: the feeds that its ticks follow.
        buckets: Only for a stream: shares that hosts are spread over.
        reread: Only for a stream: gives the feeds anew when their list has changed.
    """

    run: RunContext
    state: StateLocation
    poll: PollSettings
    fetch: FetchSettings
    extract: ExtractSettings
    taxonomy: Taxonomy
    tag: TagSettings
    write: WriteSettings
    keep: str = "all"
    limit: int | None = None
    limit_entries_only: bool = False
    feeds: tuple[FeedSource, ...] = ()
    buckets: int = 1
    reread: Reread | None = None


class Sources(NamedTuple):
    """What the graph starts from, bounded or not.

    Attributes:
        feeds: ``FeedSource`` records.
        seed_paths: Paths of seed files.
        url_paths: Paths of lists of addresses.
        ticks: Elements without end and meaning; if there are any, ``job.feeds`` are followed instead of ``feeds``.
    """

    feeds: Any
    seed_paths: Any
    url_paths: Any
    ticks: Any = None


def batch_sources(
    pipeline: beam.Pipeline, feeds: list[FeedSource], seed_paths: list[str], url_paths: list[str]
) -> Sources:
    """Returns bounded sources. Only names travel in the graph, never contents."""
    return Sources(
        feeds=pipeline | "Feeds" >> beam.Create(feeds, reshuffle=False),
        seed_paths=pipeline | "Seed paths" >> beam.Create(seed_paths, reshuffle=False),
        url_paths=pipeline | "Address lists" >> beam.Create(url_paths, reshuffle=False),
    )


def stream_sources(pipeline: beam.Pipeline, ticks: Any, seed_paths: list[str], url_paths: list[str]) -> Sources:
    """Returns the sources of a stream: ticks for its feeds, and bounded seeds and lists that are read once.

    Args:
        pipeline: Where they are added.
        ticks: A transform that is an unbounded source.
        seed_paths: Paths of seed files.
        url_paths: Paths of lists of addresses.
    """
    return batch_sources(pipeline, [], seed_paths, url_paths)._replace(ticks=pipeline | "Ticks" >> ticks)


def build(sources: Sources, job: Job) -> beam.PCollection:
    """Joins the stages.

    Args:
        sources: Where items come from.
        job: What the stages are configured with.

    Returns:
        The committed runs, one element a commit, as ``WriteDataset`` yields them.
    """
    polled: Any
    asked: tuple[Any, ...]
    if sources.ticks is None:
        polled = sources.feeds | "Poll feeds" >> PollFeeds(job.poll, job.state, job.run)
    else:
        follow = FollowFeeds(job.poll, job.feeds, job.state, job.run, job.buckets, job.reread)
        polled = sources.ticks | "Follow feeds" >> follow
    listed = sources.url_paths | "Read address lists" >> ReadUrls(job.run)
    read = sources.seed_paths | "Read seeds" >> ReadSeeds(job.run)
    if sources.ticks is None:
        due = sources.feeds.pipeline | "Take due pages" >> DueEntries(job.state, job.run, job.limit)
        due_entries, asked = due.entries, (polled, due)
    else:
        due_entries, asked = polled.due, (polled,)

    announced = (
        (polled.entries, listed.entries, read.entries)
        | "Announced entries" >> beam.Flatten()
        | "Drop known" >> DropKnown(job.state, job.run)
    )
    seeds = read.documents | "Drop known seeds" >> DropKnown(job.state, job.run)
    taken = {"entries": announced.new, "documents": seeds.new} | "Take first" >> TakeFirst(
        job.limit, job.run, job.limit_entries_only
    )

    due_and_new = (taken.entries, due_entries) | "Pages to fetch" >> beam.Flatten()
    pages = due_and_new | "Fetch pages" >> FetchPages(job.fetch, job.run)
    # Extracted and tagged where they are read or fetched: a page is many times what is kept of it, and never shuffled.
    fetched = pages.documents | "Extract articles" >> ExtractArticles(job.extract, job.run, job.state)
    given = taken.documents | "Extract seeds" >> ExtractArticles(job.extract, job.run, job.state)
    tagged = (
        fetched.articles | "Tag topics" >> TagTopics(job.taxonomy, job.run, job.keep, job.tag),
        given.articles | "Tag seeds" >> TagTopics(job.taxonomy, job.run, job.keep, job.tag),
    )

    stages = (*asked, listed, read, announced, seeds, taken, pages, fetched, given, *tagged)
    side = tuple(stage.side for stage in stages) | "Beside the articles" >> beam.Flatten()
    articles = tuple(branch.tagged for branch in tagged)
    return {"tagged": articles, "side": side} | "Write dataset" >> WriteDataset(job.write, job.state, job.run)
