"""How good the shipped topics are, on labelled articles, beside a bare keyword and spaCy's PhraseMatcher.

    python tests/eval/eval_topics.py

Reads packs that are no part of the project (AllSides articles, uses of "sanctuary", tricky sentences,
German articles, one real seed); without them it says so and ends with 0. Ends with 1 if a floor of
``eval_floors.json`` is missed.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import spacy  # noqa: E402
from spacy.matcher import PhraseMatcher  # noqa: E402

from transforms.records import Tags  # noqa: E402
from transforms.tag.matcher import FieldText, Matcher  # noqa: E402
from transforms.tag.model import Conditions, Taxonomy  # noqa: E402
from transforms.tag.patterns import surfaces  # noqa: E402
from transforms.tag.tagger import Tagger  # noqa: E402
from transforms.tag.taxonomy import load_taxonomy  # noqa: E402
from transforms.tag.term_text import without_star  # noqa: E402

TOPIC_FILE = ROOT / "configs" / "topics.yaml"
FLOORS_FILE = ROOT / "tests" / "eval_floors.json"
BARE = {"immigration": "immigration", "deportation": "deportation", "sanctuary_city": "sanctuary city"}
GERMAN_USE = re.compile(
    r"\b[\w-]*(?:asyl|migra|flüchtling|einwander|zuwander|abschieb)\w*|\b(?-i:Geflüchtete)", re.IGNORECASE
)
LEVELS = ("any", "relevant", "primary")
NOTHING_FOUND = (0, 0.0)


class Verdict(NamedTuple):
    """What a method says of one text and topic: level (0 none, 1 any, 2 relevant, 3 primary) and score."""

    level: int
    score: float


class Engine:
    """The product, its two rivals, and the pack."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.tagger = Tagger(taxonomy)
        self._nlp = spacy.blank("en")
        self._matchers: dict[str, PhraseMatcher] = {}
        for topic in taxonomy.topics:
            matcher = PhraseMatcher(self._nlp.vocab, attr="LOWER")
            phrases = {without_star(surface) for term in topic.terms for surface in surfaces(term)}
            matcher.add(topic.id, [self._nlp.make_doc(phrase) for phrase in sorted(phrases)])
            self._matchers[topic.id] = matcher

    def newsbeam(self, title: str | None, text: str, topic: str, language: str = "en") -> Verdict:
        tags = self.tagger.tag_text(title, text, language)
        for score in tags.scores:
            if score.topic == topic and score.match_count:
                return Verdict(1 + ("mention", "relevant", "primary").index(score.level), score.score)
        return Verdict(*NOTHING_FOUND)

    def bare(self, title: str | None, text: str, topic: str) -> Verdict:
        count = len(re.findall(rf"\b{BARE[topic]}\b", f"{title or ''}\n{text}", re.IGNORECASE))
        return Verdict(min(count, 1), float(count))

    def phrase_spans(self, text: str) -> set[tuple[str, int, int]]:
        """Topic, start and end of everything that PhraseMatcher finds, overlaps too."""
        doc = self._nlp.make_doc(text)
        spans = [(topic, doc[a:b]) for topic, matcher in self._matchers.items() for _, a, b in matcher(doc)]
        return {(topic, span.start_char, span.end_char) for topic, span in spans}

    def phrase_matcher(self, title: str | None, text: str, topic: str) -> Verdict:
        count = len(self._matchers[topic](self._nlp.make_doc(f"{title or ''}\n{text}")))
        return Verdict(min(count, 1), float(count))


def average_precision(scored: Iterable[tuple[float, bool]]) -> float:
    """Area under precision and recall; equal scores are taken together."""
    ranked = sorted(scored, key=lambda pair: -pair[0])
    positives = sum(label for _, label in ranked)
    total = found = seen = 0.0
    index = 0
    while index < len(ranked):
        stop = index
        while stop < len(ranked) and ranked[stop][0] == ranked[index][0]:
            stop += 1
        same = [label for _, label in ranked[index:stop]]
        hits = sum(same)
        seen += len(same)
        found += hits
        total += hits * found / seen
        index = stop
    return total / positives


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def evaluate_allsides(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    rows = read_jsonl(pack / "topics" / "allsides_immigration_eval.jsonl.gz")
    labels = [bool(row["label_immigration"]) for row in rows]
    print(f"AllSides, topic immigration: {sum(labels)} labelled articles, {len(rows) - sum(labels)} others")
    methods: list[tuple[str, Callable[[str, str, str], Verdict]]] = [
        ("newsbeam", engine.newsbeam), ("bare keyword", engine.bare), ("PhraseMatcher", engine.phrase_matcher)
    ]  # fmt: skip
    for name, method in methods:
        verdicts = [method(row["title"], row["text"], "immigration") for row in rows]
        ap = average_precision((verdict.score, label) for verdict, label in zip(verdicts, labels, strict=True))
        cells = []
        for level, word in enumerate(LEVELS, start=1):
            found = [label for verdict, label in zip(verdicts, labels, strict=True) if verdict.level >= level]
            if not found:
                continue
            recall, precision = sum(found) / sum(labels), sum(found) / len(found)
            cells.append(f"{word}: R {recall:.3f} P {precision:.3f}")
            if name == "newsbeam":
                figures[f"allsides_recall_{word}"], figures[f"allsides_precision_{word}"] = recall, precision
        if name == "newsbeam":
            figures["allsides_average_precision"] = ap
        print(f"  {name:14} AP {ap:.3f}   {'   '.join(cells)}")


def evaluate_sanctuary(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    with open(pack / "topics" / "sanctuary_concordance.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    print(f"Uses of sanctuar*: {len(rows)}")
    for name in ("newsbeam", "bare keyword", "PhraseMatcher"):
        right = wrong = missed = 0
        for row in rows:
            before, word, after = re.split(r"\[\[|\]\]", row["context"], maxsplit=2)
            text, start = before + word + after, len(before)
            label = row["label_sanctuary_city"] == "1"
            found = covers(engine, name, text, start, start + len(word))
            right += found and label
            wrong += found and not label
            missed += label and not found
        precision, recall = right / max(1, right + wrong), right / (right + missed)
        print(f"  {name:14} P {precision:.4f}  R {recall:.4f}   ({wrong} wrong, {missed} missed)")
        if name == "newsbeam":
            figures["sanctuary_precision"], figures["sanctuary_recall"] = precision, recall


def covers(engine: Engine, name: str, text: str, start: int, end: int) -> bool:
    """Whether a method finds the topic at this very use."""
    if name == "newsbeam":
        matches = engine.tagger.tag_text(None, text, "en").matches
        spans = [(match.start, match.end) for match in matches if match.topic == "sanctuary_city"]
    elif name == "bare keyword":
        spans = [found.span() for found in re.finditer(rf"\b{BARE['sanctuary_city']}\b", text, re.IGNORECASE)]
    else:
        spans = [(first, last) for topic, first, last in engine.phrase_spans(text) if topic == "sanctuary_city"]
    return any(first < end and start < last for first, last in spans)


def evaluate_tricky(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    with open(pack / "topics" / "TRICKY.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    print(f"Tricky sentences: {len(rows)}")
    exact = dict.fromkeys(("newsbeam", "bare keyword", "PhraseMatcher"), 0)
    for row in rows:
        title, text = row["title"] or None, row["text"].replace("\\n", "\n")
        expected = set(row["expected_topics"].split())
        own = own_topics(engine.tagger.tag_text(title, text, row["lang"]))
        exact["newsbeam"] += own == expected
        exact["bare keyword"] += {topic for topic in BARE if engine.bare(title, text, topic).level} == expected
        exact["PhraseMatcher"] += {
            topic for topic in BARE if engine.phrase_matcher(title, text, topic).level
        } == expected
        if own != expected:
            print(f"  {row['id']}: expected {sorted(expected)}, found {sorted(own)}: {text[:80]}")
    print("  " + "   ".join(f"{name}: {count} right" for name, count in exact.items()))
    figures["tricky_share"] = exact["newsbeam"] / len(rows)


def own_topics(tags: Tags) -> set[str]:
    """Topics with evidence of their own; implied ones are a matter of the file."""
    return {score.topic for score in tags.scores if score.match_count}


def evaluate_german(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    rows = [row for row in read_jsonl(pack / "topics" / "fundus_multilang.jsonl.gz") if row["lang"] == "de"]
    uses = found = bare = exact = 0
    missed = []
    for row in rows:
        text = f"{row['title']}\n\n{row['text']}"
        matches = engine.tagger.tag_text(None, text, "de").matches
        for use in GERMAN_USE.finditer(text):
            uses += 1
            if any(match.start < use.end() and use.start() < match.end for match in matches):
                found += 1
            else:
                missed.append(use.group())
            bare += use.group().lower() in ("migration", "abschiebung", "einwanderung")
            exact += any(topic == "immigration" for topic, _, _ in engine.phrase_spans(use.group()))
    print(f"German words about migration in {len(rows)} articles: {uses}")
    print(f"  newsbeam {found}   bare keyword {bare}   PhraseMatcher {exact}   missed: {', '.join(missed) or 'none'}")
    figures["german_share"] = found / uses


def evaluate_parity(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    """Spans of PhraseMatcher that the product's search lacks; conditions, case and exclusions are left out of both."""
    topics = []
    for topic in engine.tagger.taxonomy.topics:
        terms = [term._replace(conditions=Conditions(), case_exact=False) for term in topic.terms]
        terms = [term for term in terms if not any(surface.endswith("*") for surface in surfaces(term))]
        topics.append(topic._replace(terms=tuple(terms), exclude=(), conditions=Conditions()))
    plain = engine.tagger.taxonomy._replace(topics=tuple(topics))
    matcher, reference = Matcher(plain), Engine(plain)
    texts = [row["text"] for row in read_jsonl(pack / "topics" / "allsides_immigration_eval.jsonl.gz")[::3]]
    texts += [row["text"] for row in read_jsonl(pack / "topics" / "fundus_multilang.jsonl.gz")]
    both = ours_only = theirs_only = 0
    examples: Counter[str] = Counter()
    for text in texts:
        hits = matcher.find(FieldText("text", text), None).hits
        ours = {(topics[hit.topic].id, hit.start, hit.end) for hit in hits}
        theirs = reference.phrase_spans(text)
        both += len(ours & theirs)
        ours_only += len(ours - theirs)
        theirs_only += len(theirs - ours)
        examples.update(text[start:end] for _, start, end in theirs - ours)
    print(
        f"Spans in {len(texts)} articles: {both:,} in both, {ours_only} newsbeam only, {theirs_only} PhraseMatcher only"
    )
    for surface, count in examples.most_common(5):
        print(f"  PhraseMatcher only: {count} x {surface!r}")
    figures["spans_missing"] = -float(theirs_only)


def evaluate_seed(engine: Engine, pack: Path, figures: dict[str, float]) -> None:
    (path,) = (pack / "seed").glob("*.txt")
    text = path.read_text(encoding="utf-8")
    tags = engine.tagger.tag_text(None, text, "en")
    print("The real seed: " + ", ".join(f"{score.topic} {score.level} {score.score:g}" for score in tags.scores))
    shouted = 0
    for match in tags.matches:
        line = text[text.rfind("\n", 0, match.start) + 1 : text.find("\n", match.end)]
        shouted += line.isupper() and match.weight > 0
    figures["seed_topics"] = len({"immigration", "deportation", "sanctuary_city"} & set(tags.topics))
    figures["seed_quiet_teasers"] = float(shouted == 0)


def missed_floors(figures: dict[str, float], floors: dict[str, float]) -> Sequence[str]:
    return [
        f"{name}: {figures.get(name, 0):.4f} < {least}"
        for name, least in floors.items()
        if figures.get(name, 0) < least
    ]


def main() -> int:
    pack = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared")) / "packs"
    if not (pack / "topics").is_dir():
        print(f"eval topics: left out, there are no packs in {pack}")
        return 0
    engine = Engine(load_taxonomy([TOPIC_FILE]))
    figures: dict[str, float] = {}
    for evaluate in (
        evaluate_allsides,
        evaluate_sanctuary,
        evaluate_tricky,
        evaluate_german,
        evaluate_parity,
        evaluate_seed,
    ):
        evaluate(engine, pack, figures)
    missed = missed_floors(figures, json.loads(FLOORS_FILE.read_text(encoding="utf-8"))["topics"])
    for line in missed:
        print(f"below the floor: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
