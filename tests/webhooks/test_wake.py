from __future__ import annotations

import socket
import time

import pytest

from tests.scenarios.product import wait_until
from webhooks import wake


def test_a_dead_valkey_costs_a_quarter_of_a_second_once():
    with socket.socket() as silent:  # accepts connections, never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        waker = wake.Waker(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        began = time.monotonic()

        for _ in range(50):
            waker.wake()

        assert 0.2 < time.monotonic() - began < 3  # 50 waits: 12 s


def test_a_refused_connection_costs_nothing():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        waker = wake.Waker(f"redis://127.0.0.1:{unused.getsockname()[1]}/0")
    began = time.monotonic()

    for _ in range(50):
        waker.wake()

    assert time.monotonic() - began < 2


def test_is_not_tried_within_a_second_of_a_failure_and_then_again():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        waker = wake.Waker(f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        waker.wake()  # nobody listens yet
        server.listen()
        server.setblocking(False)

        waker.wake()
        with pytest.raises(BlockingIOError):
            server.accept()

        wait_until(lambda: waker._pause.is_over, seconds=5)
        waker.wake()
        server.accept()[0].close()
