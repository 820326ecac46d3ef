"""``${NAME}`` in values of configuration files, for passwords and other things that stay out of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from transforms.yaml_file import KeyPath, Problem, YamlFile, YamlText, dotted

_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")


def expand_variables(file: YamlFile, environ: Mapping[str, str], problems: list[Problem]) -> Any:
    """Returns the data of a file with each ``${NAME}`` replaced; ``$$`` stands for one ``$``.

    Args:
        file: The parsed file.
        environ: The variables.
        problems: Gets one entry for each variable that is not set.
    """
    return _expand(file.data, (), file, environ, problems)


def _expand(value: Any, path: KeyPath, file: YamlFile, environ: Mapping[str, str], problems: list[Problem]) -> Any:
    if isinstance(value, dict):
        return {key: _expand(item, (*path, key), file, environ, problems) for key, item in value.items()}
    if isinstance(value, list):
        return [_expand(item, (*path, i), file, environ, problems) for i, item in enumerate(value)]
    if not isinstance(value, YamlText) or "$" not in value:
        return value

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "$"
        if name not in environ:
            message = f"the environment has no variable {name}; set it, or write $${{{name}}} if it is meant literally"
            problems.append(Problem(file.mark_of(path), dotted(path), message))
            return ""
        return environ[name]

    return _VARIABLE.sub(replacement, value)
