"""What a child process is told to call in tests: pages that hang, explode or kill the process, by their title."""

from __future__ import annotations

import os
import re
import signal
import time

from transforms.extract.article import extract
from transforms.records import Document

_EXPONENTIAL = re.compile(r"(?:a+)+$")


def extract_or_fail(document: Document) -> object:
    """Does what the entry's title says, or extracts."""
    title = document.entry.title or ""
    if title == "hang":
        time.sleep(600)
    elif title == "hang in C":
        _EXPONENTIAL.match("a" * 64 + "b")
    elif title == "allocate":
        return bytearray(4 * 1024**3)
    elif title == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif title == "exit":
        os._exit(3)
    elif title == "raise":
        raise ValueError("not today")
    elif title == "pid":
        return os.getpid()
    return extract(document)


def hang_on_pages(document: Document) -> object:
    """Hangs on every page; feed content and texts are extracted."""
    if document.kind == "page":
        time.sleep(600)
    return extract(document)
