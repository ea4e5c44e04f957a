from __future__ import annotations

import socket

import pytest


@pytest.fixture
def port() -> int:
    """A port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number
