"""The files that newsbeam ships: right as they stand, offline by default, true about their defaults."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pipeline.config.feeds import list_feeds
from pipeline.config.load import load_config, load_feeds
from pipeline.config.model import Config, ExtractConfig, keys_of
from pipeline.config.starter import starter_dir
from transforms.urls import is_http_url
from transforms.yaml_file import Mark, load_yaml

CONFIG = starter_dir() / "newsbeam.yaml"
FEEDS = starter_dir() / "feeds.yaml"


@pytest.fixture
def config():
    return load_config(str(CONFIG), {}, {})


@pytest.fixture
def feeds():
    listed, problems = list_feeds(load_config(None, {"feeds": [str(FEEDS)]}, {}), lambda path: Mark("feeds", 0, 0), {})
    assert not problems
    return [feed.item for feed in listed]


def test_it_asks_no_server(config):
    assert load_feeds(config) == []
    assert config.urls == ()
    assert config.contact == ""


def test_its_paths_lie_beside_it(config):
    assert config.dataset == str(starter_dir().parent / "out")
    assert config.topics == (str(starter_dir() / "topics.yaml"),)
    assert all(seed.startswith(str(starter_dir().parent / "seeds")) for seed in config.seeds)


def test_it_shows_the_defaults(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no configuration there
    plain = load_config(None, {}, {})
    same = set(Config.model_fields) - {"dataset", "seeds", "topics"}
    assert {name: getattr(config, name) for name in same} == {name: getattr(plain, name) for name in same}


def test_it_names_every_key():
    text = CONFIG.read_text(encoding="utf-8")
    for key in (*keys_of(Config), *keys_of(ExtractConfig)):
        assert re.search(rf"^(# |  )?{key}:", text, re.MULTILINE), key


def test_the_starter_list_of_feeds_is_wide(feeds):
    assert len(feeds) >= 40
    assert len({feed.url for feed in feeds}) == len({feed.id for feed in feeds}) == len(feeds)
    assert all(is_http_url(feed.url) and feed.url.startswith("https://") for feed in feeds)
    kinds = Counter(tag for feed in feeds for tag in feed.tags)
    assert {"wire", "national", "local", "government"} <= set(kinds)
    assert Counter(feed.language for feed in feeds)["es"] >= 6
    assert {"CA", "IL", "NY", "NJ", "MA", "WA", "OR", "CO", "MN"} <= {feed.state for feed in feeds}


def test_the_starter_list_says_that_it_was_not_verified():
    head = FEEDS.read_text(encoding="utf-8").partition("version:")[0]
    assert "Not verified from here" in head
    assert "newsbeam feeds check" in head


@pytest.mark.parametrize("path", sorted(starter_dir().rglob("*.yaml")), ids=lambda path: path.name)
def test_every_file_is_right_yaml(path):
    assert not load_yaml(path).problems
