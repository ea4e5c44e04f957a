"""Celery's doors into this app, one module per job family."""

from __future__ import annotations

from funding.tasks import auto_funding, consents, network, verification

__all__ = ["auto_funding", "consents", "network", "verification"]
