"""Celery's doors into this app, one module per job family."""

from __future__ import annotations

from funding.tasks import verification

__all__ = ["verification"]
