"""Asks servers on behalf of a person at the command line; nothing is remembered or written."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import NamedTuple

from pipeline.config.feeds import ListedFeed
from pipeline.config.load import Loaded, missing_contact
from pipeline.config.model import Config, FeedItem
from pipeline.config.values import without_secrets
from pipeline.errors import ConfigError
from pipeline.settings import client_settings
from transforms.feeds.ask import Asker
from transforms.feeds.opml import feed_address
from transforms.fetch.client import HttpClient
from transforms.fetch.gate import HostGate
from transforms.fetch.robots import RobotsCache
from transforms.records import RunContext
from transforms.yaml_file import Mark, Problem

TEMPORARY = frozenset({"timeout", "connect_error", "server_error", "rate_limited", "host_down", "deferred"})
"""Outcomes that may be gone by themselves; all other failures want a person to look."""


class Desk(NamedTuple):
    """What asks, and the clock it goes by."""

    asker: Asker
    run: RunContext


def open_desk(config: Config) -> Desk:
    """Returns a client with a gate and robots rules of its own, made as the configuration says."""
    run = RunContext("feeds", datetime.now(timezone.utc), time.time())
    settings, gate = client_settings(config), HostGate(config.host_gap_s)
    return Desk(Asker(HttpClient(settings, run.now, gate), gate, RobotsCache(), settings), run)


def contact_problems(loaded: Loaded, urls: Iterable[str]) -> list[Problem]:
    """Returns the mistakes of the configuration, a contact that is missing for these addresses among them."""
    if loaded.problems:
        return list(loaded.problems)
    return missing_contact(loaded, [ListedFeed(FeedItem(url=url), Mark("", 0, 0)) for url in urls])


def address_of(word: str) -> str:
    """Returns the http(s) address that a person means: ``feed://`` and a host without scheme are taken as https.

    Raises:
        ConfigError: If it is none.
    """
    url, reason = feed_address(word)
    if url is None:
        raise ConfigError(f'"{without_secrets(word)}": {reason}; write it as https://example.org/feed')
    return url
