from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
import time
from ipaddress import ip_address

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from common.engine.http import addresses, trust
from common.engine.http.client import Client, Failure, post_once
from common.engine.http.connections import Connections
from common.engine.http.exchange import ANSWER_BYTES_MAX
from common.engine.http.names import AddressRefused
from common.engine.http.urls import Policy
from tests.receivers import ALLOWED, Receiver, answer

LOOPBACK = Policy(allowed_networks=addresses.parse_networks(ALLOWED))
PUBLIC_ONLY = Policy()


@pytest.fixture(autouse=True, params=[None, uvloop.EventLoopPolicy()], ids=["asyncio", "uvloop"])
def loops(request):
    """Web and task processes run asyncio's own loop, the dispatcher runs uvloop."""
    asyncio.set_event_loop_policy(request.param)
    yield
    asyncio.set_event_loop_policy(None)


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


def post(url, *, policy=LOOPBACK, body=b"{}", headers=None, allow_http=True, **options):
    async def send():
        async with Client(policy, **options) as client:
            return await client.post(url, body=body, headers=headers or {}, allow_http=allow_http)

    return asyncio.run(send())


class TestAnswers:
    @pytest.mark.parametrize(
        ("status", "is_success"),
        [(200, True), (204, True), (299, True), (301, False), (400, False), (410, False),
         (429, False), (500, False), (503, False)],
    )  # fmt: skip
    def test_are_judged_by_status(self, receiver, status, is_success):
        got = post(receiver.url(f"/{status}"))

        assert (got.status, got.is_success, got.failure) == (status, is_success, None)

    def test_carry_the_body_and_retry_after(self, receiver):
        receiver.answers["/x"] = [answer(503, body=b"later", headers="Retry-After: 7\r\n")]

        got = post(receiver.url("/x"))

        assert (got.status, got.body, got.retry_after) == (503, b"later", "7")


class TestRequest:
    def test_sends_exactly_the_bytes_and_headers(self, receiver):
        post(
            receiver.url("/200?a=%2F%20&b"),
            body=b'{"id":"evt_1"}',
            headers={"Content-Type": "application/json", "webhook-id": "evt_1"},
        )

        (request,) = receiver.requests
        assert request.path == "/200?a=%2F%20&b"
        assert request.body == b'{"id":"evt_1"}'
        assert request.headers["content-type"] == "application/json"
        assert request.headers["webhook-id"] == "evt_1"
        assert request.headers["accept-encoding"] == "identity"
        assert request.headers["host"] == f"127.0.0.1:{receiver.port}"

    @pytest.mark.parametrize("value", ["a\r\nX-More: b", "a\nb", "a\rb", "a\0b"])
    def test_has_one_line_for_each_header(self, receiver, value):
        assert post(receiver.url(), headers={"X-One": value}).failure == Failure.INTERNAL_ERROR
        assert receiver.connections == 0

    def test_keeps_no_cookies(self, receiver):
        receiver.answers["/200"] = [answer(200, headers="Set-Cookie: a=b; Path=/\r\n")]

        async def twice():
            async with Client(LOOPBACK) as client:
                for _ in range(2):
                    await client.post(receiver.url(), body=b"", headers={}, allow_http=True)

        asyncio.run(twice())

        assert receiver.connections == 1
        assert [request.headers.get("cookie") for request in receiver.requests] == [None, None]

    def test_ignores_a_proxy_in_the_environment(self, receiver, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

        assert post(receiver.url()).status == 200

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_follows_no_redirect(self, receiver, status):
        elsewhere = f"Location: {receiver.url('/200')}\r\n"
        receiver.answers["/x"] = [answer(status, headers=elsewhere)]

        got = post(receiver.url("/x"))

        assert (got.status, got.is_success) == (status, False)
        assert receiver.paths() == ["/x"]

    def test_works_from_synchronous_code(self, receiver):
        got = post_once(LOOPBACK, receiver.url(), body=b"{}", headers={}, allow_http=True)

        assert got.status == 200


class TestHostileReceiver:
    @pytest.mark.parametrize("behaviour", ["silent", "drip-body", "drip-headers"])
    def test_cannot_hold_a_slot_longer_than_the_total_timeout(self, receiver, behaviour):
        started = time.monotonic()

        got = post(receiver.url(f"/{behaviour}"), total_seconds=0.4)

        assert (got.status, got.failure) == (None, Failure.TIMEOUT)
        assert time.monotonic() - started < 3  # the receiver takes a minute, or for ever
        assert 390 <= got.duration_ms < 3_000  # timers round to milliseconds

    def test_cannot_make_us_read_for_ever(self, receiver):
        got = post(receiver.url("/endless-body"))

        assert (got.status, len(got.body)) == (200, ANSWER_BYTES_MAX)

    def test_cannot_flood_us_with_headers(self, receiver):
        assert post(receiver.url("/endless-headers")).failure == Failure.INVALID_RESPONSE

    @pytest.mark.parametrize(
        ("behaviour", "failure"),
        [
            ("reset", Failure.DISCONNECTED),
            ("truncated", Failure.INVALID_RESPONSE),
            ("garbage", Failure.INVALID_RESPONSE),
        ],
    )
    def test_is_a_failure_when_it_does_not_answer_properly(self, receiver, behaviour, failure):
        got = post(receiver.url(f"/{behaviour}"))

        assert (got.status, got.failure) == (None, failure)

    def test_compression_is_left_alone(self, receiver):
        got = post(receiver.url("/compressed"))

        assert (got.status, got.body) == (200, b"\x1f\x8bnot gzip")

    def test_an_answer_of_exactly_the_limit_is_read_whole(self, receiver):
        receiver.answers["/x"] = [answer(200, body=b"a" * ANSWER_BYTES_MAX)]

        assert len(post(receiver.url("/x")).body) == ANSWER_BYTES_MAX


class TestNoConnection:
    def test_a_closed_port(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]

        assert post(f"http://127.0.0.1:{port}/").failure == Failure.CONNECTION_FAILED

    def test_a_name_without_an_address(self):
        got = post("https://nowhere.invalid-name.ballast.com:8443/")

        assert got.failure == Failure.NAME_NOT_RESOLVED

    def test_a_url_that_breaks_the_rule(self, receiver):
        assert post(receiver.url(), allow_http=False).failure == Failure.URL_NOT_ALLOWED
        assert post("https://127.0.0.1/").failure == Failure.URL_NOT_ALLOWED
        assert receiver.connections == 0


@pytest.fixture
def answers_of_dns(monkeypatch):
    """A stub of the name service: the addresses that the next look-ups find, one list for each."""
    script: list[list[str]] = []

    def getaddrinfo(_host, port, *_args, **_kwargs):
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM, socket.IPPROTO_TCP, "",
                (address, port, 0, 0) if ":" in address else (address, port),
            )
            for address in script.pop(0)
        ]  # fmt: skip

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return script


class TestDialledAddress:
    def test_of_a_public_name_must_be_public(self, receiver, answers_of_dns):
        answers_of_dns.append(["127.0.0.1"])

        got = post(f"https://hooks.example.com:{receiver.port}/200", policy=PUBLIC_ONLY)

        assert got.failure == Failure.ADDRESS_NOT_ALLOWED
        assert receiver.connections == 0

    @pytest.mark.parametrize("order", [1, -1])
    def test_is_refused_when_any_answer_is_bad(self, receiver, answers_of_dns, order):
        answers_of_dns.append(["8.8.8.8", "127.0.0.1"][::order])

        got = post(f"https://hooks.example.com:{receiver.port}/200", policy=PUBLIC_ONLY)

        assert got.failure == Failure.ADDRESS_NOT_ALLOWED
        assert receiver.connections == 0

    def test_is_checked_when_the_socket_is_made_whatever_the_resolver_said(self, receiver):
        target = LOOPBACK.check(receiver.url(), allow_http=True)
        found = socket.getaddrinfo("127.0.0.1", receiver.port, type=socket.SOCK_STREAM)

        async def dial():
            connections = Connections(
                PUBLIC_ONLY, tls=ssl.create_default_context(), connect_seconds=1
            )
            with pytest.raises(AddressRefused):
                connections._open_socket(target, found[0])

        asyncio.run(dial())

        assert receiver.connections == 0

    def test_is_the_next_one_when_nobody_answers_at_the_first(self, receiver, answers_of_dns):
        answers_of_dns.append(["127.0.0.2", "::1", "127.0.0.1"])

        assert post(f"http://receiver:{receiver.port}/200").status == 200

    def test_of_plain_http_must_be_an_exception(self, receiver, answers_of_dns):
        answers_of_dns.append(["8.8.8.8"])

        got = post(f"http://hooks.example.com:{receiver.port}/200")

        assert got.failure == Failure.ADDRESS_NOT_ALLOWED

    def test_of_a_private_name_may_be_an_exception(self, receiver, answers_of_dns):
        answers_of_dns.append(["127.0.0.1"])

        got = post(f"http://receiver:{receiver.port}/200")

        assert got.status == 200
        assert receiver.requests[0].headers["host"] == f"receiver:{receiver.port}"

    def test_may_be_ipv6(self):
        with Receiver(host="::1") as receiver:
            assert post(receiver.url()).status == 200


def certificate(path):
    """A self-signed certificate for 127.0.0.1, with its key, as one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.UTC)
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(alternative, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(signed.public_bytes(pem) + private)
    return path


class TestTls:
    @pytest.fixture
    def pem(self, tmp_path):
        return certificate(tmp_path / "receiver.pem")

    @pytest.fixture
    def secure_receiver(self, pem):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        with Receiver(tls=context) as running:
            yield running

    def test_an_unknown_certificate_is_refused(self, secure_receiver):
        got = post(secure_receiver.url(), allow_http=False)

        assert got.failure == Failure.TLS_FAILED
        assert secure_receiver.requests == []

    def test_a_trusted_certificate_is_taken(self, secure_receiver, pem):
        trusted = ssl.create_default_context(cafile=pem)

        assert post(secure_receiver.url(), allow_http=False, tls=trusted).status == 200

    def test_a_certificate_for_somebody_else_is_refused(self, secure_receiver, pem, answers_of_dns):
        answers_of_dns.append(["127.0.0.1"])
        trusted = ssl.create_default_context(cafile=pem)

        got = post(f"https://other:{secure_receiver.port}/200", allow_http=False, tls=trusted)

        assert (got.failure, secure_receiver.requests) == (Failure.TLS_FAILED, [])

    def test_the_operators_certificates_are_trusted(self, secure_receiver, pem, monkeypatch):
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))

        assert post(secure_receiver.url(), allow_http=False).status == 200

    def test_certificates_written_later_are_trusted(
        self, secure_receiver, pem, tmp_path, monkeypatch
    ):
        bundle = tmp_path / "bundle.pem"
        bundle.write_text("")
        monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
        assert post(secure_receiver.url(), allow_http=False).failure == Failure.TLS_FAILED

        bundle.write_bytes(pem.read_bytes())

        assert post(secure_receiver.url(), allow_http=False).status == 200

    def test_certificates_are_read_once(self, secure_receiver, pem, monkeypatch):
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        first = trust.system()

        assert trust.system() is first

    def test_a_server_without_tls_gets_nothing(self, receiver):
        url = f"https://127.0.0.1:{receiver.port}/200"

        got = post(url, allow_http=False, connect_seconds=0.2)

        assert (got.failure, receiver.requests) == (Failure.TIMEOUT, [])
