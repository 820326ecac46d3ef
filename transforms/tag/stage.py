"""The stage ``TagTopics``: articles in, tagged articles out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows

from transforms import meter
from transforms.records import Article, Reject, RunContext, Side, TaggedArticle, Tally
from transforms.tag.tagger import Tagger, TagSettings
from transforms.tag.taxonomy import Taxonomy

__all__ = ["TagOutput", "TagSettings", "TagTopics"]

_STAGE = "tag"
_TAGGED, _SIDE = "tagged", "side"
_OUTCOMES = ("in", "passed", "rejected")


class TagOutput(NamedTuple):
    """What comes out of the stage.

    Attributes:
        tagged: PCollection[TaggedArticle].
        side: PCollection[Side]: a Reject for each article that is not kept, and Tallies.
    """

    tagged: Any
    side: Any


class TagTopics(beam.PTransform):
    """Tags articles with the topics of a taxonomy and their evidence.

    In: PCollection[Article]. Out: ``TagOutput``. Each article comes out exactly once, tagged or (with
    ``keep="tagged"``, if it has no topic) as a Reject ``tag:untagged`` without its text. Tags depend on the
    article and the taxonomy alone.
    """

    def __init__(
        self, taxonomy: Taxonomy, run: RunContext, keep: str = "all", settings: TagSettings | None = None
    ) -> None:
        super().__init__()
        if keep not in ("all", "tagged"):
            raise ValueError(f"keep must be all or tagged, not {keep!r}")
        self._taxonomy = taxonomy
        self._run = run
        self._keep = keep
        self._settings = settings or TagSettings()

    def expand(self, articles: Any) -> TagOutput:
        """Joins the step to its input."""
        tag = _Tag(self._taxonomy, self._run, self._keep, self._settings)
        outputs = articles | "Tag" >> beam.ParDo(tag).with_outputs(_SIDE, main=_TAGGED)
        return TagOutput(outputs[_TAGGED], outputs[_SIDE])


class _Tag(beam.DoFn):
    def __init__(self, taxonomy: Taxonomy, run: RunContext, keep: str, settings: TagSettings) -> None:
        self._taxonomy = taxonomy
        self._run = run
        self._keep = keep
        self._settings = settings
        self._tagger: Tagger | None = None
        self._counts: dict[str, int] = {}

    def setup(self) -> None:
        self._tagger = shared_tagger(self._taxonomy, self._settings)

    def start_bundle(self) -> None:
        self._counts = dict.fromkeys(_OUTCOMES, 0)

    def process(self, article: Article) -> Iterator[Any]:
        assert self._tagger is not None
        tags = self._tagger.tag(article)
        self._counts["in"] += 1
        meter.add("tagged")
        if tags.topics or self._keep == "all":
            self._counts["passed"] += 1
            yield TaggedArticle(article, tags)
            return
        self._counts["rejected"] += 1
        yield beam.pvalue.TaggedOutput(_SIDE, self._untagged(article))

    def _untagged(self, article: Article) -> Side:
        return Reject(
            stage=_STAGE,
            reason="untagged",
            detail=f"no topic of {self._taxonomy.id} {self._taxonomy.version} was found",
            failed_at=self._run.now(),
            source_id=article.entry.source_id,
            feed_url=article.entry.feed_url,
            url=article.url,
            input_uri=article.raw_uri,
            body_sha256=article.body_sha256,
        )

    def finish_bundle(self) -> Iterator[Any]:
        for outcome, items in self._counts.items():
            if items:
                tally: Side = Tally(_STAGE, outcome, items)
                yield beam.pvalue.TaggedOutput(_SIDE, GlobalWindows.windowed_value(tally))
        self._counts = dict.fromkeys(_OUTCOMES, 0)


_TAGGERS: dict[tuple[str, TagSettings], Tagger] = {}
_LOCK = threading.Lock()


def shared_tagger(taxonomy: Taxonomy, settings: TagSettings) -> Tagger:
    """Returns the one tagger of this process for a taxonomy; made on first use."""
    key = (taxonomy.sha256, settings)
    with _LOCK:
        if key not in _TAGGERS:
            _TAGGERS[key] = Tagger(taxonomy, settings)
        return _TAGGERS[key]
