"""What the layout of the dataset brings to those who read it: queries against rows written as they came.

    python -m bench.readers [rows] [rounds]

Makes articles of text-like words (Zipf frequencies, 400 papers, seven days, three topics), writes them once as
newsbeam does and once with ``pyarrow.dataset.write_dataset`` in the order in which they came, and asks both the same
questions with DuckDB on one thread. Prints the median time and the bytes that were read from the files; the ratio is
theirs to ours. Then it checks that the files are what they are said to be: row groups, page index, bloom filter, zstd.
Exits 1 if they are not, or if a selective query reads more bytes than from the plain layout.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from bench.write import START, made_row
from transforms.schema import ARTICLES
from transforms.write.encode import MAX_PART_ROWS, ROW_GROUP_ROWS, cut_parts, encode, sort_rows

DAYS = 7
CHUNK = 20_000
SELECTIVE = ("one paper", "one topic", "one article")


class Layout(NamedTuple):
    """A way of writing, and what was measured."""

    name: str
    folder: Path


def made_rows(count: int) -> Iterator[list[dict[str, Any]]]:
    """Yields the rows in chunks, in the order in which they came: papers and topics mixed."""
    rng = random.Random(11)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 11))) for _ in range(50_000)]
    pool = rng.choices(words, [1 / (rank + 3) for rank in range(len(words))], k=2_000_000)
    day_rows = count // DAYS + 1
    for start in range(0, count, CHUNK):
        rows = []
        for number in range(start, min(start + CHUNK, count)):
            row = made_row(rng, number, pool)
            at = START + timedelta(days=number // day_rows, seconds=(number % day_rows) * 86_000 // day_rows)
            row |= {"fetched_at": at, "published_at": at - timedelta(minutes=rng.randrange(600))}
            rows.append(row)
        yield rows


def write_layouts(count: int, ours: Path, theirs: Path) -> Any:
    """Writes both; returns a paper, an article and an hour to ask for."""
    wanted: Any = None
    by_day: dict[str, list[dict[str, Any]]] = {}
    plain = ds.ParquetFileFormat()
    for number, rows in enumerate(made_rows(count)):
        wanted = wanted or rare_of(rows)
        days: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            days.setdefault(f"{row['fetched_at']:%Y-%m-%d}", []).append(row)
        for day, of_day in days.items():
            ds.write_dataset(
                pa.Table.from_pylist(of_day, schema=ARTICLES),
                theirs / f"ingest_date={day}",
                format=plain,
                basename_template=f"{number}-{{i}}.parquet",
                file_options=plain.make_write_options(compression="zstd", compression_level=3),
                existing_data_behavior="overwrite_or_ignore",
            )
            by_day.setdefault(day, []).extend(of_day)
        for day in [day for day in by_day if day not in days]:
            write_day(ours, day, by_day.pop(day))
    for day, of_day in by_day.items():
        write_day(ours, day, of_day)
    return wanted


def rare_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a row of a paper that is seldom there: who asks for one paper mostly asks for a small one."""
    counts = Counter(row["domain"] for row in rows)
    return min(rows, key=lambda row: (counts[row["domain"]], row["article_id"]))


def write_day(folder: Path, day: str, rows: list[dict[str, Any]]) -> None:
    for number, part in enumerate(cut_parts(sort_rows("articles", rows))):
        path = folder / f"ingest_date={day}" / f"{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode("articles", part))


def queries(wanted: dict[str, Any]) -> dict[str, str]:
    hour = wanted["published_at"].replace(minute=0, second=0)
    columns = "SELECT url, title, text FROM t WHERE"
    return {
        "one paper": f"{columns} domain = '{wanted['domain']}'",
        "one topic": f"{columns} list_contains(topics, 'deportation')",
        "one article": f"{columns} article_id = '{wanted['article_id']}'",
        "no such article": f"{columns} article_id = '1-7fffffffffffffffffffffffffffffff'",
        "one hour": f"{columns} published_at >= '{hour}' AND published_at < TIMESTAMPTZ '{hour}' + INTERVAL 1 HOUR",
        "count by paper": "SELECT domain, count(*) FROM t GROUP BY ALL",
    }


def bytes_read() -> int:
    """Returns what this process has read so far with read calls, from the disk or its cache."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"])


def ask(folder: Path, sql: str) -> tuple[float, int, int]:
    """Returns seconds, bytes read and rows of one query on a fresh connection."""
    with duckdb.connect(config={"threads": 1, "enable_external_file_cache": False}) as connection:
        pattern = f"{folder}/**/*.parquet"
        connection.execute(f"CREATE VIEW t AS FROM read_parquet('{pattern}', hive_partitioning = true)")
        before, start = bytes_read(), time.perf_counter()
        rows = len(connection.execute(sql).fetchall())
        return time.perf_counter() - start, bytes_read() - before, rows


def compare(layouts: list[Layout], asked: dict[str, str], rounds: int) -> list[str]:
    """Prints the table; returns the selective queries that read more from our files."""
    worse = []
    print(f"{'':17}{'rows':>8}{'ms':>9}{'plain':>9}{'ratio':>7}{'MB':>9}{'plain':>9}{'ratio':>7}")
    for name, sql in asked.items():
        found: dict[str, list[tuple[float, int, int]]] = {layout.name: [] for layout in layouts}
        for _ in range(rounds):
            for layout in layouts:
                found[layout.name].append(ask(layout.folder, sql))
        ours, plain = (
            (1000 * statistics.median(run[0] for run in runs), min(run[1] for run in runs) / 1e6, runs[0][2])
            for runs in found.values()
        )
        assert ours[2] == plain[2], name
        print(
            f"{name:17}{ours[2]:8,}{ours[0]:9.1f}{plain[0]:9.1f}{plain[0] / ours[0]:7.1f}"
            f"{ours[1]:9.2f}{plain[1]:9.2f}{plain[1] / max(ours[1], 0.001):7.1f}"
        )
        if name in SELECTIVE and ours[1] > plain[1]:
            worse.append(name)
    return worse


def wrong_files(folder: Path) -> list[str]:
    """Returns what is not as docs say: codec, size of row groups and files, page index, bloom filter."""
    wrong = []
    for path in sorted(folder.glob("**/*.parquet")):
        about = pq.ParquetFile(path).metadata
        if about.num_rows > MAX_PART_ROWS or path.stat().st_size > 128 << 20:
            wrong.append(f"{path.name}: {about.num_rows} rows, {path.stat().st_size} bytes")
        for group in map(about.row_group, range(about.num_row_groups)):
            columns = list(map(group.column, range(group.num_columns)))
            if group.num_rows > ROW_GROUP_ROWS["articles"]:
                wrong.append(f"{path.name}: a row group of {group.num_rows} rows")
            if any(column.compression != "ZSTD" for column in columns):
                wrong.append(f"{path.name}: not all columns are zstd")
            # Texts are too long for a minimum and a maximum, and so for a column index.
            indexed = [c.has_offset_index and (c.has_column_index or c.path_in_schema == "text") for c in columns]
            if not all(indexed):
                wrong.append(f"{path.name}: no page index")
    blooms = duckdb.sql(
        f"SELECT path_in_schema, count(*), count(bloom_filter_offset) FROM parquet_metadata('{folder}/**/*.parquet')"
        " GROUP BY ALL"
    ).fetchall()
    wrong += [f"{name}: {found} of {groups} bloom filters" for name, groups, found in blooms
              if (found < groups if name == "article_id" else found)]  # fmt: skip
    return wrong


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 200_000
    rounds = int(arguments[1]) if len(arguments) > 1 else 5
    with tempfile.TemporaryDirectory() as root:
        ours, plain = Layout("newsbeam", Path(root) / "ours"), Layout("plain", Path(root) / "plain")
        wanted = write_layouts(count, ours.folder, plain.folder)
        sizes = [sum(os.path.getsize(path) for path in layout.folder.glob("**/*.parquet")) for layout in (ours, plain)]
        files = [len(list(layout.folder.glob("**/*.parquet"))) for layout in (ours, plain)]
        print(f"{count:,} rows; {files[0]} files, {sizes[0] / 1e6:.0f} MB; plain: {files[1]}, {sizes[1] / 1e6:.0f} MB")
        worse = compare([ours, plain], queries(wanted), rounds)
        wrong = wrong_files(ours.folder)
        print(f"files as they should be: {'yes' if not wrong else '; '.join(wrong[:5])}")
        if worse:
            print(f"reads more than the plain layout: {', '.join(worse)}")
    return int(bool(worse or wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
