"""Our keys at an instant network."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID

from common import crypto
from common.clock import utc_now
from networks.instant import certificates, key_slots
from networks.instant.key_slots import KeysRefused
from networks.instant.models import InstantKey
from networks.instant.transport.identity import Identity
from tests.networks.instant.builders import RAIL, make_rail

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rail(db):
    return make_rail()


def make():
    return key_slots.make(rail=RAIL, by="usr_ada", now=utc_now())


def private_of(key):
    return crypto.decrypt(key.private_key_token, context=key.encryption_context)


def signed(request, *, days=30, issuer="An operator"):
    """What an operator's authority makes of a request."""
    asked = x509.load_pem_x509_csr(request.encode())
    assert asked.is_signature_valid
    authority = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(asked.subject)
        .issuer_name(name)
        .public_key(asked.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(utc_now() - timedelta(days=60))
        .not_valid_after(utc_now() + timedelta(days=days))
        .sign(authority, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def test_the_first_is_used_and_fits_its_certificate():
    key = make()

    assert key_slots.slots(RAIL) == (key, None)
    Identity(
        certificate=key.certificate.encode(),
        private_key=private_of(key).encode(),
        pins=("ab" * 32,),
    )
    assert "PRIVATE" not in key.private_key_token
    assert certificates.read(key.certificate).fingerprint == key.fingerprint


def test_the_second_waits_until_it_is_switched_to():
    first, second = make(), make()
    assert key_slots.slots(RAIL) == (first, second)
    with pytest.raises(KeysRefused, match="a second key already"):
        make()

    key_slots.switch(rail=RAIL, now=utc_now())
    assert key_slots.slots(RAIL) == (second, first)
    key_slots.switch(rail=RAIL, now=utc_now())  # and back
    assert key_slots.slots(RAIL) == (first, second)

    key_slots.retire(rail=RAIL, by="usr_bob", now=utc_now())
    assert key_slots.slots(RAIL) == (first, None)
    second.refresh_from_db()
    assert second.retired_by == "usr_bob"
    for act in (
        lambda: key_slots.switch(rail=RAIL, now=utc_now()),
        lambda: key_slots.retire(rail=RAIL, by="usr_bob", now=utc_now()),
    ):
        with pytest.raises(KeysRefused, match="no second key"):
            act()


def test_a_stolen_one_is_replaced_with_all_others():
    make()
    make()

    new = key_slots.replace(rail=RAIL, by="usr_bob", now=utc_now())

    assert key_slots.slots(RAIL) == (new, None)
    assert InstantKey.objects.exclude(retired_at=None).count() == 2


def test_the_operators_certificate_takes_the_place_of_ours():
    first, second = make(), make()
    key_slots.certify(
        rail=RAIL, certificate=signed(first.signing_request), by="usr_ada", now=utc_now()
    )
    used, waits = key_slots.slots(RAIL)
    assert used
    assert (used.fingerprint, used.slot, waits) == (first.fingerprint, first.slot, second)
    assert private_of(used) == private_of(first)
    assert certificates.read(used.certificate).issuer == "CN=An operator"

    key_slots.certify(
        rail=RAIL, certificate=signed(second.signing_request), by="usr_ada", now=utc_now()
    )

    still, waits = key_slots.slots(RAIL)
    assert waits
    assert (still, waits.fingerprint, waits.used_since) == (used, second.fingerprint, None)
    first.refresh_from_db()
    assert first.retired_at


def test_what_is_no_certificate_of_ours_is_refused():
    key = make()
    other = certificates.make("other", now=utc_now())
    expired = signed(key.signing_request, days=-1)
    for certificate, told in (
        (other.certificate, "none of our keys"),
        (key.certificate, "there already"),
        (expired, "not valid any more"),
        ("", "no certificate in PEM"),
        ("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----", "no certificate in PEM"),
        (key.certificate + other.private_key, "the certificate alone"),
        ("x" * 30_000, "the certificate alone"),
    ):
        with pytest.raises(KeysRefused, match=told):
            key_slots.certify(rail=RAIL, certificate=certificate, by="usr_ada", now=utc_now())
    assert InstantKey.objects.count() == 1


def test_one_made_elsewhere_is_taken_with_its_certificate():
    pair, other = (certificates.make("x", now=utc_now()) for _ in range(2))
    who: dict[str, Any] = {"rail": RAIL, "by": "Olga", "now": utc_now()}
    edwards = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    for private, told in (
        (other.private_key, "another key"),
        ("nonsense", "no private key"),
        (edwards.decode(), "Only keys for ECDSA or RSA"),
    ):
        with pytest.raises(KeysRefused, match=told):
            key_slots.take(private_key=private, certificate=pair.certificate, **who)

    key = key_slots.take(private_key=pair.private_key, certificate=pair.certificate, **who)

    assert key_slots.slots(RAIL) == (key, None)
    assert private_of(key) == pair.private_key
    with pytest.raises(KeysRefused, match="in use already"):
        key_slots.take(private_key=pair.private_key, certificate=pair.certificate, **who)
