"""When a request is there in whole. gunicorn's parser is the judge of it."""

from __future__ import annotations

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData, ParseException

from common.engine.gunicorn.received import HEAD_BYTES_MAX, EarlyParser, Received

POST = b"POST / HTTP/1.1\r\nHost: h\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = {
    "get": b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "no header": b"GET / HTTP/1.1\r\n\r\n",
    "empty line before it": b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "length": POST + b"Content-Length: 5\r\n\r\nhello",
    "chunks": CHUNKED + b"2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n",
    "trailers": CHUNKED + b"5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "line ends in a chunk": CHUNKED + b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
}
BODIES = {
    **dict.fromkeys((WHOLE["length"], WHOLE["chunks"], WHOLE["trailers"]), b"hello"),
    WHOLE["line ends in a chunk"]: b"\r\n0\r\n\r\n",
}
MALFORMED = {
    "bare LF in the first line": b"GET / HTTP/1.1\n",
    "bare LF in a header": b"GET / HTTP/1.1\r\nHost: h\n",
    "no size": CHUNKED + b"zz\r\n",
    "negative size": CHUNKED + b"-1\r\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.fixture
def received():
    return Received()


@pytest.fixture
def parser(received):
    return EarlyParser(Config(), received, None, body_bytes_max=1000)


@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE)
def test_it_is_there_with_its_last_byte_and_not_before(received, parser, raw):
    for at in range(len(raw)):
        assert not parser.has_request(), raw[:at]
        received.take(raw[at : at + 1])

    assert parser.has_request()
    assert next(parser).body.read() == BODIES.get(raw, b"")
    assert received.ahead == b""


@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE)
def test_what_follows_it_is_left_for_the_next(received, parser, raw):
    received.take(raw + WHOLE["get"] + b"GET /half")
    for _ in range(2):
        assert parser.has_request()
        next(parser).body.read()
        received.put_back()

    assert not parser.has_request()
    assert received.ahead == b"GET /half"


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED)
def test_what_is_malformed_is_not_waited_for(received, parser, raw):
    received.take(raw)

    assert parser.has_request()
    with pytest.raises(ParseException):
        next(parser).body.read()


def test_a_long_head_is_refused_at_its_limit(received, parser):
    received.take(b"GET / HTTP/1.1\r\nX: " + b"a" * HEAD_BYTES_MAX)

    assert parser.has_request()
    with pytest.raises(LimitRequestHeaders):
        next(parser)


@pytest.mark.parametrize("head", [POST + b"Content-Length: 9999\r\n\r\n", CHUNKED + b"fffff\r\n"])
def test_no_more_of_a_body_is_received_than_anybody_reads(received, parser, head):
    received.take(head + b"x" * 1000)

    assert parser.has_request()
    with pytest.raises(NoMoreData):
        next(parser).body.read()


def test_who_reads_beyond_what_is_there_meets_the_end(received, parser):
    """As the poller hands it over when the client has left or takes too long."""
    received.take(POST + b"Content-Length: 5\r\n\r\nhel")

    assert parser.has_head()
    assert not parser.has_request()
    with pytest.raises(NoMoreData):
        next(parser).body.read()


def test_the_word_to_continue_is_wanted_once_and_with_a_head_only(received, parser):
    received.take(POST + b"Expect: 100-continue\r\nContent-Length: 5\r\n")
    assert not parser.has_request()
    assert not parser.wants_continue()

    received.take(b"\r\n")
    assert not parser.has_request()

    assert [parser.wants_continue(), parser.wants_continue()] == [True, False]


def test_after_the_last_answer_nothing_is_a_request(received, parser):
    received.take(WHOLE["get"])
    received.forget()

    assert not parser.has_head()
