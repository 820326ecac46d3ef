"""The whole program over loopback HTTP with real news pages: a feed of 40 items, good ones and bad ones.

33 good pages, one of them listed twice more, 2 missing, 1 empty, 1 image, 1 of 50 MB. Every row of every table must
be the one expected, and a second run must write no article. Prints a table; exit 1 if anything differs.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.program import items_of, rss, run_json  # noqa: E402 - after the path
from tests.rows import read_rows  # noqa: E402
from tests.servers import Answer, NewsServer  # noqa: E402

GOOD = 33
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)


def main() -> int:
    """Runs the scenario; returns the exit code."""
    shared = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
    folder = shared / "packs/pages/aeb"
    if not folder.is_dir():
        print("eval-run: left out, the packs are not here")
        return 0
    gold = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    names = sorted(path.name.removesuffix(".html.gz") for path in (folder / "html").glob("*.html.gz"))[:GOOD]
    routes: dict[str, object] = {
        f"/{name}": gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()) for name in names
    }
    routes |= {"/empty": b"", "/picture": Answer(body=PNG, headers={"Content-Type": "image/png"})}
    routes["/huge"] = lambda request: Answer(body=(b"<p>word</p>" * 95_326 for _ in range(50)))
    with NewsServer(routes, host="127.0.0.2") as server, tempfile.TemporaryDirectory() as scratch:
        paths = [*(f"/{name}" for name in names), *[f"/{names[0]}"] * 2]
        paths += ["/gone/1", "/gone/2", "/empty", "/picture", "/huge"]
        server.routes["/feed.xml"] = rss([server.url(path) for path in paths])
        flags = ["--feeds", server.url("/feed.xml"), "-d", f"{scratch}/out", "--allow-loopback", "--host-gap", "0"]
        flags += ["--now", "2026-11-30T10:00:00Z", "--due-now"]
        first, second = run_json(*flags), run_json(*flags)
        return _report(server, f"{scratch}/out", names, gold, first, second)


def _report(
    server: NewsServer, root: str, names: list[str], gold: dict[str, dict[str, str]], first: dict, second: dict
) -> int:
    articles = {row["url"]: row for row in read_rows(root, "articles")}
    rejects = {(row["stage"], row["reason"], row["url"]) for row in read_rows(root, "rejects")}
    fetches = Counter((row["kind"], row["outcome"]) for row in read_rows(root, "fetches"))
    found = [_word_share(articles[server.url(f"/{n}")]["text"], gold[n]["articleBody"]) for n in names]
    checks = {
        "first run": (items_of(first), {"in": 40, "new": 33, "duplicates": 2, "rejected": 5}),
        "second run": (items_of(second), {"in": 40, "known": 40}),
        "addresses of articles": (sorted(articles), sorted(server.url(f"/{name}") for name in names)),
        "revisions": ({row["revision"] for row in articles.values()}, {1}),
        "rejects": (
            rejects,
            {
                ("fetch", "not_found", server.url("/gone/1")),
                ("fetch", "not_found", server.url("/gone/2")),
                ("extract", "empty", server.url("/empty")),
                ("fetch", "not_html", server.url("/picture")),
                ("fetch", "too_big", server.url("/huge")),
            },
        ),
        "pages asked": (
            {outcome: n for (kind, outcome), n in fetches.items() if kind == "page"},
            {"ok": 34, "not_found": 2, "not_html": 1, "too_big": 1},
        ),
        "polls": ({o: n for (kind, o), n in fetches.items() if kind == "feed"}, {"ok": 2}),
        "texts that hold 9 of 10 words of the gold": (sum(share >= 0.9 for share in found) >= 31, True),
    }
    failed = 0
    for name, (is_value, should) in checks.items():
        right = is_value == should
        failed += not right
        print(f"{'ok   ' if right else 'WRONG'} {name}: {is_value if not right else should!s:.100}")
        if not right:
            print(f"      expected {should}")
    mean = sum(found) / len(found)
    print(f"eval-run: {len(checks) - failed} of {len(checks)} right, mean share of gold words {mean:.3f}")
    return 1 if failed else 0


def _word_share(text: str, gold: str) -> float:
    """The share of the gold's words that the text has."""
    words, have = Counter(gold.split()), Counter(text.split())
    return sum(min(count, have[word]) for word, count in words.items()) / max(1, words.total())


if __name__ == "__main__":
    raise SystemExit(main())
