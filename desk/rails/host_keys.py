"""The fingerprint of a server's public key, as ssh-keygen -l shows it.

The client reads keys with asyncssh (networks.ach.sftp.keys), which a web process need not load.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

KINDS = ("ssh-ed25519", "ssh-rsa")
_LENGTH_BYTES = 4


def fingerprint(line: str) -> str:
    """`SHA256:…` of a line as `ssh-ed25519 AAAA…`; empty for what is no such key."""
    words = line.split()
    if len(words) < 2 or words[0] not in KINDS:
        return ""
    try:
        key = base64.b64decode(words[1], validate=True)
    except (binascii.Error, ValueError):
        return ""
    kind = words[0].encode()
    if not key.startswith(len(kind).to_bytes(_LENGTH_BYTES, "big") + kind):
        return ""
    digest = base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"
