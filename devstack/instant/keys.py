"""The keys of one copy, made at the first start: an authority, the server's key and the next one,
a third one to show by mistake, and the participant's. Certificates that the participant made for
itself are taken beside that one."""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOST = "127.0.0.1"
AUTHORITY, SERVER, NEXT_SERVER = "authority", "server", "next_server"
OTHER_SERVER, PARTICIPANT = "other_server", "participant"
_SERVERS = (SERVER, NEXT_SERVER, OTHER_SERVER)
_OWN = "own-"
_VALID = timedelta(days=3650)


def ensure(folder: Path) -> None:
    """Make what is missing; what is there stays."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not certificate_path(folder, PARTICIPANT).exists():
        _make_all(folder)


def key_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.key.pem"


def certificate_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.crt.pem"


def pin(folder: Path, name: str) -> str:
    """SHA-256 of the public key (SubjectPublicKeyInfo) of a certificate, in hexadecimal."""
    certificate = x509.load_pem_x509_certificate(certificate_path(folder, name).read_bytes())
    public = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(public).hexdigest()


def authorize(folder: Path, certificate: str) -> str:
    """Take a certificate (PEM) of the participant's own; gives its SHA-256 fingerprint. Raises
    ValueError."""
    taken = x509.load_pem_x509_certificate(certificate.encode())
    fingerprint = taken.fingerprint(hashes.SHA256()).hex()
    path = certificate_path(folder, f"{_OWN}{fingerprint}")
    path.write_bytes(taken.public_bytes(serialization.Encoding.PEM))
    return fingerprint


def trusted(folder: Path) -> list[Path]:
    """Certificates by which a caller is known: the authority's, and those of its own."""
    own = sorted(folder.glob(certificate_path(folder, f"{_OWN}*").name))
    return [certificate_path(folder, AUTHORITY), *own]


def _make_all(folder: Path) -> None:
    """The participant's last: with it, all are there."""
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = _name("Ballast stand-in operator")
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    _write(
        folder, AUTHORITY, authority, _signed(authority, issuer, issuer, authority, [constraint])
    )
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))])
    for name in (*_SERVERS, PARTICIPANT):
        key = ec.generate_private_key(ec.SECP256R1())
        is_server = name in _SERVERS
        usage = ExtendedKeyUsageOID.SERVER_AUTH if is_server else ExtendedKeyUsageOID.CLIENT_AUTH
        extensions: list[x509.ExtensionType] = [x509.ExtendedKeyUsage([usage])]
        if is_server:
            extensions.append(address)
        subject = _name(HOST if is_server else "participant")
        _write(folder, name, key, _signed(key, subject, issuer, authority, extensions))


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _signed(
    key: ec.EllipticCurvePrivateKey,
    subject: x509.Name,
    issuer: x509.Name,
    authority: ec.EllipticCurvePrivateKey,
    extensions: list[x509.ExtensionType],
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()),
            critical=False,
        )
    )
    for extension in extensions:
        is_critical = isinstance(extension, x509.BasicConstraints)
        builder = builder.add_extension(extension, critical=is_critical)
    return builder.sign(authority, hashes.SHA256())


def _write(
    folder: Path, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
) -> None:
    private = key_path(folder, name)
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    content = certificate.public_bytes(serialization.Encoding.PEM)
    certificate_path(folder, name).write_bytes(content)
