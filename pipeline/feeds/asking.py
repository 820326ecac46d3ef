"""Asks servers on behalf of a person at the command line; nothing is remembered or written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import NamedTuple

from pipeline.config.feeds import ListedFeed
from pipeline.config.load import Loaded, is_loopback, missing_contact
from pipeline.config.model import Config, FeedItem
from pipeline.config.values import without_secrets
from pipeline.errors import ConfigError
from pipeline.settings import client_settings
from transforms.feeds.ask import Asker, not_asked
from transforms.feeds.opml import feed_address
from transforms.fetch.addresses import Target, is_loopback_host
from transforms.fetch.client import Exchange, HttpClient
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
    kind = Asker if config.contact else _LoopbackAsker
    return Desk(kind(HttpClient(settings, run.now, gate), gate, RobotsCache(), settings), run)


class _LoopbackAsker(Asker):
    """Stays on loopback, whatever redirects and indexes lead to: nobody has said who asks."""

    def get(
        self, url: str, headers: Mapping[str, str], may_follow: Callable[[Target], str | None] | None = None
    ) -> Exchange:
        """See ``Asker.get``."""

        def refusal_of(target: Target) -> str | None:
            if not is_loopback_host(target.host):
                return "blocked_address"
            return may_follow(target) if may_follow else None

        if not is_loopback(url):
            return not_asked(url, "blocked_address", datetime.now(timezone.utc))
        return super().get(url, headers, refusal_of)


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
