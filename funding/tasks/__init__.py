"""The Celery tasks of this app, one module per kind of job."""

from __future__ import annotations

from funding.tasks import authorizations, auto_funding, consents, network, retries, verification

__all__ = ["authorizations", "auto_funding", "consents", "network", "retries", "verification"]
