"""The token in the address of a magic link. Only its digest is stored."""

from __future__ import annotations

import hashlib
import re

from approvals import policies
from approvals.models import MagicLink
from approvals.policies import AnyPolicy

_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def find(token: str) -> tuple[AnyPolicy, MagicLink] | None:
    """The link of this token. One query for each policy, none for a malformed token."""
    if not _TOKEN.fullmatch(token):
        return None
    for policy in policies.every():
        link = policy.links._default_manager.filter(digest=digest(token)).first()
        if link is not None:
            return policy, link
    return None
