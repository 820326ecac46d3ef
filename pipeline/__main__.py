"""``python -m pipeline`` is the command ``newsbeam``."""

from __future__ import annotations

from typing import NoReturn

from pipeline.cli import main
from pipeline.leave import leave


def run() -> NoReturn:
    """Runs the command line of the process and ends it."""
    leave(main())


if __name__ == "__main__":
    run()
