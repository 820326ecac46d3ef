"""Where the scripts of deploy/ leave what they build and fetch."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

FLINK_JARS = "flink-1.19-beam-2.62.0"
SPARK_JARS = "spark-3.5-beam-2.62.0"


def cache_dir() -> Path:
    """Returns the folder: ``NEWSBEAM_CACHE``, else ``newsbeam`` in the user's cache folder."""
    given = os.environ.get("NEWSBEAM_CACHE")
    return Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "newsbeam"


def prism_program() -> Path:
    """Returns where Prism of the installed Beam lies once ``deploy/prism/build.sh`` has run."""
    return cache_dir() / f"beam-{metadata.version('apache-beam')}" / "prism"
