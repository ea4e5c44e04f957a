from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest
import uvloop

from common.engine.http import addresses
from common.engine.http.client import Client, Failure
from common.engine.http.urls import Policy
from tests.receivers import ALLOWED, Receiver, answer

LOOPBACK = Policy(allowed_networks=addresses.parse_networks(ALLOWED))
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request):
    def run(main):
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(main)

    return run


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def posts(run):
    """Sends one request after the other with one client; `pause` lies between them."""

    def posts(*urls, pause=0.0, **options):
        async def send():
            answers = []
            async with Client(LOOPBACK, **options) as client:
                for url in urls:
                    answers.append(await client.post(url, body=b"{}", headers={}, allow_http=True))
                    await asyncio.sleep(pause)
            return answers

        return run(send())

    return posts


class TestFraming:
    @pytest.mark.parametrize(
        ("written", "status", "body"),
        [
            (CHUNKED, 200, b"abcde"),
            (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
            (b"HTTP/1.1 100 Continue\r\n\r\n" + answer(200, body=b"ok"), 200, b"ok"),
            (b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + answer(503, body=b"no"), 503, b"no"),
            (
                b"HTTP/1.1 101 Switching\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\nxyz",
                101,
                b"",
            ),
        ],
    )
    def test_is_understood(self, receiver, posts, written, status, body):
        receiver.answers["/x"] = [written]

        (got,) = posts(receiver.url("/x"), total_seconds=10)

        assert (got.status, got.body, got.failure) == (status, body, None)

    def test_a_body_may_end_with_the_connection(self, receiver, posts):
        (got,) = posts(receiver.url("/until-close"))

        assert (got.status, got.body) == (200, b"the whole of it")

    @pytest.mark.parametrize(
        "head",
        [
            b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            b"Content-Length: 2\r\nContent-Length: 3\r\n",
            b"Content-Length: -2\r\n",
            b"Content-Length: 2x\r\n",
            b"Content-Length : 2\r\n",
            b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"A\r\nContent-Length: 2\r\n",
        ],
    )
    def test_must_be_unmistakable(self, receiver, posts, head):
        receiver.answers["/x"] = [b"HTTP/1.1 200 OK\r\n" + head + b"\r\nok"]

        (got,) = posts(receiver.url("/x"), total_seconds=10)

        assert (got.status, got.failure) == (None, Failure.INVALID_RESPONSE)

    def test_headers_come_as_they_were_sent(self, receiver, posts):
        receiver.answers["/x"] = [
            answer(200, headers="X-Empty:\r\nx-Two: 1\r\nX-Two: \xe9\r\nSet-Cookie: a=b\r\n")
        ]

        (got,) = posts(receiver.url("/x"))

        assert got.headers == (
            ("X-Empty", ""),
            ("x-Two", "1"),
            ("X-Two", "\udce9"),
            ("Content-Length", "0"),
        )

    def test_hints_without_end_are_no_answer(self, receiver, posts):
        receiver.answers["/x"] = [b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" * 2000]

        (got,) = posts(receiver.url("/x"), total_seconds=10)

        assert got.failure == Failure.INVALID_RESPONSE

    @pytest.mark.parametrize("behaviour", ["endless-trailers", "endless-framing"])
    def test_is_no_answer_when_it_never_ends(self, receiver, posts, behaviour):
        (got,) = posts(receiver.url(f"/{behaviour}"), total_seconds=5)

        assert got.failure == Failure.INVALID_RESPONSE

    def test_trailers_are_left_out(self, receiver, posts):
        receiver.answers["/x"] = [CHUNKED[:-2] + b"Retry-After: 9\r\n\r\n"]

        (got,) = posts(receiver.url("/x"))

        assert got.headers == (("Transfer-Encoding", "chunked"),)
        assert (got.body, got.retry_after) == (b"abcde", None)


class TestKeptConnection:
    def test_is_used_again(self, receiver, posts):
        got = posts(*[receiver.url()] * 3)

        assert [item.status for item in got] == [200, 200, 200]
        assert receiver.connections == 1

    @pytest.mark.parametrize(
        "written",
        [
            answer(200, headers="Connection: close\r\n"),
            b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            answer(200) + answer(299),
            answer(200) + b"garbage",
        ],
    )
    def test_is_not_one_that_ends_or_says_more_than_it_should(self, receiver, posts, written):
        receiver.answers["/x"] = [written]

        got = posts(receiver.url("/x"), receiver.url("/200"), pause=0.02)

        assert [item.status for item in got] == [200, 200]
        assert receiver.connections == 2

    @pytest.mark.parametrize("behaviour", ["planting", "last"])
    def test_is_not_one_on_which_something_happened_meanwhile(self, receiver, posts, behaviour):
        got = posts(receiver.url(f"/{behaviour}"), receiver.url("/200"), pause=0.15)

        assert [item.status for item in got] == [200, 200]
        assert receiver.connections == 2

    def test_belongs_to_one_origin(self, receiver, posts):
        with Receiver() as other:
            posts(receiver.url(), other.url(), receiver.url())

            assert (receiver.connections, other.connections) == (1, 1)

    def test_is_for_one_request_at_a_time(self, receiver, run):
        async def send():
            async with Client(LOOPBACK) as client:
                return await asyncio.gather(
                    *(
                        client.post(receiver.url(path), body=b"", headers={}, allow_http=True)
                        for path in ("/slow/0.1", "/204", "/404")
                    )
                )

        assert [item.status for item in run(send())] == [200, 204, 404]
        assert receiver.connections == 3

    def test_that_ended_leaves_nothing_behind(self, receiver, run):
        async def send():
            async with Client(LOOPBACK) as client:
                for path in ("/200", "/until-close"):
                    await client.post(receiver.url(path), body=b"", headers={}, allow_http=True)
                return dict(client._connections._idle)

        assert run(send()) == {}

    def test_is_closed_when_the_request_is_called_off(self, receiver, run):
        async def send():
            async with Client(LOOPBACK) as client:
                request = asyncio.create_task(
                    client.post(receiver.url("/silent"), body=b"", headers={}, allow_http=True)
                )
                await asyncio.sleep(0.05)
                request.cancel()
                await asyncio.wait([request])
                return client._connections._idle

        assert run(send()) == {}


class TestNames:
    @pytest.fixture
    def answering(self):
        """What the name service waits for, 0.2 s unless it is cleared."""
        event = threading.Event()
        event.set()
        return event

    @pytest.fixture
    def lookups(self, monkeypatch, answering):
        """A stub of the name service, which takes its time: the names that were looked up."""
        asked: list[str] = []

        def getaddrinfo(host, port, *_args, **_kwargs):
            asked.append(host)
            time.sleep(0.2)
            answering.wait(30)
            if host == "nobody":
                raise socket.gaierror
            return [
                (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port))
            ]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return asked

    def test_are_looked_up_once_for_all_who_ask(self, receiver, run, lookups):
        url = f"http://receiver:{receiver.port}/200"

        async def send():
            async with Client(LOOPBACK) as client:
                return await asyncio.gather(
                    *(client.post(url, body=b"", headers={}, allow_http=True) for _ in range(5))
                )

        assert [item.status for item in run(send())] == [200] * 5
        assert lookups == ["receiver"]

    def test_that_have_no_address_are_asked_for_again(self, posts, lookups):
        got = posts("http://nobody:8000/", "http://nobody:8000/", pause=0.01)

        assert [item.failure for item in got] == [Failure.NAME_NOT_RESOLVED] * 2
        assert lookups == ["nobody", "nobody"]

    def test_hold_up_nobody_else(self, receiver, run, lookups, answering):
        answering.clear()

        async def send():
            async with Client(LOOPBACK) as client:
                slow = asyncio.create_task(
                    client.post(
                        f"http://receiver:{receiver.port}/200",
                        body=b"",
                        headers={},
                        allow_http=True,
                    )
                )
                await asyncio.sleep(0)
                await client.post(receiver.url(), body=b"", headers={}, allow_http=True)
                assert not slow.done()
                answering.set()
                await slow

        run(send())

    def test_that_take_too_long_are_a_timeout(self, receiver, posts, lookups):
        (got,) = posts(f"http://receiver:{receiver.port}/200", connect_seconds=0.05)

        assert got.failure == Failure.TIMEOUT
