"""What clients say on the wire that no framework would: every answer is still a problem."""

from __future__ import annotations

import contextlib
import re
import select
import time

import pytest

from api.models import IdempotencyRecord
from tenants.models import AuditEvent
from tests.api.machinery import NOTES
from tests.builders import make_key
from tests.config import wire, wire_urls

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


def say_bit_by_bit(client, bit, *, is_enough=lambda: False):
    """A byte now and then for half a minute, or until the server closes (OSError)."""
    for _ in range(150):
        client.sendall(bit)
        time.sleep(0.2)
        if is_enough():
            return


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

    @pytest.mark.parametrize(
        "body",
        [b'5\r\n{"amo', b"e\r\n" + GOOD + b"\r\n", b"e\r\n" + GOOD + b"\r\n0\r\n"],
        ids=["in a chunk", "after whole JSON", "before the last line"],
    )
    def test_body_that_breaks_off_is_400(self, server, key, body):
        head = f"{POST}\nTransfer-Encoding: chunked\nHost: testserver\nAuthorization: Bearer {key}"
        raw = head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body

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


class TestHeadersThatOthersWouldJoin:
    """After WSGI nobody could tell them from one header."""

    @pytest.mark.parametrize("second", ["other", "once"])
    def test_two_idempotency_keys_are_400_and_nothing_runs(self, server, key, second):
        keys = f"Idempotency-Key: once\nidempotency-key: {second}"

        answer = server.request(f"{POST}\n{keys}\nContent-Length: 14", body=GOOD, key=key)

        assert_problem(answer, 400, "invalid_idempotency_key")
        assert "more than one" in answer.json["detail"]
        assert not AuditEvent.objects.filter(action="note").exists()

    def test_a_key_with_a_comma_is_one_key(self, server, key):
        head = f"{POST}\nIdempotency-Key: once, other\nContent-Length: 14"

        answers = [server.request(head, body=GOOD, key=key) for _ in range(2)]

        assert [answer.status for answer in answers] == [201, 201]
        assert answers[1].headers["idempotent-replayed"] == "true"
        assert IdempotencyRecord.objects.get().key == "once, other"

    @pytest.mark.parametrize("hosts", [0, 2])
    def test_not_one_host_is_400(self, server, key, hosts):
        lines = [f"GET {NOTES} HTTP/1.1", f"Authorization: Bearer {key}"]
        raw = "\r\n".join([*lines, *["Host: testserver"] * hosts, "", ""]).encode()

        answer = server.send(raw)

        assert_problem(answer, 400, "malformed_request")
        assert answer.headers["connection"] == "close"


class TestDawdling:
    """Each of these is more clients than the server has threads."""

    CLIENTS = 6
    CROWDS = 5  # a busy machine may be slow beside one, not beside all of them

    @pytest.fixture
    def crowd(self, server):
        """Clients that said so much, and stay."""
        with contextlib.ExitStack() as stack:
            yield lambda raw, **options: [
                stack.enter_context(server.open(raw, **options)) for _ in range(self.CLIENTS)
            ]

    def seconds_of_a_request(self, server, key):
        started = time.monotonic()
        assert server.request(f"GET {NOTES} HTTP/1.1", key=key).status == 200
        return time.monotonic() - started

    def is_served_at_once(self, server, key, gather):
        """Beside each new crowd, were it waited for, a request would take a second or longer."""
        for _ in range(self.CROWDS):
            gather()
            if self.seconds_of_a_request(server, key) < 0.9:
                return True
        return False

    def test_a_client_that_says_nothing_holds_no_thread(self, server, key, crowd):
        assert self.is_served_at_once(server, key, lambda: crowd(b""))

    def test_a_client_that_stays_after_the_last_answer_holds_no_thread(self, server, key, crowd):
        def gather():
            for client in crowd(b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"):
                assert client.recv(1000)

        assert self.is_served_at_once(server, key, gather)

    def test_it_is_let_go_after_a_while(self, server, crowd):
        client = crowd(b"GET / HTTP/1.1\r\nHost: testserver\r\nConnection: close\r\n\r\n")[0]

        assert wire.read_to_the_end(client).startswith(b"HTTP/1.1 ")
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            say_bit_by_bit(client, b"x")

    @pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nHost: h\r\n"])
    def test_a_head_that_drips_is_not_waited_for(self, server, crowd, head):
        client = crowd(head)[0]

        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            say_bit_by_bit(client, b"x")

    def test_a_body_that_drips_is_not_waited_for(self, server, key):
        head = f"{POST}\nContent-Length: 99\nHost: testserver\nAuthorization: Bearer {key}"
        with server.open(head.replace("\n", "\r\n").encode() + b"\r\n\r\n{") as client:
            say_bit_by_bit(client, b" ", is_enough=lambda: select.select([client], [], [], 0)[0])

            assert client.recv(12) == b"HTTP/1.1 400"

    @pytest.mark.parametrize("path", ["/test/stream", "/test/file"])
    def test_a_client_that_does_not_read_is_not_waited_for(self, server, key, crowd, path):
        said_before = len(server.log.read_text())
        crowd(f"GET {path} HTTP/1.1\r\nHost: testserver\r\n\r\n".encode(), receive_buffer=4096)

        assert self.seconds_of_a_request(server, key) < 25
        log = server.log.read_text()[said_before:]
        assert "client_does_not_read" in log
        assert "Traceback" not in log

    @pytest.mark.parametrize("path", ["/test/stream", "/test/file"])
    def test_a_client_that_reads_gets_all(self, server, path):
        request = f"GET {path} HTTP/1.1\r\nHost: testserver\r\nConnection: close\r\n\r\n"
        with server.open(request.encode()) as client:
            _, _, body = wire.read_to_the_end(client).partition(b"\r\n\r\n")

        assert len(body) >= len(wire_urls.BLOCK) * wire_urls.BLOCKS


class TestPipelining:
    def test_two_requests_at_once_get_two_answers_of_their_own(self, server, key):
        one = f"GET {NOTES} HTTP/1.1\r\nHost: testserver\r\nAuthorization: Bearer {key}\r\n\r\n"

        two = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")

        with server.open((one + two).encode()) as client:
            answers = wire.read_to_the_end(client)

        ids = re.findall(rb"(?i)\r\nx-request-id: (\S+)", answers)
        assert answers.count(b"HTTP/1.1 200 OK\r\n") == 2
        assert len(set(ids)) == 2


class TestGarbage:
    def test_is_not_looked_for_in_what_was_loaded(self, server):
        answer = server.request("GET /test/garbage HTTP/1.1\nConnection: close")

        assert answer.json["frozen"] > 100_000
