"""Adds feeds to the text of a YAML feeds file: comments, order and quotes stay as they are.

The text is edited at one place, which the parser's marks name. Then it is parsed again and must hold what it
held plus the new feeds, else nothing is done: YAML has more forms than an edit can know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from pipeline.errors import ConfigError
from transforms.yaml_file import KeyPath, YamlFile, YamlText, is_trap, load_yaml

FeedFields = Mapping[str, "str | Sequence[str]"]
"""The keys of a feed as they are to be written, ``url`` among them."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
# Letters and digits of all scripts, and signs that mean nothing to YAML where they stand here.
_PLAIN = re.compile(r"[^\W_](?:[\w ./~=&;$!()*'+?@%-]|:(?=[^\s]))*", re.ASCII)
_PLAIN_TEXT = re.compile(r"[^\W_](?:[\w ./()'’–-])*")
_FLOW_WIDTH = 140


class Edited(NamedTuple):
    """A text with the new feeds, and the line (from 1) at which each of them stands."""

    text: str
    lines: tuple[int, ...]


class _Place(NamedTuple):
    """Where new feeds go: ``text[start:end]`` gives way to them.

    Attributes:
        form: ``block`` (a line each), ``flow`` (inside brackets) or ``key`` (``feeds:`` is missing).
        indent: Spaces before the dash.
        style: How the last feed of the list is written: ``text``, ``flow`` or ``block``.
        comma: Whether one is needed before the first.
    """

    form: str
    start: int
    end: int
    indent: int = 2
    style: str = "text"
    comma: bool = False


def add_feeds(text: str, feeds: Sequence[FeedFields], name: str) -> Edited:
    """Returns the text of a feeds file with feeds added at the end of its list.

    Args:
        text: The file, without byte order mark; it may be empty.
        feeds: At least one.
        name: Path of the file, for messages.

    Raises:
        ConfigError: If the file's form cannot be edited; the message says what to add by hand.
    """
    before = load_yaml(name, text)
    place = None if before.problems else _find_place(yaml.compose(text, Loader=_LOADER), text)
    new_text = _insert(text, place, feeds) if place else text
    after = load_yaml(name, new_text)
    lines = _lines_of_new(before.data, after, feeds) if place and not after.problems else None
    if lines is None:
        by_hand = "\n".join(_item(feed, 2, "block", "\n") for feed in feeds[:20])
        raise ConfigError(f"{name}: its form cannot be edited safely; add this below feeds: by hand\n{by_hand}")
    return Edited(new_text, lines)


def _lines_of_new(before: Any, after: YamlFile, feeds: Sequence[FeedFields]) -> tuple[int, ...] | None:
    """Returns the lines of the new feeds; ``None`` if the file does not hold what it held, and them at the end."""
    path: KeyPath = () if isinstance(after.data, list) else ("feeds",)
    was = {"feeds": before} if isinstance(before, list) else dict(before or {})
    now = {"feeds": after.data} if isinstance(after.data, list) else dict(after.data or {})
    old, new = was.pop("feeds", None) or [], now.pop("feeds", None) or []
    if was != now or not isinstance(new, list) or new[: len(old)] != old:
        return None
    added = [{"url": item} if isinstance(item, str) else item for item in new[len(old) :]]
    if added != [{key: v if isinstance(v, str) else list(v) for key, v in feed.items()} for feed in feeds]:
        return None
    return tuple(after.mark_of((*path, len(old) + i)).line for i in range(len(feeds)))


def _find_place(root: yaml.Node | None, text: str) -> _Place | None:
    if root is None or (isinstance(root, yaml.ScalarNode) and not root.value):
        return _Place("key", len(text), len(text))
    if isinstance(root, yaml.SequenceNode):
        return _place_in_list(root, text)
    if not isinstance(root, yaml.MappingNode):
        return None
    for key, value in root.value:
        if key.value == "feeds":
            return _place_of_value(value, text, root)
    return None if root.flow_style else _Place("key", len(text), len(text))


def _place_of_value(value: yaml.Node, text: str, root: yaml.MappingNode) -> _Place | None:
    """The place in what stands after ``feeds:``."""
    start, end = value.start_mark.index, value.end_mark.index
    is_inline = bool(root.flow_style) or "\n" in text[start:end]
    if isinstance(value, yaml.SequenceNode) and (value.value or is_inline):
        return _place_in_list(value, text)
    is_empty = isinstance(value, yaml.SequenceNode) or (isinstance(value, yaml.ScalarNode) and not value.style)
    if not is_empty or is_inline:
        return None
    # `feeds:`, `feeds: []` or `feeds: ~`: the lines go below, the empty value goes away.
    return _Place("block", len(text[:start].rstrip(" ")), end, indent=2, style="text")


def _place_in_list(value: yaml.SequenceNode, text: str) -> _Place:
    items = value.value
    if value.flow_style:
        end = value.end_mark.index - 1
        last_end = _end_of(items[-1], text) if items else end
        has_comma = "," in re.sub(r"#[^\n]*", "", text[last_end:end])
        return _Place("flow", end, end, comma=bool(items) and not has_comma)
    at = _end_of(items[-1], text)
    style = "text" if isinstance(items[-1], yaml.ScalarNode) else "flow" if items[-1].flow_style else "block"
    return _Place("block", at, at, text[: items[0].start_mark.index].rpartition("\n")[2].find("-"), style)


def _end_of(node: yaml.Node, text: str) -> int:
    """Where the last letter of a node stands; the marks of block nodes lie behind the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return max(_end_of(part, text) for part in (last if isinstance(last, tuple) else (last,)))
    end = int(node.end_mark.index)
    is_literal = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return len(text[:end].rstrip()) if is_literal else end


def _insert(text: str, place: _Place, feeds: Sequence[FeedFields]) -> str:
    found = _LINE_END.search(text)
    line_end = found[0] if found else "\n"
    if place.form == "flow":
        new = ", ".join(_flow_item(feed) for feed in feeds)
        return text[: place.start] + (", " if place.comma else "") + new + text[place.end :]
    if place.form == "key":
        gap = "" if not text or text.endswith(("\n", "\r")) else line_end
        lines = [f"{text}{gap}feeds:", *(_item(feed, 2, "text", line_end) for feed in feeds)]
        return line_end.join(lines) + line_end
    at = _end_of_lines(text, place)
    head = text[: place.start] + text[place.end : at].rstrip(" ")
    lines = [head, *(_item(feed, place.indent, place.style, line_end) for feed in feeds)]
    return line_end.join(lines) + (text[at:] or line_end)


def _end_of_lines(text: str, place: _Place) -> int:
    """Where the line ends; comments on it, and below it if further in than the dash, belong to the last feed."""
    found = _LINE_END.search(text, place.end)
    at = found.start() if found else len(text)
    comments = re.compile(rf"(?:(?:\r\n|[\r\n]) {{{place.indent + 1},}}#[^\r\n]*)*").match(text, at)
    return comments.end() if comments else at


def _item(feed: FeedFields, indent: int, style: str, line_end: str) -> str:
    """A feed as an entry of a block list, without the last line end."""
    dash = " " * indent + "- "
    if set(feed) == {"url"} and style == "text":
        return dash + scalar(str(feed["url"]))
    if style == "flow" and len(line := dash + _flow_item(feed)) <= _FLOW_WIDTH:
        return line
    pairs = [f"{key}: {_text_of(value)}" for key, value in feed.items()]
    return dash + f"{line_end}{' ' * (indent + 2)}".join(pairs)


def _flow_item(feed: FeedFields) -> str:
    if set(feed) == {"url"}:
        return scalar(str(feed["url"]))
    return "{" + ", ".join(f"{key}: {_text_of(value)}" for key, value in feed.items()) + "}"


def _text_of(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return scalar(value)
    return "[" + ", ".join(scalar(item) for item in value) + "]"


def scalar(text: str) -> str:
    """Returns a text of one line as a YAML scalar that every reader takes for this text, inside brackets too."""
    word = YamlText(text)
    word.plain = True
    # In brackets a question mark ends a word (YAML 1.1).
    is_plain = "?" not in text and (_PLAIN.fullmatch(text) or _PLAIN_TEXT.fullmatch(text))
    if is_plain and not is_trap(word) and not text.endswith((" ", ":")):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08X}"
