"""How fast tagging is beside spaCy's tokenizer and PhraseMatcher with the same terms, in one run.

    python bench/tag.py [--words 1000000] [--own-text]

Prints million words a second, the ratio and memory. Text: articles of the evaluation pack if it is there,
else (or with --own-text) made here. Ends with 1 below: matching 10 times, the whole stage 4 times,
matching with 10,000 terms 5 times as fast.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import spacy  # noqa: E402
from spacy.matcher import PhraseMatcher  # noqa: E402

from transforms.records import Article, Entry  # noqa: E402
from transforms.tag.matcher import FieldText, Matcher  # noqa: E402
from transforms.tag.model import Taxonomy, Term  # noqa: E402
from transforms.tag.patterns import surfaces  # noqa: E402
from transforms.tag.tagger import Tagger  # noqa: E402
from transforms.tag.taxonomy import load_taxonomy  # noqa: E402
from transforms.tag.term_text import without_star  # noqa: E402
from transforms.text import word_count  # noqa: E402

RATIOS = {"matching": 10.0, "whole stage": 4.0, "matching, 10,000 terms": 5.0}
ENGLISH = frozenset(("en",))
ROUNDS = 3

_SUBJECTS = "The mayor,A clerk,The council,Her neighbour,The harbour master,A judge,The coach,Two farmers".split(",")
_VERBS = "said,wrote,explained,denied,repeated,promised,told the “Orrin Post”,asked".split(",")
_CLAUSES = (
    "that the bridge would open in spring,that nobody had read the report,that prices at the market rose by 3.5%,"
    "that the team’s second half was better,that the vote is on Monday at 7 p.m.,that rain would delay the work,"
    "why the old mill had been sold for $2.4 million,how the new library pays for itself"
).split(",")
_TOPICAL = (
    "that migrants had been waiting at the border,that the deportation of the family was halted,"
    "that Dunmore would remain a sanctuary city,that ICE agents asked for the files"
).split(",")


def own_texts(words: int, seed: int = 1) -> list[str]:
    """Makes articles of about 400 words; one in three speaks of a topic."""
    chance = random.Random(seed)
    texts = []
    while words > 0:
        clauses = _CLAUSES + _TOPICAL if chance.random() < 0.33 else _CLAUSES
        sentences = [
            f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {chance.choice(clauses)}, and {chance.choice(clauses)}."
            for _ in range(22)
        ]
        text = "\n".join(" ".join(sentences[start : start + 4]) for start in range(0, len(sentences), 4))
        words -= len(text.split())
        texts.append(text)
    return texts


def pack_texts(words: int) -> list[str]:
    """Reads articles of the evaluation pack, as many as asked for."""
    shared = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
    path = shared / "packs" / "topics" / "allsides_immigration_eval.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    # As in a news stream, articles on the topic are the smaller part.
    rows = [row for index, row in enumerate(rows) if not row["label_immigration"] or index % 4 == 0]
    texts: list[str] = []
    for row in rows:
        if words <= 0:
            break
        texts.append(row["text"])
        words -= len(row["text"].split())
    return texts


def with_more_terms(taxonomy: Taxonomy, count: int) -> Taxonomy:
    """Adds made-up terms of one to three words that look like names."""
    chance = random.Random(2)
    syllables = (
        "ba be bi bor dan del dor fa fen gar hol ka kem lan lor mar min nor ol per ran ros sal tan tor vel win".split()
    )
    words = ["".join(chance.choice(syllables) for _ in range(chance.randint(2, 4))) for _ in range(count)]
    phrases = dict.fromkeys(" ".join(chance.sample(words, chance.randint(1, 3))) for _ in range(2 * count))
    terms = tuple(Term(phrase, "en") for phrase in list(phrases)[:count])
    first = taxonomy.topics[0]
    return taxonomy._replace(topics=(first._replace(terms=first.terms + terms), *taxonomy.topics[1:]))


def million_words_a_second(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """The best of some rounds, by processor time."""
    words = sum(len(text.split()) for text in texts)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - start)
    return words / best / 1e6


def reference(taxonomy: Taxonomy) -> Callable[[str], object]:
    """Tokenizer and PhraseMatcher with the English surfaces of all topics."""
    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    for topic in taxonomy.topics:
        phrases = {without_star(form) for term in topic.terms if term.language == "en" for form in surfaces(term)}
        matcher.add(topic.id, [nlp.make_doc(phrase) for phrase in phrases])
    return lambda text: matcher(nlp.make_doc(text))


def matching(taxonomy: Taxonomy) -> Callable[[str], object]:
    matcher = Matcher(taxonomy)
    return lambda text: matcher.find(FieldText("text", text), ENGLISH)


def article_of(text: str) -> Article:
    """An article as the extraction hands it on."""
    entry = Entry("https://courier.example/1", "k", None, "courier", "feed")
    return Article(
        article_id="1-0", url="https://courier.example/1", domain="courier.example", entry=entry, text=text,
        title=text[:60].split("\n")[0], title_source="h1", text_source="page", body_sha256="", content_sha256="",
        text_fingerprint="", fetched_at=datetime(2026, 1, 1, tzinfo=timezone.utc), language="en",
        word_count=word_count(text),
    )  # fmt: skip


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--own-text", action="store_true")
    options = parser.parse_args()
    texts = [] if options.own_text else pack_texts(options.words)
    source = "articles of the evaluation pack" if texts else "made-up articles"
    texts = texts or own_texts(options.words)
    taxonomy = load_taxonomy([ROOT / "configs" / "topics.yaml"])
    print(f"{len(texts)} {source}, {sum(len(text.split()) for text in texts):,} words")
    start = time.perf_counter()
    tagger = Tagger(taxonomy)
    print(f"building the tagger: {time.perf_counter() - start:.3f} s")
    before = memory_mb()
    speeds = {"matching": million_words_a_second(matching(taxonomy), texts)}
    articles = {text: article_of(text) for text in texts}
    speeds["whole stage"] = million_words_a_second(lambda text: tagger.tag(articles[text]), texts)
    print(f"memory: {memory_mb():.0f} MB in all, {memory_mb() - before:.0f} MB of it for tagging")
    many = with_more_terms(taxonomy, 10_000)
    speeds["matching, 10,000 terms"] = million_words_a_second(matching(many), texts)
    rivals = {"matching": million_words_a_second(reference(taxonomy), texts)}
    rivals["whole stage"] = rivals["matching"]
    rivals["matching, 10,000 terms"] = million_words_a_second(reference(many), texts)
    missed = False
    for name, least in RATIOS.items():
        ratio = speeds[name] / rivals[name]
        missed |= ratio < least
        print(
            f"{name:24} {speeds[name]:6.2f} M words/s   PhraseMatcher {rivals[name]:5.2f}   {ratio:5.1f} x (least {least:g})"
        )
    print(f"memory at the end: {memory_mb():.0f} MB")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
