"""A passkey without a device: what a browser hands over to add one, and to sign in with it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from django.conf import settings
from fido2.cose import ES256
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

_FLAG = AuthenticatorData.FLAG
_PRESENT = _FLAG.UP | _FLAG.UV


class Passkey:
    """One credential, as a device keeps it."""

    def __init__(self, id: bytes = b"credential-of-lee") -> None:
        self.id = id
        self._key = ec.generate_private_key(ec.SECP256R1())

    def added(self, options: dict[str, Any]) -> str:
        """What the form of a new passkey sends, given what the page asked for."""
        held = AttestedCredentialData.create(
            b"\0" * 16, self.id, ES256.from_cryptography_key(self._key.public_key())
        )
        about = AuthenticatorData.create(_rp_hash(), _PRESENT | _FLAG.AT, 0, held)
        proof = AttestationObject.create("none", about, {})
        said = _client_data("webauthn.create", options)
        return self._sent(
            {"clientDataJSON": _text(said), "attestationObject": _text(proof)},
            clientExtensionResults={"credProps": {"rk": True}},
        )

    def used(self, options: dict[str, Any], *, user_id: str) -> str:
        """What the form of a sign-in sends."""
        about = AuthenticatorData.create(_rp_hash(), _PRESENT, 1)
        said = _client_data("webauthn.get", options)
        signature = self._key.sign(about + sha256(said).digest(), ec.ECDSA(SHA256()))
        return self._sent(
            {
                "clientDataJSON": _text(said),
                "authenticatorData": _text(about),
                "signature": _text(signature),
                "userHandle": _text(user_id.encode()),
            },
            clientExtensionResults={},
        )

    def _sent(self, response: dict[str, str], **more: Any) -> str:
        id = _text(self.id)
        return json.dumps(
            {"type": "public-key", "id": id, "rawId": id, "response": response, **more}
        )


def _client_data(kind: str, options: dict[str, Any]) -> bytes:
    challenge = options["publicKey"]["challenge"]
    return bytes(CollectedClientData.create(kind, challenge, settings.BASE_URL))


def _rp_hash() -> bytes:
    return sha256((urlsplit(settings.BASE_URL).hostname or "").encode()).digest()


def _text(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()
