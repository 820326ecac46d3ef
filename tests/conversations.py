"""Plays recorded conversations between a feed reader and servers, with real servers on loopback.

A conversation is a JSON object ``{"steps": [{"request": {"url", "headers"?}, "response": {"status", "headers"?,
"body" | "body_base64"}, "note"?}]}``. Every host in it becomes a server on an address of its own; https
becomes http. A step is answered when its address is asked for and it is the next one of that address.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tests.feed_polls import Reader
from tests.servers import Answer, NewsServer, Request
from transforms.records import FeedSource

_VALIDATORS = {"if-none-match": "If-None-Match", "if-modified-since": "If-Modified-Since"}


class Conversation:
    """The servers of a conversation, as a context manager.

    Attributes:
        steps: As recorded.
        asked: Each request in order, as (address as recorded, headers).
    """

    def __init__(self, data: Mapping[str, Any], first_address: int = 40) -> None:
        self.steps: list[dict[str, Any]] = list(data["steps"])
        self.asked: list[tuple[str, dict[str, str]]] = []
        urls = [step["request"]["url"] for step in self.steps]
        urls += [step["response"].get("headers", {}).get("Location", "") for step in self.steps]
        hosts = dict.fromkeys(filter(None, (urlsplit(url).hostname for url in urls)))
        self._servers = {
            host: NewsServer({"*": self._answer(host)}, host=f"127.0.0.{first_address + n}")
            for n, host in enumerate(hosts)
        }
        self._taken: set[int] = set()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Conversation:
        for server in self._servers.values():
            self._stack.enter_context(server)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def local(self, url: str) -> str:
        """Returns the address on loopback that stands for a recorded one."""
        parts = urlsplit(url)
        server = self._servers.get(parts.hostname or "")
        if server is None:
            return url
        return urlunsplit(("http", f"{server.host}:{server.port}", parts.path, parts.query, parts.fragment))

    def _answer(self, host: str) -> Any:
        def answer(request: Request) -> Answer:
            number = self._next_step(host, request.path)
            if number is None:
                return Answer(404)
            self.asked.append((self.steps[number]["request"]["url"], request.headers))
            return self._recorded(self.steps[number]["response"])

        return answer

    def _next_step(self, host: str, path: str) -> int | None:
        """Returns the next step of an address that was not played, else its last one."""
        of_address = [n for n, step in enumerate(self.steps) if _is_at(step["request"]["url"], host, path)]
        number = next((n for n in of_address if n not in self._taken), of_address[-1] if of_address else None)
        if number is not None:
            self._taken.add(number)
        return number

    def _recorded(self, response: Mapping[str, Any]) -> Answer:
        headers = dict(response.get("headers", {}))
        if "Location" in headers:
            headers["Location"] = self.local(headers["Location"])
        headers.setdefault("Content-Type", "application/rss+xml")
        body = response.get("body", "")
        if "body_base64" in response:
            body = base64.b64decode(response["body_base64"])
        return Answer(response["status"], body, headers)


def _is_at(url: str, host: str, path: str) -> bool:
    parts = urlsplit(url)
    return parts.hostname == host and (parts.path or "/") + (f"?{parts.query}" if parts.query else "") == path


def polls_of(steps: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Cuts the steps into polls: a redirect and what it leads to are one."""
    poll: list[Mapping[str, Any]] = []
    for step in steps:
        poll.append(step)
        if "Location" not in step["response"].get("headers", {}):
            yield poll
            poll = []
    if poll:
        yield poll


def play(conversation: Conversation, start: datetime) -> tuple[Reader, list[str]]:
    """Polls as often as the conversation has answers.

    A note "N days of 304 later" is played: a poll a day that is answered "not modified".

    Returns:
        The reader, and what was asked otherwise than recorded.
    """
    first = conversation.steps[0]["request"]
    reader = Reader(FeedSource(conversation.local(first["url"]), "case"))
    wrong: list[str] = []
    moment = start
    for poll in polls_of(conversation.steps):
        days = re.match(r"(\d+) days of 304 later", poll[0].get("note", ""))
        if days:
            moment = _days_of_304(conversation, reader, moment, int(days[1]))
        before = len(conversation.asked)
        reader.poll(moment)
        asked = conversation.asked[before:]
        if [url for url, _ in asked] != [step["request"]["url"] for step in poll]:
            wrong.append(f"asked for {[url for url, _ in asked]}")
        for (_, headers), step in zip(asked, poll, strict=False):
            wrong += _differences(headers, step["request"].get("headers"))
        moment += timedelta(hours=1)
    return reader, wrong


def _days_of_304(conversation: Conversation, reader: Reader, moment: datetime, days: int) -> datetime:
    number = len(conversation.asked)
    step = {"request": conversation.steps[0]["request"], "response": {"status": 304}}
    played, conversation.steps[:] = list(conversation.steps), [step]
    for day in range(1, days):
        reader.poll(moment + timedelta(days=day))
    conversation.steps[:] = played
    del conversation.asked[number:]
    return moment + timedelta(days=days)


def _differences(sent: Mapping[str, str], recorded: Mapping[str, str] | None) -> list[str]:
    """Compares the validators of a request; if none are recorded at all, any will do."""
    if recorded is None:
        return []
    expected = {name.lower(): value for name, value in recorded.items()}
    return [
        f"{spelled}: {sent.get(name)} instead of {expected.get(name)}"
        for name, spelled in _VALIDATORS.items()
        if sent.get(name) != expected.get(name)
    ]
