"""The signatures under reports: Ed25519, by the key in `PROOF_KEY`.

Keys of former reports are published for good (`PROOF_PUBLIC_KEYS`). Their private halves are not
kept, so nobody can sign with them any more.
"""

from __future__ import annotations

import base64
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from common import crypto


def sign(content: str) -> tuple[str, str]:
    """The id of the key, and the signature in base64."""
    key_id, seed = _own()
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(content.encode())
    return key_id, base64.b64encode(signature).decode()


def is_genuine(content: str, *, key_id: str, signature: str) -> bool:
    """Whether the key of this id signed it. False for a key that is not published."""
    key = public_keys().get(key_id)
    if key is None:
        return False
    try:
        body = base64.b64decode(signature, validate=True)
        Ed25519PublicKey.from_public_bytes(key).verify(body, content.encode())
    except (ValueError, InvalidSignature):
        return False
    return True


def public_keys() -> dict[str, bytes]:
    """All published keys by their ids, the one in use first: 32 bytes each."""
    key_id, seed = _own()
    mine = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    former = settings.PROOF_PUBLIC_KEYS
    return {key_id: mine} | (crypto.parsed_keys(former) if former else {})


def published() -> dict[str, Any]:
    """The keys as they are published: `/.well-known/ballast-proof-keys.json`."""
    keys = [
        {"id": key_id, "algorithm": "Ed25519", "publicKey": base64.b64encode(key).decode()}
        for key_id, key in public_keys().items()
    ]
    return {"keys": keys}


def _own() -> tuple[str, bytes]:
    ((key_id, seed),) = crypto.parsed_keys(settings.PROOF_KEY).items()
    return key_id, seed
