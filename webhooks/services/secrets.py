"""The secrets that sign for an endpoint at a given moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from common import crypto
from webhooks.models import secret_context


@dataclass(frozen=True, repr=False)
class Secrets:
    current: str
    previous: str | None


def decrypt_secrets(
    *,
    endpoint_id: str,
    token: str,
    previous_token: str,
    previous_expires_at: datetime | None,
    now: datetime,
) -> Secrets:
    """The secrets that sign at `now`, decrypted. Raises Undecryptable."""
    context = secret_context(endpoint_id)
    overlaps = previous_expires_at is not None and now < previous_expires_at
    return Secrets(
        current=_decrypted(token, context),
        previous=_decrypted(previous_token, context) if overlaps else None,
    )


@lru_cache(maxsize=1024)
def _decrypted(token: str, context: str) -> str:
    """Cached, because a dispatcher signs for the same endpoints over and over.

    A secret stays in the cache after its overlap or its endpoint has ended, until newer ones
    replace it. It signs nothing any more, because `decrypt_secrets` does not ask for it. And it
    gives nothing away: whoever can read this process's memory finds `ENCRYPTION_KEYS` there, which
    decrypt every tenant's secrets.
    """
    return crypto.decrypt(token, context=context)
