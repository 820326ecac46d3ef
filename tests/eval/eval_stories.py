"""How well copies of one story are found, and only those: real articles, edited copies of them, all pairs counted.

    python tests/eval/eval_stories.py

Four sets of real texts (two of pages with hand-made text, AllSides articles, half of them of one topic, articles in
six languages) are mixed with copies that we edit at several strengths, each with a new dateline and tail, and grouped as the job does it. A
pair of articles is right if both are of one original. Printed are recall by strength, and precision. Two cases
from the field are checked too. Reads packs that are no part of the project; without them it says so and ends
with 0. Ends with 1 if a floor of ``eval_floors.json`` is missed.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from transforms.stories.candidates import candidates, meetings  # noqa: E402
from transforms.stories.clusters import clustered  # noqa: E402
from transforms.stories.compare import Copy, copies_among  # noqa: E402
from transforms.stories.read import TextReader  # noqa: E402

FLOORS_FILE = ROOT / "tests" / "eval_floors.json"
SEEDS = (1, 2, 3)
MAX_COPIED = 300  # originals of a set that are copied; the others are there to be mistaken for them
LEAST_WORDS = 60  # of an original: below that a copy with a tail is mostly tail
DATELINES = ("EASTWICK (NW) — ", "By Newswire staff\n\nHARROW BAY, March 3 (Newswire) — ", "LINDERO — ", "")
TAILS = (
    "\n\nCopyright Newswire. All rights reserved. This text may not be published or passed on.",
    "\n\nOur reporter added: the valley centre has ten free rooms.",
    "\n\nRead more about this in our edition of tomorrow. Sign up for the letter of the newsroom.",
)


class Article(NamedTuple):
    """An article of the mix: which original it is of, how it was edited, where it stands."""

    original: int
    edit: str
    text: str
    domain: str


Edit = Callable[[random.Random, list[str], Sequence[str]], list[str]]


def substituted(share: float) -> Edit:
    """Another word in the place of some."""

    def edit(rng: random.Random, words: list[str], others: Sequence[str]) -> list[str]:
        return [rng.choice(others) if rng.random() < share else word for word in words]

    return edit


def mixed(share: float) -> Edit:
    """Some words changed, deleted or with a new word before them, each as often."""

    def edit(rng: random.Random, words: list[str], others: Sequence[str]) -> list[str]:
        made: list[str] = []
        for word in words:
            way = rng.choice(("change", "delete", "insert")) if rng.random() < share else "keep"
            made += {
                "keep": [word],
                "change": [rng.choice(others)],
                "delete": [],
                "insert": [rng.choice(others), word],
            }[way]
        return made

    return edit


def first_third(rng: random.Random, words: list[str], others: Sequence[str]) -> list[str]:
    return words[: len(words) // 3]


EDITS: dict[str, Edit] = {
    "tail only": mixed(0.0),
    "5 % edited": mixed(0.05),
    "10 % edited": mixed(0.1),
    "20 % edited": mixed(0.2),
    "20 % replaced": substituted(0.2),
    "first third": first_third,
}
UP_TO_20 = tuple(name for name in EDITS if name != "first third")


def copies_of(rng: random.Random, originals: list[tuple[str, str]]) -> list[Article]:
    """Returns the originals and, of half of them, a copy at each strength; in random order of appearance."""
    others = [word for text, _ in rng.sample(originals, min(80, len(originals))) for word in text.split()]
    long_enough = [number for number, (text, _) in enumerate(originals) if len(text.split()) >= LEAST_WORDS]
    copied = set(rng.sample(long_enough, min(MAX_COPIED, len(long_enough) // 2)))
    articles = []
    for number, (text, domain) in enumerate(originals):
        articles.append(Article(number, "original", text, domain))
        if number not in copied:
            continue
        for copy, (name, edit) in enumerate(EDITS.items()):
            body = " ".join(edit(rng, text.split(), others))
            made = rng.choice(DATELINES) + body + rng.choice(TAILS)
            articles.append(Article(number, name, made, f"paper{copy}.example"))
    rng.shuffle(articles)
    return articles


def grouped(articles: Sequence[Article]) -> tuple[list[int], list[Copy]]:
    """Returns the story of each article by number, and the pairs that were found, as the job does it."""
    reader = TextReader(None)  # type: ignore[arg-type]  # nothing is read from a dataset
    rows = [{"title": "", "text": a.text, "domain": a.domain, "boilerplate": []} for a in articles]
    sketches = [reader.sketch_of(row) for row in rows]
    numbers = np.repeat(np.arange(len(rows)), [found.size for found in sketches])
    pairs = candidates([meetings(np.concatenate(sketches), numbers)])
    texts = {number: reader.text_of(row) for number, row in enumerate(rows)}
    found = copies_among(texts, zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    return clustered(len(rows), (), found), found


def evaluate(name: str, originals: list[tuple[str, str]], figures: dict[str, float]) -> None:
    recalls: dict[str, Counter[bool]] = defaultdict(Counter)
    wrong: Counter[tuple[int, int]] = Counter()
    right_pairs = found_pairs = 0
    seeds = SEEDS if len(originals) < 1_000 else SEEDS[:1]
    for seed in seeds:
        articles = copies_of(random.Random(seed), originals)
        stories, _ = grouped(articles)
        places = defaultdict(list)
        for number, article in enumerate(articles):
            places[article.original].append(number)
        for members in places.values():
            for a, b in combinations(members, 2):
                edits = {articles[a].edit, articles[b].edit}
                if "original" in edits:
                    recalls[next(iter(edits - {"original"}))][stories[a] == stories[b]] += 1
                recalls["any two up to 20 %" if "first third" not in edits else "any two, one a third"][
                    stories[a] == stories[b]
                ] += 1
        of_story = defaultdict(list)
        for number, story in enumerate(stories):
            of_story[story].append(number)
        for members in of_story.values():
            for a, b in combinations(members, 2):
                same = articles[a].original == articles[b].original
                found_pairs += 1
                right_pairs += same
                if not same:
                    wrong[tuple(sorted((articles[a].original, articles[b].original)))] += 1  # type: ignore[index]
    precision = right_pairs / max(1, found_pairs)
    print(f"{name}: {len(originals)} different articles, {found_pairs // len(seeds)} pairs found, P {precision:.4f}")
    for edit, counts in recalls.items():
        print(f"   R {counts[True] / counts.total():.4f}  {edit} ({counts.total()} pairs)")
    for (a, b), count in wrong.most_common(4):
        print(f"   wrong {count} times: {originals[a][0][:60]!r} | {originals[b][0][:60]!r}")
    figures[f"{name}_precision"] = precision
    figures[f"{name}_recall_up_to_20"] = min(recalls[edit][True] / recalls[edit].total() for edit in UP_TO_20)
    any_two = recalls["any two up to 20 %"]
    figures[f"{name}_recall_any_two_up_to_20"] = any_two[True] / any_two.total()
    thirds = recalls["first third"]
    figures[f"{name}_recall_first_third"] = thirds[True] / thirds.total()


def read_sets(pack: Path) -> dict[str, list[tuple[str, str]]]:
    """Returns the texts of each set with the site of each text."""
    aeb = json.loads((pack / "pages/aeb/ground-truth.json").read_text("utf-8"))
    fundus = json.loads((pack / "pages/fundus_eval/ground_truth.json").read_text("utf-8"))
    with gzip.open(pack / "topics/allsides_immigration_eval.jsonl.gz", "rt", encoding="utf-8") as lines:
        allsides = [json.loads(line) for line in lines]
    with gzip.open(pack / "topics/fundus_multilang.jsonl.gz", "rt", encoding="utf-8") as lines:
        languages = [json.loads(line) for line in lines]
    return {
        "aeb": [(page["articleBody"], _domain(page["url"])) for page in aeb.values()],
        "fundus": [("\n".join(page["body"]), _domain(page["url"])) for page in fundus.values()],
        "languages": [(row["text"], row["pub"]) for row in languages],
        "allsides": [(row["text"], row["source"]) for row in allsides],
    }


def _domain(url: str) -> str:
    return url.split("/")[2].removeprefix("www.") if "//" in url else url.split("/")[0]


def evaluate_cases(pack: Path, figures: dict[str, float]) -> None:
    for case, expected in (("06-wire-copies", 1), ("08-same-title-every-day", 3)):
        lines = (pack / "cases/inputs" / f"{case}.jsonl").read_text("utf-8").splitlines()
        articles = [Article(0, "", row["text"], _domain(row["url"])) for row in map(json.loads, lines)]
        stories = len(set(grouped(articles)[0]))
        print(f"case {case}: {stories} stories, expected {expected}")
        figures[f"case_{case[:2]}"] = float(stories == expected)


def missed_floors(figures: dict[str, float]) -> list[str]:
    floors: dict[str, Any] = json.loads(FLOORS_FILE.read_text("utf-8")).get("stories", {})
    return [
        f"{name}: {figures.get(name, 0.0):.4f} is below the floor {floor}"
        for name, floor in floors.items()
        if figures.get(name, 0.0) < floor
    ]


def main() -> int:
    pack = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared")) / "packs"
    if not pack.is_dir():
        print("eval_stories: left out, the packs are not here")
        return 0
    figures: dict[str, float] = {}
    for name, originals in read_sets(pack).items():
        evaluate(name, originals, figures)
    evaluate_cases(pack, figures)
    missed = missed_floors(figures)
    print("\n".join(missed) or "all floors are met")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
