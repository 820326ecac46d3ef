"""The page sets of the packs with their right answers, and the metric they are scored by."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

_TOKEN = re.compile(r"\w+")
SHINGLE_LENGTH = 4


class Gold(NamedTuple):
    """A saved page and what a reader would take from it."""

    page_set: str
    name: str
    url: str
    body: bytes
    text: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    published_at: datetime | None = None
    has_zone: bool = False
    crawled_at: datetime | None = None


def packs_root() -> Path:
    """Returns the folder of the packs, there or not."""
    shared = os.environ.get("NEWSBEAM_SHARED")
    return Path(shared) / "packs" if shared else Path(__file__).resolve().parents[3] / "shared" / "packs"


def load_sets(root: Path) -> dict[str, list[Gold]]:
    """Returns the page sets by name, in a fixed order."""
    pages = root / "pages"
    return {
        "aeb": list(_load_aeb(pages / "aeb")),
        "fundus_eval": list(_load_fundus_eval(pages / "fundus_eval")),
        "fundus_parser": list(_load_fundus_parser(pages / "fundus_parser")),
    }


def _load_aeb(folder: Path) -> Iterator[Gold]:
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    for name, item in sorted(truth.items()):
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        yield Gold("aeb", name, item["url"], body, item["articleBody"], crawled_at=_instant("2019-12-01"))


def _load_fundus_eval(folder: Path) -> Iterator[Gold]:
    truth = json.loads((folder / "ground_truth.json").read_text("utf-8"))
    for name, item in sorted(truth.items()):
        body = gzip.decompress((folder / "html" / name).read_bytes())
        text = "\n".join(item["body"])
        yield Gold("fundus_eval", name, item["url"], body, text, crawled_at=_instant(item["crawl_date"]))


def _load_fundus_parser(folder: Path) -> Iterator[Gold]:
    for parser in sorted(folder.glob("*/*.json")):
        versions = list(json.loads(parser.read_text("utf-8")).values())
        info = json.loads((parser.parent / "meta.info").read_text("utf-8"))
        for path, item in zip(sorted(parser.parent.glob(f"{parser.stem}_*.html.gz")), versions, strict=True):
            where = info[path.name]
            yield Gold(
                "fundus_parser",
                f"{parser.parent.name}/{path.name.removesuffix('.html.gz')}",
                where["url"],
                gzip.decompress(path.read_bytes()),
                "\n".join(_body_lines(item.get("body"))),
                item.get("title"),
                tuple(item.get("authors") or ()),
                _instant(item["publishing_date"]) if item.get("publishing_date") else None,
                bool(re.search(r"[+-]\d\d:\d\d$", item.get("publishing_date") or "")),
                _instant(where["crawl_date"]),
            )


def _body_lines(body: dict | None) -> Iterator[str]:
    if body:
        yield from body["summary"]
        for section in body["sections"]:
            yield from section["headline"]
            yield from section["paragraphs"]


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)


class PageScore(NamedTuple):
    """Precision and recall of one page; ``None`` where it is undefined (nothing given, nothing wanted)."""

    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float:
        """Their harmonic mean, 0 for an empty answer."""
        p, r = self.precision or 0.0, self.recall or 0.0
        return 2 * p * r / (p + r) if p + r else 0.0


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Returns the runs of four words of a text, with their counts."""
    words = _TOKEN.findall(text)
    last = max(1, len(words) - SHINGLE_LENGTH + 1)
    return Counter(tuple(words[i : i + SHINGLE_LENGTH]) for i in range(last) if words)


def score_page(gold: str, found: str) -> PageScore:
    """Scores one page as the article-extraction-benchmark does."""
    wanted, given = shingles(gold), shingles(found)
    right = sum((wanted & given).values())
    n_given, n_wanted = sum(given.values()), sum(wanted.values())
    return PageScore(right / n_given if n_given else None, right / n_wanted if n_wanted else None)


class SetScore(NamedTuple):
    """Means over a set; ``bad_pages`` have F1 below .5."""

    f1: float
    precision: float
    recall: float
    bad_pages: int


def score_set(scores: Sequence[PageScore]) -> SetScore:
    """Returns the benchmark's figures: F1 from mean precision and mean recall, empty answers left out of precision."""
    precisions = [s.precision for s in scores if s.precision is not None]
    recalls = [s.recall for s in scores if s.recall is not None]
    p = sum(precisions) / max(1, len(precisions))
    r = sum(recalls) / max(1, len(recalls))
    return SetScore(2 * p * r / (p + r) if p + r else 0.0, p, r, sum(s.f1 < 0.5 for s in scores))


def bootstrap_difference(
    ours: Sequence[PageScore], theirs: Sequence[PageScore], rounds: int = 2000
) -> tuple[float, ...]:
    """Returns the difference in F1 with its 90 % interval, pages drawn in pairs with replacement."""
    draw = random.Random(5)
    n = len(ours)
    differences = []
    for _ in range(rounds):
        picked = [draw.randrange(n) for _ in range(n)]
        differences.append(score_set([ours[i] for i in picked]).f1 - score_set([theirs[i] for i in picked]).f1)
    differences.sort()
    point = score_set(ours).f1 - score_set(theirs).f1
    return point, differences[int(0.05 * rounds)], differences[int(0.95 * rounds)]
