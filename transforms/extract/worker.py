"""The child process that extracts pages: ``python -m transforms.extract.worker``, started by ``pool.py`` only.

It reads documents from a socket and answers with extractions. It ends itself when the parent is gone, when
the kernel's alarm rings (a page that hangs in C code after the parent's death), and after a page that
needed too much memory. It imports neither Beam nor the parent's main module.
"""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from transforms import language

READY = b"ready"
OUT_OF_MEMORY = b"memory"
FAILED = b"failed"
DONE = b"done"
_LENGTH = struct.Struct("!Q")
_IDLE_CHECK_S = 5.0


def send_frame(channel: socket.socket, payload: bytes) -> None:
    """Sends a length and that many bytes; the socket's time-out bounds the whole.

    Raises:
        OSError: If the other side is gone or does not read.
    """
    channel.sendall(_LENGTH.pack(len(payload)))
    channel.sendall(payload)


def receive_frame(channel: socket.socket, wait: Callable[[], None] | None = None) -> bytes:
    """Receives one frame.

    Args:
        channel: A stream socket.
        wait: Called before each read; may raise to give up.

    Raises:
        EOFError: If the other side closed the connection.
        OSError: If the connection broke or timed out.
    """
    (size,) = _LENGTH.unpack(_receive_exactly(channel, _LENGTH.size, wait))
    return bytes(_receive_exactly(channel, size, wait))


def _receive_exactly(channel: socket.socket, size: int, wait: Callable[[], None] | None) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    filled = 0
    while filled < size:
        if wait is not None:
            wait()
        count = channel.recv_into(view[filled:])
        if count == 0:
            raise EOFError
        filled += count
    return data


def load_function(path: str) -> Callable[[Any], Any]:
    """Returns the function named ``module:function``.

    Raises:
        ImportError: If there is no such module.
        AttributeError: If there is no such function in it.
    """
    module, _, name = path.partition(":")
    function: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    return function


def quiet_libraries() -> None:
    """Silences the extraction libraries' logs: what they would say of a page stands in its reject or article."""
    for name in ("trafilatura", "htmldate", "courlan", "charset_normalizer", "dateparser"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def warm_up() -> None:
    """Loads what is loaded on first use (the HTML libraries, the language model), so that no page pays for it."""
    importlib.import_module("transforms.extract.pages")
    language.detect("The ferry across the bay was late again this morning because of fog.")


def _limit_memory(memory_bytes: int) -> None:
    import resource  # POSIX only, as the whole module

    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    except (ValueError, OSError):
        return  # a lower limit is in force already, or the system knows none (macOS)


def _serve(channel: socket.socket, function: Callable[[Any], Any], alarm_s: float, parent_id: int) -> None:
    def wait_for_parent() -> None:
        while not select.select([channel], [], [], _IDLE_CHECK_S)[0]:
            if os.getppid() != parent_id:
                raise EOFError

    while True:
        head = receive_frame(channel, wait_for_parent)
        body = receive_frame(channel)
        signal.setitimer(signal.ITIMER_REAL, alarm_s)
        try:
            result = function(pickle.loads(head)._replace(body=body))  # noqa: S301 - from the parent that started us
            answer = DONE + pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        except MemoryError:
            send_frame(channel, OUT_OF_MEMORY)
            return
        except Exception as error:
            answer = FAILED + f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:500]
        signal.setitimer(signal.ITIMER_REAL, 0)
        send_frame(channel, answer)
        del head, body, answer


def main(arguments: list[str]) -> None:
    """Serves until the parent closes the connection.

    Args:
        arguments: Socket's file descriptor, parent's process id, alarm in seconds, memory limit in bytes,
            ``module:function`` that is called with each document.
    """
    descriptor, parent_id, alarm_s, memory_bytes, path = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    channel = socket.socket(fileno=int(descriptor))
    channel.setblocking(True)
    quiet_libraries()
    _limit_memory(int(memory_bytes))
    function = load_function(path)
    warm_up()
    try:
        send_frame(channel, READY)
        _serve(channel, function, float(alarm_s), int(parent_id))
    except (EOFError, OSError):
        pass  # the parent is gone or wants us gone
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
