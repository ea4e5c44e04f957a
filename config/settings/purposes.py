"""One secret serves one purpose: no two settings may be made of the same."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from config import safe_secrets
from config.env import text
from config.settings.deployment import DEBUG, METRICS_TOKEN
from config.settings.evidence import AUDIT_STREAM_AUTHORIZATION, SEAL_WEBHOOK_SECRET
from config.settings.keys import (
    ENCRYPTION_KEYS,
    FINGERPRINT_KEY,
    FINGERPRINT_KEY_FALLBACKS,
    PROOF_KEY,
    SEAL_KEYS,
    SECRET_KEY,
    SECRET_KEY_FALLBACKS,
)
from config.settings.networks import PLAID_SECRET


def _password(name: str) -> list[str]:
    """What the address in a setting has for a login; nothing without one."""
    return [unquote(urlsplit(text(name, default="")).password or "")]


# Development has secrets that everybody knows.
if not DEBUG:
    safe_secrets.require_one_purpose_each(
        SECRET_KEY=[SECRET_KEY],
        SECRET_KEY_FALLBACKS=SECRET_KEY_FALLBACKS,
        METRICS_TOKEN=[METRICS_TOKEN],
        PLAID_SECRET=[PLAID_SECRET],
        AUDIT_STREAM_AUTHORIZATION=[AUDIT_STREAM_AUTHORIZATION],
        SEAL_WEBHOOK_SECRET=[SEAL_WEBHOOK_SECRET.removeprefix("whsec_")],
        FINGERPRINT_KEY=[FINGERPRINT_KEY],
        FINGERPRINT_KEY_FALLBACKS=FINGERPRINT_KEY_FALLBACKS,
        PROOF_KEY=safe_secrets.bodies_of(PROOF_KEY),
        SEAL_KEYS=safe_secrets.bodies_of(SEAL_KEYS),
        ENCRYPTION_KEYS=safe_secrets.bodies_of(ENCRYPTION_KEYS),
        DATABASE_OWNER_URL=_password("DATABASE_OWNER_URL"),
        DATABASE_API_URL=_password("DATABASE_API_URL"),
        DATABASE_DISPATCHER_URL=_password("DATABASE_DISPATCHER_URL"),
        DATABASE_AUDIT_URL=_password("DATABASE_AUDIT_URL"),
        DATABASE_WORKER_URL=_password("DATABASE_WORKER_URL"),
        DATABASE_DESK_URL=_password("DATABASE_DESK_URL"),
        DATABASE_URL=_password("DATABASE_URL"),
        REDIS_URL=_password("REDIS_URL"),
        EMAIL_URL=_password("EMAIL_URL"),
    )
