"""Keys and certificates by which an operator knows us: made here, or made elsewhere and judged."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_FOR = timedelta(days=3 * 365)  # what we sign ourselves
PEM_LENGTH_MAX = 20_000
_RSA_BITS_MIN = 2048


class Refused(ValueError):
    """A key or a certificate that cannot be used; the text says why."""


class Pair(NamedTuple):
    """All in PEM. `fingerprint` is SHA-256 of the public key (SubjectPublicKeyInfo), in hex; a
    request is empty where nobody is to sign anything."""

    private_key: str
    certificate: str
    signing_request: str
    fingerprint: str


def make(name: str, *, now: datetime) -> Pair:
    """A new key, its certificate as we sign it ourselves, and a request for an operator to sign.
    Our certificates have one subject, so each names its key: an operator that has two of them must
    not take one for the issuer of the other."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID_FOR)
        .add_extension(usage, critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    request = x509.CertificateSigningRequestBuilder().subject_name(subject)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return Pair(
        private_key=private.decode(),
        certificate=_pem(certificate),
        signing_request=_pem(request.sign(key, hashes.SHA256())),
        fingerprint=_fingerprint(certificate),
    )


def take(private_key: str, certificate: str) -> Pair:
    """A key and its certificate that were made elsewhere. Raises Refused."""
    try:
        key = serialization.load_pem_private_key(private_key.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise Refused("This is no private key in PEM without a password.") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise Refused("Only keys for ECDSA or RSA can be used.")
    found = read(certificate)
    if found.certificate.public_key() != key.public_key():
        raise Refused("The certificate belongs to another key.")
    return Pair(private_key, certificate.strip() + "\n", "", found.fingerprint)


class Read(NamedTuple):
    """A certificate and whose key it is."""

    certificate: x509.Certificate
    fingerprint: str

    @property
    def valid_until(self) -> datetime:
        return self.certificate.not_valid_after_utc

    @property
    def issuer(self) -> str:
        """Who signed it, as text; empty where it is signed by its own key."""
        is_own = self.certificate.issuer == self.certificate.subject
        return "" if is_own else self.certificate.issuer.rfc4514_string()


def read(certificate: str) -> Read:
    """The first certificate of a text; those that vouch for it may follow. Raises Refused."""
    if len(certificate) > PEM_LENGTH_MAX or certificate.count("PRIVATE KEY"):
        raise Refused("Give the certificate alone, in PEM.")
    try:
        found = x509.load_pem_x509_certificates(certificate.encode())[0]
        fingerprint = _fingerprint(found)
    except (ValueError, IndexError) as error:
        raise Refused("This is no certificate in PEM.") from error
    key = found.public_key()
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < _RSA_BITS_MIN:
        raise Refused(f"A key for RSA has at least {_RSA_BITS_MIN} bits.")
    return Read(found, fingerprint)


def _fingerprint(certificate: x509.Certificate) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = certificate.public_key().public_bytes(serialization.Encoding.DER, form)
    return hashlib.sha256(public).hexdigest()


def _pem(made: x509.Certificate | x509.CertificateSigningRequest) -> str:
    return made.public_bytes(serialization.Encoding.PEM).decode()
