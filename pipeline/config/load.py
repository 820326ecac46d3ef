"""From files, environment and flags to one checked ``Config``, with all mistakes at once.

``load_setup`` is what a command wants that runs something: configuration, feeds and topics, or one
``ProblemsError`` with the mistakes of all of them. The other functions are its parts.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from pipeline.config import values
from pipeline.config.feeds import ListedFeed, list_feeds, source_of
from pipeline.config.layers import CONFIG_VARIABLE, INPUT_KEYS, Layers, gather
from pipeline.config.model import Config, ExtractConfig, FeedItem
from pipeline.config.problems import problems_of
from pipeline.config.starter import starter_dir
from transforms.fetch.addresses import is_loopback_host
from transforms.records import FeedSource
from transforms.remote.bucket import is_remote
from transforms.remote.files import is_file
from transforms.urls import host_of
from transforms.yaml_file import Mark, Problem, ProblemsError

if TYPE_CHECKING:
    from transforms.tag.model import Taxonomy

_MODELS: dict[str, type[BaseModel]] = {"": Config, "extract": ExtractConfig, "feeds": FeedItem}
_USUAL_PLACES = ("newsbeam.yaml", "configs/newsbeam.yaml")


class Loaded(NamedTuple):
    """A configuration with what is wrong in it.

    Attributes:
        config: What is right of it; keys with mistakes have their defaults.
        layers: Where each value came from.
        problems: The mistakes.
        wrong_keys: Top-level keys with mistakes.
    """

    config: Config
    layers: Layers
    problems: list[Problem]
    wrong_keys: frozenset[str]


class Setup(NamedTuple):
    """All that a run is configured with.

    Attributes:
        config: The configuration.
        file: Path of the configuration file; ``None`` if there is none.
        feeds: The feeds, as the stages want them.
        listed: The same feeds as the user listed them.
        taxonomy: The topics.
    """

    config: Config
    file: str | None
    feeds: list[FeedSource]
    listed: list[ListedFeed]
    taxonomy: Taxonomy


def usual_config(environ: Mapping[str, str] | None = None) -> str | None:
    """Returns the configuration file that is used when none is named.

    ``$NEWSBEAM_CONFIG``, else ``newsbeam.yaml`` or ``configs/newsbeam.yaml`` below the working directory;
    ``None`` if there is none of them.
    """
    named = (os.environ if environ is None else environ).get(CONFIG_VARIABLE)
    return named or next((place for place in _USUAL_PLACES if Path(place).is_file()), None)


def load_config(path: str | None, overrides: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Config:
    """Returns the checked configuration: defaults < file < ``NEWSBEAM_*`` < flags.

    Args:
        path: The file; ``None`` means the usual one, if there is one.
        overrides: Flags by key, ``None`` if not given. Keys that are none of the configuration are left aside.
        environ: Environment variables; default: those of the process.

    Raises:
        ConfigError: If the file cannot be read.
        ProblemsError: With all mistakes.
    """
    loaded = read_config(path, overrides, environ)
    if loaded.problems:
        raise ProblemsError(loaded.problems)
    return loaded.config


def load_feeds(config: Config) -> list[FeedSource]:
    """Returns the feeds of a configuration, each address once.

    Raises:
        ProblemsError: With all mistakes in all files that list feeds.
    """
    listed, problems = list_feeds(config, lambda path: Mark("feeds", 0, 0))
    if problems:
        raise ProblemsError(problems)
    return [source_of(feed.item, config) for feed in listed]


def load_setup(path: str | None, overrides: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Setup:
    """Returns configuration, feeds and topics.

    Raises:
        ConfigError: If the configuration file cannot be read.
        ProblemsError: With all mistakes of all files.
    """
    loaded = read_config(path, overrides, environ)
    config, problems = loaded.config, list(loaded.problems)
    listed, wrong = list_feeds(config, loaded.layers.place, environ)
    problems += wrong
    problems += _wrong_places(loaded)
    taxonomy = None
    if "topics" not in loaded.wrong_keys:
        taxonomy, wrong = _load_topics(loaded)
        problems += wrong
    if not problems:
        problems += missing_contact(loaded, listed)
    if problems or taxonomy is None:
        raise ProblemsError(sorted(problems, key=lambda problem: problem.mark))
    file = loaded.layers.file.file if loaded.layers.file else None
    return Setup(config, file, [source_of(feed.item, config) for feed in listed], listed, taxonomy)


def load_topics(path: str | None, overrides: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Taxonomy:
    """Returns the topics alone, for commands that need neither feeds nor a dataset.

    Raises:
        ConfigError: If the configuration file cannot be read.
        ProblemsError: With all mistakes of configuration and topics.
    """
    loaded = read_config(path, overrides, environ)
    taxonomy, wrong = (None, []) if "topics" in loaded.wrong_keys else _load_topics(loaded)
    if taxonomy is None or loaded.problems or wrong:
        raise ProblemsError([*loaded.problems, *wrong])
    return taxonomy


def read_config(path: str | None, overrides: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Loaded:
    """Returns the configuration as far as it is right, and its mistakes; see ``load_config``.

    Raises:
        ConfigError: If the file cannot be read.
    """
    environ = os.environ if environ is None else environ
    layers = gather(path or usual_config(environ), overrides, environ)
    problems, wrong_keys = list(layers.problems), frozenset[str]()
    try:
        config = Config.model_validate(layers.data)
    except ValidationError as error:
        problems += problems_of(error, layers.place, _MODELS)
        wrong_keys = frozenset(str(details["loc"][0]) for details in error.errors())
        config = Config.model_validate({key: value for key, value in layers.data.items() if key not in wrong_keys})
    return Loaded(_with_absolute_paths(config, layers), layers, problems, wrong_keys)


def config_sha256(config: Config) -> str:
    """Returns a hash of everything that the configuration says, without secrets; 64 hex digits."""
    data = config.model_dump(mode="json")
    data["proxy"] = values.without_secrets(config.proxy) if config.proxy else None
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def is_loopback(url: str) -> bool:
    """Tells whether an address names this machine itself."""
    return is_loopback_host(host_of(url))


def loopback_note(setup: Setup) -> str | None:
    """Returns a line on a feed of this machine itself that would be asked in vain; ``None`` if there is none."""
    if setup.config.allow_loopback:
        return None
    url = next((feed.url for feed in setup.feeds if is_loopback(feed.url)), None)
    return url and f"newsbeam: note: {url} is on this machine, which is asked with --allow-loopback only"


def _with_absolute_paths(config: Config, layers: Layers) -> Config:
    def absolute(key: str, path: str) -> str:
        if is_remote(path):
            return path
        base = layers.base_dir(key)
        if key in INPUT_KEYS and glob.has_magic(path):
            base = glob.escape(base)  # a bracket in the folder's name is no part of the pattern
        scheme, mark, folder = base.rpartition("://")
        return scheme + mark + os.path.normpath(os.path.join(folder, os.path.expanduser(path)))

    topics = tuple(absolute("topics", path) for path in config.topics) or (str(starter_dir() / "topics.yaml"),)
    changes: dict[str, Any] = {
        "dataset": absolute("dataset", config.dataset),
        "seeds": tuple(absolute("seeds", path) for path in config.seeds),
        "urls": tuple(absolute("urls", path) for path in config.urls),
        "feeds": tuple(feed if isinstance(feed, FeedItem) else absolute("feeds", feed) for feed in config.feeds),
        "topics": topics,
    }
    if config.ca_bundle:
        changes["ca_bundle"] = absolute("ca_bundle", config.ca_bundle)
    if config.entity_model and os.sep in config.entity_model:
        changes["entity_model"] = absolute("entity_model", config.entity_model)
    return config.model_copy(update=changes)


def _load_topics(loaded: Loaded) -> tuple[Taxonomy | None, list[Problem]]:
    missing = [path for path in loaded.config.topics if not is_file(path)]
    if missing:
        return None, [_wrong(loaded, "topics", _why_no_file(path)) for path in missing]
    # Kept out of the start-up of commands that have no use for topics.
    from transforms.tag.taxonomy import load_taxonomy

    try:
        return load_taxonomy(loaded.config.topics), []
    except ProblemsError as error:
        return None, list(error.problems)


def _why_no_file(path: str) -> str:
    return f"{path} is a folder; name the files in it" if os.path.isdir(path) else f"no such file: {path}"


def _wrong_places(loaded: Loaded) -> list[Problem]:
    """Paths that cannot work: seen now instead of after the first request."""
    config, found = loaded.config, []
    if not is_remote(config.dataset):
        root = Path(config.dataset)
        around = next(folder for folder in (root, *root.parents) if os.path.exists(folder))
        if not around.is_dir():
            found.append(_wrong(loaded, "dataset", f"{around} is a file, not a folder"))
        elif not os.access(around, os.W_OK | os.X_OK):
            found.append(_wrong(loaded, "dataset", f"{around} cannot be written to"))
    if config.ca_bundle and not (Path(config.ca_bundle).is_file() and os.access(config.ca_bundle, os.R_OK)):
        found.append(_wrong(loaded, "ca_bundle", f"cannot be read: {config.ca_bundle}"))
    model = config.entity_model
    if model and not os.path.exists(model) and not (model.isidentifier() and importlib.util.find_spec(model)):
        found.append(_wrong(loaded, "entity_model", f"no spaCy model {model}; install it, or name its folder"))
    return found


def missing_contact(loaded: Loaded, listed: list[ListedFeed]) -> list[Problem]:
    """Returns a mistake if servers of other people would be asked and nobody says who asks."""
    outside = next((feed.item.url for feed in listed if not is_loopback(feed.item.url)), None)
    if loaded.config.contact or outside is None:
        return []
    message = (
        f"is needed, since {host_of(outside)} would be asked; add --contact you@example.org to the command, or"
        " contact: you@example.org to the config file, so that people can reach who runs this robot"
    )
    return [_wrong(loaded, "contact", message)]


def _wrong(loaded: Loaded, key: str, message: str) -> Problem:
    """A mistake at the place of a key: its line, else the flag or variable, else the name of the key alone."""
    mark = loaded.layers.place((key,)) if (key,) in loaded.layers.origins else Mark(key, 0, 0)
    return Problem(mark, key if mark.line else "", message)
