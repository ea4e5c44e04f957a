"""The Celery tasks of this app, one module per kind of job."""

from __future__ import annotations

from funding.tasks import auto_funding, consents, network, retries, verification

__all__ = ["auto_funding", "consents", "network", "retries", "verification"]
