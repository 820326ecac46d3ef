"""The Beam stage: documents in, articles and side records out."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import DoOutputsTuple, TaggedOutput
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MIN_TIMESTAMP
from apache_beam.utils.windowed_value import WindowedValue

from transforms import meter
from transforms.dedupe.state import StateLocation, open_state
from transforms.extract import pool as pools
from transforms.extract.article import extract, fallback_document, to_article
from transforms.extract.worker import quiet_libraries
from transforms.records import Document, Reject, RunContext, Tally

ARTICLES = "articles"
SIDE = "side"
_IN_FLIGHT_PER_WORKER = 16
_IN_FLIGHT_BYTES = 64 * 1024 * 1024
_LOCAL_TEXTS = 64
_LOCAL_TEXT_BYTES = 256 * 1024
_CHILD_FAILURES = frozenset({"timeout", "memory", "crash"})


class ExtractSettings(NamedTuple):
    """How documents are extracted.

    Attributes:
        workers: Child processes; ``None`` = one a core, 0 = in this process, without time and memory limit.
        timeout_s: Longest time for a page, seconds.
        memory_bytes: Address space of a child process.
        function: ``module:function`` that the children call; for tests of hanging and crashing pages.
    """

    workers: int | None = None
    timeout_s: float = 10.0
    memory_bytes: int = 1536 * 1024 * 1024
    function: str = "transforms.extract.article:extract"

    def pool(self) -> pools.PoolSettings:
        """Returns the settings of the child processes."""
        workers = pools.available_cores() if self.workers is None else self.workers
        return pools.PoolSettings(workers, self.timeout_s, self.memory_bytes, self.function)


class ExtractArticles(beam.PTransform):
    """Turns documents into articles.

    In: ``PCollection[Document]``. Out: ``.articles`` (``PCollection[Article]``) and ``.side``
    (``PCollection[Side]``: a ``Reject`` for each document that gave no article, and tallies of stage
    ``extract``: in, passed, rejected). Guaranteed: in = passed + rejected; a document that hangs, explodes or
    kills its process is rejected and costs no other. Not guaranteed: order.
    """

    def __init__(self, settings: ExtractSettings, run: RunContext, state: StateLocation) -> None:
        super().__init__()
        self._settings = settings
        self._run = run
        self._state = state

    def expand(self, documents: beam.PCollection) -> DoOutputsTuple:
        """Applies the transform."""
        extractor = _Extract(self._settings, self._run, self._state)
        return documents | "Extract" >> beam.ParDo(extractor).with_outputs(SIDE, main=ARTICLES)


class _Pending(NamedTuple):
    document: Document
    future: Future[pools.Result]
    timestamp: Any
    window: Any


class _Extract(beam.DoFn):
    """Keeps a few documents in flight; what is done goes out with the window that it came in."""

    def __init__(self, settings: ExtractSettings, run: RunContext, state: StateLocation) -> None:
        self._settings = settings
        self._run = run
        self._state = state
        self._pool: pools.ExtractPool | None = None

    def setup(self) -> None:
        open_state(self._state)  # read before the first document needs it
        self._workers = self._settings.pool().workers
        self._local_texts = 0
        quiet_libraries()

    def start_bundle(self) -> None:
        self._pending: deque[_Pending] = deque()
        self._pending_bytes = 0
        self._done = threading.Semaphore(0)
        self._tally: Counter[str] = Counter()

    def process(
        self, document: Document, timestamp: Any = beam.DoFn.TimestampParam, window: Any = beam.DoFn.WindowParam
    ) -> Iterator[Any]:
        self._tally["in"] += 1
        if self._is_local(document):
            yield from self._output(document, extract(document), timestamp, window)
            return
        while self._is_full(document):
            yield from self._collect(wait=True)
        self._submit(document, timestamp, window)
        yield from self._collect(wait=False)

    def finish_bundle(self) -> Iterator[Any]:
        while self._pending:
            yield from self._collect(wait=True)
        for outcome, items in sorted(self._tally.items()):
            tally = Tally("extract", outcome, items)
            yield TaggedOutput(SIDE, WindowedValue(tally, MIN_TIMESTAMP, (GlobalWindow(),)))

    def teardown(self) -> None:
        if self._pool is not None:
            pools.release_pool(self._pool)
            self._pool = None

    def _is_local(self, document: Document) -> bool:
        """Tells whether a document is done here: few and small texts are not worth a process."""
        if self._workers == 0:
            return True
        if document.kind != "text" or len(document.body) > _LOCAL_TEXT_BYTES or self._local_texts >= _LOCAL_TEXTS:
            return False
        self._local_texts += 1
        return True

    def _is_full(self, document: Document) -> bool:
        if not self._pending:
            return False
        too_many = len(self._pending) >= _IN_FLIGHT_PER_WORKER * self._workers
        return too_many or self._pending_bytes + len(document.body) > _IN_FLIGHT_BYTES

    def _submit(self, document: Document, timestamp: Any, window: Any) -> None:
        if self._pool is None:
            self._pool = pools.acquire_pool(self._settings.pool())
        future = self._pool.submit(document)
        self._pending.append(_Pending(document, future, timestamp, window))
        self._pending_bytes += len(document.body)
        future.add_done_callback(lambda _: self._done.release())

    def _collect(self, wait: bool) -> Iterator[Any]:
        """Yields what is done; with ``wait`` at least one document."""
        if not self._pending or not self._done.acquire(blocking=wait):
            return
        while self._done.acquire(blocking=False):
            pass
        still_pending: deque[_Pending] = deque()
        done: list[_Pending] = []
        for item in self._pending:
            (done if item.future.done() else still_pending).append(item)
        self._pending = still_pending
        for item in done:
            self._pending_bytes -= len(item.document.body)
            result = item.future.result()
            substitute = self._substitute(item.document, result)
            if substitute is not None:
                self._submit(substitute, item.timestamp, item.window)
            else:
                yield from self._output(item.document, result, item.timestamp, item.window)

    def _substitute(self, document: Document, result: pools.Result) -> Document | None:
        """The feed's own content, if the page's process failed."""
        if isinstance(result, Reject) and result.reason in _CHILD_FAILURES:
            return fallback_document(document, result.reason)
        return None

    def _output(self, document: Document, result: pools.Result, timestamp: Any, window: Any) -> Iterable[Any]:
        if isinstance(result, Reject):
            self._tally["rejected"] += 1
            yield TaggedOutput(SIDE, WindowedValue(result, timestamp, (window,)))
        else:
            self._tally["passed"] += 1
            meter.add("extracted")
            article = to_article(document, result, open_state(self._state).article_id_for)
            yield WindowedValue(article, timestamp, (window,))
