"""Text that a page carries only in the state of its script application: mark-up inside strings of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from transforms.extract.page import parse_tree
from transforms.extract.plain import fragment_text

_TEXT_MIN_CHARS = 300
_PARAGRAPHS_MIN = 2
_SCRIPT_LIMIT_CHARS = 2_000_000
_NESTING_LIMIT = 2
_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{_TEXT_MIN_CHARS},}})"', re.DOTALL)
_PARAGRAPH = re.compile(r"<p[\s>]", re.IGNORECASE)
_HINT = re.compile(r"<p[\s>]|u003cp", re.IGNORECASE)


def state_text(html: bytes) -> str:
    """Returns the longest text with paragraphs that stands in a script of the page, or an empty string."""
    best = ""
    tree = parse_tree(html)
    for script in tree.iter("script") if tree is not None else ():
        code = script.text or ""
        if len(code) <= _SCRIPT_LIMIT_CHARS and _HINT.search(code):
            for markup in _markup_strings(code, 0):
                fragment = parse_tree(b"<html><body>" + markup.encode("utf-8", "replace") + b"</body></html>")
                text = fragment_text(fragment) if fragment is not None else ""
                best = max(best, text, key=len)
    return best if len(best) >= _TEXT_MIN_CHARS else ""


def _markup_strings(code: str, depth: int) -> Iterator[str]:
    """Strings with paragraphs; a string that holds JSON itself is opened."""
    for literal in _STRING.findall(code):
        try:
            content = json.loads(f'"{literal}"', strict=False)
        except ValueError:
            continue
        if '":' in content[:200] or '"$' in content[:200]:
            if depth < _NESTING_LIMIT:
                yield from _markup_strings(content, depth + 1)
        elif len(_PARAGRAPH.findall(content)) >= _PARAGRAPHS_MIN:
            yield content
