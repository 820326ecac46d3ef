"""Quality and cost of extraction on the packs, beside other extractors, in one run.

    python tests/eval/eval_extract.py [--fast] [--sets aeb,fundus_eval]

``--fast`` leaves out the slow peers. F1 is that of the article-extraction-benchmark (runs of four words, means of
precision and recall by page). Milliseconds are processor time a page, the least of the rounds, all extractors taking
turns on each page. Exits 1 if a floor of eval_floors.json is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import unicodedata
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from extract_bugs import run_checks  # noqa: E402 - after the path
from extract_pages import (  # noqa: E402
    Gold,
    PageScore,
    bootstrap_difference,
    load_sets,
    packs_root,
    score_page,
    score_set,
)
from extract_peers import (  # noqa: E402
    MetadataOf,
    TextOf,
    metadata_peers,
    newsbeam,
    newsbeam_metadata,
    text_peers,
)

from transforms.extract.worker import quiet_libraries, warm_up  # noqa: E402

DEFAULT = "trafilatura"
WITH_METADATA = "trafilatura + metadata"
SLOW = {"readability-lxml", "newspaper4k", "news-please"}
ROUNDS = 2
Figures = dict[str, float]


def main() -> int:
    """Prints the tables; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="leave out the slow peers")
    parser.add_argument("--sets", help="only these page sets, comma-separated")
    arguments = parser.parse_args()
    if not (packs_root() / "pages").is_dir():
        print("eval-extract: left out, the packs are not here")
        return 0
    quiet_libraries()
    warm_up()
    peers = {name: text_of for name, text_of in text_peers().items() if not (arguments.fast and name in SLOW)}
    figures: Figures = {}
    sets = load_sets(packs_root())
    for name in (arguments.sets or ",".join(sets)).split(","):
        figures |= _text_table(name, sets[name], {"newsbeam": newsbeam} | peers)
    if not arguments.sets or "fundus_parser" in arguments.sets:
        figures |= _metadata_table(sets["fundus_parser"], metadata_peers(set(peers)))
    figures |= _bugs_table(packs_root() / "pages" / "bugs")
    return _check_floors(figures)


def _text_table(set_name: str, pages: Sequence[Gold], extractors: dict[str, TextOf]) -> Figures:
    texts, cost_ms = _run(pages, extractors)
    scores = {
        name: [score_page(page.text, text) for page, text in zip(pages, found, strict=True)]
        for name, found in texts.items()
    }
    print(f"\n{set_name}: {len(pages)} pages")
    print(f"{'':24}{'F1':>7}{'P':>7}{'R':>7}{'F1<.5':>7}{'ms':>8}{'pages/s':>9}")
    for name, by_page in scores.items():
        row = score_set(by_page)
        ms = cost_ms[name]
        print(f"{name:24}{row.f1:7.4f}{row.precision:7.3f}{row.recall:7.3f}{row.bad_pages:7d}{ms:8.1f}{1000 / ms:9.0f}")
    return _text_figures(set_name, scores, cost_ms)


def _text_figures(set_name: str, scores: dict[str, list[PageScore]], cost_ms: dict[str, float]) -> Figures:
    ours = score_set(scores["newsbeam"])
    figures = {f"{set_name}_f1": ours.f1}
    if DEFAULT in scores:
        point, low, high = bootstrap_difference(scores["newsbeam"], scores[DEFAULT])
        print(f"newsbeam minus trafilatura: F1 {point:+.4f} [{low:+.4f}, {high:+.4f}] (paired bootstrap, 90 %)")
        figures[f"{set_name}_bad_pages_more_max"] = ours.bad_pages - score_set(scores[DEFAULT]).bad_pages
    if WITH_METADATA in scores:
        ratio = cost_ms["newsbeam"] / cost_ms[WITH_METADATA]
        print(f"newsbeam, metadata, language and hashes included, over trafilatura + metadata: {ratio:.2f} of its time")
        figures[f"{set_name}_cpu_ratio_max"] = ratio
    return figures


def _run(pages: Sequence[Gold], extractors: dict[str, TextOf]) -> tuple[dict[str, list[str]], dict[str, float]]:
    texts: dict[str, list[str]] = {name: [] for name in extractors}
    least_s: dict[str, list[float]] = {name: [] for name in extractors}
    for number in range(ROUNDS):
        for index, page in enumerate(pages):
            for name, text_of in extractors.items():
                if number and name in SLOW:
                    continue
                text, seconds = _timed(text_of, page)
                if number == 0:
                    texts[name].append(text)
                    least_s[name].append(seconds)
                else:
                    least_s[name][index] = min(seconds, least_s[name][index])
    return texts, {name: 1000 * sum(times) / len(times) for name, times in least_s.items()}


def _timed(text_of: TextOf, page: Gold) -> tuple[str, float]:
    start = time.process_time()
    try:
        text = text_of(page)
    except Exception:  # a peer that fails on a page has no answer to it
        text = ""
    return text, time.process_time() - start


def _normal(text: str | None) -> str:
    return re.sub(r"\W+", " ", unicodedata.normalize("NFKC", text or "").casefold()).strip()


def _metadata_table(pages: Sequence[Gold], peers: dict[str, MetadataOf]) -> Figures:
    told = {"newsbeam": newsbeam_metadata} | peers
    zoned = sum(_has_zone(page) for page in pages)
    dated = sum(page.published_at is not None for page in pages)
    print(f"\nmetadata on fundus_parser: {len(pages)} pages, {dated} with a date, {zoned} of them with its zone")
    print(f"{'':24}{'title':>8}{'authors':>9}{'instant':>9}{'day':>8}")
    figures: Figures = {}
    for name, metadata_of in told.items():
        shares = _metadata_shares(pages, metadata_of)
        print(f"{name:24}{shares[0]:8.1%}{shares[1]:9.1%}{shares[2]:9.1%}{shares[3]:8.1%}")
        if name == "newsbeam":
            figures = dict(zip(("title", "authors", "instant", "day"), shares, strict=True))
    return figures


def _has_zone(page: Gold) -> bool:
    return page.published_at is not None and page.has_zone


def _metadata_shares(pages: Sequence[Gold], metadata_of: MetadataOf) -> tuple[float, float, float, float]:
    title = authors = instant = day = zoned = dated = 0
    for page in pages:
        try:
            told = metadata_of(page)
        except Exception:  # as above: no answer
            continue
        title += _normal(told.title) == _normal(page.title)
        authors += set(map(_normal, told.authors)) == set(map(_normal, page.authors))
        if page.published_at is None:
            continue
        dated += 1
        zoned += page.has_zone
        published = told.published
        if published is None:
            continue
        has_zone = published.tzinfo is not None
        instant += page.has_zone and has_zone and abs(published - page.published_at) <= timedelta(seconds=60)
        # A day is right in the paper's own zone; an answer without zone is taken as it stands.
        own = published.astimezone(page.published_at.tzinfo) if has_zone and page.has_zone else published
        day += own.date() == page.published_at.date()
    return title / len(pages), authors / len(pages), instant / max(1, zoned), day / max(1, dated)


def _bugs_table(folder: Path) -> Figures:
    checks = run_checks(folder)
    wrong = [check for check in checks if not check.is_right]
    bad_files = {check.file for check in wrong}
    files = {check.file for check in checks}
    print(
        f"\nbug pages: {len(files) - len(bad_files)} of {len(files)} right, {len(checks) - len(wrong)} of {len(checks)} checks"
    )
    for check in wrong:
        print(f"  {check.file} {check.field} {check.check} {check.expected[:60]!r}, found {check.found[:80]!r}")
    return {"bugs_right": len(files) - len(bad_files)}


def _check_floors(figures: Figures) -> int:
    floors: dict[str, float] = json.loads((Path(__file__).parents[1] / "eval_floors.json").read_text("utf-8"))[
        "extract"
    ]
    missed = [
        f"{name}: {figures[name]:.4f}, floor {floor}"
        for name, floor in floors.items()
        if name in figures and (figures[name] > floor if name.endswith("_max") else figures[name] < floor)
    ]
    print("\n" + ("floors missed: " + "; ".join(missed) if missed else f"all {len(floors)} floors held"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
