"""What a server says, does not say, or says wrongly, and what is known of a message then."""

from __future__ import annotations

import json
import socket
import threading
import time
from datetime import timedelta

import pytest

from networks.instant.transport import Delivery, NotTaken, Silent, Unavailable
from networks.instant.transport.base import TOO_LARGE
from networks.instant.transport.https import HttpsSettings, HttpsTransport
from networks.instant.transport.identity import Identity, SettingsRefused
from tests.networks.instant.transport.server import (
    Keys,
    Server,
    answer,
    answered,
    cut_short,
    drip,
    hang_up,
    identity,
    message,
)

US, BANK, NEXT, STRANGER = Keys(), Keys(), Keys(), Keys()
TAKEN = answer("202 Accepted")
NO_WAIT = timedelta()


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path, BANK, US)
    server.script = [TAKEN]
    yield server
    server.close()


@pytest.fixture
def transport():
    made: list[HttpsTransport] = []

    def make(server: Server, *, ours=US, pinned=(BANK,), seconds=2.0) -> HttpsTransport:
        who = identity(ours, *pinned)
        made.append(
            HttpsTransport(HttpsSettings(base_url=server.url, identity=who, seconds=seconds))
        )
        return made[-1]

    yield make
    for each in made:
        each.close()


class TestSending:
    def test_hands_over_the_bytes_as_they_are(self, server, transport):
        transport(server).send(b"<Message/>", name="M1")

        assert server.requests == [b"POST /rtp/messages HTTP/1.1 <Message/>"]

    def test_keeps_its_connection(self, server, transport):
        line = transport(server)
        for name in ("M1", "M2", "M3"):
            line.send(b"<Message/>", name=name)

        assert (len(server.requests), server.lines) == (3, 1)

    def test_opens_another_one_when_the_server_closed_it(self, server, transport):
        line = transport(server)
        server.script = [answer("202 Accepted", headers="Connection: close\r\n"), TAKEN]
        line.send(b"<Message/>", name="M1")
        line.send(b"<Message/>", name="M2")

        assert (len(server.requests), server.lines) == (2, 2)

    def test_sees_that_an_idle_connection_was_closed_before_it_sends(self, server, transport):
        line = transport(server)

        def take_and_hang_up(wire: socket.socket) -> None:
            TAKEN(wire)
            hang_up(wire)

        server.script = [take_and_hang_up, TAKEN]
        line.send(b"<Message/>", name="M1")
        time.sleep(0.1)
        line.send(b"<Message/>", name="M2")

        assert (len(server.requests), server.lines) == (2, 2)

    def test_serves_several_threads_at_once(self, server, transport):
        line = transport(server)
        threads = [
            threading.Thread(target=line.send, args=(b"<M/>",), kwargs={"name": f"M{n}"})
            for n in range(20)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

        assert len(server.requests) == 20
        assert server.lines <= 20

    def test_more_than_1_mib_is_not_sent(self, server, transport):
        with pytest.raises(ValueError, match="1 MiB"):
            transport(server).send(b"x" * ((1 << 20) + 1), name="M1")

        assert server.requests == []


class TestRefusals:
    def test_a_refusal_has_the_servers_words(self, server, transport):
        said = json.dumps({"code": "signed_off", "reason": "You are\nsigned off"}).encode()
        server.script = [answer("422 Unprocessable Entity", said)]

        with pytest.raises(NotTaken) as refused:
            transport(server).send(b"<M/>", name="M1")

        assert (refused.value.code, refused.value.reason) == ("signed_off", "You are signed off")

    @pytest.mark.parametrize("said", [b"", b"no", b"[]", b"{}", b'{"code": ' + b"[" * 5000])
    def test_a_refusal_in_other_words_is_one(self, server, transport, said):
        server.script = [answer("422 Unprocessable Entity", said)]

        with pytest.raises(NotTaken) as refused:
            transport(server).send(b"<M/>", name="M1")

        assert refused.value.code == "refused"

    def test_words_are_cut(self, server, transport):
        said = json.dumps({"code": "x" * 5000}).encode()
        server.script = [answer("422 Unprocessable Entity", said)]

        with pytest.raises(NotTaken) as refused:
            transport(server).send(b"<M/>", name="M1")

        assert refused.value.code == "x" * 200


class TestSilence:
    @pytest.mark.parametrize(
        ("says", "cause"),
        [
            (hang_up, "line_broken"),
            (answer("500 Internal Server Error"), "status_500"),
            (answer("503 Service Unavailable"), "status_503"),
            (answer("200 OK"), "status_200"),
            (answer("302 Found", headers="Location: https://other.example/\r\n"), "status_302"),
            (lambda line: line.sendall(b"SSH-2.0-hello\r\n\r\n"), "line_broken"),
            (
                lambda line: line.sendall(b"HTTP/1.1 422 No\r\nContent-Length: 99\r\n\r\nx"),
                "timed_out",
            ),
            (answer("202 Accepted", b"x" * 100_000), "answer_too_large"),
            (cut_short, "line_broken"),
            (drip, "timed_out"),
            (lambda _line: time.sleep(3), "timed_out"),
        ],
        ids=[
            *("hang_up", "500", "503", "200", "redirect", "no_http", "stalls", "too_much"),
            "cut_short",
            *("drip", "nothing"),
        ],
    )
    def test_whatever_does_not_say_that_it_was_taken_is_silence(
        self, server, transport, says, cause
    ):
        server.script = [says]
        started = time.monotonic()

        with pytest.raises(Silent) as silence:
            transport(server, seconds=0.5).send(b"<M/>", name="M1")

        assert silence.value.cause == cause
        assert time.monotonic() - started < 2

    def test_nobody_there_is_silence(self, server, transport):
        line = transport(server)
        server.close()

        with pytest.raises(Silent, match="unreachable"):
            line.send(b"<M/>", name="M1")

    def test_a_broken_connection_is_not_used_again(self, server, transport):
        line = transport(server, seconds=0.5)
        server.script = [drip, TAKEN]
        with pytest.raises(Silent):
            line.send(b"<M/>", name="M1")

        line.send(b"<M/>", name="M2")

        assert server.lines == 2


class TestWhoIsThere:
    def test_a_server_with_another_key_gets_nothing(self, server, transport):
        with pytest.raises(Silent, match="server_unknown"):
            transport(server, pinned=(STRANGER,)).send(b"<M/>", name="M1")

        assert server.requests == []

    def test_a_server_whose_key_changes_is_known_by_either_pin(self, server, transport):
        transport(server, pinned=(NEXT, BANK)).send(b"<M/>", name="M1")
        transport(server, pinned=(BANK, NEXT)).send(b"<M/>", name="M2")

        assert len(server.requests) == 2

    def test_a_server_that_does_not_know_us_gets_nothing(self, server, transport):
        with pytest.raises(Silent):
            transport(server, ours=STRANGER).send(b"<M/>", name="M1")

        assert server.requests == []


class TestSettings:
    @pytest.mark.parametrize(
        "url",
        [
            "http://bank.example/rtp",
            "https:///rtp",
            "https://us:secret@bank.example/rtp",
            "https://bank.example/rtp?to=1",
            "bank.example",
        ],
    )
    def test_an_address_that_cannot_be_used(self, url):
        with pytest.raises(SettingsRefused) as refused:
            HttpsSettings(base_url=url, identity=identity(US, BANK))

        assert refused.value.field == "base_url"

    @pytest.mark.parametrize(
        "pins",
        [(), ("ab",), (BANK.pin.upper(),), (BANK.pin, BANK.pin), (US.pin, BANK.pin, NEXT.pin)],
    )
    def test_pins_that_cannot_be_used(self, pins):
        with pytest.raises(SettingsRefused) as refused:
            Identity(certificate=US.certificate, private_key=US.private_key, pins=pins)

        assert refused.value.field == "pins"

    @pytest.mark.parametrize("key", [b"", b"no key", STRANGER.private_key])
    def test_a_key_that_is_not_the_certificates(self, key):
        with pytest.raises(SettingsRefused) as refused:
            Identity(certificate=US.certificate, private_key=key, pins=(BANK.pin,))

        assert refused.value.field == "certificate"

    def test_the_key_is_never_shown(self):
        assert "PRIVATE" not in repr(identity(US, BANK))


class TestReceiving:
    def test_gives_what_came(self, server, transport):
        server.script = [answered({"messages": [message("7", b"<A/>"), message("8", b"\xff")]})]

        came = transport(server).receive(limit=50, wait=timedelta(seconds=0.2))

        assert came == [Delivery("7", b"<A/>"), Delivery("8", b"\xff")]
        assert server.requests == [b"GET /rtp/messages?limit=50&wait=1 HTTP/1.1 "]

    def test_says_that_so_many_are_too_large(self, server, transport):
        server.script = [answer("200 OK", b"x" * ((32 << 20) + 1))]

        with pytest.raises(Unavailable, match=TOO_LARGE):
            transport(server, seconds=10).receive(limit=8, wait=NO_WAIT)

    @pytest.mark.parametrize(
        "said",
        [
            b"",
            b"[]",
            b'{"messages": 5}',
            b'{"messages": [{"id": 1, "content": ""}]}',
            b'{"messages": [{"id": "1", "content": "*"}]}',
            b'{"messages": [{"id": "1"}]}',
            b"[" * 100_000,
        ],
    )
    def test_an_answer_that_cannot_be_read(self, server, transport, said):
        server.script = [answer("200 OK", said)]

        with pytest.raises(Unavailable, match="answer_unreadable"):
            transport(server).receive(limit=1, wait=NO_WAIT)

    @pytest.mark.parametrize("says", [hang_up, answer("503 No")])
    def test_no_answer(self, server, transport, says):
        server.script = [says]

        with pytest.raises(Unavailable):
            transport(server).receive(limit=1, wait=NO_WAIT)

    def test_acknowledges_by_id(self, server, transport):
        server.script = [answered({"acknowledged": 2})]
        transport(server).acknowledge(["7", "8"])

        assert server.requests == [b'POST /rtp/messages/acknowledge HTTP/1.1 {"ids": ["7", "8"]}']

    def test_an_acknowledgment_that_nobody_took(self, server, transport):
        server.script = [answer("500 No")]

        with pytest.raises(Unavailable, match="status_500"):
            transport(server).acknowledge(["7"])
