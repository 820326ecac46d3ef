"""Runs newsbeam as users do, as a process of its own, and makes pages and feeds of invented news for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

_PLACES = ("Harrow Bay", "Colby Falls", "Lindero", "Port Amsel", "Tidewater", "Marlow Creek", "Oster Point", "Vale")
_PEOPLE = ("Odile Fenwick", "Dale Prentiss", "Ruth Abara", "Tomas Quill", "Ines Varga", "Karim Holt", "Lena Moss")
_BODIES = ("the harbor board", "the county court", "the school district", "the water office", "the housing panel")
_DEEDS = ("postponed a vote on", "approved", "rejected", "opened a hearing on", "asked for an audit of", "delayed")
_THINGS = (
    *("a shelter for asylum seekers", "a new bridge toll", "the deportation of a ferry cook", "a library roof"),
    *("a sanctuary city ordinance", "a contract for buses", "visas for seasonal workers", "a marsh restoration"),
)


def story(number: int) -> tuple[str, list[str]]:
    """Returns the title and the paragraphs of an invented article; each number gives another one."""

    def pick(words: Sequence[str], salt: int) -> str:
        return words[(number * 7 + salt * 13 + number // 3) % len(words)]

    title = f"{pick(_PLACES, 1)}: {pick(_BODIES, 2)} {pick(_DEEDS, 3)} {pick(_THINGS, number)} ({number})"
    paragraphs = [
        f"{pick(_PLACES, salt)} - {pick(_PEOPLE, salt)} said on day {number * 10 + salt} that "
        f"{pick(_BODIES, salt + 1)} {pick(_DEEDS, salt)} {pick(_THINGS, salt + number)} after {number + 3 + salt} people had spoken. "
        f"Nobody could say what it would cost, but {pick(_PEOPLE, salt + 2)} put it at {number * 113 + salt} dollars, "
        f"and the record of {pick(_PLACES, salt + 3)} shows that the same was asked {salt + 2} years ago."
        for salt in range(1, 6)
    ]
    return title, paragraphs


def page(number: int) -> str:
    """Returns the story as a web page with some navigation around it."""
    title, paragraphs = story(number)
    facts = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": title,
        "datePublished": f"2026-11-{number % 27 + 1:02d}T08:15:00-05:00",
        "author": {"@type": "Person", "name": _PEOPLE[number % len(_PEOPLE)]},
    }
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} | The Vale Post</title>'
        f'<script type="application/ld+json">{json.dumps(facts)}</script></head>'
        '<body><nav><a href="/">Home</a> <a href="/sport">Sport</a> <a href="/weather">Weather</a></nav>'
        f"<article><h1>{title}</h1>{body}</article><footer>Contact the newsroom</footer></body></html>"
    )


def rss(links: Sequence[str]) -> str:
    """Returns a feed without content whose items have these links."""
    items = "".join(
        f"<item><title>Item {number}</title><link>{link}</link><guid>item-{number}</guid>"
        f"<pubDate>Sun, 29 Nov 2026 {number // 60:02d}:{number % 60:02d}:00 GMT</pubDate></item>"
        for number, link in enumerate(links)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>The Vale Post</title>'
        f"<link>https://vale-post.example/</link><description>News</description>{items}</channel></rss>"
    )


def newsbeam(
    *words: object, check: bool = True, env: dict[str, str] | None = None, cwd: Path | None = None, timeout_s: int = 100
) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns what it said.

    Args:
        words: The command line after ``newsbeam``.
        check: Whether an exit code other than 0 fails the test.
        env: Variables to add.
        cwd: Working directory; default: the project.
        timeout_s: After this it is ended and the test fails.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *map(str, words)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd or ROOT,
        timeout=timeout_s,
    )
    if check:
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_json(*words: object, **how: Any) -> dict[str, Any]:
    """Runs ``newsbeam run --json`` and returns the summary."""
    found = json.loads(newsbeam("run", *words, "--json", **how).stdout)
    assert isinstance(found, dict)
    return found


def items_of(summary: dict[str, Any]) -> dict[str, int]:
    """Returns the terms of the sum that are not zero."""
    return {name: count for name, count in summary["items"].items() if count}


def run_until_killed(script: Path, *words: object, timeout_s: float = 400) -> None:
    """Runs a script of tests that ends itself with kill -9, and makes sure that it was this that ended it."""
    ended = subprocess.run(
        [sys.executable, str(script), *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
