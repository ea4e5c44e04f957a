"""What keeps a leaf from being recognized by anybody but its tenant.

Each day has a secret of 32 random bytes. A tenant's salt of the day is derived from it, so one
encrypted value stands for all of them; who knows one salt learns nothing of another. A leaf's name
is derived from the salt and the tenant's id: nobody can be shown the leaf of somebody else, and the
names of two days have nothing in common.
"""

from __future__ import annotations

import hmac
import secrets
from datetime import date

from solvency import tree
from solvency.tree import Amounts, Node

SECRET_BYTES = 32


def new_secret() -> bytes:
    """The secret of a day."""
    return secrets.token_bytes(SECRET_BYTES)


def salt_of(secret: bytes, tenant_id: str) -> bytes:
    """The salt of a tenant: 32 bytes, which it may be told."""
    return hmac.digest(secret, b"ballast salt 1\0" + tenant_id.encode(), "sha256")


def leaf_name(salt: bytes, tenant_id: str) -> bytes:
    """The name of the tenant's leaf: 32 bytes."""
    return hmac.digest(salt, b"ballast leaf name 1\0" + tenant_id.encode(), "sha256")


def leaf_of(tenant_id: str, amounts: Amounts, *, day: date, secret: bytes) -> Node:
    """The tenant's leaf. Raises ValueError for an amount out of range."""
    return tree.leaf(day, leaf_name(salt_of(secret, tenant_id), tenant_id), amounts)
