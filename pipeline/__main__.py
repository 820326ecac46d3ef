"""``python -m pipeline`` is the command ``newsbeam``."""

from pipeline.cli import main

raise SystemExit(main())
