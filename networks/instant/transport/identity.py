"""Who we are to a server, and by which key we know it.

The server is known by its public key alone, as an SSH server is: no authority can vouch for
another one. Two pins are allowed, so that the server's key can change without a gap.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
import tempfile
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import serialization

PINS_MAX = 2
_PIN = re.compile(r"[0-9a-f]{64}", re.ASCII)


class SettingsRefused(ValueError):
    """A setting of the connection cannot be used. `field` names it; the text says what to do."""

    def __init__(self, field: str, advice: str) -> None:
        super().__init__(advice)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Our certificate and key (PEM), and the pins of the server: SHA-256 of its public key
    (SubjectPublicKeyInfo), in hexadecimal. Raises SettingsRefused when it is made."""

    certificate: bytes
    private_key: bytes = field(repr=False)
    pins: tuple[str, ...]

    def __post_init__(self) -> None:
        is_usable = all(_PIN.fullmatch(pin) for pin in self.pins)
        if not is_usable or not 0 < len(set(self.pins)) == len(self.pins) <= PINS_MAX:
            raise SettingsRefused("pins", "Enter one or two SHA-256 digests of 64 hex digits.")
        self.context()

    def context(self) -> ssl.SSLContext:
        """TLS that shows our certificate. It believes any server: `is_known` must be asked before a
        byte is sent. Raises SettingsRefused for a certificate and a key that do not fit."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with tempfile.NamedTemporaryFile() as file:  # TLS of the standard library reads files only
            file.write(self.certificate + b"\n" + self.private_key)
            file.flush()
            try:
                context.load_cert_chain(file.name, password=_no_password)
            except (ssl.SSLError, ValueError):
                raise SettingsRefused(
                    "certificate", "Enter our certificate and the key that belongs to it, as PEM."
                ) from None
        return context

    def is_known(self, certificate: bytes | None) -> bool:
        """Whether a server that showed this certificate (DER) has one of the pinned keys."""
        if not certificate:
            return False
        digest = pin_of(certificate)
        return any(hmac.compare_digest(digest, pin) for pin in self.pins)


def pin_of(certificate: bytes) -> str:
    """The pin of the public key in a certificate (DER)."""
    key = x509.load_der_x509_certificate(certificate).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).hexdigest()


def _no_password() -> str:
    """Instead of asking whoever sits at the terminal."""
    raise ValueError("the key has a passphrase")
