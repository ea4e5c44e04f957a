"""SSH keys: ours, which are made here, and the bank's, which are read from text.

Only ed25519 and RSA from 3072 bits are taken, without certificates and without a passphrase: the
store in which a private key lies seals it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import asyncssh

from networks.ach.sftp.errors import KeyRefused

ED25519, RSA = "ssh-ed25519", "ssh-rsa"
RSA_BITS_MIN = 3072
RSA_BITS_MAX = 16384  # a longer one costs seconds for each signature
KEY_TEXT_MAX = 32 * 1024  # characters
COMMENT = "ballast"


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A key that may be shown to anybody."""

    kind: str  # `ssh-ed25519` or `ssh-rsa`
    text: str  # one line in OpenSSH's form, without a comment
    fingerprint: str  # `SHA256:…`, as ssh-keygen -l shows it
    bits: int


@dataclass(frozen=True, kw_only=True)
class ClientKey:
    """A key of ours. The private half is in OpenSSH's form; seal it."""

    private: bytes = field(repr=False)
    public: PublicKey


def generate_client_key() -> ClientKey:
    """A new ed25519 pair to sign in with."""
    key = asyncssh.generate_private_key(ED25519, comment=COMMENT)
    return ClientKey(private=key.export_private_key(), public=_described(key))


def read_client_key(private: bytes) -> ClientKey:
    """A key of ours from its private half. Raises KeyRefused."""
    return ClientKey(private=private, public=_described(private_key(private)))


def read_host_key(text: str) -> PublicKey:
    """A host key from what a bank sends: a line of a `.pub` file, of known_hosts, or of
    ssh-keyscan. Raises KeyRefused, also if there is more than one key."""
    return _described(public_key(text))


def private_key(private: bytes) -> asyncssh.SSHKey:
    """Raises KeyRefused."""
    try:
        key = asyncssh.import_private_key(private)
    except asyncssh.KeyEncryptionError:
        raise KeyRefused("has_passphrase", "The key has a passphrase.") from None
    except asyncssh.KeyImportError as error:
        if "passphrase" in str(error).lower():
            raise KeyRefused("has_passphrase", "The key has a passphrase.") from None
        raise KeyRefused("not_a_key", "This is not a private key in a form we read.") from None
    _require_strong(key)
    return key


def public_key(text: str) -> asyncssh.SSHKey:
    """The one public key that a text holds. Raises KeyRefused."""
    if "PRIVATE KEY" in text[:KEY_TEXT_MAX]:
        raise KeyRefused("private_key_given", "This is a private key, which its owner keeps.")
    kind, encoded = _parts(_only_line(text))
    if kind not in (ED25519, RSA):
        raise KeyRefused("kind_not_allowed", f"Keys of the kind {kind} are not taken.")
    try:
        key = asyncssh.import_public_key(f"{kind} {encoded}")
    except asyncssh.KeyImportError:
        raise KeyRefused("not_a_key", "The key is damaged.") from None
    _require_strong(key)
    return key


def _only_line(text: str) -> str:
    lines = [line.strip() for line in text[: KEY_TEXT_MAX + 1].splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys or len(text) > KEY_TEXT_MAX:
        raise KeyRefused("not_a_key", "There is no key in this text.")
    if len(keys) > 1:
        raise KeyRefused("several_keys", "There are several keys in this text; enter one.")
    return keys[0]


def _parts(line: str) -> tuple[str, str]:
    """The kind of key of a line and the key itself; host names and a comment are left out."""
    words = line.split()
    for kind, encoded in itertools.pairwise(words):
        if encoded.startswith("AAAA") and kind.isascii() and kind.isprintable() and len(kind) < 64:
            return kind, encoded
    raise KeyRefused("not_a_key", "There is no key in this text.")


def _require_strong(key: asyncssh.SSHKey) -> None:
    kind = key.get_algorithm()
    if kind not in (ED25519, RSA):
        raise KeyRefused("kind_not_allowed", f"Keys of the kind {kind} are not taken.")
    bits = _bits(key)
    if kind == RSA and bits < RSA_BITS_MIN:
        raise KeyRefused("too_short", f"An RSA key of {bits} bits is too short.")
    if kind == RSA and bits > RSA_BITS_MAX:
        raise KeyRefused("too_long", f"An RSA key of {bits} bits is too long.")


def _bits(key: asyncssh.SSHKey) -> int:
    return int(getattr(key.pyca_key, "key_size", 256))


def _described(key: asyncssh.SSHKey) -> PublicKey:
    words = key.export_public_key().decode().split()
    return PublicKey(
        kind=key.get_algorithm(),
        text=f"{words[0]} {words[1]}",
        fingerprint=key.get_fingerprint(),
        bits=_bits(key),
    )
