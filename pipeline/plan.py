"""What a run will do: inputs found, taxonomy loaded, everything checked before the first request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import NamedTuple

from pipeline.cli.output import plural
from pipeline.config.load import Setup, is_loopback
from pipeline.config.model import Config
from pipeline.errors import ConfigError
from transforms.records import Entry, FeedSource
from transforms.remote.files import match, read_file
from transforms.seeds.expand import expand_seeds
from transforms.seeds.urls_file import read_urls
from transforms.seeds.weight import text_bytes_of
from transforms.tag.taxonomy import Taxonomy
from transforms.urls import host_of

# Bounds of one local run, a "micro-batch": the in-process runner keeps the text of a run in memory, some six times.
BATCH_FILES = 5_000
BATCH_TEXT_BYTES = 64 << 20
BATCH_ENTRIES = 10_000


class Plan(NamedTuple):
    """The inputs of a run.

    Attributes:
        seed_batches: Paths of seed files, cut so that each batch fits into memory.
        url_paths: Files that list addresses.
        unmatched: Patterns of seeds that match no file.
    """

    config: Config
    feeds: tuple[FeedSource, ...]
    seed_batches: tuple[tuple[str, ...], ...]
    url_paths: tuple[str, ...]
    taxonomy: Taxonomy
    unmatched: tuple[str, ...] = ()

    @property
    def seed_count(self) -> int:
        """Number of seed files."""
        return sum(map(len, self.seed_batches))


def make_plan(setup: Setup) -> Plan:
    """Finds the input files and checks what can be checked without a request.

    Raises:
        ConfigError: If an input or the contact is missing, or nothing is to be done.
    """
    config, feeds = setup.config, tuple(setup.feeds)
    if not (config.seeds or feeds or config.urls):
        raise ConfigError("nothing to do: name --seeds, --feeds or --urls, or set them in the config file")
    seeds = expand_seeds(config.seeds)
    url_paths = tuple(_url_files(config.urls))
    if seeds.problems:
        raise ConfigError("; ".join(seeds.problems))
    if config.seeds and not seeds.paths and not feeds and not url_paths:
        why = "check the path, or quote the pattern"
        if seeds.left_out:
            more = f" and {len(seeds.left_out) - 5:,} more" if len(seeds.left_out) > 5 else ""
            why = f"hidden files and READMEs are no seeds: {', '.join(seeds.left_out[:5])}{more}"
        raise ConfigError(f"no seed file matches {', '.join(config.seeds)}; {why}")
    if not config.contact:
        _check_contact(url_paths)
    return Plan(config, feeds, tuple(cut_batches(seeds.paths)), url_paths, setup.taxonomy, seeds.unmatched)


def _url_files(patterns: tuple[str, ...]) -> Iterator[str]:
    for pattern in patterns:
        files = match(pattern)
        if not files:
            raise ConfigError(f"no list of addresses at {pattern}; it is a text file with one address a line")
        yield from files


def cut_batches(paths: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Cuts seed files so that no batch has too many files or too much text."""
    batch: list[str] = []
    text_bytes = 0
    for path in paths:
        more_bytes = text_bytes_of(path)
        if batch and (len(batch) >= BATCH_FILES or text_bytes + more_bytes > BATCH_TEXT_BYTES):
            yield tuple(batch)
            batch, text_bytes = [], 0
        batch.append(path)
        text_bytes += more_bytes
    if batch:
        yield tuple(batch)


def _check_contact(url_paths: tuple[str, ...]) -> None:
    """A robot that asks other people's hosts says who runs it; feeds were checked with the configuration."""
    outside = next((url for path in url_paths for url in _urls_of(path) if not is_loopback(url)), None)
    if outside is not None:
        raise ConfigError(
            f"contact is not set, and {outside} would be asked; add --contact you@example.org to the command"
            " or contact: you@example.org to the config file, so that people can reach who runs this robot"
        )


def _urls_of(path: str) -> Iterator[str]:
    for item in read_urls(path, read_file(path), now=datetime.now(timezone.utc)):
        if isinstance(item, Entry) and item.url:
            yield item.url


def size_line(plan: Plan, now: datetime | None, due_now: bool) -> str | None:
    """Returns how much a live run asks for and how long that takes at most; ``None`` if it asks for nothing."""
    from transforms.dedupe.state import NEWEST, StateLocation, open_state
    from transforms.feeds.hosts import due_feeds

    config = plan.config
    known = open_state(StateLocation(config.dataset, NEWEST))
    moment = now or datetime.now(timezone.utc)
    due = due_feeds(plan.feeds, known.feeds(), moment, due_now)
    feeds_of_hosts = Counter(host_of(feed.url) for feed in due)
    pages_of_hosts = Counter(host_of(entry.url) for entry in known.due_entries(moment) if entry.url)
    pages_of_hosts.update(
        {host: feeds * (config.max_items_per_feed or 2_000) for host, feeds in feeds_of_hosts.items()}
    )
    pages_of_hosts.update(host_of(url) for path in plan.url_paths for url in _urls_of(path))
    if not pages_of_hosts:
        return None
    limit = config.max_pages_per_host
    pages = {host: min(count, limit) if limit else count for host, count in pages_of_hosts.items()}
    # One robots.txt a host; hosts are asked side by side, so that the longest one counts.
    longest_s = max((feeds_of_hosts[host] + 1 + count) * config.host_gap_s for host, count in pages.items())
    return (
        f"asking {plural(len(due), 'feed')} and at most {plural(sum(pages.values()), 'page')} on"
        f" {plural(len(pages), 'host')}, one request"
        f" at a time and {config.host_gap_s:g} s apart: at most about {max(1, round(longest_s / 60)):,} min"
    )
