"""How fast tagging is beside spaCy's tokenizer and PhraseMatcher with the same terms, in one run.

    python bench/tag.py [--words 200000] [--own-text]

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
ROUNDS = 5
MANY_TERMS = 10_000

_SYLLABLES = """
    ba be bi bor dan del dor fa fen gar hol ka kem lan lor mar min nor ol per ran ros sal tan tor vel win sta tri cre
    plu sho gra thi ent ing er ous ly ment
"""
_NAME_SYLLABLES = "zan quo vik jor xen dru gly wex zor bly krin voss jek quill thorn ux yar pryd nyx skel"
_SMALL_WORDS = """
    the a of to and in that for on with as it was by at from is his her their which had not but
"""
_TOPICAL = (
    "migrants had been waiting at the border",
    "the deportation of the family was halted",
    "Dunmore would remain a sanctuary city",
    "ICE agents asked for the immigration files",
)


def made_up_word(chance: random.Random, syllables: str = _SYLLABLES) -> str:
    """A word of two to four syllables."""
    return "".join(chance.choices(syllables.split(), k=chance.randint(2, 4)))


def own_texts(words: int, seed: int = 1) -> list[str]:
    """Makes articles of about 400 words with the vocabulary of a newspaper; one in three speaks of a topic."""
    chance = random.Random(seed)
    vocabulary = [made_up_word(chance) for _ in range(30_000)]
    # A few words are frequent and most are rare, as in any language.
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    texts = []
    for _ in range(words // 400):
        # Most articles on a topic have one.
        theme = chance.sample(_TOPICAL, chance.choice((1, 1, 2))) if chance.random() < 0.33 else []
        sentences = []
        for _ in range(20):
            content = chance.choices(vocabulary, weights, k=10)
            small = chance.choices(_SMALL_WORDS.split(), k=10)
            sentence = " ".join(word for pair in zip(small, content, strict=True) for word in pair)
            name = chance.choice(vocabulary).title()
            said = f", {name} said on {chance.randint(1, 28)} May" if chance.random() < 0.5 else f" (${name}’s “plan”)"
            extra = f" and {chance.choice(theme)}" if theme and chance.random() < 0.3 else ""
            sentences.append(f"{sentence.capitalize()}{extra}{said}.")
        texts.append("\n".join(" ".join(sentences[start : start + 4]) for start in range(0, 20, 4)))
    return texts


def pack_texts() -> list[str]:
    """Reads the articles of the evaluation pack in a random order; none if it is not there."""
    shared = Path(os.environ.get("NEWSBEAM_SHARED", ROOT.parent / "shared"))
    path = shared / "packs" / "topics" / "allsides_immigration_eval.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    random.Random(3).shuffle(texts)
    return texts


def choose(texts: Sequence[str], words: int, taxonomy: Taxonomy, share_with_hits: float) -> list[str]:
    """Takes texts up to a number of words, so many of them with a hit."""
    matcher = Matcher(taxonomy)
    chosen: list[str] = []
    with_hits = 0
    for text in texts:
        has_hits = bool(matcher.find(FieldText("text", text), ENGLISH).hits)
        if has_hits and with_hits >= share_with_hits * (len(chosen) + 1):
            continue
        chosen.append(text)
        with_hits += has_hits
        words -= len(text.split())
        if words <= 0:
            break
    return chosen


def with_more_terms(taxonomy: Taxonomy, count: int) -> Taxonomy:
    """Adds terms like the names of a watch list: a made-up name, half of them with a usual word."""
    chance = random.Random(2)
    names = [made_up_word(chance, _NAME_SYLLABLES) for _ in range(count)]
    phrases = dict.fromkeys(f"{name} {made_up_word(chance)}" if chance.random() < 0.5 else name for name in names)
    terms = tuple(Term(phrase, "en") for phrase in list(phrases)[:count])
    first = taxonomy.topics[0]
    return taxonomy._replace(topics=(first._replace(terms=first.terms + terms), *taxonomy.topics[1:]))


def speeds(works: Sequence[Callable[[str], object]], texts: Sequence[str]) -> list[float]:
    """Million words a second of each work: best of some rounds by processor time, in turns on a busy machine."""
    words = sum(len(text.split()) for text in texts)
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for index, work in enumerate(works):
            start = time.process_time()
            for text in texts:
                work(text)
            best[index] = min(best[index], time.process_time() - start)
    return [words / seconds / 1e6 for seconds in best]


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


def measure(texts: Sequence[str], taxonomy: Taxonomy, tagger: Tagger, kind: str) -> dict[str, float]:
    """Prints and returns how many times as fast as the reference each part is."""
    print(f"{kind}: {len(texts)} texts, {sum(len(text.split()) for text in texts):,} words")
    articles = {text: article_of(text) for text in texts}
    many = with_more_terms(taxonomy, MANY_TERMS)
    ours = speeds([matching(taxonomy), lambda text: tagger.tag(articles[text]), reference(taxonomy)], texts)
    with_many = speeds([matching(many), reference(many)], texts)
    pairs = {
        "matching": (ours[0], ours[2]),
        "whole stage": (ours[1], ours[2]),
        "matching, 10,000 terms": (with_many[0], with_many[1]),
    }
    for name, (own, other) in pairs.items():
        least = f"(least {RATIOS[name]:g})"
        print(f"  {name:24} {own:6.2f} M words/s   PhraseMatcher {other:5.2f}   {own / other:5.1f} x {least}")
    return {name: own / other for name, (own, other) in pairs.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Tagging against spaCy's tokenizer and PhraseMatcher.")
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--own-text", action="store_true", help="do not look for the evaluation pack")
    options = parser.parse_args()
    taxonomy = load_taxonomy([ROOT / "configs" / "topics.yaml"])
    before, start = memory_mb(), time.perf_counter()
    tagger = Tagger(taxonomy)
    tagger.tag_text(None, "A word.", "en")
    print(f"building the tagger: {time.perf_counter() - start:.3f} s")
    texts = [] if options.own_text else pack_texts()
    source = "articles of the evaluation pack" if texts else "made-up articles"
    texts = texts or own_texts(2 * options.words)
    print(f"memory with tagger, spaCy and texts: {memory_mb():.0f} MB (before: {before:.0f} MB)")
    mixed = choose(texts, options.words, taxonomy, 0.35)
    ratios = measure(mixed, taxonomy, tagger, f"{source}, one in three with a hit, as in the press at large")
    measure(texts[: len(mixed)], taxonomy, tagger, f"{source}, unsorted (in the pack most are on the topic; no floor)")
    print(f"memory at the end, with {MANY_TERMS:,} terms: {memory_mb():.0f} MB")
    return int(any(ratios[name] < least for name, least in RATIOS.items()))


if __name__ == "__main__":
    sys.exit(main())
