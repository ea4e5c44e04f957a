"""Clients that take their time to send hold no thread, little memory, and do not stop a stop."""

from __future__ import annotations

import contextlib
import resource
import time

import pytest
from django.conf import settings

from config.web_worker import ApiWorker
from tests.api.machinery import NOTES
from tests.builders import make_key
from tests.config import wire
from tests.scenarios.product import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

CLIENTS = 500
HEAD = b"POST /api/v1/x HTTP/1.1\r\nHost: testserver\r\n"
BEGINNINGS = {
    "nothing": b"",
    "half a head": b"GET /healthz HTTP/1.1\r\nHost: testserver\r\nX-Half: ",
    "half a body": HEAD + b"Content-Length: 60000\r\n\r\n" + b" " * 30_000,
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n" + b" " * 30_000,
}


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    """Patient: none of the clients here is let go before its test ends."""
    folder = tmp_path_factory.mktemp("dawdlers")
    with (
        django_db_blocker.unblock(),
        wire.serving(folder, WEB_READ_TIMEOUT_SECONDS="60") as running,
    ):
        yield running


@pytest.fixture(autouse=True)
def room_for_many_connections():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def crowd(server):
    """So many clients that said this, and stay."""
    with contextlib.ExitStack() as stack:
        yield lambda raw, count=CLIENTS: [
            stack.enter_context(server.open(raw)) for _ in range(count)
        ]


def seconds_to_health(server):
    """The quickest of three: a busy machine may be slow once."""
    taken = []
    for _ in range(3):
        started = time.monotonic()
        assert server.request("GET /healthz HTTP/1.1\nConnection: close").status == 200
        taken.append(time.monotonic() - started)
    return min(taken)


@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
def test_health_answers_within_a_second_beside_500(server, crowd, beginning):
    crowd(beginning)

    assert seconds_to_health(server) < 1


def test_500_take_little_memory(server, crowd):
    before = server.resident_mib()

    crowd(BEGINNINGS["half a body"])
    seconds_to_health(server)

    assert server.resident_mib() - before < 64


def test_clients_with_long_bodies_are_refused_before_memory_is_short(server, crowd):
    """Each alone may send as much as pages take."""
    long = HEAD + b"Content-Length: 2600000\r\n\r\n" + b" " * 2_500_000
    before = server.resident_mib()

    clients = crowd(long, 40)

    assert seconds_to_health(server) < 1
    wait_until(lambda: any(map(wire.has_said_something, clients)), seconds=30)
    assert server.resident_mib() - before < 160
    answer = wire.read_answer(next(filter(wire.has_said_something, clients)))
    assert (answer.status, answer.json["code"]) == (503, "temporarily_unavailable")


def test_a_page_s_whole_body_is_received():
    assert ApiWorker.body_bytes_max == settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1


def test_a_body_comes_after_the_word_to_continue(server, acme):
    body = b'{"amount":100}'
    lines = [
        f"POST {NOTES} HTTP/1.1", "Host: testserver", f"Authorization: Bearer {make_key(acme)}",
        "Content-Type: application/json", "Expect: 100-continue", "Content-Length: 14",
    ]  # fmt: skip
    with server.open("\r\n".join([*lines, "", ""]).encode()) as client:
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)

        assert wire.read_answer(client).status == 201


def test_requests_in_a_row_that_arrive_in_pieces_each_get_their_answer(server, acme):
    """Split anywhere, also within the line ends between head and body."""
    key = make_key(acme)
    lines = [
        f"POST {NOTES} HTTP/1.1", "Host: testserver", f"Authorization: Bearer {key}",
        "Content-Type: application/json",
    ]  # fmt: skip
    length = "\r\n".join([*lines, "Content-Length: 14", "", '{"amount":100}'])
    chunked = "\r\n".join(
        [*lines, "Transfer-Encoding: chunked", "", "e;x=1", '{"amount":100}', "0", "X: y", "", ""]
    )
    whole = (length + chunked + length + chunked).encode()
    with server.open(b"") as client:
        for at in range(0, len(whole), 7):
            client.sendall(whole[at : at + 7])

        assert [wire.read_answer(client).status for _ in range(4)] == [201] * 4


def test_what_follows_a_refused_body_is_no_request(server, acme):
    """It is what the client said of the body, not a request of its own."""
    inside = b"GET /healthz HTTP/1.1\r\nHost: testserver\r\n\r\n"
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"

    with server.open(head + inside * 3) as client:
        answers = wire.read_to_the_end(client)

    assert answers.count(b"HTTP/1.1 ") == 1
    assert answers.startswith(b"HTTP/1.1 400")


def test_a_stop_does_not_wait_for_them(django_db_blocker, tmp_path):
    """Neither they nor gunicorn would end it within the time that `end` allows."""
    longer = str(2 * wire.STOP_SECONDS)
    with (
        wire.serving(
            tmp_path,
            WEB_READ_TIMEOUT_SECONDS=longer,
            GUNICORN_CMD_ARGS=f"--graceful-timeout={longer}",
        ) as server,
        contextlib.ExitStack() as stack,
    ):
        for beginning in BEGINNINGS.values():
            for _ in range(20):
                stack.enter_context(server.open(beginning))

        assert server.end()
