"""The audit log goes on to a system that watches: over https or syslog, at least once."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from common.clock import utc_now
from config import env
from seals import leaving, streaming
from seals.models import AuditStream
from tests.common.engine.test_http_client import certificate
from tests.receivers import Receiver, answer
from tests.seals.audit_lines import make_old, note
from tests.tls_server import TlsServer

MINUTE = timedelta(minutes=1)


@pytest.fixture
def lines(acme):
    """Three lines that may leave."""
    for number in range(2):
        note(acme, f"noted.{number}")
    make_old()


@pytest.fixture
def receiver(settings):
    with Receiver() as receiver:
        settings.AUDIT_STREAM_URL = receiver.url("/200")
        yield receiver


def told(receiver):
    """The actions that each request had."""
    return [
        [json.loads(line)["action"] for line in request.body.decode().splitlines()]
        for request in receiver.requests
    ]


class TestHttps:
    def test_gets_each_line_and_then_what_is_new(self, acme, lines, receiver, settings):
        settings.AUDIT_STREAM_AUTHORIZATION = "Splunk abc"
        now = utc_now()

        assert streaming.send_due(now=now) == 3
        assert streaming.send_due(now=now + MINUTE) == 0
        note(acme, "noted.later")
        make_old()
        assert streaming.send_due(now=now + 2 * MINUTE) == 1

        assert told(receiver) == [["tenant.created", "noted.0", "noted.1"], ["noted.later"]]
        assert receiver.requests[0].headers["authorization"] == "Splunk abc"
        assert receiver.requests[0].headers["content-type"] == "application/x-ndjson"

    def test_rests_between_two_looks(self, lines, receiver):
        now = utc_now()
        streaming.send_due(now=now)
        make_old()

        assert streaming.send_due(now=now + timedelta(seconds=14)) == 0
        assert len(receiver.requests) == 1

    def test_what_was_not_taken_comes_again_later(self, lines, receiver, log):
        receiver.answers["/200"] = [answer(503), answer(503)]
        now = utc_now()

        assert streaming.send_due(now=now) == 0
        stream = AuditStream.objects.get()
        assert (stream.after, stream.last_error) == ("", "NotTaken: answer 503")
        assert stream.next_attempt_at == now + timedelta(seconds=15)
        assert streaming.send_due(now=now + MINUTE) == 0
        assert AuditStream.objects.get().next_attempt_at == now + timedelta(seconds=90)
        assert streaming.send_due(now=now + 2 * MINUTE) == 3

        assert told(receiver) == [["tenant.created", "noted.0", "noted.1"]] * 3
        stream = AuditStream.objects.get()
        assert (stream.attempts, stream.last_error) == (0, "")
        assert len(log.of("audit_not_streamed")) == 2

    def test_pauses_are_an_hour_at_most(self):
        assert streaming._pause(1_000) == timedelta(hours=1)

    def test_what_was_taken_before_a_failure_is_not_sent_again(self, lines, receiver, monkeypatch):
        monkeypatch.setattr(leaving, "PAGE", 2)
        receiver.answers["/200"] = [answer(200), answer(500)]
        now = utc_now()

        assert streaming.send_due(now=now) == 2
        assert streaming.send_due(now=now + MINUTE) == 1

        assert told(receiver) == [["tenant.created", "noted.0"], ["noted.1"], ["noted.1"]]

    def test_a_run_is_bounded(self, lines, receiver, monkeypatch):
        monkeypatch.setattr(leaving, "PAGE", 1)
        monkeypatch.setattr(streaming, "RUN_SECONDS", -1.0)

        assert streaming.send_due(now=utc_now()) == 1

    def test_without_an_address_nothing_is_sent(self, lines, settings):
        settings.AUDIT_STREAM_URL = ""

        assert streaming.send_due(now=utc_now()) == 0
        assert not AuditStream.objects.exists()


def frames(received):
    """The messages, taken apart by their lengths."""
    while received:
        length, _, rest = received.partition(b" ")
        yield rest[: int(length)].decode()
        received = rest[int(length) :]


class TestSyslog:
    @pytest.fixture
    def server(self, tmp_path, settings):
        pem = certificate(tmp_path / "syslog.pem")
        server = TlsServer(pem, to_the_end=True)
        settings.AUDIT_STREAM_URL = f"syslog+tls://127.0.0.1:{server.port}"
        yield server
        server.close()

    def test_gets_each_line_as_a_message(self, lines, server, monkeypatch):
        monkeypatch.setenv("SSL_CERT_FILE", str(server.pem))

        assert streaming.send_due(now=utc_now()) == 3
        server.close()

        messages = list(frames(server.received))
        assert [message[:7] for message in messages] == ["<110>1 "] * 3
        heads, bodies = zip(*(message.split(" - audit - ") for message in messages), strict=True)
        assert [head.split()[2:] for head in heads] == [["localhost", "ballast"]] * 3
        assert [json.loads(body)["action"] for body in bodies] == [
            "tenant.created", "noted.0", "noted.1",
        ]  # fmt: skip

    def test_who_dies_before_the_farewell_gets_the_lines_again(
        self, lines, tmp_path, settings, monkeypatch
    ):
        """A receiver that was killed has read the lines, and perhaps kept none: only its farewell
        says that it has them (RFC 5425 § 4.4 wants one)."""
        dying = TlsServer(certificate(tmp_path / "dying.pem"), to_the_end=True, dies=True)
        settings.AUDIT_STREAM_URL = f"syslog+tls://127.0.0.1:{dying.port}"
        monkeypatch.setenv("SSL_CERT_FILE", str(dying.pem))

        assert streaming.send_due(now=utc_now()) == 0
        dying.close()

        assert len(list(frames(dying.received))) == 3
        stream = AuditStream.objects.get()
        assert (stream.after, stream.last_error) == ("", "NotTaken: it hung up without a farewell")

    def test_a_certificate_that_nobody_vouches_for_gets_nothing(self, lines, server):
        assert streaming.send_due(now=utc_now()) == 0
        server.close()

        assert server.received == b""
        assert AuditStream.objects.get().last_error.startswith("SSLCertVerificationError")


class TestAddress:
    @pytest.mark.parametrize(
        "address",
        [
            "",
            "https://siem.internal/audit",
            "syslog+tls://siem.internal:6514",
            "http://127.0.0.1:8",
        ],
    )
    def test_is_taken(self, address, monkeypatch):
        monkeypatch.setenv("AUDIT_STREAM_URL", address)

        assert env.stream_address("AUDIT_STREAM_URL") == address

    @pytest.mark.parametrize(
        "address",
        ["http://siem.internal/audit", "syslog://siem.internal", "syslog+tls://", "siem:6514",
         "syslog+tls://siem/x"],
    )  # fmt: skip
    def test_without_tls_is_refused(self, address, monkeypatch):
        monkeypatch.setenv("AUDIT_STREAM_URL", address)

        with pytest.raises(ImproperlyConfigured, match="AUDIT_STREAM_URL must be"):
            env.stream_address("AUDIT_STREAM_URL")
