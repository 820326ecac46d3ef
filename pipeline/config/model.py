"""The configuration as a whole: every key, its type and its default.

``Config`` is frozen and holds plain Python values: absolute paths, seconds, tuples. Keys of a file have no
unit in their name (``host_gap: 5s``), fields have (``host_gap_s == 5.0``). docs/config.md tells what each
key does; this module only says what may be written.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from pipeline.config import values

Text = Annotated[str, BeforeValidator(values.filled)]
Flag = Annotated[bool, BeforeValidator(values.flag)]
Count = Annotated[int, BeforeValidator(values.count)]
Duration = Annotated[float, BeforeValidator(values.duration)]
Language = Annotated[str, BeforeValidator(values.language)]
TimeZone = Annotated[str, BeforeValidator(values.time_zone)]
Country = Annotated[str, BeforeValidator(values.country)]
WebAddress = Annotated[str, BeforeValidator(values.web_address)]
FeedAddress = Annotated[str, BeforeValidator(values.feed_address)]
TextList = Annotated[tuple[Text, ...], BeforeValidator(values.text_list)]

# Tags of the union below; the angle brackets keep them apart from keys in the path of a mistake.
FEED_TAG, ADDRESS_TAG = "<feed>", "<address>"


class Strict(BaseModel):
    """A model that knows no key but its own and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FeedDefaults(Strict):
    """``defaults`` of a feeds file: what its feeds have unless they say otherwise."""

    language: Language | None = Field(default=None, validation_alias=AliasChoices("language", "lang"))
    interval_s: Duration | None = Field(default=None, alias="interval")
    time_zone: TimeZone | None = None
    conditional: Literal["auto", "never"] | None = None
    robots: Flag | None = None
    tags: TextList = ()
    country: Country | None = None
    state: Text | None = None


class FeedItem(FeedDefaults):
    """One feed, as listed by the user. ``None`` means: as in the defaults, else as in the config."""

    url: WebAddress
    id: Text | None = None
    name: Text | None = None
    note: Text | None = None


class ExtractConfig(Strict):
    """``extract``: how pages are turned into text."""

    workers: Count = Field(default=0, le=256)
    timeout_s: Annotated[float, BeforeValidator(values.time_limit)] = Field(default=30.0, alias="timeout")


def _feed_kind(value: Any) -> str:
    return FEED_TAG if isinstance(value, dict | FeedItem) else ADDRESS_TAG


FeedEntry = Annotated[
    Annotated[FeedItem, Tag(FEED_TAG)] | Annotated[FeedAddress, Tag(ADDRESS_TAG)], Discriminator(_feed_kind)
]
FeedList = Annotated[tuple[FeedEntry, ...], BeforeValidator(values.text_list)]


class Config(Strict):
    """The whole configuration.

    Attributes:
        dataset: Root of the dataset, an absolute path or an address such as ``gs://bucket/news``.
        seeds: Patterns of seed files, absolute.
        feeds: Files with feeds (absolute, or patterns), addresses of feeds, feeds written out.
        urls: Files with page addresses, absolute patterns.
        topics: Taxonomy files, absolute.
        contact: Mail or web address for the User-Agent; empty if none is given.
        keep: Whether articles without topic are stored.
        store_text: How much of a text is stored.
        max_age_s: Feed entries older than this are refused; 0 means no limit.
        max_items_per_feed, max_pages_per_host: Limits of a run; 0 means none.
        host_gap_s: Least time between two requests to one host.
        recheck_s: Ages at which a page is fetched once more.
        allow_loopback: Whether loopback addresses may be asked.
        proxy, no_proxy, ca_bundle: For networks that need them; ``no_proxy`` lists hosts, domains and networks
            that are asked directly.
        robots_for_feeds: Whether robots.txt is asked for feeds too.
        poll_interval_s: Least time between two polls of a feed that names none.
        entity_model: spaCy model for named entities; none by default.
    """

    version: Annotated[str, BeforeValidator(values.version)] = "1"
    dataset: Text = "out"
    seeds: TextList = ()
    feeds: FeedList = ()
    urls: TextList = ()
    topics: TextList = ()
    contact: Annotated[str, BeforeValidator(values.contact)] = ""
    keep: Literal["all", "tagged"] = "all"
    store_text: Literal["full", "excerpt", "none"] = "full"
    max_age_s: Duration = Field(default=604_800.0, alias="max_age")
    max_items_per_feed: Count = 50
    max_pages_per_host: Count = 60
    host_gap_s: Duration = Field(default=5.0, alias="host_gap")
    recheck_s: Annotated[tuple[Duration, ...], BeforeValidator(values.text_list)] = Field(default=(), alias="recheck")
    allow_loopback: Flag = False
    proxy: WebAddress | None = None
    no_proxy: TextList = ()
    ca_bundle: Text | None = None
    robots_for_feeds: Flag = False
    poll_interval_s: Duration = Field(default=900.0, alias="poll_interval")
    extract: ExtractConfig = ExtractConfig()
    entity_model: Text | None = None


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Returns the keys that may be written for a model, in its order."""
    return tuple(field.alias or name for name, field in model.model_fields.items())
