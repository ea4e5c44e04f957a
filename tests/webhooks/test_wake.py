from __future__ import annotations

import socket
import time

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


def test_it_is_tried_again_after_a_second(monkeypatch):
    waker = wake.Waker("redis://127.0.0.1:1/0")
    waker.wake()
    first = waker._skip_until
    assert first > 0

    waker._skip_until = time.monotonic() - 0.001
    waker.wake()

    assert waker._skip_until >= first
