"""Servers whose feeds go on: articles are published and edited as time passes, and it is noted what was shown.

    with Newsroom(feeds=3, rate_per_s=2.0, articles=60) as room:
        ... room.feed_urls ...
        print(count(room, dataset))

Every feed is a host of its own and shows its last 12 articles only: what is polled and lost is gone.
"""

from __future__ import annotations

import json
import sys
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
UNREAD_S = 1.0


class Newsroom:
    """Publishes ``articles`` articles, ``rate_per_s`` in all, over ``feeds`` hosts 127.0.1.1, 127.0.1.2, ...

    Attributes:
        kills: When something was killed, by ``time.time()``. An answer that was sent in the second before may not have
            been read to its end; what only it showed does not count as shown.
    """

    INTERVAL = "3s"  # least time between two polls of a feed

    def __init__(self, feeds: int = 1, rate_per_s: float = 2.0, articles: int = 100, one_server: bool = False) -> None:
        """Takes how much is published; ``one_server`` listens on all addresses: only where there is but loopback."""
        self._rate_per_s = rate_per_s
        self._articles = articles
        self.kills: list[float] = []
        self._polls: list[tuple[float, dict[int, int]]] = []
        self._lock = threading.Lock()
        hosts = [f"127.0.1.{n + 1}" for n in range(feeds)]
        self._servers = [NewsServer({"*": self._answer}, host) for host in (["0.0.0.0"] if one_server else hosts)]
        self._hosts = [f"{host}:{self._servers[n % len(self._servers)].port}" for n, host in enumerate(hosts)]
        self._places = {host: n for n, host in enumerate(self._hosts)}
        self._epoch_s = float("inf")  # publishing begins with the first poll, however long a runner takes to start

    def __enter__(self) -> Newsroom:
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
        return [f"http://{host}/feed.xml" for host in self._hosts]

    @property
    def published(self) -> int:
        """How many articles there are by now."""
        return min(self._articles, int(max(0.0, time.time() - self._epoch_s) * self._rate_per_s))

    @property
    def is_over(self) -> bool:
        """Whether all is published and edited."""
        return time.time() > self._epoch_s + self._articles / self._rate_per_s + EDIT_AFTER_S + 1

    @property
    def page_requests(self) -> int:
        """How many pages were asked for."""
        return sum(path.startswith("/story/") for server in self._servers for path in server.paths())

    @property
    def shown(self) -> dict[int, int]:
        """Article -> newest version that a feed showed in an answered poll."""
        found: dict[int, int] = {}
        for at_s, versions in list(self._polls):
            if not any(0 <= kill_s - at_s < UNREAD_S for kill_s in self.kills):
                for article, version in versions.items():
                    found[article] = max(version, found.get(article, 0))
        return found

    def url_of(self, article: int) -> str:
        """The address of an article."""
        return f"http://{self._hosts[article % len(self._hosts)]}/story/{article}"

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
        with self._lock:
            self._epoch_s = min(self._epoch_s, time.time())
        articles = range(self._places[host], self.published, len(self._hosts))
        items = []
        versions: dict[int, int] = {}
        # An edited article comes to the top again, as in feeds that are sorted by change.
        ranked = sorted(articles, key=lambda n: n / self._rate_per_s + (self.version_of(n) - 1) * EDIT_AFTER_S)
        for article in ranked[-FEED_LENGTH:]:
            version = versions[article] = self.version_of(article)
            title = story(article)[0] + (" (updated)" if version == 2 else "")
            when = formatdate(self._epoch_s + article / self._rate_per_s, usegmt=True)
            items.append(
                f"<item><title>{title}</title><link>{self.url_of(article)}</link><guid>a{article}</guid>"
                f"<description>Version {version}.</description><pubDate>{when}</pubDate></item>"
            )
        with self._lock:
            self._polls.append((time.time(), versions))
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

    @property
    def is_right(self) -> bool:
        """Whether nothing is lost, behind or doubled."""
        return not (self.lost or self.stale or self.doubled)

    def __str__(self) -> str:
        """The figures in one line."""
        return (
            f"published {self.published}, shown {self.shown}, in dataset {self.rows} rows, distinct {self.distinct}, "
            f"lost {len(self.lost)}, stale {len(self.stale)}, doubled {self.doubled}"
        )


def count(room: Newsroom, root: Path) -> Count:
    """Compares a dataset with what was shown."""
    rows = read_rows(root, "articles")
    newest: dict[str, tuple[int, str]] = {}
    for row in rows:
        newest[row["url"]] = max(newest.get(row["url"], (0, "")), (row["revision"], row["text"]))
    shown = room.shown
    lost = sorted(n for n in shown if room.url_of(n) not in newest)
    stale = sorted(n for n, v in shown.items() if n not in lost and v == 2 and _EDIT not in newest[room.url_of(n)][1])
    keys = Counter((row["article_id"], row["content_sha256"]) for row in rows)
    return Count(room.published, len(shown), len(rows), len(newest), lost, stale, len(rows) - len(keys))


def items_of_all(root: Path) -> dict[str, int]:
    """Returns the items of all commits together; rows and the manifests' counts of them must agree."""
    manifests = [json.loads(path.read_bytes()) for path in (root / "_runs").glob("*.json")]
    counts = [manifest["items"] for manifest in manifests if manifest["kind"] == "run"]  # not those of maintenance
    items = {name: sum(count[name] for count in counts) for name in counts[0]}
    rows = len(read_rows(root, "articles"))
    assert rows == items["new"] + items["revised"], (rows, items)
    return items


def assert_adds_up(root: Path) -> None:
    """Fails unless each commit of a stream took in as many items as it says what became of, or are under way."""
    manifests = [json.loads(path.read_bytes()) for path in sorted((root / "_runs").glob("*.json"))]
    under_way = 0
    for manifest in manifests:
        items, before, under_way = manifest["items"], under_way, manifest["inputs"]["under_way"]
        ended = sum(number for name, number in items.items() if name != "in")
        assert before + items["in"] == ended + under_way, (manifest["run_id"], before, items, under_way)
    assert under_way == 0
    items = items_of_all(root)
    assert items["in"] == sum(number for name, number in items.items() if name != "in"), items


def stream_words(room: Newsroom, root: Path, folder: Path, *flags: object) -> list[object]:
    """Returns the command line of a stream that follows the feeds."""
    words = (*_PROGRAM, "run", "--streaming", "--stream-id", "desk", "--tick", "1s")
    return [*words, *_inputs(room, root, folder), *flags]


def watch_words(room: Newsroom, root: Path, folder: Path, *flags: object) -> list[object]:
    """Returns the command line of a watch over the feeds."""
    return [*_PROGRAM, "watch", "--every", "5s", *_inputs(room, root, folder), *flags]


_PROGRAM = (sys.executable, "-m", "pipeline")


def _inputs(room: Newsroom, root: Path, folder: Path) -> list[object]:
    """The feeds are in a file, where their interval can be set."""
    feeds = [{"url": url, "id": f"feed{n}", "interval": room.INTERVAL} for n, url in enumerate(room.feed_urls)]
    file = folder / "feeds.yaml"
    file.write_text(json.dumps({"version": 1, "feeds": feeds}))
    return ["--feeds", file, "-d", root, "--allow-loopback", "--host-gap", "0"]


def is_complete(room: Newsroom, root: Path) -> bool:
    """Tells whether all is published, and all that was shown is in the dataset and gone from the spool."""
    if not room.is_over:
        return False
    counted = count(room, root)
    return not (counted.lost or counted.stale or list((root / "_spool").glob("*.json")))


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
