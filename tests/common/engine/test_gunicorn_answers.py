"""How answers are sent. A SEQPACKET socket keeps apart what was sent apart."""

from __future__ import annotations

import socket

import pytest
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser

from common.engine.gunicorn.answers import Answer


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        theirs.setblocking(False)
        yield ours, theirs


def sent(ends, *pieces, method="GET", headers=()):
    ours, theirs = ends
    request = next(RequestParser(Config(), [f"{method} / HTTP/1.1\r\n\r\n".encode()], None))
    answer = Answer(request, ours, Config())
    answer.start_response("200 OK", list(headers))
    for piece in pieces:
        answer.write(piece)
    answer.close()
    packets = []
    try:
        while True:
            packets.append(theirs.recv(10_000))
    except BlockingIOError:
        return packets


def test_a_body_follows_its_head(ends):
    head, body = sent(ends, b"hello", headers=[("Content-Length", "5"), ("X-Name", "caf\xe9")])

    assert head.startswith(b"HTTP/1.1 200 OK\r\nServer: gunicorn\r\n")
    assert head.endswith(b"\r\nContent-Length: 5\r\nX-Name: caf\xe9\r\n\r\n")
    assert body == b"hello"


def test_a_body_in_pieces_follows_its_head(ends):
    head, *pieces = sent(ends, b"hel", b"lo", headers=[("Content-Length", "5")])

    assert head.endswith(b"\r\n\r\n")
    assert pieces == [b"hel", b"lo"]


def test_a_body_of_unknown_length_is_chunked(ends):
    _, *pieces = sent(ends, b"hello")

    assert pieces == [b"5\r\nhello\r\n", b"0\r\n\r\n"]


def test_a_body_longer_than_declared_is_cut(ends):
    _, *pieces = sent(ends, b"hello", headers=[("Content-Length", "2")])

    assert pieces == [b"he"]


def test_a_head_alone_has_no_body(ends):
    packets = sent(ends, b"hello", method="HEAD", headers=[("Content-Length", "5")])

    assert b"".join(packets).endswith(b"Content-Length: 5\r\n\r\n")


def test_a_client_that_does_not_read_has_left(ends):
    ours, _ = ends
    ours.setblocking(False)

    with pytest.raises(BrokenPipeError):
        sent(ends, *[b"x" * 65_536] * 100)
