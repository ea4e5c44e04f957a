"""The secrets that sign for an endpoint at a given moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import crypto
from webhooks.models import secret_context


@dataclass(frozen=True, repr=False)
class Secrets:
    current: str
    previous: str | None


def unseal(
    *,
    endpoint_id: str,
    token: str,
    previous_token: str,
    previous_expires_at: datetime | None,
    now: datetime,
) -> Secrets:
    """Decrypt what signs at `now`. Raises Undecryptable."""
    context = secret_context(endpoint_id)
    overlaps = previous_expires_at is not None and now < previous_expires_at
    return Secrets(
        current=crypto.decrypt(token, context=context),
        previous=crypto.decrypt(previous_token, context=context) if overlaps else None,
    )
