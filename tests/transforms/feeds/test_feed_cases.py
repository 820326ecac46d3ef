"""One file of ``cases`` is one case; what is expected stands in its last comment, as ``path = JSON``."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from transforms.feeds.parse import feed_report, parse_feed

NOW = datetime(2026, 11, 30, 18, 0, tzinfo=timezone.utc)
CASES = sorted((Path(__file__).parent / "cases").glob("*.xml"))


def _setting(comment: str, name: str) -> str | None:
    match = re.search(rf"^{name}: (.*)$", comment, re.MULTILINE)
    return match[1] if match else None


def _at(report: Any, path: str) -> Any:
    if path == "keys.distinct":
        return len({entry["key"] for entry in report["entries"]})
    for step in path.split("."):
        report = len(report) if step == "#" else report[int(step)] if step.isdigit() else report[step]
    return report


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    body = path.read_bytes()
    comment = body[body.rindex(b"\n<!--\nWhat:") :].decode("ascii")
    body = body[: -len(comment)]
    feed = parse_feed(
        body,
        content_type=_setting(comment, "Header"),
        url=_setting(comment, "Base"),
        now=NOW,
        default_zone=_setting(comment, "Zone"),
    )
    report = feed_report(feed)
    json.dumps(report)
    expected = dict(re.findall(r"^Expect: (\S+) = (.*)$", comment, re.MULTILINE))
    assert expected
    assert {name: _at(report, name) for name in expected} == {name: json.loads(text) for name, text in expected.items()}


def test_there_are_cases() -> None:
    assert len(CASES) > 60
