from __future__ import annotations

import base64
import random
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook

from common.clock import utc_now
from webhooks import signing

BODY = (
    b'{"id":"evt_1","type":"payment.completed",'
    b'"data":{"paymentId":"pay_1","amount":12345,"status":"completed"},'
    b'"timestamp":"2026-11-20T12:00:00Z"}'
)
AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()


def signed(body=BODY, *, previous=None, now=AT):
    return signing.headers(
        event_id="evt_1", body=body, secret=NEW, previous_secret=previous, now=now
    )


class TestHexSignature:
    def test_equals_the_published_vector(self):
        assert signing.hex_signature("whsec_test", BODY) == (
            "ed451886b0da0b24e09700bb20b1bcf6bc842a328dcd4c88e18e4456c79bbf57"
        )

    def test_is_the_only_value_of_its_header(self):
        assert signed()["X-Webhook-Signature"] == signing.hex_signature(NEW, BODY)
        assert signed(previous=OLD)["X-Webhook-Signature"] == signing.hex_signature(NEW, BODY)


class TestStandardWebhooks:
    def test_equals_the_published_vector(self):
        # The example of the Standard Webhooks specification's reference libraries.
        secret, message_id = (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
        )

        assert (
            signing.standard_signature(secret, message_id, "1614265330", b'{"test": 2432232314}')
            == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        )

    def test_is_accepted_by_the_projects_own_library(self):
        payload = Webhook(NEW).verify(BODY, dict(signed(now=utc_now())))

        assert payload["id"] == "evt_1"

    def test_agrees_with_the_library_on_random_bodies(self):
        rng = random.Random(8)
        for _ in range(200):
            body = rng.randbytes(rng.randrange(1, 400)).hex()

            ours = signed(body.encode())["webhook-signature"]

            assert ours == Webhook(NEW).sign("evt_1", AT, body)


class TestRotation:
    def test_both_secrets_sign_while_they_overlap(self):
        headers = signed(previous=OLD, now=utc_now())

        assert headers["X-Webhook-Signature-Previous"] == signing.hex_signature(OLD, BODY)
        for secret in (OLD, NEW):
            assert Webhook(secret).verify(BODY, dict(headers))["id"] == "evt_1"

    def test_the_old_one_is_silent_afterwards(self):
        headers = signed()

        assert "X-Webhook-Signature-Previous" not in headers
        assert headers["webhook-signature"].count("v1,") == 1


def test_a_new_secret_is_32_random_bytes():
    secret = signing.new_secret()

    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert secret != signing.new_secret()


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp"])
def test_the_replay_safe_headers_are_what_is_signed(name):
    assert signed()[name] == {"webhook-id": "evt_1", "webhook-timestamp": "1795176000"}[name]
