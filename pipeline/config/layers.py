"""The layers of a configuration, lowest first: defaults, file, ``NEWSBEAM_*`` variables, flags.

Each layer gives raw values as written; who gave a key is remembered, so that a mistake can name the line,
the variable or the flag.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from pipeline.config.model import Config, ExtractConfig, keys_of
from pipeline.config.variables import expand_variables
from pipeline.errors import ConfigError
from transforms.remote.bucket import is_remote
from transforms.yaml_file import KeyPath, Mark, Problem, YamlFile, load_yaml

PREFIX = "NEWSBEAM_"
CONFIG_VARIABLE = "NEWSBEAM_CONFIG"
INPUT_KEYS = ("seeds", "feeds", "urls")
LIST_KEYS = frozenset((*INPUT_KEYS, "topics", "recheck", "no_proxy"))


class Layers(NamedTuple):
    """All layers, merged.

    Attributes:
        data: Raw value of each top-level key that somebody gave.
        origins: Who gave the value at a path: ``file``, a variable's name, a flag.
        file: The configuration file, parsed; ``None`` if there is none.
        problems: Mistakes found so far.
    """

    data: dict[str, Any]
    origins: dict[KeyPath, str]
    file: YamlFile | None
    problems: list[Problem]

    def place(self, path: KeyPath, of_key: bool = False) -> Mark:
        """Returns where the value at ``path`` (or its key) stands."""
        origin = self.origins.get(path[:2]) or self.origins.get(path[:1], "file")
        if origin != "file":
            return Mark(origin, 0, 0)
        if self.file is None:
            return Mark("configuration", 0, 0)
        return self.file.key_mark_of(path) if of_key else self.file.mark_of(path)

    def base_dir(self, key: str) -> str:
        """Returns the folder to which a path under ``key`` is relative, a path or an address."""
        if self.file is None or self.origins.get((key,)) != "file":
            return os.getcwd()
        if is_remote(self.file.file):
            return self.file.file.rpartition("/")[0]
        return os.path.dirname(os.path.abspath(self.file.file))


def gather(path: str | None, overrides: Mapping[str, Any], environ: Mapping[str, str]) -> Layers:
    """Reads and merges all layers.

    Args:
        path: The configuration file; ``None`` if there is none.
        overrides: Flags by key; ``None`` values and other keys are left aside. A flag that names inputs
            replaces all inputs of the lower layers.
        environ: Environment variables.

    Raises:
        ConfigError: If the file cannot be read.
    """
    layers = Layers({}, {}, _read(path) if path is not None else None, [])
    if layers.file is not None:
        layers.problems.extend(layers.file.problems)
        _add_file(layers, layers.file, environ)
    _add_environment(layers, environ)
    given = {key: overrides[key] for key in keys_of(Config) if overrides.get(key) is not None}
    if any(key in given for key in INPUT_KEYS):
        for key in INPUT_KEYS:
            layers.data.pop(key, None)
    for key, value in given.items():
        layers.data[key] = value
        layers.origins[key,] = "--" + key.replace("_", "-")
    return layers


def _read(path: str) -> YamlFile:
    try:
        return load_yaml(path)
    except FileNotFoundError:
        hint = "name another one with -c FILE, or start from a copy of configs/newsbeam.yaml"
        raise ConfigError(f"{path}: no such file; {hint}") from None
    except IsADirectoryError:
        raise ConfigError(
            f"{path}: is a folder; name the file in it, such as -c {os.path.join(path, 'newsbeam.yaml')}"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None


def _add_file(layers: Layers, file: YamlFile, environ: Mapping[str, str]) -> None:
    data = expand_variables(file, environ, layers.problems)
    if data is None:
        return
    if not isinstance(data, dict):
        layers.problems.append(Problem(file.mark_of(()), "", "must hold keys and values, such as `dataset: out`"))
        return
    layers.data.update(data)
    layers.origins.update({(key,): "file" for key in data})


def _add_environment(layers: Layers, environ: Mapping[str, str]) -> None:
    top = {PREFIX + key.upper(): key for key in keys_of(Config) if key != "extract"}
    nested = {PREFIX + "EXTRACT_" + key.upper(): key for key in keys_of(ExtractConfig)}
    for name, value in environ.items():
        if name in top:
            key = top[name]
            layers.data[key] = _words(value) if key in LIST_KEYS else value
            layers.origins[key,] = name
        elif name in nested:
            below = layers.data.get("extract")
            layers.data["extract"] = {**(below if isinstance(below, dict) else {}), nested[name]: value}
            layers.origins["extract", nested[name]] = name
        elif near := _meant(name, (*top, *nested)):
            layers.problems.append(Problem(Mark(name, 0, 0), "", f"unknown variable; did you mean {near}?"))


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    """The variable that a misspelt one means; tests and wrappers have variables of this prefix too."""
    if not name.startswith(PREFIX) or name == CONFIG_VARIABLE:
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.85)), None)


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError:
        return [value]
