"""Where the files that newsbeam ships with lie: configuration, feeds and topics to start from."""

from __future__ import annotations

from pathlib import Path


def starter_dir() -> Path:
    """Returns the folder with newsbeam.yaml, feeds.yaml, topics.yaml and runners/.

    In a clone it is ``configs/`` beside setup.py, in an installed package ``pipeline/starter``, to which
    setup.py maps the same files.
    """
    pipeline_dir = Path(__file__).resolve().parent.parent
    clone = pipeline_dir.parent
    if (clone / "setup.py").is_file() and (clone / "configs").is_dir():
        return clone / "configs"
    return pipeline_dir / "starter"
