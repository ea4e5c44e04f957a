"""The line to the operator: who may speak, what is not taken, and what breaks."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import signal
import ssl
import urllib.request
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from devstack.instant import client
from networks.instant.iso import reader
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.messages import StatusReport
from networks.instant.transport.identity import pin_of
from tests.devstack.instant.conftest import Line


def shown_pin(operator) -> str:
    """The pin of the key that the server shows."""
    known = client.connection(operator.home)
    host, port = known["networks"]["rtp"]["base_url"].split("/")[2].split(":")
    certificate = ssl.get_server_certificate((host, int(port)))
    return pin_of(ssl.PEM_cert_to_DER_cert(certificate))


def own_certificate(folder) -> str:
    """A certificate that we made for ourselves, whose key and file are in the folder."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "we")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "own.key").write_bytes(key.private_bytes(pem, *private))
    (folder / "own.crt").write_bytes(made.public_bytes(pem))
    return made.public_bytes(pem).decode()


class TestWhoMaySpeak:
    def test_nobody_without_a_certificate(self, shared):
        known = client.connection(shared.home)
        address = known["networks"]["rtp"]["base_url"].split("/")[2]
        context = ssl.create_default_context(cafile=known["authority"])
        line = http.client.HTTPSConnection(address, context=context)

        def ask() -> None:
            line.request("GET", "/rtp/messages")
            line.getresponse()

        with contextlib.closing(line), pytest.raises((ssl.SSLError, ConnectionError)):
            ask()

    def test_whoever_made_a_certificate_that_the_operator_took(self, operator, tmp_path):
        certificate = own_certificate(tmp_path)

        def status() -> int:
            known = client.connection(operator.home)
            ours = {"certificate": tmp_path / "own.crt", "private_key": tmp_path / "own.key"}
            line = Line({**known, **ours}, known["networks"]["rtp"]["base_url"])
            return line.ask("GET", "messages")[0]

        with pytest.raises((ssl.SSLError, ConnectionError)):
            status()
        operator.ask("authorize", certificate=certificate)
        assert status() == 200
        operator.end()
        operator.start()
        assert status() == 200

    def test_no_text_is_taken_for_a_certificate(self, shared):
        with pytest.raises(client.ControlError):
            shared.ask("authorize", certificate="-----BEGIN CERTIFICATE-----")

    def test_the_server_shows_a_pinned_key(self, shared):
        pins = client.connection(shared.home)["pins"]
        assert shown_pin(shared) == pins[0]

        assert shared.ask("rotate") == pins[1]
        assert shown_pin(shared) == pins[1]
        shared.ask("fault", name="other_key")
        assert shown_pin(shared) not in pins

        shared.ask("fault", name="all", on=False)
        shared.ask("rotate")
        assert shown_pin(shared) == pins[0]


class TestWhatIsNotTaken:
    @pytest.mark.parametrize(
        ("bend", "code"),
        [
            (lambda text: text[:300], "not_xml"),
            (lambda text: text.replace(b"<", b"<!DOCTYPE a><", 1), "not_xml"),
            (lambda text: b"<a>" * 60 + b"</a>" * 60, "not_xml"),
            (lambda text: text + b" " * 1_100_000, "not_xml"),
            (lambda text: text.replace(b"urn:tch", b"urn:hct"), "envelope"),
            (lambda text: text.replace(b"CreditTransfer", b"PaymentRequest"), "wrapper"),
            (lambda text: text.replace(b"pacs.008.001.08", b"pacs.008.001.09"), "message_unknown"),
            (
                lambda text: text.replace(b"xsd:pacs.008.001.08", b"xsd:pacs.008.001.09"),
                "namespace",
            ),
        ],
        ids=[
            "cut",
            "document-type",
            "deep",
            "large",
            "other-root",
            "other-wrapper",
            "other-version",
            "other-namespace",
        ],
    )
    def test_has_a_code_and_leaves_nothing(self, shared, bend, code):
        we = shared.rtp
        we.fetch()
        transfer = we.transfer()

        status, body = we.post(bend(we.content(transfer)))

        assert (status, json.loads(body)["code"]) == (422, code)
        assert we.fetch() == []
        assert shared.ask("payments", end_to_end_id=transfer.end_to_end_id) == []

    @pytest.mark.parametrize(
        ("old", "new", "code"),
        [
            (b">123.45<", b">123.456<", "AM12"),
            (b'"USD"', b'"EUR"', "AC11"),
            (b">123.45<", b">0.00<", "AM12"),
        ],
        ids=["three-decimals", "other-currency", "zero"],
    )
    def test_with_fields_that_cannot_be_is_rejected(self, shared, old, new, code):
        we = shared.rtp
        we.fetch()

        we.post(we.content(we.transfer(amount=12_345)).replace(old, new))

        assert str(we.one(StatusReport).reason) == code

    def test_of_the_future_is_rejected(self, we):
        content = we.content(we.transfer())
        year = str(we.now().year)

        we.post(content.replace(f"CreDtTm>{year}".encode(), b"CreDtTm>2999"))

        assert str(we.one(StatusReport).reason) == ("DT04" if we.name == "rtp" else "E999")


class TestFaults:
    def test_before_a_message_is_taken(self, we):
        transfer = we.transfer()
        we.operator.ask("fault", name="close_before", times=1)

        with pytest.raises(ConnectionError):
            we.send(transfer)

        assert we.fetch() == []
        assert we.send(transfer)[0] == 202
        assert we.one(StatusReport).status != "RJCT"

    def test_after_a_message_is_taken(self, we):
        transfer = we.transfer()
        we.operator.ask("fault", name="close_after", times=1)

        with pytest.raises(ConnectionError):
            we.send(transfer)

        assert we.one(StatusReport).original_message_id == transfer.message_id

    def test_nobody_listens(self, we):
        we.operator.ask("fault", name="refuse_connection")
        with pytest.raises(ConnectionRefusedError):
            we.deliveries()

        we.operator.ask("fault", name="all", on=False)

        assert we.deliveries() == []

    def test_unavailable(self, we):
        we.operator.ask("fault", name="unavailable", times=1)

        assert we.send(we.transfer())[0] == 503
        assert we.fetch() == []

    def test_a_message_twice_and_one_that_is_bent(self, we):
        we.operator.ask("fault", name="message_twice", times=1)
        we.send(we.transfer())
        first, second = we.fetch()
        assert first == second

        we.operator.ask("fault", name="bent_xml", times=1)
        we.send(we.transfer())
        (bent,) = we.deliveries()
        with pytest.raises(Unreadable):
            reader.read(base64.b64decode(bent["content"]), we.profile)
        we.acknowledge([bent])

    def test_an_answer_that_is_lost(self, we):
        we.operator.ask("fault", name="lose_answer", times=1)
        we.send(we.transfer())

        assert we.fetch() == []


class TestCommands:
    @pytest.mark.parametrize(
        ("command", "arguments", "text"),
        [
            ("nothing", {}, "there are: again, answer_request"),
            (
                "fund",
                {"profile": "rtp", "routing": "999999992", "amount": 1},
                "takes no part in RTP",
            ),
            ("pay", {"profile": "swift", "amount": 1}, "there is no network 'swift'"),
            ("pay", {"profile": "rtp", "amount": 0}, "positive cents"),
            ("again", {"message": 999_999}, "there is no message 999999"),
            ("answer_request", {"request": 999_999}, "there is no such request"),
            ("terms", {"ask_after": "soon"}, "ask_after takes float"),
            ("clock", {"seconds": -1}, "does not go back"),
        ],
        ids=["unknown", "strange-bank", "network", "amount", "message", "request", "term", "clock"],
    )
    def test_that_make_no_sense_are_refused(self, shared, command, arguments, text):
        with pytest.raises(client.ControlError, match=text):
            shared.ask(command, **arguments)

    def test_bring_money_into_a_network(self, shared):
        before = shared.rtp.position

        assert shared.ask("fund", profile="rtp", amount=100_000_000) == before + 100_000_000


class TestAfterAKill:
    def test_answers_wait_and_nothing_settles_twice(self, operator):
        we = operator.rtp
        transfer = we.transfer(amount=500)
        before = we.position
        we.send(transfer)
        port = operator.ask("status")["port"]

        operator.end(signal.SIGKILL)
        operator.start()

        assert operator.ask("status")["port"] == port
        assert we.one(StatusReport).original_message_id == transfer.message_id
        assert before - we.position == 500

    def test_work_that_waited_is_done(self, operator):
        we = operator.fednow
        we.send(we.transfer("51004"))
        assert we.one(StatusReport).status == "ACWP"

        operator.end(signal.SIGKILL)
        operator.start()

        assert we.one(StatusReport, wait=10).status == "ACCC"

    def test_what_is_not_acknowledged_comes_again(self, operator):
        we = operator.rtp
        we.send(we.transfer())

        (first,) = we.deliveries()
        (again,) = we.deliveries()

        assert first == again
        we.acknowledge([first])
        assert we.deliveries() == []


class TestThePayersBank:
    def open(self, operator, path="", **fields):
        address = client.connection(operator.home)["page"] + path
        body = "&".join(f"{name}={text}" for name, text in fields.items()).encode() or None
        with urllib.request.urlopen(address, body, timeout=10) as answer:
            return answer.read().decode()

    def test_shows_requests_and_pays(self, operator):
        we = operator.fednow
        request = we.request("7770009", 123_456)
        we.send(request)
        assert "ANN LEE" in self.open(operator)
        assert "$1,234.56" in self.open(operator, "accounts/7770009")

        page = self.open(operator, "requests/1")
        assert [each.status for each in we.fetch()] == ["RCVD", "PRES"]
        token = page.split('name="token" value="')[1].split('"')[0]
        page = self.open(operator, "requests/1", token=token, answer="approve")

        assert "Approved, on its way" in page
        answer, payment = we.fetch()
        assert answer.status == "ACTC"
        we.accept(payment)
        assert "Paid" in self.open(operator, "requests/1")

    def test_does_nothing_without_its_own_form(self, operator):
        we = operator.rtp
        we.send(we.request())

        with pytest.raises(urllib.error.HTTPError, match="404"):
            self.open(operator, "requests/1", token="guessed", answer="approve")

        assert we.fetch() == []
