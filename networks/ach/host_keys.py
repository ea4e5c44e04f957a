"""Whether a bank's host key is strong enough, told from its public line.

The client reads keys with asyncssh (networks.ach.sftp.keys), which a process that only judges terms
need not load; it refuses the same ones.
"""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise

ED25519, RSA = "ssh-ed25519", "ssh-rsa"
RSA_BITS_MIN, RSA_BITS_MAX = 3072, 16_384
DAMAGED = "a host key is damaged: enter the bank's line once more"
ASK = "ask the bank for its ed25519 key, or an RSA key of at least 3072 bits"
_ED25519_BYTES = 32
_LENGTH_BYTES = 4


def problem(line: object) -> str:
    """Why a key is not taken, and what to do; empty if it is."""
    words = line.split() if isinstance(line, str) else []
    first = words[0] if words else ""
    found = (pair for pair in pairwise(words) if pair[1].startswith("AAAA"))
    kind, encoded = next(found, (first, ""))
    if kind not in (ED25519, RSA):
        return f"a host key of the kind {kind[:40]!r} is refused: {ASK}"
    parts = _parts(encoded)
    if len(parts) != (2 if kind == ED25519 else 3) or parts[0] != kind.encode():
        return DAMAGED
    if kind == ED25519:
        return "" if len(parts[1]) == _ED25519_BYTES else DAMAGED
    bits = int.from_bytes(parts[-1]).bit_length()
    if RSA_BITS_MIN <= bits <= RSA_BITS_MAX:
        return ""
    return f"an RSA host key of {bits} bits is refused: {ASK}"


def _parts(encoded: str) -> list[bytes]:
    """What a key is made of, each part after its length; nothing if that does not add up."""
    try:
        rest = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return []
    parts = []
    while rest:
        size = int.from_bytes(rest[:_LENGTH_BYTES])
        part, rest = rest[_LENGTH_BYTES : _LENGTH_BYTES + size], rest[_LENGTH_BYTES + size :]
        if len(part) != size:
            return []
        parts.append(part)
    return parts
