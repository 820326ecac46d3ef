"""The configuration: layers, paths, and mistakes as the user meets them."""

from __future__ import annotations

import glob
import pickle
from pathlib import Path

import pytest

from pipeline.config.load import config_sha256, load_config, read_config
from pipeline.config.model import Config, keys_of
from pipeline.config.starter import starter_dir
from pipeline.errors import ConfigError
from transforms.yaml_file import ProblemsError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def mistakes(text, overrides=None, environ=None):
    """All mistakes of a config, as lines."""
    loaded = read_config(write("c.yaml", text), overrides or {}, environ or {})
    return [str(problem) for problem in sorted(loaded.problems, key=lambda problem: problem.mark)]


def test_defaults(here):
    config = load_config(None, {}, {})
    assert config.dataset == str(here / "out")
    assert config.topics == (str(starter_dir() / "topics.yaml"),)
    assert (config.seeds, config.feeds, config.urls) == ((), (), ())
    assert (config.keep, config.store_text, config.contact) == ("all", "full", "")
    assert (config.max_age_s, config.host_gap_s, config.poll_interval_s) == (604_800, 5, 900)
    assert (config.max_items_per_feed, config.max_pages_per_host) == (50, 60)
    assert not config.allow_loopback
    assert config.entity_model is None


def test_flags_outweigh_variables_and_variables_outweigh_the_file(here):
    path = write("c.yaml", "host_gap: 1s\nkeep: tagged\nmax_age: 1d\n")
    environ = {"NEWSBEAM_HOST_GAP": "2s", "NEWSBEAM_MAX_AGE": "2d", "HOST_GAP": "9s"}
    config = load_config(path, {"host_gap": "3s", "keep": None, "json": True}, environ)
    assert (config.host_gap_s, config.max_age_s, config.keep) == (3, 172_800, "tagged")


def test_variables_reach_lists_and_what_is_below_a_key(here):
    environ = {"NEWSBEAM_SEEDS": "a.txt 'b c.txt'", "NEWSBEAM_EXTRACT_WORKERS": "2"}
    config = load_config(write("c.yaml", "extract: {timeout: 9s}\n"), {}, environ)
    assert config.seeds == (str(here / "a.txt"), str(here / "b c.txt"))
    assert (config.extract.workers, config.extract.timeout_s) == (2, 9)


def test_paths_are_relative_to_where_they_stand(here):
    path = write(
        "conf/c.yaml", "dataset: ../out\nseeds: ['s/*.txt']\nurls: u.txt\ntopics: t.yaml\nca_bundle: roots.pem\n"
    )
    config = load_config(path, {"topics": ["mine.yaml"]}, {"NEWSBEAM_CA_BUNDLE": "other.pem"})
    assert config.dataset == str(here / "out")
    assert config.seeds == (str(here / "conf/s/*.txt"),)
    assert config.urls == (str(here / "conf/u.txt"),)
    assert config.topics == (str(here / "mine.yaml"),)
    assert config.ca_bundle == str(here / "other.pem")


def test_a_bracket_in_the_folder_is_no_part_of_a_pattern(here):
    write("[2026]/s/a.txt", "x")
    path = write("[2026]/c.yaml", "seeds: [s/*.txt, s/a.txt]\n")
    pattern, plain = load_config(path, {}, {}).seeds
    assert glob.glob(pattern) == [plain] == [str(here / "[2026]/s/a.txt")]


def test_addresses_on_other_storage_stay_as_they_are(here):
    assert load_config(None, {"dataset": "gs://bucket/news"}, {}).dataset == "gs://bucket/news"


def test_a_flag_that_names_inputs_replaces_all_inputs(here):
    path = write("c.yaml", "seeds: [a.txt]\nfeeds: [https://courier.example/feed]\nurls: [u.txt]\n")
    config = load_config(path, {"urls": ["mine.txt"]}, {})
    assert (config.seeds, config.feeds, config.urls) == ((), (), (str(here / "mine.txt"),))


def test_the_usual_file_is_found_and_a_variable_may_name_another(here):
    assert load_config(None, {}, {}).keep == "all"
    write("configs/newsbeam.yaml", "keep: tagged\n")
    assert load_config(None, {}, {}).keep == "tagged"
    write("newsbeam.yaml", "store_text: none\n")
    assert load_config(None, {}, {}).store_text == "none"
    assert load_config(None, {}, {"NEWSBEAM_CONFIG": "configs/newsbeam.yaml"}).keep == "tagged"


def test_a_missing_file_names_its_path_and_the_next_step(here):
    with pytest.raises(ConfigError, match=r"nix\.yaml: no such file; name another one with -c FILE"):
        load_config("nix.yaml", {}, {})


def test_a_folder_is_no_file(here):
    with pytest.raises(ConfigError, match="is a folder; name the file in it"):
        load_config(str(here), {}, {})


def test_misspelt_keys_at_every_depth_are_found_at_once_with_the_nearest_right_one(here):
    # The field's trouble: a misspelt key is ignored, and the default works on.
    text = (
        "feeds:\n"
        "  - url: https://lantern.example/feed\n"
        "    intervall: 30m\n"
        "    lang: en\n"
        "extract:\n"
        "  workers: 2\n"
        "  timout: 9s\n"
        "host_gapp: 9s\n"
        "output: out\n"
        "zebra: 1\n"
    )
    found = mistakes(text)
    assert found[:4] == [
        'c.yaml:3:5: feeds[0].intervall: unknown key; did you mean "interval"?',
        'c.yaml:7:3: extract.timout: unknown key; did you mean "timeout"?',
        'c.yaml:8:1: host_gapp: unknown key; did you mean "host_gap"?',
        'c.yaml:9:1: output: unknown key; did you mean "dataset"?',
    ]
    assert found[4].startswith("c.yaml:10:1: zebra: unknown key; known are: version, dataset, seeds,")
    assert len(found) == 5


def test_values_of_old_yaml_stay_as_written(here):
    # The field's trouble: NO becomes false, 22:30 becomes 1350, 0123 becomes 83, 1.10 becomes 1.1.
    text = (
        "feeds:\n"
        "  - {id: 0456, url: https://lantern.example/feed, country: NO, lang: no, name: 22:30}\n"
        "  - {id: 2e5, url: https://ferry.example/feed, country: SE, note: 1.10}\n"
        "  - {id: 2026-04-01, url: https://meadow.example/feed, tags: [on, 1_000]}\n"
    )
    first, second, third = load_config(write("c.yaml", text), {}, {}).feeds
    assert (first.id, first.country, first.language, first.name) == ("0456", "NO", "no", "22:30")
    assert (second.id, second.note) == ("2e5", "1.10")
    assert (third.id, third.tags) == ("2026-04-01", ("on", "1_000"))


def test_a_version_is_compared_as_written(here):
    assert mistakes("version: 1.10\n") == ['c.yaml:1:10: version: "1.10" is not known; this newsbeam reads version 1']


def test_double_keys_name_both_lines(here):
    assert mistakes("keep: all\nhost_gap: 5s\nkeep: tagged\n") == [
        "c.yaml:3:1: keep: the same key twice, first in line 1; remove or rename one"
    ]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("keep: taged\n", 'c.yaml:1:7: keep: "taged" is not allowed; write all or tagged; did you mean "tagged"?'),
        ("allow_loopback: on\n", 'c.yaml:1:17: allow_loopback: "on" is neither true nor false; write true'),
        ("max_items_per_feed: -3\n", "c.yaml:1:21: max_items_per_feed: "),
        ("dataset:\n", "c.yaml:1:9: dataset: has no value"),
        ("seeds: {a: b}\n", "c.yaml:1:8: seeds: must be a list, not keys and values"),
        ("dataset: [a]\n", "c.yaml:1:10: dataset: must be a single text, not a list"),
        ("recheck: [1h, 5]\n", 'c.yaml:1:15: recheck[1]: "5" has no unit'),
        ("extract: fast\n", "c.yaml:1:10: extract: must hold keys and values"),
        ("extract: {workers: 1000}\n", "c.yaml:1:20: extract.workers: input should be less than or equal to 256"),
        ("extract: {timeout: 0}\n", "c.yaml:1:20: extract.timeout: cannot be 0"),
        ("- a\n- b\n", "c.yaml:1:1: must hold keys and values"),
        ("feeds:\n  - name: Lantern\n", "c.yaml:2:5: feeds[0].url: is missing"),
        ("feeds: [ftp://lantern.example/x]\n", 'c.yaml:1:9: feeds[0]: "ftp://lantern.example/x" is neither'),
        ("feeds: [{url: 'https://u:secret@'}]\n", "c.yaml:1:15: feeds[0].url: "),
        ("keep: 'all\n", "c.yaml:1:7: not valid YAML: the quote that opens here is not closed"),
        ("contact: ${NOBODY_SET_THIS}\n", "c.yaml:1:10: contact: the environment has no variable NOBODY_SET_THIS"),
    ],
)
def test_mistakes_name_place_key_and_remedy(here, text, mistake):
    (found,) = mistakes(text)
    assert found.startswith(mistake)
    assert "secret" not in found


def test_mistakes_in_flags_and_variables_name_them(here):
    assert mistakes("", {"max_age": "7 days"}, {"NEWSBEAM_KEEP": "non", "NEWSBEAM_EXTRACT_WORKERS": "x"}) == [
        '--max-age: "7 days" is not a duration; write it as 5s, 15m, 1h30m, 7d or 0',
        'NEWSBEAM_EXTRACT_WORKERS: "x" is not a whole number from 0 to 1000000000',
        'NEWSBEAM_KEEP: "non" is not allowed; write all or tagged',
    ]


def test_misspelt_variables_are_mistakes_and_foreign_ones_are_not(here):
    assert mistakes("", {}, {"NEWSBEAM_HOSTGAP": "1s", "NEWSBEAM_SHARED": "/x"}) == [
        "NEWSBEAM_HOSTGAP: unknown variable; did you mean NEWSBEAM_HOST_GAP?"
    ]


def test_variables_in_values(here):
    path = write(
        "c.yaml", "contact: '${WHO}'\nfeeds: ['https://${USER_PART}@lantern.example/feed', 'https://a.example/$$x']\n"
    )
    config = load_config(path, {}, {"WHO": "desk@lantern.example", "USER_PART": "ann:pw"})
    assert config.contact == "desk@lantern.example"
    assert config.feeds == ("https://ann:pw@lantern.example/feed", "https://a.example/$x")


def test_all_mistakes_are_raised_at_once(here):
    with pytest.raises(ProblemsError) as raised:
        load_config(write("c.yaml", "keep: x\nstore_text: y\n"), {}, {})
    assert len(raised.value.problems) == 2


def test_a_config_is_frozen_and_travels_between_processes(here):
    config = load_config(None, {"feeds": ["https://lantern.example/feed"]}, {})
    assert pickle.loads(pickle.dumps(config)) == config
    with pytest.raises(ValueError, match="frozen"):
        config.keep = "tagged"


def test_the_hash_tells_configurations_apart_and_holds_no_password(here):
    plain = load_config(None, {}, {})
    with_proxy = [load_config(None, {}, {"NEWSBEAM_PROXY": f"http://u:{pw}@proxy.example:3128"}) for pw in ("a", "b")]
    assert config_sha256(plain) == config_sha256(load_config(None, {}, {}))
    assert config_sha256(plain) != config_sha256(load_config(None, {"keep": "tagged"}, {}))
    assert config_sha256(with_proxy[0]) == config_sha256(with_proxy[1]) != config_sha256(plain)


def test_the_hash_counts_settings_of_inputs_too(here):
    hashes = {config_sha256(load_config(None, {"seeds": [name]}, {})) for name in ("a.txt", "b.txt")}
    assert len(hashes) == 2


def test_keys_have_no_units(here):
    assert not [key for key in keys_of(Config) if key.endswith("_s")]
