"""Servers of the worst kind, for tests of what happens when a helper of ours is away."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator


def free_port() -> int:
    """A port of loopback that nobody listened on a moment ago."""
    with socket.socket() as finder:
        finder.bind(("127.0.0.1", 0))
        port: int = finder.getsockname()[1]
        return port


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """The port of a server that accepts connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port: int = listener.getsockname()[1]
        yield port
