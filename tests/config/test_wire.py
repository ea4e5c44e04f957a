"""What clients say on the wire that no framework would: every answer is still a problem."""

from __future__ import annotations

import time

import pytest

from tests.api.machinery import NOTES
from tests.builders import make_key
from tests.config import wire

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

GOOD = b'{"amount":100}'
POST = f"POST {NOTES} HTTP/1.1\nContent-Type: application/json"


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    with django_db_blocker.unblock(), wire.serving(tmp_path_factory.mktemp("wire")) as running:
        yield running


@pytest.fixture
def key(acme):
    return make_key(acme)


def assert_problem(answer, status, code):
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json["status"], answer.json["code"]) == (status, code)
    assert answer.json["requestId"] == answer.headers["x-request-id"]


class TestChunked:
    @pytest.mark.parametrize("size", [1, 5, 14])
    def test_body_is_read(self, server, key, size):
        parts = [GOOD[at : at + size] for at in range(0, len(GOOD), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"

        answer = server.request(f"{POST}\nTransfer-Encoding: chunked", body=body, key=key)

        assert answer.status == 201
        assert answer.json["data"]["amount"] == 100

    def test_body_of_more_than_64_kib_is_413(self, server, key):
        body = b"20000\r\n" + b" " * 0x20000 + b"\r\n0\r\n\r\n"

        answer = server.request(f"{POST}\nTransfer-Encoding: chunked", body=body, key=key)

        assert_problem(answer, 413, "payload_too_large")

    @pytest.mark.parametrize("body", [b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n"])
    def test_body_that_is_malformed_is_400(self, server, key, body):
        answer = server.request(f"{POST}\nTransfer-Encoding: chunked", body=body, key=key)

        assert_problem(answer, 400, "malformed_request")

    def test_body_that_breaks_off_is_400(self, server, key):
        head = f"{POST}\nTransfer-Encoding: chunked\nHost: testserver\nAuthorization: Bearer {key}"
        raw = head.replace("\n", "\r\n").encode() + b'\r\n\r\n5\r\n{"amo'

        assert_problem(server.send(raw, finish=True), 400, "malformed_request")


class TestLength:
    def test_shorter_body_than_declared_is_400(self, server, key):
        head = f"{POST}\nContent-Length: 99\nHost: testserver\nAuthorization: Bearer {key}"
        raw = head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + GOOD

        assert_problem(server.send(raw, finish=True), 400, "malformed_request")

    def test_longer_body_than_declared_is_cut_there(self, server, key):
        answer = server.request(f"{POST}\nContent-Length: 14", body=GOOD + b"}}}", key=key)

        assert answer.status == 201

    def test_3_mib_are_refused_and_the_client_hears_it(self, server, key):
        size = 3 * 1024 * 1024

        answer = server.request(f"{POST}\nContent-Length: {size}", body=b" " * size, key=key)

        assert_problem(answer, 413, "payload_too_large")

    def test_a_client_that_stalls_is_let_go(self, server, key):
        head = f"{POST}\nContent-Length: 99\nHost: testserver\nAuthorization: Bearer {key}"
        started = time.monotonic()

        answer = server.send(head.replace("\n", "\r\n").encode() + b"\r\n\r\n{")

        assert_problem(answer, 400, "malformed_request")
        assert time.monotonic() - started < 10

    def test_stalled_clients_do_not_stop_the_others(self, server, key):
        head = f"{POST}\nContent-Length: 99\nHost: testserver\nAuthorization: Bearer {key}"
        stalled = [server.open(head.replace("\n", "\r\n").encode()) for _ in range(8)]

        answer = server.request(f"GET {NOTES} HTTP/1.1", key=key)

        assert answer.status == 200
        for client in stalled:
            client.close()


class TestMalformed:
    @pytest.mark.parametrize(
        "raw",
        [
            b"POST /api/v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 30"
            b"\r\n\r\n{}",
            b"POST /api/v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            b"POST /api/v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"
            b"\r\n\r\n0\r\n\r\n",
            b"POST /api/v1/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHost: h\r\nIdempotency-Key: a\x01b\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHo st: h\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHost: h\r\n folded: x\r\n\r\n",
            b"GET /api/v1/x HTTP/9.9\r\nHost: h\r\n\r\n",
            b"GET\r\n\r\n",
            b"\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n",
            b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: h\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
            b"GET /api/v1/x HTTP/1.1\r\nHost: h\r\n" + b"X: a\r\n" * 200 + b"\r\n",
        ],
        ids=range(14),
    )
    def test_http_is_a_problem_too(self, server, acme, raw):
        assert_problem(server.send(raw), 400, "malformed_request")

    @pytest.mark.parametrize("host", ["evil.example", "a b", "", "[::1", "h\nHost: evil.example"])
    def test_host_is_a_problem_too(self, server, key, host):
        answer = server.request(f"GET {NOTES} HTTP/1.1", key=key, host=host)

        assert_problem(answer, 400, "malformed_request")

    def test_header_with_a_key_is_not_repeated_in_the_log(self, server, key):
        raw = f"GET {NOTES} HTTP/1.1\r\nHost: h\r\nAuthorization Bearer {key}\r\n\r\n"

        answer = server.send(raw.encode())

        assert_problem(answer, 400, "malformed_request")
        assert key not in server.log.read_text()
        assert "malformed_request" in server.log.read_text()

    @pytest.mark.parametrize("header", ["Content_Length: 5", "X_Forwarded_For: 10.0.0.1"])
    def test_a_header_with_an_underscore_does_not_pass_for_another(self, server, key, header):
        answer = server.request(f"{POST}\n{header}\nContent-Length: 14", body=GOOD, key=key)

        assert answer.status == 201


class TestPipelining:
    def test_two_requests_at_once_get_two_answers_of_their_own(self, server, key):
        one = f"GET {NOTES} HTTP/1.1\r\nHost: testserver\r\nAuthorization: Bearer {key}\r\n\r\n"

        assert server.send((one + one).encode()).status == 200
