"""A server whose feeds go on: articles are published and edited as time passes, and it is noted what was shown.

    with Newsroom(feeds=3, rate_per_s=2.0, articles=60) as room:
        ... room.feed_urls ...
        assert room.shown   # {article number: newest version that an answered poll has shown}

Every feed is a host of its own and shows its last 12 articles only: what is polled and lost is gone.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from types import TracebackType

from tests.program import story
from tests.rows import read_rows
from tests.servers import Answer, NewsServer, Request

FEED_LENGTH = 12
EDITED = 4  # every fourth article is edited ...
EDIT_AFTER_S = 9.0  # ... this long after it was published


class Newsroom:
    """Publishes ``articles`` articles, ``rate_per_s`` in all, over ``feeds`` hosts 127.0.1.1, 127.0.1.2, ...

    Attributes:
        shown: Article -> newest version that a feed showed in an answered poll.
    """

    def __init__(self, feeds: int = 1, rate_per_s: float = 2.0, articles: int = 100) -> None:
        self._rate_per_s = rate_per_s
        self._articles = articles
        self.shown: dict[int, int] = {}
        self._lock = threading.Lock()
        self._servers = [NewsServer({"*": self._answer}, host=f"127.0.1.{n + 1}") for n in range(feeds)]
        self._epoch_s = 0.0

    def __enter__(self) -> Newsroom:
        self._epoch_s = time.time()
        for server in self._servers:
            server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.__exit__(kind, error, trace)

    @property
    def feed_urls(self) -> list[str]:
        """The addresses of the feeds."""
        return [server.url("/feed.xml") for server in self._servers]

    @property
    def published(self) -> int:
        """How many articles there are by now."""
        return min(self._articles, int((time.time() - self._epoch_s) * self._rate_per_s))

    @property
    def is_over(self) -> bool:
        """Whether all is published and edited."""
        return time.time() > self._epoch_s + self._articles / self._rate_per_s + EDIT_AFTER_S + 1

    @property
    def page_requests(self) -> int:
        """How many pages were asked for."""
        return sum(path.startswith("/story/") for server in self._servers for path in server.paths())

    def url_of(self, article: int) -> str:
        """The address of an article."""
        return self._servers[article % len(self._servers)].url(f"/story/{article}")

    def version_of(self, article: int) -> int:
        """2 once an article is edited."""
        born_s = self._epoch_s + article / self._rate_per_s
        return 2 if article % EDITED == 0 and time.time() > born_s + EDIT_AFTER_S else 1

    def _answer(self, request: Request) -> Answer | int:
        if request.path.startswith("/story/"):
            article = int(request.path.rpartition("/")[2])
            return Answer(body=_page(article, self.version_of(article)))
        if request.path == "/feed.xml":
            host = request.headers["host"]
            return Answer(body=self._feed(host), headers={"Content-Type": "application/rss+xml"})
        return 404

    def _feed(self, host: str) -> str:
        place = next(n for n, server in enumerate(self._servers) if server.origin.endswith(host))
        articles = [n for n in range(self.published) if n % len(self._servers) == place]
        items = []
        # An edited article comes to the top again, as in feeds that are sorted by change.
        ranked = sorted(articles, key=lambda n: n / self._rate_per_s + (self.version_of(n) - 1) * EDIT_AFTER_S)
        for article in ranked[-FEED_LENGTH:]:
            version = self.version_of(article)
            with self._lock:
                self.shown[article] = max(version, self.shown.get(article, 0))
            title = story(article)[0] + (" (updated)" if version == 2 else "")
            when = formatdate(self._epoch_s + article / self._rate_per_s, usegmt=True)
            items.append(
                f"<item><title>{title}</title><link>{self.url_of(article)}</link><guid>a{article}</guid>"
                f"<description>Version {version}.</description><pubDate>{when}</pubDate></item>"
            )
        return (
            '<?xml version="1.0"?><rss version="2.0"><channel><title>The Vale Post</title>'
            f"<link>https://vale-post.example/</link><ttl>0</ttl>{''.join(items)}</channel></rss>"
        )


@dataclass
class Count:
    """What became of the articles of a newsroom.

    Attributes:
        published: Articles there are.
        shown: Of these, what answered polls showed; only this can be had.
        rows: Rows of ``articles``.
        distinct: Distinct articles among them.
        lost: Articles that were shown and have no row.
        stale: Articles whose shown edit is not the newest row.
        doubled: Rows beyond one for each article and content.
    """

    published: int
    shown: int
    rows: int
    distinct: int
    lost: list[int]
    stale: list[int]
    doubled: int


def count(room: Newsroom, root: Path) -> Count:
    """Compares a dataset with what was shown."""
    rows = read_rows(root, "articles")
    newest: dict[str, tuple[int, str]] = {}
    for row in rows:
        newest[row["url"]] = max(newest.get(row["url"], (0, "")), (row["revision"], row["text"]))
    shown = dict(room.shown)
    lost = sorted(n for n in shown if room.url_of(n) not in newest)
    stale = sorted(n for n, v in shown.items() if n not in lost and v == 2 and _EDIT not in newest[room.url_of(n)][1])
    keys = Counter((row["article_id"], row["content_sha256"]) for row in rows)
    return Count(room.published, len(shown), len(rows), len(newest), lost, stale, len(rows) - len(keys))


_EDIT = "The figures in an earlier version of this article were corrected"


def _page(article: int, version: int) -> str:
    title, paragraphs = story(article)
    if version == 2:
        paragraphs = [*paragraphs, f"{_EDIT} after {article + 2} readers had written to the newsroom about them."]
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><article><h1>{title}</h1>{body}</article></body></html>"
    )
