"""From the configuration to the settings of HTTP; shared by ``run``, ``explain`` and ``feeds``."""

from __future__ import annotations

from pipeline import __version__
from pipeline.config.model import Config
from transforms.fetch.client import ClientSettings
from transforms.fetch.pages import FetchSettings


def user_agent(contact: str) -> str:
    """Returns the honest name under which hosts see us."""
    return f"newsbeam/{__version__} (news monitoring{'; +' + contact if contact else ''})"


def client_settings(config: Config) -> ClientSettings:
    """Returns the settings of the HTTP client."""
    return ClientSettings(
        user_agent=user_agent(config.contact),
        allow_loopback=config.allow_loopback,
        proxy=config.proxy,
        no_proxy=config.no_proxy,
        ca_bundle=config.ca_bundle,
        loopback_only=not config.contact,
    )


def fetch_settings(config: Config) -> FetchSettings:
    """Returns the settings of politeness, with those of the client."""
    return FetchSettings(
        client=client_settings(config),
        host_gap_s=config.host_gap_s,
        max_pages_per_host=config.max_pages_per_host,
        recheck_s=tuple(sorted(config.recheck_s)),
    )
