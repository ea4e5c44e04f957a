"""Celery's doors into this app, one module per job family."""

from __future__ import annotations

from funding.tasks import network, verification

__all__ = ["network", "verification"]
