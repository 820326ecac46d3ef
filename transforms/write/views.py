"""The views over the files of a dataset, in DuckDB's SQL.

Their text holds no path: it reads below the variable ``newsbeam_root``, so that one file serves any dataset
wherever it lies.
"""

from __future__ import annotations

from transforms.schema import PARTITIONS, TABLES

ROOT_VARIABLE = "newsbeam_root"

_HEAD = f"""\
-- Views over a newsbeam dataset, for DuckDB. Name the dataset first, then run this file:
--   SET VARIABLE {ROOT_VARIABLE} = '/path/to/dataset';
-- Without that the current folder is read.
CREATE OR REPLACE MACRO newsbeam_path(name) AS
  coalesce(getvariable('{ROOT_VARIABLE}'), '.') || '/' || name || '/**/*.parquet';
-- The day of an instant in UTC, whatever the zone of the session.
CREATE OR REPLACE MACRO newsbeam_day(instant) AS CAST(make_timestamp(epoch_us(instant)) AS DATE);
"""

_PLAIN = """\
-- All rows of {table}, as they lie in its files.
CREATE OR REPLACE VIEW {view} AS
  SELECT * FROM read_parquet(newsbeam_path('{table}'), hive_partitioning = true, hive_types = {{{types}}},
    union_by_name = true);
"""

# Filters reach the files through a semi join, not through a window over all rows.
_LATEST = """\
-- {comment}
CREATE OR REPLACE VIEW {table}_latest AS
  SELECT * FROM {table}
  SEMI JOIN (SELECT article_id, max(revision) AS revision FROM articles GROUP BY article_id)
  USING (article_id, revision);
"""

_STORIES = """\
-- The story of each article, with what names the article. The newest row counts; a story that was found to be an
-- earlier one is that one, which the newest row of its leader says.
CREATE OR REPLACE VIEW stories AS
  WITH RECURSIVE newest AS (
    SELECT * FROM stories_all QUALIFY row_number() OVER (PARTITION BY article_id ORDER BY as_of DESC) = 1
  ), links AS (
    SELECT DISTINCT l.article_id AS was, l.story_id AS is_now
    FROM newest AS l JOIN newest AS m ON m.story_id = l.article_id
    WHERE l.story_id <> l.article_id
  ), followed AS (
    SELECT was, is_now, 1 AS steps FROM links
    UNION ALL
    SELECT f.was, l.is_now, f.steps + 1 FROM followed AS f JOIN links AS l ON l.was = f.is_now WHERE f.steps < 100
  ), moved AS (
    SELECT was, arg_max(is_now, steps) AS is_now FROM followed GROUP BY was
  )
  SELECT n.* REPLACE (coalesce(m.is_now, n.story_id) AS story_id), a.title, a.domain, a.url, a.published_at
  FROM newest AS n
  LEFT JOIN moved AS m ON m.was = n.story_id
  LEFT JOIN articles_latest AS a USING (article_id);
"""

_TOPIC_DAILY = """\
-- Articles a topic and day of publication (of fetching, if that is not known); copies of one text, and of one story
-- where `newsbeam dataset stories` has run, count once.
CREATE OR REPLACE VIEW topic_daily AS
  SELECT
    newsbeam_day(coalesce(t.published_at, t.fetched_at)) AS day,
    t.topic,
    count(*) AS articles,
    count(*) FILTER (t.level = 'primary') AS primary_articles,
    count(DISTINCT a.text_fingerprint) AS distinct_texts,
    count(DISTINCT coalesce(s.story_id, t.article_id)) AS stories,
    count(DISTINCT t.domain) AS domains
  FROM article_topics_latest AS t
  JOIN articles_latest AS a USING (article_id)
  LEFT JOIN stories AS s USING (article_id)
  GROUP BY ALL
  ORDER BY day DESC, articles DESC, topic;
"""

_FEED_HEALTH = """\
-- How each feed is doing: its newest poll, and its past.
CREATE OR REPLACE VIEW feed_health AS
  SELECT
    url,
    arg_max(source_id, started_at) AS source_id,
    arg_max(outcome, started_at) AS outcome,
    arg_max(http_status, started_at) AS http_status,
    max(started_at) AS last_polled_at,
    max(started_at) FILTER (outcome IN ('ok', 'not_modified')) AS last_success_at,
    max(started_at) FILTER (entries_new > 0) AS last_news_at,
    arg_max(next_due_at, started_at) AS next_due_at,
    arg_max(failures, started_at) AS failures,
    count(*) AS polls,
    sum(entries_new) AS entries_new,
    count(*) FILTER (gap_suspected) AS gaps,
    arg_max(moved_to, started_at) AS moved_to
  FROM fetches
  WHERE kind = 'feed' AND outcome <> 'deferred'
  GROUP BY url
  ORDER BY failures DESC, url;
"""


def views_sql() -> str:
    """Returns the text of ``_meta/views.sql``."""
    plain = [_plain_view("stories_all" if table == "stories" else table, table) for table in TABLES]
    articles = _LATEST.format(
        table="articles", comment="The newest revision of each article: what most questions want."
    )
    topics = _LATEST.format(table="article_topics", comment="The topics of the newest revision of each article.")
    return "\n".join([_HEAD, *plain, articles, topics, _STORIES, _TOPIC_DAILY, _FEED_HEALTH])


def _plain_view(view: str, table: str) -> str:
    types = ", ".join(f"'{name}': {'DATE' if name == 'ingest_date' else 'VARCHAR'}" for name in PARTITIONS[table])
    return _PLAIN.format(view=view, table=table, types=types)
