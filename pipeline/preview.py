"""What ``newsbeam run --plan`` shows: what a run would do, as plain data and as lines. Asks nothing, writes nothing."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from pipeline.cli.output import plural
from pipeline.plan import Plan
from transforms.dedupe.state import NEWEST, StateLocation, open_state
from transforms.feeds.hosts import due_feeds
from transforms.urls import host_of


def plan_facts(plan: Plan, beam_flags: list[str], now: datetime | None, due_now: bool) -> dict[str, Any]:
    """Returns what a run would do, ready for JSON.

    Args:
        plan: Its inputs.
        beam_flags: Checked flags for Beam, the runner first.
        now: The run's clock; ``None`` for the present.
        due_now: Whether every feed is taken as due.
    """
    config = plan.config
    known = open_state(StateLocation(config.dataset, NEWEST))
    moment = now or datetime.now(timezone.utc)
    return {
        "dataset": config.dataset,
        "runner": beam_flags[0].partition("=")[2].rpartition(".")[2],
        "topics": [topic.id for topic in plan.taxonomy.topics],
        "seed_files": plan.seed_count,
        "runs": len(plan.seed_batches),
        "feeds": len(plan.feeds),
        "feed_hosts": len({host_of(feed.url) for feed in plan.feeds}),
        "due_feeds": len(due_feeds(plan.feeds, known.feeds(), moment, due_now)),
        "url_files": len(plan.url_paths),
        "due_pages": len(known.due_entries(moment)),
        "host_gap_s": config.host_gap_s,
        "max_pages_per_host": config.max_pages_per_host,
        "unmatched": list(plan.unmatched),
    }


def plan_lines(facts: dict[str, Any]) -> list[str]:
    """Returns the facts as lines for people."""
    most = facts["max_pages_per_host"]
    pages = plural(most, "page") if most else "any number of pages"
    feeds = f"{plural(facts['feeds'], 'feed')} on {plural(facts['feed_hosts'], 'host')}, {facts['due_feeds']:,} due"
    return [
        f"dataset     {facts['dataset']}",
        f"runner      {facts['runner']}",
        f"topics      {', '.join(facts['topics'])}",
        f"seeds       {plural(facts['seed_files'], 'file')} in {plural(facts['runs'], 'run')}",
        f"feeds       {feeds}",
        f"addresses   {plural(facts['url_files'], 'list')}",
        f"due pages   {facts['due_pages']:,} of earlier runs",
        f"manners     {facts['host_gap_s']:g} s between two requests to a host, at most {pages} a host and run",
    ]
