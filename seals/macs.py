"""The keyed digests of rounds and seals.

The first key of `SEAL_KEYS` makes seals, all of them prove old ones. Somebody who holds the
database but no key can change rows and seals, but cannot make a seal that fits the changed rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable

from django.conf import settings

from common import crypto
from common.clock import text_of
from seals.models import Seal, SealRound


class UnknownSealKey(Exception):
    """A seal names a key that `SEAL_KEYS` does not have."""


def sign(row: Seal | SealRound) -> None:
    """Give `row` the digest of its present content, with the newest key."""
    row.key_id = next(iter(_keys()))
    row.mac = _mac(row)


def doubt(row: Seal | SealRound) -> str:
    """Why `row` may not be what somebody with the key wrote; empty if it is."""
    try:
        if is_genuine(row):
            return ""
    except UnknownSealKey as unknown:
        return f"cannot be proven: SEAL_KEYS has no key {str(unknown)!r}"
    return f"was changed, or SEAL_KEYS has another key under {row.key_id!r}"


def is_genuine(row: Seal | SealRound) -> bool:
    """Whether somebody with the key wrote `row` as it is. Raises UnknownSealKey."""
    return hmac.compare_digest(row.mac.encode(), _mac(row).encode())


def digest_of(seals: Iterable[Seal]) -> str:
    """One digest over the seals of a round, in the order of their chains."""
    pairs = sorted([seal.chain, seal.mac] for seal in seals)
    return hashlib.sha256(_canonical(pairs)).hexdigest()


def _mac(row: Seal | SealRound) -> str:
    key = _keys().get(row.key_id)
    if key is None:
        raise UnknownSealKey(row.key_id)
    return hmac.digest(key, _content(row), "sha256").hex()


def _content(row: Seal | SealRound) -> bytes:
    if isinstance(row, SealRound):
        return _canonical(
            [
                "ballast seal round 1",
                row.number,
                text_of(row.made_at),
                row.windows,
                row.seals,
                row.chains,
                row.seals_digest,
                row.previous,
            ]
        )
    return _canonical(
        [
            "ballast seal 1",
            row.chain,
            row.number,
            row.round_id,
            row.sequence,
            row.covers,
            row.previous,
        ]
    )


def _canonical(value: object) -> bytes:
    """The bytes to sign. They are the same before and after PostgreSQL stored the values: no
    floats, keys in order, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _keys() -> dict[str, bytes]:
    return crypto.parsed_keys(settings.SEAL_KEYS)
