"""A key service outside, as a KMS behaves: it keeps its own key, says no, and goes away."""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from common.key_ring import KeyRefused, KeyServiceAway

PATH = "tests.key_service.Vault"


class Vault:
    """Wraps under a key that it never shows, bound to the name of what it wraps."""

    def __init__(self) -> None:
        self._own = AESGCM(secrets.token_bytes(32))
        self.is_away = False
        self.unwrapped: list[str] = []

    def wrap(self, key: bytes, *, name: str) -> bytes:
        self._answer()
        nonce = secrets.token_bytes(12)
        return nonce + self._own.encrypt(nonce, key, name.encode())

    def unwrap(self, wrapped: bytes, *, name: str) -> bytes:
        self._answer()
        self.unwrapped.append(name)
        try:
            return self._own.decrypt(wrapped[:12], wrapped[12:], name.encode())
        except InvalidTag as error:
            raise KeyRefused(f"the vault does not know key {name}") from error

    def _answer(self) -> None:
        if self.is_away:
            raise KeyServiceAway("the vault does not answer")
